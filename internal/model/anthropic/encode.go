package anthropic

import (
	"encoding/json"
	"strings"

	"larva.dev/larva/internal/model"
)

// defaultMaxTokens is sent where model_params say nothing: the protocol needs
// a number, and every model since Claude 3.5 takes this one.
const defaultMaxTokens = 8192

type cacheControl struct {
	Type string `json:"type"`
}

var ephemeral = cacheControl{"ephemeral"}

type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	ToolUseID string          `json:"tool_use_id,omitempty"`
	Content   string          `json:"content,omitempty"`
	IsError   bool            `json:"is_error,omitempty"`
	Cache     *cacheControl   `json:"cache_control,omitempty"`
}

type message struct {
	Role    string `json:"role"`
	Content []any  `json:"content"` // *block, or a provider's own block as json.RawMessage
}

type toolSpec struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"input_schema"`
	Cache       *cacheControl   `json:"cache_control,omitempty"`
}

// encode writes the request. Two cache marks: one after system and tools,
// which never change within a run, one at the end of the transcript, which the
// next request repeats.
func encode(provider, name string, req model.Request) (json.RawMessage, error) {
	cache := ephemeral
	own := map[string]any{
		"model":      req.Model,
		"stream":     true,
		"max_tokens": maxTokens(req.Params),
		"messages":   messages(provider, req.Messages, &cache),
	}
	var tools []toolSpec
	for _, t := range req.Tools {
		s := toolSpec{Name: t.Name, Description: t.Description, Schema: t.Schema}
		if len(s.Schema) == 0 {
			s.Schema = json.RawMessage(`{"type":"object"}`)
		}
		tools = append(tools, s)
	}
	if strings.TrimSpace(req.System) != "" {
		own["system"] = []block{{Type: "text", Text: req.System, Cache: &cache}}
	} else if n := len(tools); n > 0 {
		tools[n-1].Cache = &cache
	}
	if len(tools) > 0 {
		own["tools"] = tools
	}
	return model.Body(name, own, req.Params)
}

// maxTokens leaves room for the answer beside a thinking budget, which the
// protocol counts into the same number.
func maxTokens(params []model.Param) int {
	for _, p := range params {
		if p.Key != "thinking" {
			continue
		}
		var t struct {
			Budget int `json:"budget_tokens"`
		}
		if json.Unmarshal(p.Value, &t) == nil && t.Budget > 0 && t.Budget < 1<<30 {
			return t.Budget + defaultMaxTokens
		}
	}
	return defaultMaxTokens
}

func messages(provider string, in []model.Message, cache *cacheControl) []message {
	repaired := model.Repair(in)
	out := make([]message, 0, len(repaired))
	for i, m := range repaired {
		e := message{Role: string(m.Role)}
		last := i == len(repaired)-1
		for _, b := range m.Blocks {
			if c := content(provider, b, last && m.Role == model.Assistant); c != nil {
				e.Content = append(e.Content, c)
			}
		}
		if len(e.Content) == 0 {
			// Blank text is refused, and so is a message without content.
			e.Content = []any{&block{Type: "text", Text: "(empty)"}}
		}
		out = append(out, e)
	}
	if n := len(out); n > 0 {
		if b, ok := out[n-1].Content[len(out[n-1].Content)-1].(*block); ok {
			b.Cache = cache
		}
	}
	return out
}

// content is one block, or nil where there is nothing that may be sent. An
// assistant's last words may not end in white space.
func content(provider string, b model.Block, prefill bool) any {
	switch {
	case b.Call != nil:
		input := b.Call.Input
		if input == nil {
			input = json.RawMessage("{}") // it was broken; the result says so
		}
		return &block{Type: "tool_use", ID: model.SafeName(b.Call.ID, 128), Name: model.SafeName(b.Call.Tool, 128), Input: input}
	case b.Result != nil:
		r := &block{Type: "tool_result", ToolUseID: model.SafeName(b.Result.ID, 128), Content: b.Result.Output, IsError: b.Result.IsError}
		if r.IsError && strings.TrimSpace(r.Content) == "" {
			r.Content = "(no output)" // an error without content is refused
		}
		return r
	case b.Raw != nil:
		if b.Raw.Provider != provider {
			return nil
		}
		return b.Raw.JSON
	case strings.TrimSpace(b.Text) == "":
		return nil
	case prefill:
		return &block{Type: "text", Text: strings.TrimRight(b.Text, " \t\r\n")}
	}
	return &block{Type: "text", Text: b.Text}
}
