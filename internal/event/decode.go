package event

import (
	"encoding/json"
	"fmt"
	"time"
)

// Unknown is an event of a type that this build does not know. A consumer
// skips it; a writer that copies a stream keeps Line.
type Unknown struct {
	Name string
	Line json.RawMessage
}

// Type is the name as it was read.
func (u Unknown) Type() string { return u.Name }

// MarshalJSON refuses: the line is copied, not written anew.
func (u Unknown) MarshalJSON() ([]byte, error) {
	return nil, fmt.Errorf("type %s is not known here: copy its line", u.Name)
}

// Decode reads one line of a stream. A line of another schema version is an
// error; an unknown type gives an Unknown body.
func Decode(line []byte) (Event, error) {
	var h head
	if err := json.Unmarshal(line, &h); err != nil {
		return Event{}, fmt.Errorf("event: %w", err)
	}
	if h.V != Version {
		return Event{}, fmt.Errorf("event %d: schema version %d, this build reads %d", h.Seq, h.V, Version)
	}
	at, err := time.Parse(time.RFC3339Nano, h.Time)
	if err != nil {
		return Event{}, fmt.Errorf("event %d: time: %w", h.Seq, err)
	}
	body, err := decodeBody(h.Type, line)
	if err != nil {
		return Event{}, fmt.Errorf("event %d (%s): %w", h.Seq, h.Type, err)
	}
	return Event{Seq: h.Seq, Time: at, Agent: h.Agent, Body: body}, nil
}

func decodeBody(name string, line []byte) (Body, error) {
	switch name {
	case "init":
		return into[Init](line)
	case "user":
		return into[User](line)
	case "text_delta":
		return into[TextDelta](line)
	case "thinking_delta":
		return into[ThinkingDelta](line)
	case "assistant":
		return into[Assistant](line)
	case "permission":
		return into[Permission](line)
	case "tool_start":
		return into[ToolStart](line)
	case "tool_end":
		return into[ToolEnd](line)
	case "hook":
		return into[Hook](line)
	case "compacted":
		return into[Compacted](line)
	case "aged":
		return into[Aged](line)
	case "usage":
		return into[Spent](line)
	case "task_start":
		return into[TaskStart](line)
	case "task_end":
		return into[TaskEnd](line)
	case "notice":
		return into[Notice](line)
	case "error":
		return into[Fault](line)
	case "result":
		return into[Result](line)
	}
	return Unknown{Name: name, Line: append(json.RawMessage(nil), line...)}, nil
}

func into[T Body](line []byte) (Body, error) {
	var b T
	if err := json.Unmarshal(line, &b); err != nil {
		return nil, err
	}
	return b, nil
}
