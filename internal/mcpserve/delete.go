package mcpserve

import (
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/spec"
)

// confirmKey names the one question of a delete.
const confirmKey = "confirm"

// confirmDelete asks the person behind the client before a persona is
// removed, where the client can ask. It gives the question to send back, or
// an error where the answer was no; neither of both where the delete may go
// on: the person has said yes, the client cannot ask, or the call fails anyway.
//
// The question is a result that wants input. For clients of the older
// protocol the SDK asks with a request of its own and calls again.
func (s *Server) confirmDelete(req *mcp.CallToolRequest, p *spec.Object) (*mcp.CallToolResult, error) {
	if !canElicit(req.ClientCapabilities()) {
		return nil, nil
	}
	id := ""
	if p != nil {
		id = p.String("id")
	}
	if answer, ok := req.Params.InputResponses[confirmKey].(*mcp.ElicitResult); ok && req.Params.RequestState == id {
		if answer.Action == "accept" && answer.Content[confirmKey] != false {
			return nil, nil
		}
		return nil, diag.New(diag.RegistryDeleteFailed, "%s is kept: the answer was no", id).
			With("persona_id", id).With("answer", answer.Action)
	}
	v, err := s.registry.VariantList(id)
	if e := diag.As(err); e != nil && (e.Code == diag.PersonaNotFound || e.Code == diag.InvalidPersonaID) {
		return nil, nil // delete says so itself
	}
	message := "Delete the persona " + id + " with all its variants? This cannot be undone."
	if len(v.Variants) == 1 {
		message = "Delete the persona " + id + "? This cannot be undone."
	}
	return &mcp.CallToolResult{
		InputRequests: mcp.InputRequestMap{confirmKey: &mcp.ElicitParams{
			Mode: "form", Message: message, RequestedSchema: json.RawMessage(`{"type":"object","properties":{}}`),
		}},
		RequestState: id,
	}, nil
}

// canElicit says whether the client can show a form. One that names no kind
// of elicitation means forms, the only kind there once was.
func canElicit(c *mcp.ClientCapabilities) bool {
	return c != nil && c.Elicitation != nil && (c.Elicitation.Form != nil || c.Elicitation.URL == nil)
}
