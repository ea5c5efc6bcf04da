package spec

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// ToTree turns a Go value into a tree by way of encoding/json; numbers keep
// the form they were written in. A tree value comes back as it is.
func ToTree(v any) (any, error) {
	switch v := v.(type) {
	case nil, bool, string, Number:
		return v, nil
	case *Object:
		if v == nil {
			return nil, nil
		}
		return v, nil
	}
	return viaJSON(v)
}

func viaJSON(v any) (any, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode %T: %w", v, err)
	}
	p := parser{}
	return p.document(b.Bytes())
}

// deepTree is AppendCanonical's view of v as a tree, for the printers that
// need one: everything that is no tree value goes through canonical JSON, so
// both printers agree on every number.
func deepTree(v any) (any, error) {
	p := parser{}
	return p.document(AppendCanonical(nil, v))
}

// fromRaw parses raw JSON of others; what does not parse becomes its text.
func fromRaw(raw json.RawMessage) any {
	if len(raw) == 0 {
		return nil
	}
	p := parser{}
	v, err := p.document(raw)
	if err != nil {
		return strings.ToValidUTF8(string(raw), "\ufffd")
	}
	return v
}

// MarshalJSON writes the number as it was written.
func (n Number) MarshalJSON() ([]byte, error) { return []byte(n), nil }

// MarshalJSON writes the members in their own order.
func (o *Object) MarshalJSON() ([]byte, error) {
	if o == nil {
		return []byte("null"), nil
	}
	b := []byte{'{'}
	for i, m := range o.Members {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendASCII(b, m.Key), ':')
		v, err := json.Marshal(m.Value)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", m.Key, err)
		}
		b = append(b, v...)
	}
	return append(b, '}'), nil
}

// UnmarshalJSON reads an object under Parse's rules.
func (o *Object) UnmarshalJSON(data []byte) error {
	v, err := ParseObject(data)
	if err != nil {
		return err
	}
	*o = *v
	return nil
}

// FromObject gives a checked spec in Go's own types, with its digest. Fields
// of another type than Check demands are left out.
func FromObject(o *Object) *Persona {
	p := &Persona{
		ID: o.String("id"), Description: o.String("description"), Prompt: o.String("prompt"),
		Model: o.String("model"), SpecVersion: o.String("spec_version"),
		Capabilities: map[string]string{}, Digest: Digest(o),
	}
	if v, _ := o.Get("capabilities"); v != nil {
		if caps, ok := v.(*Object); ok {
			for _, m := range caps.Members {
				p.Capabilities[m.Key], _ = m.Value.(string)
			}
		}
	}
	if v, _ := o.Get("model_params"); v != nil {
		p.ModelParams, _ = v.(*Object)
	}
	if v, ok := o.Get("compaction_prompt"); ok {
		if s, ok := v.(string); ok {
			p.CompactionPrompt = &s
		}
	}
	if v, ok := o.Get("can_spawn"); ok {
		p.CanSpawn = canSpawn(v)
	}
	return p
}

func canSpawn(v any) *CanSpawn {
	switch v := v.(type) {
	case bool:
		return &CanSpawn{All: v}
	case []any:
		c := &CanSpawn{IDs: make([]string, 0, len(v))}
		for _, item := range v {
			if id, ok := item.(string); ok {
				c.IDs = append(c.IDs, id)
			}
		}
		return c
	}
	return nil
}
