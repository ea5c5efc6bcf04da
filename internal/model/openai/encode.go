package openai

import (
	"encoding/json"
	"net/url"
	"strings"

	"larva.dev/larva/internal/model"
	"larva.dev/larva/internal/model/wire"
	"larva.dev/larva/internal/tool"
)

type raw = map[string]json.RawMessage

// maxName is the longest tool name that services of this protocol take.
const maxName = 64

// encoded is one request and the fields of it that a service may refuse.
type encoded struct {
	body  json.RawMessage
	extra []wire.Extra
}

// encode writes the request.
func encode(o Options, x *wire.Extras, req model.Request) (encoded, error) {
	w := writer{o: o, model: req.Model, replay: x.Takes(replayed)}
	own := map[string]any{"model": req.Model, "stream": true, "messages": w.messages(req)}
	if len(req.Tools) > 0 {
		own["tools"] = specs(req.Tools)
	}
	e := encoded{extra: extras(o, x, req, own)}
	if w.thoughts {
		e.extra = append(e.extra, wire.Extra{Field: replayed, Signs: []string{"reasoning_content", "reasoning_details", "'reasoning'", `"reasoning"`, `\"reasoning\"`}})
	}
	var err error
	e.body, err = model.Body(o.Name+"/"+o.Model, own, req.Params)
	return e, err
}

func specs(in []tool.Spec) []any {
	out := make([]any, 0, len(in))
	for _, t := range in {
		schema := t.Schema
		if len(schema) == 0 {
			schema = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		out = append(out, map[string]any{"type": "function", "function": map[string]any{
			"name": t.Name, "description": t.Description, "parameters": schema,
		}})
	}
	return out
}

// replayed names the reasoning in messages, for what a service refuses.
const replayed = "reasoning in messages"

// extras adds what can be left out. What model_params say themselves is
// theirs, and stays.
func extras(o Options, x *wire.Extras, req model.Request, own map[string]any) []wire.Extra {
	var sent []wire.Extra
	add := func(e wire.Extra, value any) {
		if model.HasParam(req.Params, e.Field) || !x.Takes(e.Field) {
			return
		}
		own[e.Field] = value
		sent = append(sent, e)
	}
	add(wire.Extra{Field: "stream_options", Signs: []string{"include_usage"}}, map[string]bool{"include_usage": true})
	if effort := x.Effort(o.Effort); effort != "" {
		add(wire.Extra{Field: "reasoning_effort", Signs: []string{"reasoning effort"}, Effort: effort}, effort)
	}
	limit := "max_tokens"
	if atOpenAI(o) {
		limit = "max_completion_tokens" // its reasoning models refuse the old name
		if req.CacheKey != "" {
			add(wire.Extra{Field: "prompt_cache_key"}, req.CacheKey)
		}
	}
	if req.MaxTokens > 0 {
		add(wire.Extra{Field: limit}, req.MaxTokens)
	}
	return sent
}

// atOpenAI says whether the service is OpenAI's own, or stands for it.
func atOpenAI(o Options) bool {
	return o.Name == "openai" || strings.HasSuffix(host(o.BaseURL), ".openai.com")
}

// atGemini says whether the service is Google's compatible endpoint.
func atGemini(o Options) bool {
	return o.Name == "gemini" || strings.HasSuffix(host(o.BaseURL), ".googleapis.com")
}

func host(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// writer writes the transcript for one model.
type writer struct {
	o        Options
	model    string
	replay   bool // reasoning goes back
	thoughts bool // some did
}

// messages is the transcript in the protocol's form: each result is a message
// of its own, before what the user says beside them. Results hold text only,
// so their images go into the user's message.
func (w *writer) messages(req model.Request) []any {
	var out []any
	if strings.TrimSpace(req.System) != "" {
		out = append(out, map[string]string{"role": "system", "content": req.System})
	}
	for _, m := range model.Repair(req.Messages) {
		if m.Role == model.Assistant {
			out = append(out, w.assistant(m))
			continue
		}
		var said []any
		for _, b := range m.Blocks {
			switch {
			case b.Result != nil:
				out = append(out, map[string]string{"role": "tool", "tool_call_id": b.Result.ID, "content": b.Result.Output})
				if n := len(b.Result.Images); n > 0 {
					said = append(said, "(images of the result of "+b.Result.Tool+", call "+b.Result.ID+")")
				}
				for _, i := range b.Result.Images {
					said = append(said, i)
				}
			case b.Image != nil:
				said = append(said, *b.Image)
			case b.Text != "":
				said = append(said, b.Text)
			}
		}
		if len(said) > 0 {
			out = append(out, map[string]any{"role": "user", "content": spoken(said)})
		}
	}
	return out
}

// spoken is a user message of texts and images: one text where there are only
// such, since some services take nothing else.
func spoken(said []any) any {
	var texts []string
	for _, s := range said {
		if t, ok := s.(string); ok {
			texts = append(texts, t)
		}
	}
	if len(texts) == len(said) {
		return strings.Join(texts, "\n\n")
	}
	parts := make([]any, 0, len(said))
	for _, s := range said {
		switch s := s.(type) {
		case string:
			parts = append(parts, map[string]string{"type": "text", "text": s})
		case tool.Image:
			parts = append(parts, map[string]any{"type": "image_url", "image_url": map[string]string{"url": model.DataURL(s)}})
		}
	}
	return parts
}

func (w *writer) assistant(m model.Message) any {
	out := map[string]any{"role": "assistant"}
	var said strings.Builder
	var calls []any
	for _, b := range m.Blocks {
		switch {
		case b.Call != nil:
			calls = append(calls, w.call(b.Call, len(calls) == 0))
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
		if !w.replay || b.Raw == nil || !b.Raw.Of(w.o.Name, w.model) {
			continue
		}
		var fields raw
		if json.Unmarshal(b.Raw.JSON, &fields) != nil {
			continue
		}
		for k, v := range fields {
			if _, taken := out[k]; !taken {
				out[k] = v
				w.thoughts = true
			}
		}
	}
	return out
}

// extra is what model.Call.Extra holds: the fields of a call that the protocol
// does not know (Gemini's thought signatures), for the model that sent them.
type extra struct {
	Provider string `json:"provider"`
	Model    string `json:"model,omitempty"`
	Call     raw    `json:"call,omitempty"`
	Function raw    `json:"function,omitempty"`
}

// unsigned is what Google's service takes in place of the signature of a call
// that none of its models made; without one it refuses the whole request.
var unsigned = json.RawMessage(`{"google":{"thought_signature":"skip_thought_signature_validator"}}`)

// call writes one call; first says that it is the first of its message, the
// only one of which a signature is demanded.
func (w *writer) call(c *model.Call, first bool) any {
	arguments := string(c.Input)
	if c.Input == nil {
		arguments = "{}" // it was broken; servers that parse it would fail, and the result says so
	}
	function := map[string]any{"name": model.SafeName(c.Tool, maxName), "arguments": arguments}
	out := map[string]any{"id": c.ID, "type": "function", "function": function}
	var e extra
	if json.Unmarshal(c.Extra, &e) == nil && e.Provider == w.o.Name && (e.Model == "" || e.Model == w.model) {
		lay(out, e.Call)
		lay(function, e.Function)
	}
	if _, signed := out["extra_content"]; !signed && first && atGemini(w.o) && demandsSignatures(w.model) {
		out["extra_content"] = unsigned
	}
	return out
}

// lay adds fields that are not taken.
func lay(on map[string]any, fields raw) {
	for k, v := range fields {
		if _, taken := on[k]; !taken {
			on[k] = v
		}
	}
}

// demandsSignatures holds for Gemini since version 3.
func demandsSignatures(name string) bool {
	_, version, ok := strings.Cut(name, "gemini-")
	return ok && version != "" && version[0] >= '3' && version[0] <= '9'
}
