package session

import (
	"encoding/json"
	"time"

	"larva.dev/larva/internal/event"
)

// Transcript is a session as a person reads it: every prompt, answer, call,
// decision and result, in order.
type Transcript struct {
	Session Summary `json:"session"`
	Steps   []Step  `json:"steps"`
}

// Step is one thing that happened; Kind says which of the other fields count.
type Step struct {
	// Kind is run, prompt, note (a user message that nobody typed), answer,
	// call, compacted, notice, error, undo or end.
	Kind  string    `json:"kind"`
	Time  time.Time `json:"time"`
	Agent string    `json:"agent,omitempty"` // "" for the main one
	// Prompt is a typed prompt's number, from 1: what --fork ID@N cuts before.
	Prompt int    `json:"prompt,omitempty"`
	Text   string `json:"text,omitempty"`
	Call   *Call  `json:"call,omitempty"`
	// Init and End are those of the run.
	Init *event.Init   `json:"init,omitempty"`
	End  *event.Result `json:"end,omitempty"`
}

// Call is a tool call from the model's wish to the result.
type Call struct {
	ID    string          `json:"id"`
	Tool  string          `json:"tool"`
	Input json.RawMessage `json:"input"`
	// Ran is the input as it ran, where a hook or a repair made it another.
	Ran json.RawMessage `json:"ran,omitempty"`
	// Broken is what the model wrote in place of an input.
	Broken   string          `json:"broken,omitempty"`
	Decision *event.Decision `json:"decision"` // null where the call never reached permission
	Answer   *event.Answer   `json:"answer,omitempty"`
	Started  bool            `json:"started"`
	// Result is null where the run ended before the call did.
	Result *event.ToolEnd `json:"result"`
	// RawPath is the file with the whole output, where the result is a part.
	RawPath string `json:"raw_path,omitempty"`
}

// Transcript of the session.
func (s *Session) Transcript() Transcript {
	t := telling{open: map[string]*Call{}, raw: s.rawPath}
	for _, e := range s.Entries {
		t.take(e.Event)
	}
	if t.steps == nil {
		t.steps = []Step{}
	}
	return Transcript{Session: s.Summary(), Steps: t.steps}
}

type telling struct {
	steps   []Step
	prompts int
	open    map[string]*Call // by agent and id, of the last answer and of calls within calls
	raw     func(id string) string
}

func (t *telling) take(e event.Event) {
	s := Step{Time: e.Time.UTC(), Agent: e.Agent}
	switch b := e.Body.(type) {
	case event.Init:
		s.Kind, s.Init = "run", &b
	case event.User:
		s.Kind, s.Text = "prompt", b.Text
		if b.Generated || e.Agent != "" {
			s.Kind = "note"
		} else {
			t.prompts++
			s.Prompt = t.prompts
		}
	case event.Assistant:
		t.answer(s, b)
		return
	case event.Permission:
		c := t.call(s, b.ID, b.Decision.Tool, b.Decision.Input)
		c.Decision, c.Answer = &b.Decision, b.Answer
		return
	case event.ToolStart:
		t.start(s, b)
		return
	case event.ToolEnd:
		t.end(s, b)
		return
	case event.Compacted:
		s.Kind, s.Text = "compacted", b.Summary
	case event.Notice:
		s.Kind, s.Text = "notice", b.Text
	case event.Fault:
		s.Kind, s.Text = "error", b.Code+": "+b.Message
	case Undone:
		s.Kind, s.Text = "undo", b.Note
	case Changed:
		s.Kind, s.Text = "notice", "from here on: "+b.Persona.ID+" ("+b.Persona.Variant+") on "+b.Model+", mode "+b.Mode
	case Cleared:
		s.Kind, s.Text = "notice", "the conversation was cleared"
	case event.Result:
		s.Kind, s.End = "end", &b
	default:
		return
	}
	t.steps = append(t.steps, s)
}

func (t *telling) answer(s Step, b event.Assistant) {
	if b.Text != "" || len(b.Calls) == 0 {
		a := s
		a.Kind, a.Text = "answer", b.Text
		t.steps = append(t.steps, a)
	}
	for _, c := range b.Calls {
		delete(t.open, s.Agent+"\x00"+c.ID) // an id may come again in a later answer
		call := t.call(s, c.ID, c.Tool, c.Input)
		call.Broken = c.Broken
	}
}

// call finds the open call of an id, or begins one: a call that a tool made
// within its own stands in no answer.
func (t *telling) call(s Step, id, tool string, input json.RawMessage) *Call {
	key := s.Agent + "\x00" + id
	if c := t.open[key]; c != nil && c.Result == nil {
		return c
	}
	if len(input) == 0 {
		input = json.RawMessage("null")
	}
	c := &Call{ID: id, Tool: tool, Input: input}
	t.open[key] = c
	s.Kind, s.Call = "call", c
	t.steps = append(t.steps, s)
	return c
}

func (t *telling) start(s Step, b event.ToolStart) {
	c := t.call(s, b.ID, b.Tool, b.Input)
	c.Started = true
	if string(b.Input) != string(c.Input) && len(b.Input) > 0 {
		c.Ran = b.Input
	}
}

func (t *telling) end(s Step, b event.ToolEnd) {
	c := t.call(s, b.ID, b.Tool, nil)
	c.Result = &b
	if b.Decision != nil {
		c.Decision = b.Decision
	}
	if t.raw != nil {
		c.RawPath = t.raw(b.ID)
	}
}
