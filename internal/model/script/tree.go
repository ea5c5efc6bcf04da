package script

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// tree is a call's input with each string a template. Keys keep their order
// and numbers their text.
type tree any // template | object | list | json.RawMessage (number, bool, null)

type object []member

type member struct {
	key   string
	value tree
}

type list []tree

// maxDepth bounds recursion; load allows no deeper input either.
const maxDepth = 64

// parseTree reads input, an object; nothing is an empty one.
func parseTree(input json.RawMessage) (tree, error) {
	if len(bytes.TrimSpace(input)) == 0 {
		return object{}, nil
	}
	dec := json.NewDecoder(bytes.NewReader(input))
	dec.UseNumber()
	v, err := readValue(dec, 0)
	if err != nil {
		return nil, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("more than one JSON value")
	}
	if _, ok := v.(object); !ok {
		return nil, fmt.Errorf("no JSON object")
	}
	return v, nil
}

func readValue(dec *json.Decoder, depth int) (tree, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("nested deeper than %d", maxDepth)
	}
	tok, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch v := tok.(type) {
	case json.Delim:
		if v == '{' {
			return readObject(dec, depth)
		}
		return readList(dec, depth)
	case string:
		t, err := parse(v)
		if err != nil {
			return nil, err
		}
		return t, nil
	default: // json.Number, bool, nil
		data, err := json.Marshal(v)
		return json.RawMessage(data), err
	}
}

func readObject(dec *json.Decoder, depth int) (tree, error) {
	out := object{}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, err
		}
		v, err := readValue(dec, depth+1)
		if err != nil {
			return nil, fmt.Errorf("%v: %w", key, err)
		}
		out = append(out, member{key.(string), v})
	}
	_, err := dec.Token() // }
	return out, err
}

func readList(dec *json.Decoder, depth int) (tree, error) {
	out := list{}
	for dec.More() {
		v, err := readValue(dec, depth+1)
		if err != nil {
			return nil, fmt.Errorf("%d: %w", len(out), err)
		}
		out = append(out, v)
	}
	_, err := dec.Token() // ]
	return out, err
}

// expand writes t as JSON with its templates filled.
func expand(t tree, at moment, room *int) (json.RawMessage, error) {
	var b bytes.Buffer
	if err := write(&b, t, at, room); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func write(b *bytes.Buffer, t tree, at moment, room *int) error {
	switch v := t.(type) {
	case template:
		s, err := v.expand(at, room)
		if err != nil {
			return err
		}
		return writeString(b, s)
	case object:
		b.WriteByte('{')
		for i, m := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := writeString(b, m.key); err != nil {
				return err
			}
			b.WriteByte(':')
			if err := write(b, m.value, at, room); err != nil {
				return fmt.Errorf("%s: %w", m.key, err)
			}
		}
		b.WriteByte('}')
	case list:
		b.WriteByte('[')
		for i, e := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := write(b, e, at, room); err != nil {
				return fmt.Errorf("%d: %w", i, err)
			}
		}
		b.WriteByte(']')
	case json.RawMessage:
		b.Write(v)
	}
	return nil
}

func writeString(b *bytes.Buffer, s string) error {
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return err
	}
	b.Truncate(b.Len() - 1) // the encoder's line end
	return nil
}
