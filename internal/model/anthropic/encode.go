package anthropic

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"larva.dev/larva/internal/model"
	"larva.dev/larva/internal/model/wire"
	"larva.dev/larva/internal/tool"
)

// maxName is the longest name or id that the protocol takes.
const maxName = 128

type cacheControl struct {
	Type string `json:"type"`
}

type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text,omitempty"`
	Source    *source         `json:"source,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	ToolUseID string          `json:"tool_use_id,omitempty"`
	Content   any             `json:"content,omitempty"` // a text, or []*block beside images
	IsError   bool            `json:"is_error,omitempty"`
	Cache     *cacheControl   `json:"cache_control,omitempty"`
}

type source struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      string `json:"data"`
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

// encoded is one request and what the client has to know of it.
type encoded struct {
	body  json.RawMessage
	extra []wire.Extra // the fields that a service may refuse
	own   int          // how many of the model's own blocks go back to it
	// interleaved says that the model may think between its calls, which older
	// ones do only when a header asks for it.
	interleaved bool
	// clash is the param that rules thinking out, "" for none.
	clash string
}

// encode writes the request. Blocks of the model's own in the first forget
// messages are left out.
func encode(o Options, x *wire.Extras, req model.Request, forget int) (encoded, error) {
	var e encoded
	cache := &cacheControl{"ephemeral"}
	list := e.messages(o.Name, req, forget)
	own := map[string]any{"model": req.Model, "stream": true, "messages": list}
	tools := specs(req.Tools)
	if len(tools) > 0 {
		tools[len(tools)-1].Cache = cache
		own["tools"] = tools
	}
	if strings.TrimSpace(req.System) != "" {
		own["system"] = []block{{Type: "text", Text: req.System, Cache: cache}}
	}
	mark(list, cache)
	e.think(o, x, req, list, own)
	var err error
	e.body, err = model.Body(o.Name+"/"+o.Model, own, req.Params)
	return e, err
}

func specs(in []tool.Spec) []toolSpec {
	var out []toolSpec
	for _, t := range in {
		s := toolSpec{Name: t.Name, Description: t.Description, Schema: t.Schema}
		if len(s.Schema) == 0 {
			s.Schema = json.RawMessage(`{"type":"object"}`)
		}
		out = append(out, s)
	}
	return out
}

// mark sets the moving cache marks, two of the four that a request may have:
// the last message, which the next request repeats, and the user message
// before it, where the last request left its own. A service looks back only
// some twenty blocks from a mark, and one batch of calls can be longer.
func mark(list []message, cache *cacheControl) {
	left := 2
	for i := len(list) - 1; i >= 0 && left > 0; i-- {
		if i < len(list)-1 && list[i].Role != string(model.User) {
			continue
		}
		left--
		for n := len(list[i].Content) - 1; n >= 0; n-- {
			if b, ok := list[i].Content[n].(*block); ok {
				b.Cache = cache
				break
			}
		}
	}
}

func (e *encoded) messages(provider string, req model.Request, forget int) []message {
	repaired := model.Repair(model.Forget(req.Messages, forget))
	out := make([]message, 0, len(repaired))
	for i, m := range repaired {
		last := i == len(repaired)-1
		msg := message{Role: string(m.Role)}
		var behind []any // images of failed results: those may hold text only
		for _, b := range m.Blocks {
			if b.Raw != nil && b.Raw.Of(provider, req.Model) {
				e.own++
				msg.Content = append(msg.Content, b.Raw.JSON)
				continue
			}
			if b.Result != nil && b.Result.IsError {
				behind = append(behind, images(b.Result.Images)...)
			}
			if c := content(b, last && m.Role == model.Assistant); c != nil {
				msg.Content = append(msg.Content, c)
			}
		}
		msg.Content = append(msg.Content, behind...)
		if len(msg.Content) == 0 {
			// Blank text is refused, and so is a message without content.
			msg.Content = []any{&block{Type: "text", Text: "(empty)"}}
		}
		out = append(out, msg)
	}
	return out
}

// content is one block, or nil where there is nothing that may be sent. An
// assistant's last words may not end in white space.
func content(b model.Block, prefill bool) any {
	switch {
	case b.Call != nil:
		input := b.Call.Input
		if input == nil {
			input = json.RawMessage("{}") // it was broken; the result says so
		}
		return &block{Type: "tool_use", ID: model.SafeName(b.Call.ID, maxName), Name: model.SafeName(b.Call.Tool, maxName), Input: input}
	case b.Result != nil:
		return result(b.Result)
	case b.Image != nil:
		return image(*b.Image)
	case b.Raw != nil, strings.TrimSpace(b.Text) == "":
		return nil
	case prefill:
		return &block{Type: "text", Text: strings.TrimRight(b.Text, " \t\r\n")}
	}
	return &block{Type: "text", Text: b.Text}
}

func result(r *model.Result) *block {
	out := &block{Type: "tool_result", ToolUseID: model.SafeName(r.ID, maxName), IsError: r.IsError}
	if r.Output != "" {
		out.Content = r.Output
	}
	if r.IsError && strings.TrimSpace(r.Output) == "" {
		out.Content = "(no output)" // an error without content is refused
	}
	if len(r.Images) > 0 && !r.IsError {
		var parts []any
		if strings.TrimSpace(r.Output) != "" {
			parts = append(parts, &block{Type: "text", Text: r.Output})
		}
		out.Content = append(parts, images(r.Images)...)
	}
	return out
}

func images(in []tool.Image) []any {
	var out []any
	for _, i := range in {
		out = append(out, image(i))
	}
	return out
}

func image(i tool.Image) *block {
	return &block{Type: "image", Source: &source{"base64", i.MediaType, base64.StdEncoding.EncodeToString(i.Data)}}
}
