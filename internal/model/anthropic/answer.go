package anthropic

import (
	"encoding/json"
	"fmt"
	"strings"

	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/model"
	"larva.dev/larva/internal/model/wire"
)

// answer collects one streamed message. It belongs to the goroutine that
// reads the stream.
type answer struct {
	provider string
	asked    string // the model's name
	number   int    // of the request, for ids that the service leaves out
	on       func(model.Delta)

	blocks map[int]*part
	order  []int
	said   strings.Builder // the text so far
	size   int             // bytes kept in all blocks
	usage  event.Usage
	model  string
	stop   string
	began  bool
	done   bool
}

// part is one content block as it grows.
type part struct {
	kind  string
	start raw // the block as it began
	text  strings.Builder
	sign  strings.Builder
	args  strings.Builder
}

type usage struct {
	Input      int `json:"input_tokens"`
	Output     int `json:"output_tokens"`
	CacheRead  int `json:"cache_read_input_tokens"`
	CacheWrite int `json:"cache_creation_input_tokens"`
}

type streamEvent struct {
	Type    string `json:"type"`
	Index   int    `json:"index"`
	Message struct {
		Model string `json:"model"`
		Usage usage  `json:"usage"`
	} `json:"message"`
	Block raw `json:"content_block"`
	Delta struct {
		Type      string `json:"type"`
		Text      string `json:"text"`
		Thinking  string `json:"thinking"`
		Signature string `json:"signature"`
		JSON      string `json:"partial_json"`
		Stop      string `json:"stop_reason"`
	} `json:"delta"`
	Usage usage `json:"usage"`
}

// event takes in one event. Its name line is not looked at: gateways leave it
// out, and data repeats it.
func (a *answer) event(data []byte) error {
	if len(data) == 0 {
		return nil
	}
	var e streamEvent
	if err := json.Unmarshal(data, &e); err != nil {
		return &model.Error{Message: "the stream holds an event that is no JSON of the protocol: " + err.Error()}
	}
	switch e.Type {
	case "message_start":
		a.began = true
		a.model = e.Message.Model
		a.count(e.Message.Usage)
	case "content_block_start":
		return a.begin(e.Index, e.Block)
	case "content_block_delta":
		return a.grow(e)
	case "message_delta":
		if e.Delta.Stop != "" {
			a.stop = e.Delta.Stop
		}
		a.count(e.Usage)
	case "message_stop":
		a.done = true
	case "error":
		return failure(wire.Explain(data))
	}
	return nil // ping, content_block_stop, and what is not known yet
}

// count takes the numbers that say something: those of message_delta are
// totals, and services leave out, or send as 0, what they said before.
func (a *answer) count(u usage) {
	set := func(to *int, n int) {
		if n > 0 {
			*to = n
		}
	}
	set(&a.usage.InputTokens, u.Input)
	set(&a.usage.OutputTokens, u.Output)
	set(&a.usage.CacheReadTokens, u.CacheRead)
	set(&a.usage.CacheWriteTokens, u.CacheWrite)
}

func (a *answer) begin(index int, start raw) error {
	if a.blocks == nil {
		a.blocks = map[int]*part{}
	}
	if a.blocks[index] != nil {
		return &model.Error{Message: fmt.Sprintf("the stream begins block %d twice", index)}
	}
	p := &part{kind: text(start["type"]), start: start}
	a.blocks[index] = p
	a.order = append(a.order, index)
	for k, v := range start {
		a.size += len(k) + len(v)
	}
	switch p.kind {
	case "text":
		a.say(p, text(start["text"]))
	case "thinking":
		a.think(p, text(start["thinking"]))
		p.sign.WriteString(text(start["signature"]))
	}
	return a.bounded()
}

func (a *answer) grow(e streamEvent) error {
	p := a.blocks[e.Index]
	if p == nil {
		return &model.Error{Message: fmt.Sprintf("the stream continues block %d, which never began", e.Index)}
	}
	d := e.Delta
	a.size += len(d.Text) + len(d.Thinking) + len(d.Signature) + len(d.JSON)
	switch d.Type {
	case "text_delta":
		a.say(p, d.Text)
	case "thinking_delta":
		a.think(p, d.Thinking)
	case "signature_delta":
		p.sign.WriteString(d.Signature)
	case "input_json_delta":
		p.args.WriteString(d.JSON)
	}
	return a.bounded()
}

func (a *answer) bounded() error {
	if a.size > wire.MaxContent {
		return wire.ErrTooLarge
	}
	return nil
}

func (a *answer) say(p *part, s string) {
	p.text.WriteString(s)
	a.said.WriteString(s)
	if s != "" && a.on != nil {
		a.on(model.Delta{Text: s})
	}
}

func (a *answer) think(p *part, s string) {
	p.text.WriteString(s)
	if s != "" && a.on != nil {
		a.on(model.Delta{Text: s, Thinking: true})
	}
}

// result is the whole message.
func (a *answer) result() *model.Answer {
	out := &model.Answer{Message: model.Message{Role: model.Assistant}, Usage: a.usage, Model: a.model}
	if out.Model == "" {
		out.Model = a.asked
	}
	calls := map[string]bool{}
	for n, i := range a.order {
		b := a.blocks[i].block(a.provider, a.asked)
		if c := b.Call; c != nil {
			if c.ID == "" || calls[c.ID] {
				c.ID = fmt.Sprintf("call_%d_%d", a.number, n+1)
			}
			calls[c.ID] = true
		}
		if b.Call != nil || b.Raw != nil || b.Text != "" {
			out.Message.Blocks = append(out.Message.Blocks, b)
		}
	}
	out.Stop = stop(a.stop, len(calls) > 0)
	return out
}

func stop(reason string, calls bool) model.Stop {
	switch reason {
	case "max_tokens", "model_context_window_exceeded":
		return model.MaxTokens
	case "refusal":
		return model.Refusal
	}
	if calls {
		return model.ToolUse
	}
	switch reason {
	case "end_turn", "stop_sequence", "tool_use":
		return model.EndTurn
	}
	return model.Other
}

func (p *part) block(provider, asked string) model.Block {
	switch p.kind {
	case "text":
		return model.Block{Text: p.text.String()}
	case "tool_use":
		c := &model.Call{ID: text(p.start["id"]), Tool: text(p.start["name"])}
		written := p.args.String()
		if written == "" {
			written = string(p.start["input"]) // some gateways send it whole
		}
		c.Input, c.Broken = model.Input(written)
		return model.Block{Call: c}
	}
	return model.Block{Raw: &model.Raw{Provider: provider, Model: asked, JSON: p.opaque()}}
}

// opaque is a block that only its provider understands, whole again.
func (p *part) opaque() json.RawMessage {
	all := make(raw, len(p.start)+2)
	for k, v := range p.start {
		all[k] = v
	}
	if p.kind == "thinking" {
		all["thinking"] = quoted(p.text.String())
		all["signature"] = quoted(p.sign.String())
	}
	if args := p.args.String(); json.Valid([]byte(args)) {
		all["input"] = json.RawMessage(args)
	}
	data, _ := json.Marshal(all) // RawMessages out of valid JSON
	return data
}

func quoted(s string) json.RawMessage {
	data, _ := json.Marshal(s)
	return data
}

// text is a JSON string's value, "" for anything else.
func text(v json.RawMessage) string {
	var s string
	if json.Unmarshal(v, &s) != nil {
		return ""
	}
	return s
}

// failure is an error event within the stream: its type stands for the status
// that the service would have answered with.
func failure(kind, message string) error {
	status := map[string]int{
		"invalid_request_error": 400, "authentication_error": 401, "billing_error": 402, "permission_error": 403,
		"not_found_error": 404, "request_too_large": 413, "rate_limit_error": 429, "api_error": 500,
		"timeout_error": 504, "overloaded_error": 529,
	}[kind]
	if message == "" {
		message = kind
	}
	e := model.Refused("", status, kind, message, 0)
	e.Retryable = e.Retryable || status == 0
	return e
}
