package mcpserve

import (
	"context"
	"encoding/base64"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/ops"
	"larva.dev/larva/internal/registry"
	"larva.dev/larva/internal/spec"
)

// pageSize bounds one answer of a list; with a description each, a page is a
// few hundred kilobytes.
const pageSize = 500

// lists stands before the SDK's own handlers. It answers for the lists of
// resources and prompts, and for each prompt, from the registry as it is now:
// the SDK would have them all added before the first question and kept in memory.
func (s *Server) lists(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if b := besideOf(req); b != nil {
			if err := b.await(ctx); err != nil {
				return nil, err
			}
			if b.room != nil {
				if err := b.room.enter(ctx); err != nil {
					return nil, err
				}
				defer b.room.leave()
			}
			if b.tool != nil {
				s.fast(ctx, b.tool)
				return &fastResult{}, nil
			}
		}
		switch req := req.(type) {
		case *mcp.ListToolsRequest:
			return listTools(), nil
		case *mcp.ListResourcesRequest:
			return s.listResources(req)
		case *mcp.ListPromptsRequest:
			return s.listPrompts(req)
		case *mcp.GetPromptRequest:
			return s.prompt(ctx, req)
		case *mcp.CallToolRequest:
			s.addTools()
			if req.Params.Name == toolPrefix+deleteName {
				return s.interruptible(ctx, method, req, next)
			}
		}
		return next(ctx, method, req)
	}
}

// listTools gives the tools in the order of the table; the SDK would sort them.
func listTools() *mcp.ListToolsResult {
	r := &mcp.ListToolsResult{Cacheable: private()}
	for _, o := range ops.Operations() {
		r.Tools = append(r.Tools, tool(o))
	}
	return r
}

// private says that an answer is this client's alone and stale at once.
func private() mcp.Cacheable { return mcp.Cacheable{CacheScope: "private"} }

// interruptible lets the end of the server end a question to the client.
func (s *Server) interruptible(ctx context.Context, method string, req mcp.Request, next mcp.MethodHandler) (mcp.Result, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.life, cancel)()
	return next(ctx, method, req)
}

func (s *Server) listResources(req *mcp.ListResourcesRequest) (mcp.Result, error) {
	cursor := ""
	if req.Params != nil {
		cursor = req.Params.Cursor
	}
	page, more, err := s.page(cursor)
	if err != nil {
		return nil, err
	}
	r := &mcp.ListResourcesResult{Resources: []*mcp.Resource{}, NextCursor: more, Cacheable: private()}
	for _, p := range page {
		r.Resources = append(r.Resources, &mcp.Resource{
			URI: scheme + p.ID, Name: p.ID, Description: p.Description, MIMEType: jsonType,
			Meta: mcp.Meta{"larva.dev/spec_digest": p.SpecDigest},
		})
	}
	return r, nil
}

func (s *Server) listPrompts(req *mcp.ListPromptsRequest) (mcp.Result, error) {
	cursor := ""
	if req.Params != nil {
		cursor = req.Params.Cursor
	}
	page, more, err := s.page(cursor)
	if err != nil {
		return nil, err
	}
	r := &mcp.ListPromptsResult{Prompts: []*mcp.Prompt{}, NextCursor: more, Cacheable: private()}
	for _, p := range page {
		r.Prompts = append(r.Prompts, promptOf(p))
	}
	return r, nil
}

// page gives the summaries after cursor, and the cursor of the next page, ""
// where there is none. A persona that cannot be read is left out: the others
// are still of use, and larva_list names it.
func (s *Server) page(cursor string) ([]registry.Summary, string, error) {
	last, err := decodeCursor(cursor)
	if err != nil {
		return nil, "", err
	}
	ids, err := s.registry.IDs()
	if err != nil {
		return nil, "", protocolError("the registry", diag.As(err))
	}
	from, found := slices.BinarySearch(ids, last)
	if found {
		from++
	}
	ids = ids[from:]
	next := ""
	if len(ids) > pageSize {
		ids = ids[:pageSize]
		next = base64.RawURLEncoding.EncodeToString([]byte(ids[pageSize-1]))
	}
	page := make([]registry.Summary, 0, len(ids))
	for _, id := range ids {
		o, err := s.registry.Resolve(id, "", nil)
		if err != nil {
			continue
		}
		page = append(page, registry.Summary{ID: id, Description: o.String("description"), SpecDigest: o.String("spec_digest")})
	}
	return page, next, nil
}

// decodeCursor gives the id that a page ended with.
func decodeCursor(cursor string) (string, error) {
	last, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || len(last) > 0 && !spec.ValidID(string(last)) {
		return "", &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the cursor is none of this server's"}
	}
	return string(last), nil
}
