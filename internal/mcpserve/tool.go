package mcpserve

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/ops"
	"larva.dev/larva/internal/spec"
)

// toolPrefix stands before an operation's name.
const toolPrefix = "larva_"

// deleteName is the operation that asks first where it can.
const deleteName = "delete"

func tool(o ops.Operation) *mcp.Tool {
	closed := false
	return &mcp.Tool{
		Name:         toolPrefix + o.Name,
		Title:        o.Title,
		Description:  o.Description,
		InputSchema:  o.Input(),
		OutputSchema: outputSchema(o),
		Annotations: &mcp.ToolAnnotations{
			Title: o.Title, ReadOnlyHint: o.ReadOnly, IdempotentHint: o.Idempotent,
			DestructiveHint: &o.Destructive, OpenWorldHint: &closed,
		},
	}
}

// call is an operation as a tool. Arguments are judged by the operation
// itself, not against the schema, so that every face refuses them in the same
// words and validate can report on what the schema forbids.
func (s *Server) call(o ops.Operation) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		p, err := arguments(o, req.Params.Arguments)
		if err != nil {
			return failure(err), nil
		}
		if o.Name == deleteName {
			if ask, err := s.confirmDelete(req, p); ask != nil || err != nil {
				return orFailure(ask, err), nil
			}
		}
		v, err := s.ops.Do(ctx, o.Name, p)
		if err != nil {
			return failure(err), nil
		}
		return success(v), nil
	}
}

// arguments reads the call's arguments; none and null are no parameters.
func arguments(o ops.Operation, raw json.RawMessage) (*spec.Object, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	v, err := spec.Parse(raw)
	if err != nil {
		e := diag.New(diag.InvalidInput, "%s: the arguments are no acceptable JSON: %v", o.Name, err).
			With("operation", o.Name).With("field", "params").With("received_type", "invalid_json")
		var place *spec.SyntaxError
		if errors.As(err, &place) {
			e.With("line", place.Line).With("column", place.Col)
		}
		return nil, e
	}
	p, ok := v.(*spec.Object)
	if !ok {
		return nil, diag.New(diag.InvalidInput, "%s: the arguments are no object", o.Name).
			With("operation", o.Name).With("field", "params").With("received_type", ops.TypeOf(v))
	}
	return p, nil
}

// success is one text block with the whole JSON, and the same as structured
// content, which must be an object: a list stands under "result".
func success(v any) *mcp.CallToolResult {
	text := spec.AppendCanonical(nil, v)
	return result(text, structured(text))
}

func structured(text []byte) []byte {
	if text[0] == '{' {
		return text
	}
	return append(append([]byte(`{"result":`), text...), '}')
}

// failure is the envelope in the same two forms.
func failure(err error) *mcp.CallToolResult {
	text := spec.AppendCanonical(nil, envelope(diag.As(err)))
	r := result(text, text)
	r.IsError = true
	return r
}

func orFailure(r *mcp.CallToolResult, err error) *mcp.CallToolResult {
	if err != nil {
		return failure(err)
	}
	return r
}

func result(text, structured []byte) *mcp.CallToolResult {
	return &mcp.CallToolResult{
		Content:           []mcp.Content{&mcp.TextContent{Text: string(text)}},
		StructuredContent: json.RawMessage(structured),
	}
}

// envelope is a failure as every face shows it.
func envelope(e *diag.Error) map[string]any {
	details := e.Details
	if details == nil {
		details = map[string]any{}
	}
	return map[string]any{"code": string(e.Code), "numeric_code": e.Code.Number(), "message": e.Message, "details": details}
}
