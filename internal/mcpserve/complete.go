package mcpserve

import (
	"context"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"larva.dev/larva/internal/diag"
)

// maxCompletions is the protocol's own limit of one answer.
const maxCompletions = 100

// complete offers ids and variants by what has been typed so far. Whatever it
// cannot complete has no candidates; that is no error.
func (s *Server) complete(_ context.Context, req *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	all, err := s.candidates(req.Params)
	if err != nil {
		return nil, protocolError("completion", diag.As(err))
	}
	values := []string{}
	for _, v := range all {
		if strings.HasPrefix(v, req.Params.Argument.Value) {
			values = append(values, v)
		}
	}
	total := len(values)
	values = values[:min(total, maxCompletions)]
	return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{
		Values: values, Total: total, HasMore: total > len(values),
	}}, nil
}

// candidates are all values that the argument could have.
func (s *Server) candidates(p *mcp.CompleteParams) ([]string, error) {
	id := ""
	switch {
	case p.Ref.Type == "ref/prompt" && p.Argument.Name == variantArgument:
		id = p.Ref.Name
	case p.Ref.Type == "ref/resource" && isTemplate(p.Ref.URI) && p.Argument.Name == "id":
		return s.registry.IDs()
	case p.Ref.Type == "ref/resource" && p.Ref.URI == variantTemplate && p.Argument.Name == variantArgument:
		if p.Context == nil {
			return nil, nil
		}
		id = p.Context.Arguments["id"]
	default:
		return nil, nil
	}
	v, err := s.registry.VariantList(id)
	if err != nil {
		return nil, nil // nothing to offer for a persona that is not there or not sound
	}
	return v.Variants, nil
}

func isTemplate(uri string) bool { return uri == personaTemplate || uri == variantTemplate }
