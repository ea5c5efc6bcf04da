package spec

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

var seeds = []string{
	`{}`, `[]`, `null`, `-0`, `1e5`, `"\ud83c\udf0a"`, `"\ud83c"`, `{"a":1,"a":2}`, "\ufeff1", `[1,]`, "\"\xff\"",
	`{"id":"a","model_params":{"temperature":0.5,"x":[1e16,{"y":-0.0}]},"can_spawn":["b"]}`,
	`99999999999999999999999999999999999999999999999999999999999999999`, `1e999`, `-`, `"`, `{"a":}`, "\x00",
}

// Parse never panics; what it takes, encoding/json takes too; what only
// encoding/json takes breaks one of our own, stricter rules.
func FuzzParse(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := Parse(data)
		if err == nil {
			if !json.Valid(data) {
				t.Fatalf("got %v for %q, want an error: it is no JSON", v, data)
			}
			return
		}
		var se *SyntaxError
		if !errors.As(err, &se) || se.Offset < 0 || se.Offset > len(data) || se.Line < 1 || se.Col < 1 {
			t.Fatalf("%q: got %#v, want an error with a place", data, err)
		}
		if json.Valid(data) && !strict(se.Message) {
			t.Fatalf("%q: got %v, but it is JSON within our rules", data, err)
		}
	})
}

// strict says whether a message is about a rule that JSON itself lacks.
func strict(message string) bool {
	for _, rule := range []string{"second time", "UTF-8", "surrogate", "too large", "digits;", "levels deep", "more than", "bytes;"} {
		if strings.Contains(message, rule) {
			return true
		}
	}
	return false
}

// Canonical JSON is a fixpoint, and every printer says the same value.
func FuzzCanonical(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := Parse(data)
		if err != nil {
			return
		}
		once := AppendCanonical(nil, v)
		for _, b := range once {
			if b < 0x20 || b > 0x7e {
				t.Fatalf("%q: got byte %#x in %q, want printable ASCII", data, b, once)
			}
		}
		for name, text := range map[string][]byte{"canonical": once, "pretty": AppendPretty(nil, v)} {
			back, err := Parse(text)
			if err != nil {
				t.Fatalf("%s of %q: %v", name, data, err)
			}
			if twice := AppendCanonical(nil, back); !bytes.Equal(once, twice) {
				t.Fatalf("%s of %q: got %q, want %q", name, data, twice, once)
			}
		}
		if o, ok := v.(*Object); ok {
			stored := AppendStored(nil, o, ContractFields)
			back, err := ParseObject(stored)
			if err != nil {
				t.Fatalf("stored %q: %v", stored, err)
			}
			if Digest(back) != Digest(o) {
				t.Fatalf("stored %q: got another digest than %q", stored, data)
			}
		}
	})
}

func BenchmarkSpec(b *testing.B) {
	text := []byte(`{"id":"code-reviewer","description":"Reviews code changes with read-focused tooling.","prompt":"` +
		strings.Repeat("Look at every line.\\n", 38) + `","model":"smart","capabilities":{"shell":"read_only","git":"read_only"},"spec_version":"0.1.0","model_params":{"temperature":0.2,"max_tokens":4096}}`)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		o, err := ParseObject(text)
		if err != nil {
			b.Fatal(err)
		}
		if Digest(o) == "" {
			b.Fatal("no digest")
		}
	}
}
