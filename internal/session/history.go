package session

import (
	"fmt"
	"strings"

	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/model"
)

// History gives the conversation as a model is sent it: what a compaction has
// replaced is gone, calls that a crash left without a result are answered.
func (s *Session) History() []model.Message {
	var h history
	for _, e := range s.Entries {
		if e.Event.Agent == "" {
			h.take(e.Event.Body)
		}
	}
	return model.Repair(h.messages)
}

type history struct {
	messages []model.Message
	// open are the calls of the last answer that have no result yet.
	open map[string]string
	// summary is the text of a compaction that the next user entry may repeat.
	summary string
}

func (h *history) take(b event.Body) {
	switch b := b.(type) {
	case event.User:
		if h.summary != "" && b.Generated && strings.Contains(b.Text, h.summary) {
			h.messages = nil
		}
		h.summary = ""
		h.say(model.Block{Text: b.Text})
	case event.Assistant:
		h.messages = append(h.messages, answer(b))
		h.open = map[string]string{}
		for _, c := range b.Calls {
			h.open[c.ID] = c.Tool
		}
	case event.ToolEnd:
		h.result(b)
	case event.Aged:
		h.age(b)
	case event.Compacted:
		if b.Summary != "" {
			h.messages, h.open, h.summary = nil, nil, b.Summary
			h.say(model.Block{Text: b.Summary})
		}
	case Cleared:
		h.messages, h.open, h.summary = nil, nil, ""
	case Undone:
		h.say(model.Block{Text: "<system-note>\n" + b.Note + "\n</system-note>"})
	}
}

// age puts the lines in place of old results. An id that no result has, or no
// longer, is passed over.
func (h *history) age(b event.Aged) {
	lines := map[string]string{}
	for _, r := range b.Results {
		lines[r.ID] = r.Output
	}
	for _, m := range h.messages {
		for _, block := range m.Blocks {
			if block.Result == nil {
				continue
			}
			if line, ok := lines[block.Result.ID]; ok {
				block.Result.Output = line
			}
		}
	}
}

// say adds to the user's side, as the loop does.
func (h *history) say(blocks ...model.Block) {
	if n := len(h.messages); n > 0 && h.messages[n-1].Role == model.User {
		h.messages[n-1].Blocks = append(h.messages[n-1].Blocks, blocks...)
		return
	}
	h.messages = append(h.messages, model.Message{Role: model.User, Blocks: blocks})
}

// result takes the answer to a call of the conversation; one that a tool made
// within its own call is not part of it.
func (h *history) result(b event.ToolEnd) {
	tool, ok := h.open[b.ID]
	if !ok {
		return
	}
	delete(h.open, b.ID)
	r := &model.Result{ID: b.ID, Tool: tool, Output: b.Output, IsError: b.IsError}
	for _, i := range b.Images { // the bytes are not in the log
		r.Output += fmt.Sprintf("\n[an image was shown here: %s, %d bytes; read the file again to see it]", i.MediaType, i.Bytes)
	}
	h.say(model.Block{Result: r})
}

// answer is the model's message again, block by block where the log has that.
func answer(b event.Assistant) model.Message {
	m := model.Message{Role: model.Assistant}
	calls := map[string]event.Call{}
	for _, c := range b.Calls {
		calls[c.ID] = c
	}
	if len(b.Parts) == 0 {
		if b.Text != "" {
			m.Blocks = append(m.Blocks, model.Block{Text: b.Text})
		}
		for _, c := range b.Calls {
			m.Blocks = append(m.Blocks, callBlock(c))
		}
		return m
	}
	for _, p := range b.Parts {
		switch c, ok := calls[p.Call]; {
		case p.Call != "" && ok:
			m.Blocks = append(m.Blocks, callBlock(c))
			delete(calls, p.Call)
		case p.Raw != nil:
			m.Blocks = append(m.Blocks, model.Block{Raw: rawOf(p)})
		case p.Text != "":
			m.Blocks = append(m.Blocks, model.Block{Text: p.Text})
		}
	}
	for _, c := range b.Calls { // a call that no part names must not get lost
		if _, left := calls[c.ID]; left {
			m.Blocks = append(m.Blocks, callBlock(c))
		}
	}
	return m
}

func callBlock(c event.Call) model.Block {
	out := &model.Call{ID: c.ID, Tool: c.Tool, Input: c.Input, Broken: c.Broken, Extra: c.Extra}
	if string(c.Input) == "null" {
		out.Input = nil
	}
	return model.Block{Call: out}
}

func rawOf(p event.Part) *model.Raw {
	return &model.Raw{Provider: p.Provider, Model: p.Model, JSON: p.Raw}
}
