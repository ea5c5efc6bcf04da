package responses

import (
	"encoding/json"
	"strings"

	"larva.dev/larva/internal/model"
	"larva.dev/larva/internal/model/wire"
)

type raw = map[string]json.RawMessage

// maxID is the longest call id that the protocol takes.
const maxID = 64

// encode writes the request and names the fields that a service may refuse.
// Opaque items of the first forget messages are left out.
func encode(o Options, x *wire.Extras, req model.Request, forget int) (json.RawMessage, []wire.Extra, error) {
	req.Messages = model.Forget(req.Messages, forget)
	own := map[string]any{
		"model":  req.Model,
		"stream": true,
		"store":  false, // what is said here stays between us: nothing is kept for later
		"input":  input(o.Name, req),
	}
	if strings.TrimSpace(req.System) != "" {
		own["instructions"] = req.System
	}
	if len(req.Tools) > 0 {
		tools := make([]any, 0, len(req.Tools))
		for _, t := range req.Tools {
			schema := t.Schema
			if len(schema) == 0 {
				schema = json.RawMessage(`{"type":"object","properties":{}}`)
			}
			// strict is on by default here and would demand schemas of its own kind.
			tools = append(tools, map[string]any{"type": "function", "name": t.Name, "description": t.Description, "parameters": schema, "strict": false})
		}
		own["tools"] = tools
	}
	sent := extras(o, x, req, own)
	body, err := model.Body(o.Name+"/"+o.Model, own, req.Params)
	return body, sent, err
}

// extras adds what can be left out. What model_params say themselves is
// theirs, and stays.
func extras(o Options, x *wire.Extras, req model.Request, own map[string]any) []wire.Extra {
	var sent []wire.Extra
	add := func(e wire.Extra, value any) bool {
		if model.HasParam(req.Params, e.Field) || !x.Takes(e.Field) {
			return false
		}
		own[e.Field] = value
		sent = append(sent, e)
		return true
	}
	if req.CacheKey != "" {
		add(wire.Extra{Field: "prompt_cache_key"}, req.CacheKey)
	}
	if req.MaxTokens > 0 {
		add(wire.Extra{Field: "max_output_tokens"}, req.MaxTokens)
	}
	if !reasons(req.Model) {
		return sent
	}
	add(wire.Extra{Field: "include", Signs: []string{"encrypted content is not supported"}}, []string{"reasoning.encrypted_content"})
	reasoning := map[string]string{"summary": "auto"}
	if !add(wire.Extra{Field: "reasoning", Signs: []string{"reasoning.summary"}}, reasoning) {
		return sent
	}
	// Looked for first: an error about the effort names reasoning too.
	if effort := x.Effort(o.Effort); effort != "" && x.Takes("reasoning.effort") {
		reasoning["effort"] = effort
		sent = append([]wire.Extra{{Field: "reasoning.effort", Effort: effort}}, sent...)
	}
	return sent
}

// reasons says whether a model may reason; one that cannot refuses to be asked
// for it. Those that came before reasoning are known by name.
func reasons(name string) bool {
	for _, old := range []string{"gpt-3", "gpt-4", "chatgpt-"} {
		if strings.HasPrefix(name, old) {
			return false
		}
	}
	return true
}

// input is the transcript as the protocol's items.
func input(provider string, req model.Request) []any {
	out := []any{}
	for _, m := range model.Repair(req.Messages) {
		if m.Role == model.Assistant {
			out = append(out, assistant(provider, req.Model, m)...)
			continue
		}
		var said []any
		for _, b := range m.Blocks {
			switch {
			case b.Result != nil:
				out = append(out, map[string]any{"type": "function_call_output", "call_id": model.SafeName(b.Result.ID, maxID), "output": output(b.Result)})
			case b.Image != nil:
				said = append(said, map[string]any{"type": "input_image", "image_url": model.DataURL(*b.Image)})
			case b.Text != "":
				said = append(said, map[string]any{"type": "input_text", "text": b.Text})
			}
		}
		if len(said) > 0 {
			out = append(out, map[string]any{"type": "message", "role": "user", "content": said})
		}
	}
	return out
}

// output is a result's text, or parts where it holds images.
func output(r *model.Result) any {
	if len(r.Images) == 0 {
		return r.Output
	}
	parts := []any{}
	if r.Output != "" {
		parts = append(parts, map[string]any{"type": "input_text", "text": r.Output})
	}
	for _, i := range r.Images {
		parts = append(parts, map[string]any{"type": "input_image", "image_url": model.DataURL(i)})
	}
	return parts
}

// assistant is one answer's items in their order. Opaque ones go back to the
// model that made them; the fields of a text item (see answer.block) are laid
// over the text that follows.
func assistant(provider, name string, m model.Message) []any {
	var out []any
	var label raw
	for _, b := range m.Blocks {
		fields := label
		label = nil
		switch {
		case b.Call != nil:
			out = append(out, call(provider, name, b.Call))
		case b.Raw != nil:
			var item raw
			if !b.Raw.Of(provider, name) || json.Unmarshal(b.Raw.JSON, &item) != nil {
				continue
			}
			switch text(item["type"]) {
			case "message":
				label = item
			case "reasoning":
				// Without its content the service would look for a stored one.
				if filled(item["encrypted_content"]) || filled(item["content"]) {
					out = append(out, b.Raw.JSON)
				}
			default:
				out = append(out, b.Raw.JSON)
			}
		case b.Text != "":
			item := map[string]any{"type": "message", "role": "assistant",
				"content": []any{map[string]any{"type": "output_text", "text": b.Text}}}
			for k, v := range fields {
				if _, taken := item[k]; !taken {
					item[k] = v
				}
			}
			out = append(out, item)
		}
	}
	return out
}

// filled says whether a JSON value holds something.
func filled(v json.RawMessage) bool {
	switch string(v) {
	case "", "null", `""`, "[]":
		return false
	}
	return true
}

// extra is what model.Call.Extra holds: fields of a call that are not ours to
// understand, for the model that sent them.
type extra struct {
	Provider string `json:"provider"`
	Model    string `json:"model"`
	Item     raw    `json:"item"`
}

func call(provider, name string, c *model.Call) any {
	arguments := string(c.Input)
	if c.Input == nil {
		arguments = "{}" // it was broken; the result says so
	}
	out := map[string]any{"type": "function_call", "call_id": model.SafeName(c.ID, maxID),
		"name": model.SafeName(c.Tool, 64), "arguments": arguments}
	var e extra
	if json.Unmarshal(c.Extra, &e) == nil && e.Provider == provider && e.Model == name {
		for k, v := range e.Item {
			if _, taken := out[k]; !taken {
				out[k] = v
			}
		}
	}
	return out
}

// text is a JSON string's value, "" for anything else.
func text(v json.RawMessage) string {
	var s string
	if json.Unmarshal(v, &s) != nil {
		return ""
	}
	return s
}
