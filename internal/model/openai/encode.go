package openai

import (
	"encoding/json"
	"strings"

	"larva.dev/larva/internal/model"
)

type raw = map[string]json.RawMessage

// encode writes the request.
func encode(provider, name string, req model.Request) (json.RawMessage, error) {
	own := map[string]any{
		"model":          req.Model,
		"stream":         true,
		"stream_options": map[string]bool{"include_usage": true},
		"messages":       messages(provider, req),
	}
	if len(req.Tools) > 0 {
		tools := make([]any, 0, len(req.Tools))
		for _, t := range req.Tools {
			schema := t.Schema
			if len(schema) == 0 {
				schema = json.RawMessage(`{"type":"object","properties":{}}`)
			}
			tools = append(tools, map[string]any{"type": "function", "function": map[string]any{
				"name": t.Name, "description": t.Description, "parameters": schema,
			}})
		}
		own["tools"] = tools
	}
	return model.Body(name, own, req.Params)
}

// messages is the transcript in the protocol's form: each result is a message
// of its own, before what the user says beside them.
func messages(provider string, req model.Request) []any {
	var out []any
	if strings.TrimSpace(req.System) != "" {
		out = append(out, map[string]string{"role": "system", "content": req.System})
	}
	for _, m := range model.Repair(req.Messages) {
		if m.Role == model.Assistant {
			out = append(out, assistant(provider, m))
			continue
		}
		var said []string
		for _, b := range m.Blocks {
			switch {
			case b.Result != nil:
				out = append(out, map[string]string{"role": "tool", "tool_call_id": b.Result.ID, "content": b.Result.Output})
			case b.Text != "":
				said = append(said, b.Text)
			}
		}
		if len(said) > 0 {
			out = append(out, map[string]string{"role": "user", "content": strings.Join(said, "\n\n")})
		}
	}
	return out
}

func assistant(provider string, m model.Message) any {
	out := map[string]any{"role": "assistant"}
	var said strings.Builder
	var calls []any
	for _, b := range m.Blocks {
		switch {
		case b.Call != nil:
			calls = append(calls, toolCall(provider, b.Call))
		case b.Raw == nil:
			said.WriteString(b.Text)
		}
	}
	// content is left out beside calls: some services refuse "", others null.
	if said.Len() > 0 || len(calls) == 0 {
		out["content"] = said.String()
	}
	if len(calls) == 0 {
		return out
	}
	out["tool_calls"] = calls
	// Reasoning goes back with calls only: services that want it want it there,
	// and one that knows no calls refuses it.
	for _, b := range m.Blocks {
		if b.Raw == nil || b.Raw.Provider != provider {
			continue
		}
		var fields raw
		if json.Unmarshal(b.Raw.JSON, &fields) != nil {
			continue
		}
		for k, v := range fields {
			if _, taken := out[k]; !taken {
				out[k] = v
			}
		}
	}
	return out
}

// extra is what model.Call.Extra holds: the fields of a call that the protocol
// does not know (Gemini's thought signatures), for their own service alone.
type extra struct {
	Provider string `json:"provider"`
	Call     raw    `json:"call,omitempty"`
	Function raw    `json:"function,omitempty"`
}

func toolCall(provider string, c *model.Call) any {
	arguments := string(c.Input)
	if c.Input == nil {
		arguments = "{}" // it was broken; servers that parse it would fail, and the result says so
	}
	function := map[string]any{"name": model.SafeName(c.Tool, 64), "arguments": arguments}
	out := map[string]any{"id": c.ID, "type": "function", "function": function}
	var e extra
	if json.Unmarshal(c.Extra, &e) == nil && e.Provider == provider {
		for k, v := range e.Call {
			if _, taken := out[k]; !taken {
				out[k] = v
			}
		}
		for k, v := range e.Function {
			if _, taken := function[k]; !taken {
				function[k] = v
			}
		}
	}
	return out
}
