package mcpserve

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/registry"
	"larva.dev/larva/internal/spec"
)

// variantArgument is the one argument of a persona's prompt.
const variantArgument = "variant"

// anyPrompt stands in the SDK's own list, which nobody sees (list.go answers
// for it): adding it anew is how the SDK is told that the list has changed.
func anyPrompt() *mcp.Prompt { return &mcp.Prompt{Name: "persona"} }

// promptOf describes a persona as a prompt.
func promptOf(p registry.Summary) *mcp.Prompt {
	return &mcp.Prompt{
		Name: p.ID, Description: p.Description,
		Arguments: []*mcp.PromptArgument{{Name: variantArgument, Description: "The variant; the active one where none is named."}},
	}
}

// prompt gives a persona's prompt as a message to insert.
func (s *Server) prompt(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	name := req.Params.Name
	for key := range req.Params.Arguments {
		if key != variantArgument {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "a persona's prompt has one argument, variant"}
		}
	}
	o, err := s.registry.Resolve(name, req.Params.Arguments[variantArgument], nil)
	if err != nil {
		return nil, protocolError(name, diag.As(err))
	}
	return &mcp.GetPromptResult{
		Description: o.String("description"),
		Messages:    []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: o.String("prompt")}}},
	}, nil
}

// protocolError is an operation's failure where the protocol knows no result
// that says so: invalid parameters where the name leads nowhere, an internal
// error where the registry is broken. The envelope is its data.
func protocolError(name string, e *diag.Error) error {
	code := int64(jsonrpc.CodeInternalError)
	switch e.Code {
	case diag.PersonaNotFound, diag.VariantNotFound, diag.InvalidPersonaID, diag.InvalidVariantName:
		code = jsonrpc.CodeInvalidParams
	}
	return &jsonrpc.Error{Code: code, Message: name + ": " + e.Message, Data: json.RawMessage(spec.AppendCanonical(nil, envelope(e)))}
}
