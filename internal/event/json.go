package event

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// head is what every line of the stream begins with.
type head struct {
	V     int    `json:"v"`
	Seq   int    `json:"seq"`
	Time  string `json:"time"`
	Type  string `json:"type"`
	Agent string `json:"agent,omitempty"`
}

// MarshalJSON gives the flat form {"v":1,"seq":…,"time":…,"type":…,"agent"?,…}
// with the body's fields beside the head's. Time is RFC 3339 in UTC. Call it
// through AppendLine where the bytes go to a file or pipe: json.Marshal
// escapes <, > and & again.
func (e Event) MarshalJSON() ([]byte, error) { return e.AppendLine(nil) }

// AppendLine appends the event as one line of JSON, without a newline.
func (e Event) AppendLine(dst []byte) ([]byte, error) {
	if e.Body == nil {
		return dst, fmt.Errorf("event %d: no body", e.Seq)
	}
	front, err := Encode(head{V: Version, Seq: e.Seq, Time: e.Time.UTC().Format(time.RFC3339Nano), Type: e.Body.Type(), Agent: e.Agent})
	if err != nil {
		return dst, fmt.Errorf("event %d: %w", e.Seq, err)
	}
	body, err := Encode(e.Body)
	if err != nil {
		return dst, fmt.Errorf("event %d (%s): %w", e.Seq, e.Body.Type(), err)
	}
	dst = append(dst, front[:len(front)-1]...)
	if len(body) > 2 { // "{}" adds nothing
		dst = append(dst, ',')
		dst = append(dst, body[1:]...)
		return dst, nil
	}
	return append(dst, '}'), nil
}

// Encode gives v as one line of JSON without a newline and without HTML
// escapes: the form of everything that a run prints.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// list makes nil the empty list: consumers never meet null for a list.
func list[T any](l []T) []T {
	if l == nil {
		return []T{}
	}
	return l
}

// raw makes what is no JSON null, so that one broken value cannot take a
// whole line with it.
func raw(m json.RawMessage) json.RawMessage {
	if !json.Valid(m) {
		return nil
	}
	return m
}

// MarshalJSON fills empty lists in.
func (d Decision) MarshalJSON() ([]byte, error) {
	type plain Decision // without this method
	return Encode(plain(d.filled()))
}

func (d Decision) filled() Decision {
	d.Segments = list(d.Segments)
	d.Input = raw(d.Input)
	return d
}

// MarshalJSON gives the decision's fields and the agent beside them.
func (d Denial) MarshalJSON() ([]byte, error) {
	type plain Decision
	return Encode(struct {
		plain
		Agent string `json:"agent"`
	}{plain(d.Decision.filled()), d.Agent})
}

// MarshalJSON fills empty lists in.
func (b Init) MarshalJSON() ([]byte, error) {
	type plain Init
	b.Tools, b.Servers, b.Skills = list(b.Tools), list(b.Servers), list(b.Skills)
	return Encode(plain(b))
}

// MarshalJSON fills empty lists in.
func (b Assistant) MarshalJSON() ([]byte, error) {
	type plain Assistant
	b.Calls = list(b.Calls)
	return Encode(plain(b))
}

// MarshalJSON gives null for an input that is no JSON.
func (c Call) MarshalJSON() ([]byte, error) {
	type plain Call
	c.Input = raw(c.Input)
	return Encode(plain(c))
}

// MarshalJSON gives null for an input that is no JSON.
func (b ToolStart) MarshalJSON() ([]byte, error) {
	type plain ToolStart
	b.Input = raw(b.Input)
	return Encode(plain(b))
}

// MarshalJSON fills empty lists and the schema's number in.
func (b Result) MarshalJSON() ([]byte, error) {
	type plain Result
	b.Schema = Version
	b.Denials, b.Notices = list(b.Denials), list(b.Notices)
	return Encode(plain(b))
}
