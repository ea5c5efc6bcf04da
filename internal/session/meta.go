package session

import (
	"encoding/json"

	"larva.dev/larva/internal/event"
)

// What a session file holds beside the events of a run.
type (
	// Meta is the first line: what a later run needs to go on with no more
	// power than this one had.
	Meta struct {
		SessionID string           `json:"session_id"`
		Cwd       string           `json:"cwd"`
		Project   string           `json:"project"`
		Persona   event.PersonaRef `json:"persona"`
		// Named is the persona as the person named it: an id or a path.
		Named string `json:"named"`
		// Spec is the whole PersonaSpec that the session runs: its prompt, and
		// its ceiling in capabilities and can_spawn.
		Spec    json.RawMessage `json:"spec"`
		Mode    string          `json:"mode"`
		Model   string          `json:"model"` // provider/model
		Label   string          `json:"label"` // --model, "" where the persona's own was used
		Profile string          `json:"profile"`
		// Overridden says that --override made Spec another than the persona's.
		Overridden bool `json:"overridden,omitempty"`
		// Ask and Deny are rules of the command line: they bind later runs too.
		Ask  []string `json:"ask"`
		Deny []string `json:"deny"`
		// Definition is the agent file that the persona was read of, as it was
		// then, "" for none: its lists of tools bind the session.
		Definition string `json:"definition,omitempty"`
		// ForkedFrom names the session and the entry that this one was cut from.
		ForkedFrom *Cut `json:"forked_from,omitempty"`
	}
	// Cut is a place in another session.
	Cut struct {
		Session string `json:"session"`
		Entry   int    `json:"entry"`
	}
	// Changed says who the person talks to from here on, and how: a chat can
	// change that between turns. What it says takes the place of the Meta's.
	Changed struct {
		Persona    event.PersonaRef `json:"persona"`
		Named      string           `json:"named"`
		Spec       json.RawMessage  `json:"spec"`
		Mode       string           `json:"mode"`
		Model      string           `json:"model"`
		Label      string           `json:"label"`
		Definition string           `json:"definition,omitempty"`
	}
	// Cleared empties the conversation; what stands before it stays readable.
	Cleared struct{}
	// Recovery stands behind a line that a crash has torn.
	Recovery struct {
		Bytes int `json:"bytes"` // of the torn line
	}
	// Undone says that files were put back. Note is what the model is told.
	Undone struct {
		Turns    []int    `json:"turns"`
		Restored []string `json:"restored"`
		Removed  []string `json:"removed"`
		Note     string   `json:"note"`
	}
)

// Type names of the entries.
func (Meta) Type() string     { return "meta" }
func (Recovery) Type() string { return "recovery" }
func (Undone) Type() string   { return "undo" }
func (Changed) Type() string  { return "change" }
func (Cleared) Type() string  { return "clear" }

// Change gives what m says of the person's agent.
func (m Meta) Change() Changed {
	return Changed{Persona: m.Persona, Named: m.Named, Spec: m.Spec, Mode: m.Mode, Model: m.Model, Label: m.Label, Definition: m.Definition}
}

// behind is m as it is behind c.
func (m Meta) behind(c Changed) Meta {
	if c.Persona != m.Persona {
		m.Overridden = false
	}
	m.Persona, m.Named, m.Spec, m.Mode, m.Model, m.Label, m.Definition = c.Persona, c.Named, c.Spec, c.Mode, c.Model, c.Label, c.Definition
	return m
}

// MarshalJSON fills empty lists in.
func (m Meta) MarshalJSON() ([]byte, error) {
	type plain Meta
	m.Ask, m.Deny = list(m.Ask), list(m.Deny)
	return event.Encode(plain(m))
}

// MarshalJSON fills empty lists in.
func (u Undone) MarshalJSON() ([]byte, error) {
	type plain Undone
	u.Turns, u.Restored, u.Removed = list(u.Turns), list(u.Restored), list(u.Removed)
	return event.Encode(plain(u))
}

func list[T any](l []T) []T {
	if l == nil {
		return []T{}
	}
	return l
}

// logged says which events a file keeps: streamed pieces are not among them,
// the whole text follows.
func logged(b event.Body) bool {
	switch b.(type) {
	case event.TextDelta, event.ThinkingDelta:
		return false
	}
	return b != nil
}
