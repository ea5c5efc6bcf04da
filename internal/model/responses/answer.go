package responses

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/model"
	"larva.dev/larva/internal/model/wire"
)

// maxItems bounds one answer; no real one comes near it.
const maxItems = 512

// answer collects one streamed response. It belongs to the goroutine that
// reads the stream.
type answer struct {
	provider string
	asked    string // the model's name
	number   int    // of the request, for ids that the service leaves out
	on       func(model.Delta)

	items   map[int]*item
	said    strings.Builder // text and refusal, as streamed
	size    int             // bytes kept
	usage   event.Usage
	model   string
	status  string
	reason  string // of an incomplete one
	refused bool
	began   bool
	done    bool
}

// item is one of the answer's as it grows.
type item struct {
	fields  raw // as last sent whole
	text    strings.Builder
	args    strings.Builder
	thought bool // some of its reasoning was shown
	whole   bool // its end was sent
}

type streamEvent struct {
	Type      string          `json:"type"`
	Index     int             `json:"output_index"`
	Summary   int             `json:"summary_index"`
	Item      raw             `json:"item"`
	Delta     json.RawMessage `json:"delta"`
	Arguments json.RawMessage `json:"arguments"`
	Response  struct {
		Model      string          `json:"model"`
		Status     string          `json:"status"`
		Error      json.RawMessage `json:"error"`
		Output     []raw           `json:"output"`
		Incomplete struct {
			Reason string `json:"reason"`
		} `json:"incomplete_details"`
		Usage *struct {
			Input   int `json:"input_tokens"`
			Output  int `json:"output_tokens"`
			Details struct {
				Cached  int `json:"cached_tokens"`
				Written int `json:"cache_write_tokens"`
			} `json:"input_tokens_details"`
		} `json:"usage"`
	} `json:"response"`
}

// event takes in the data of one event.
func (a *answer) event(data []byte) error {
	if len(data) == 0 || bytes.HasPrefix(data, []byte("[DONE]")) {
		return nil
	}
	var e streamEvent
	if err := json.Unmarshal(data, &e); err != nil {
		return &model.Error{Message: "the stream holds an event that is no JSON of the protocol: " + err.Error()}
	}
	if e.Type == "error" || e.Type == "" {
		return wire.Reported(data)
	}
	a.began = true
	if e.Response.Model != "" {
		a.model = e.Response.Model
	}
	switch e.Type {
	case "response.output_item.added", "response.output_item.done":
		return a.put(e.Index, e.Item, e.Type == "response.output_item.done")
	case "response.output_text.delta":
		return a.grow(e.Index, func(i *item, s string) { a.say(i, s) }, e.Delta)
	case "response.refusal.delta":
		a.refused = true
		return a.grow(e.Index, func(i *item, s string) { a.say(i, s) }, e.Delta)
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		return a.grow(e.Index, func(i *item, s string) { i.thought = true; a.think(s) }, e.Delta)
	case "response.reasoning_summary_part.added":
		if e.Summary > 0 {
			a.think("\n\n")
		}
	case "response.function_call_arguments.delta":
		return a.grow(e.Index, func(i *item, s string) { i.args.WriteString(s) }, e.Delta)
	case "response.completed", "response.incomplete", "response.failed":
		return a.end(e)
	}
	return nil // what is shown elsewhere too, and what is not known yet
}

// at is the item of an index, made where it is new.
func (a *answer) at(index int) (*item, error) {
	if i := a.items[index]; i != nil {
		return i, nil
	}
	if len(a.items) >= maxItems {
		return nil, &model.Error{Message: fmt.Sprintf("the answer holds more than %d items", maxItems)}
	}
	if a.items == nil {
		a.items = map[int]*item{}
	}
	a.items[index] = &item{}
	return a.items[index], nil
}

func (a *answer) put(index int, fields raw, whole bool) error {
	i, err := a.at(index)
	if err != nil {
		return err
	}
	if i.whole && !whole {
		return nil // repeated late; the end says more
	}
	i.fields, i.whole = fields, whole
	for k, v := range fields {
		a.size += len(k) + len(v)
	}
	return a.bounded()
}

func (a *answer) grow(index int, add func(*item, string), delta json.RawMessage) error {
	i, err := a.at(index)
	if err != nil {
		return err
	}
	s := text(delta)
	a.size += len(s)
	add(i, s)
	return a.bounded()
}

func (a *answer) bounded() error {
	if a.size > wire.MaxContent {
		return wire.ErrTooLarge
	}
	return nil
}

func (a *answer) say(i *item, s string) {
	i.text.WriteString(s)
	a.said.WriteString(s)
	if s != "" && a.on != nil {
		a.on(model.Delta{Text: s})
	}
}

func (a *answer) think(s string) {
	if s != "" && a.on != nil {
		a.on(model.Delta{Text: s, Thinking: true})
	}
}

// end takes in the last event.
func (a *answer) end(e streamEvent) error {
	r := e.Response
	if e.Type == "response.failed" || filled(r.Error) {
		return wire.Reported([]byte(`{"error":` + string(orNull(r.Error)) + `}`))
	}
	a.done, a.status, a.reason = true, r.Status, r.Incomplete.Reason
	if e.Type == "response.incomplete" {
		a.status = "incomplete"
	}
	if u := r.Usage; u != nil {
		cached := min(u.Details.Cached, u.Input)
		written := min(u.Details.Written, u.Input-cached)
		a.usage = event.Usage{InputTokens: u.Input - cached - written, OutputTokens: u.Output, CacheReadTokens: cached, CacheWriteTokens: written}
	}
	// Some services stream no items and send all of them at the end.
	for n, fields := range r.Output {
		if i := a.items[n]; i == nil || !i.whole {
			if err := a.put(n, fields, true); err != nil {
				return err
			}
		}
	}
	return nil
}

func orNull(v json.RawMessage) json.RawMessage {
	if len(v) == 0 {
		return json.RawMessage("null")
	}
	return v
}

// result is the whole answer.
func (a *answer) result() *model.Answer {
	order := make([]int, 0, len(a.items))
	for n := range a.items {
		order = append(order, n)
	}
	slices.Sort(order)
	out := &model.Answer{Message: model.Message{Role: model.Assistant}, Usage: a.usage, Model: a.model}
	if out.Model == "" {
		out.Model = a.asked
	}
	calls := map[string]bool{}
	for _, n := range order {
		for _, b := range a.blocks(a.items[n]) {
			if c := b.Call; c != nil {
				if c.ID == "" || calls[c.ID] {
					c.ID = fmt.Sprintf("call_%d_%d", a.number, n+1)
				}
				calls[c.ID] = true
			}
			out.Message.Blocks = append(out.Message.Blocks, b)
		}
	}
	out.Stop = a.stop(len(calls) > 0)
	return out
}

func (a *answer) stop(calls bool) model.Stop {
	switch {
	case a.refused, a.reason == "content_filter":
		return model.Refusal
	case a.reason == "max_output_tokens", a.reason == "max_tokens":
		return model.MaxTokens
	case a.status == "incomplete":
		return model.Other
	case calls:
		return model.ToolUse
	}
	return model.EndTurn
}

// blocks is what an item is in the transcript: a call, a text with what else
// stood in its item before it, or the item itself where only its model
// understands it.
func (a *answer) blocks(i *item) []model.Block {
	switch kind := text(i.fields["type"]); kind {
	case "function_call":
		return []model.Block{{Call: a.call(i)}}
	case "message", "":
		return a.message(i)
	}
	if !i.thought {
		a.think(summary(i.fields)) // it came whole
	}
	return []model.Block{{Raw: a.raw(i.fields, "status")}}
}

// raw is an opaque block of the fields that are not null, without some.
func (a *answer) raw(fields raw, without ...string) *model.Raw {
	keep := raw{}
	for k, v := range fields {
		if string(v) != "null" && !slices.Contains(without, k) {
			keep[k] = v
		}
	}
	data, _ := json.Marshal(keep) // RawMessages out of valid JSON
	return &model.Raw{Provider: a.provider, Model: a.asked, JSON: data}
}

func (a *answer) message(i *item) []model.Block {
	if i.text.Len() == 0 {
		a.whole(i)
	}
	if i.text.Len() == 0 {
		return nil
	}
	var out []model.Block
	// The phase of a text is told by its item; ids are of no use to a service
	// that stores nothing.
	if label := a.raw(i.fields, "id", "status", "role", "content"); len(label.JSON) > len(`{"type":"message"}`) && i.fields != nil {
		out = append(out, model.Block{Raw: label})
	}
	return append(out, model.Block{Text: i.text.String()})
}

// whole says the text of an item that came without deltas.
func (a *answer) whole(i *item) {
	var parts []struct {
		Type    string `json:"type"`
		Text    string `json:"text"`
		Refusal string `json:"refusal"`
	}
	if json.Unmarshal(i.fields["content"], &parts) != nil {
		return
	}
	for _, p := range parts {
		switch p.Type {
		case "output_text", "text":
			a.say(i, p.Text)
		case "refusal":
			a.refused = true
			a.say(i, p.Refusal)
		}
	}
}

// summary is the readable part of a reasoning item.
func summary(fields raw) string {
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(fields["summary"], &parts) != nil {
		return ""
	}
	var texts []string
	for _, p := range parts {
		texts = append(texts, p.Text)
	}
	return strings.Join(texts, "\n\n")
}

func (a *answer) call(i *item) *model.Call {
	c := &model.Call{ID: text(i.fields["call_id"]), Tool: text(i.fields["name"])}
	written := i.args.String()
	if whole := text(i.fields["arguments"]); i.whole && whole != "" {
		written = whole
	}
	c.Input, c.Broken = model.Input(written)
	known := []string{"type", "id", "call_id", "name", "arguments", "status"}
	others := raw{}
	for k, v := range i.fields {
		if string(v) != "null" && !slices.Contains(known, k) {
			others[k] = v
		}
	}
	if len(others) > 0 {
		c.Extra, _ = json.Marshal(extra{a.provider, a.asked, others})
	}
	return c
}
