package main

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"larva.dev/larva/internal/spec"
)

// mutants makes specs that are right, or wrong in one to three places. They
// are trees, not text that Parse has read: Check has to agree with CUE also
// on numbers that Parse would refuse.
type mutants struct{ *rand.Rand }

func newMutants(seed uint64) *mutants { return &mutants{rand.New(rand.NewPCG(seed, 7))} }

// tree reads a literal of this file.
func tree(text string) *spec.Object {
	o, err := spec.ParseObject([]byte(text))
	if err != nil {
		panic(text + ": " + err.Error())
	}
	return o
}

var seeds = []string{
	`{"id":"tide-clerk","description":"Keeps harbour tide tables.","prompt":"Record each tide.","model":"acme/gamma-2","capabilities":{"filesystem":"read_write"},"spec_version":"0.1.0"}`,
	`{"spec_version":"0.1.0","capabilities":{},"model":"m","prompt":"p","description":"d","id":"0"}`,
	`{"id":"a-b-c","description":"x","prompt":"y","model":"z","capabilities":{"shell":"none","git":"destructive","x":"read_only"},"spec_version":"0.1.0",
	  "model_params":{"temperature":0.5,"top_p":1,"top_k":4,"max_tokens":4096,"stop":["a"],"nested":{"b":null}},"can_spawn":["one","two"],"compaction_prompt":"","spec_digest":"sha256:0"}`,
	`{"id":"q","description":"x","prompt":"y","model":"z","capabilities":{"shell":"none"},"spec_version":"0.1.0","can_spawn":true,"model_params":{}}`,
}

// next gives a spec with n mutations, and what was done to it.
func (m *mutants) next(n int) (*spec.Object, string) {
	o := tree(seeds[m.IntN(len(seeds))])
	var did []string
	for range n {
		did = append(did, m.mutate(o))
	}
	return o, strings.Join(did, "; ")
}

func (m *mutants) mutate(o *spec.Object) string {
	fields := spec.Fields()
	f := fields[m.IntN(len(fields))]
	switch m.IntN(12) {
	case 0:
		o.Delete(f)
		return "delete " + f
	case 1:
		key := m.key()
		o.Set(key, m.value(2))
		return fmt.Sprintf("key %q", key)
	case 2, 3:
		o.Set("id", m.id())
		return "id"
	case 4, 5:
		f = []string{"description", "prompt", "model", "spec_version", "compaction_prompt", "spec_digest"}[m.IntN(6)]
		o.Set(f, m.text())
		return "text " + f
	case 6:
		o.Set("capabilities", m.capabilities())
		return "capabilities"
	case 7, 8:
		o.Set("model_params", m.params())
		return "model_params"
	case 9, 10:
		o.Set("can_spawn", m.spawn())
		return "can_spawn"
	}
	o.Set(f, m.value(2))
	return "value " + f
}

func pick[T any](m *mutants, of ...T) T { return of[m.IntN(len(of))] }

func (m *mutants) key() string {
	return pick(m, "tools", "side_effect_policy", "variant", "_registry", "active", "manifest", "base", "Id", "id ", "ID",
		"_x", "#y", "_#z", "$schema", "", " ", "a.b", "modle", "__proto__", "x\ny", "é", "0", "true", "id\u0000", "capabilities.shell", "\u2028")
}

// spaces are white space to Unicode; almost are code points that look it.
var (
	spaces = []string{" ", "\t", "\n", "\v", "\f", "\r", "\u0085", "\u00a0", "\u1680", "\u2000", "\u2001", "\u2002", "\u2003", "\u2004",
		"\u2005", "\u2006", "\u2007", "\u2008", "\u2009", "\u200a", "\u2028", "\u2029", "\u202f", "\u205f", "\u3000"}
	almost = []string{"\u0000", "\u0007", "\u001c", "\u001d", "\u001e", "\u001f", "\u007f", "\u0084", "\u0086", "\u00ad", "\u180e", "\u200b",
		"\u200c", "\u200d", "\u2060", "\u2800", "\u3164", "\ufeff", "\ufffd", "\U0001f30a", ".", "a"}
)

func (m *mutants) text() any {
	switch m.IntN(5) {
	case 0:
		return strings.Repeat(pick(m, spaces...), m.IntN(3))
	case 1:
		var b strings.Builder
		for range m.IntN(6) {
			b.WriteString(pick(m, spaces...))
		}
		return b.String()
	case 2:
		return pick(m, spaces...) + pick(m, almost...) + pick(m, spaces...)
	case 3:
		return pick(m, "0.1.0", "0.1.0\n", " 0.1.0", "0.1", "0.2.0", "0.1.00", "0.1.0\u0000", "v0.1.0", "")
	}
	return m.value(1)
}

func (m *mutants) id() any {
	switch m.IntN(4) {
	case 0:
		n := pick(m, 1, 2, 64, 65, 100, 127, 128, 129, 130, 255, 300)
		return strings.Repeat(pick(m, "a", "a", "0", "z9", "a-", "é"), n)[:n]
	case 1:
		alphabet := []string{"a", "b", "z", "0", "9", "-", "-", "A", "_", ".", " ", "\n", "é", "/", "`", "{", ":", "@"}
		var b strings.Builder
		for range m.IntN(6) {
			b.WriteString(pick(m, alphabet...))
		}
		return b.String()
	case 2:
		return pick(m, "a", "0", "a-b", "a0-0b", "a\n", "\na", "a\r", "a ", " a", "-a", "a-", "a--b", "A", "a_b", "", "-", "..", "../x", "a/b", "a\x00",
			"ａ", "à", "con", "a-b-c-d-e-f", "a\u2028", "a\u0085", "0.1.0", "null", "true", strings.Repeat("ab-", 42)+"ab", strings.Repeat("ab-", 43)+"a")
	}
	return m.value(1)
}

func (m *mutants) number() spec.Number {
	return spec.Number(pick(m, "0", "-0", "0.0", "-0.0", "0e5", "1", "1.0", "1e0", "1E0", "10e-1", "0.1e1", "2", "2.0", "2.000000", "20e-1", "0.2e1", "2e0",
		"-1", "-1e-9", "-1e-400", "1e-400", "1e400", "-1e400", "2.0000000001", "1.9999999999", "2.00000000000000000000000000000000000000001",
		"1.99999999999999999999999999999999999999999", "1.0000000000000000000000000000000000000001", "0.99999999999999999999999999999999999999",
		"-0.000000000000000000000000000000000000000001", "0.5", "5e-1", "5E-1", "1.5", "3", "1e1", "1e+1", "4096", "4096.0", "4e3",
		"123456789012345678901234567890", "-123456789012345678901234567890", "123456789012345678901234567890.0",
		"9223372036854775807", "9223372036854775808", "18446744073709551616", "1e-7", "5e-324", "4.9e-325", "1.7976931348623157e308", "1.8e308"))
}

func (m *mutants) posture() any {
	if m.IntN(3) > 0 {
		return pick(m, "none", "read_only", "read_write", "destructive")
	}
	return pick[any](m, "None", "read-only", "", " none", "none\n", "admin", "undeclared", nil, true, spec.Number("0"), []any{}, &spec.Object{}, []any{"none"})
}

func (m *mutants) capabilities() any {
	if m.IntN(6) == 0 {
		return m.value(1)
	}
	o := &spec.Object{}
	for range m.IntN(4) {
		o.Set(pick(m, "shell", "filesystem", "git", "laser", "", "_x", "#y", "a b", "é", "none", "__proto__"), m.posture())
	}
	return o
}

func (m *mutants) params() any {
	if m.IntN(6) == 0 {
		return m.value(1)
	}
	o := &spec.Object{}
	for range 1 + m.IntN(2) {
		key := pick(m, "temperature", "top_p", "top_k", "max_tokens", "temperature", "top_p", "top_k", "max_tokens", "temprature", "stop", "_x", "#y", "")
		if m.IntN(4) == 0 {
			o.Set(key, m.value(2))
		} else {
			o.Set(key, m.number())
		}
	}
	return o
}

func (m *mutants) spawn() any {
	switch m.IntN(5) {
	case 0:
		return m.value(1)
	case 1: // long, with or without one name twice
		n := pick(m, 99, 100, 101, 150)
		list := make([]any, n)
		for i := range list {
			list[i] = fmt.Sprintf("p%d", i)
		}
		if m.IntN(3) == 0 {
			list[m.IntN(n)] = list[m.IntN(n)]
		}
		return list
	}
	list := make([]any, m.IntN(5))
	for i := range list {
		if m.IntN(3) > 0 {
			list[i] = pick(m, "a", "b", "c-d", "e", "f0")
		} else {
			list[i] = m.id()
		}
	}
	return list
}

// value is anything JSON has, containers down to depth.
func (m *mutants) value(depth int) any {
	switch n := m.IntN(8); {
	case n == 0:
		return nil
	case n == 1:
		return m.IntN(2) == 0
	case n == 2:
		return m.number()
	case n == 3 && depth > 0:
		list := make([]any, m.IntN(3))
		for i := range list {
			list[i] = m.value(depth - 1)
		}
		return list
	case n == 4 && depth > 0:
		o := &spec.Object{}
		for range m.IntN(3) {
			o.Set(pick(m, "a", "shell", "temperature", "_x", "#y", ""), m.value(depth-1))
		}
		return o
	}
	return pick(m, "", " ", "a", "none", "all", "true", "0.1.0", "sha256:00", "a\nb", "\u00a0", "tide-clerk", "Not Ok")
}

// encode writes a tree as JSON with its numbers as they are.
func encode(v any) []byte { return appendTree(nil, v) }

func appendTree(b []byte, v any) []byte {
	switch v := v.(type) {
	case *spec.Object:
		b = append(b, '{')
		for i, m := range v.Members {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendTree(b, m.Key), ':')
			b = appendTree(b, m.Value)
		}
		return append(b, '}')
	case []any:
		b = append(b, '[')
		for i, e := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendTree(b, e)
		}
		return append(b, ']')
	case spec.Number:
		return append(b, v...)
	}
	// strings in ASCII: CUE's reader refuses a raw U+FEFF, escaped it is fine
	return spec.AppendCanonical(b, v)
}
