package spec

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, in  string
		line, col int
		says      string
	}{
		{"empty", "", 1, 1, "empty"},
		{"blank", " \n ", 2, 2, "empty"},
		{"byte order mark", "\ufeff{}", 1, 1, "byte order mark"},
		{"duplicate key", "{\"a\":1,\n \"a\":2}", 2, 2, `"a"`},
		{"duplicate escaped key", `{"a":1,"\u0061":2}`, 1, 8, "second time"},
		{"nested duplicate", `{"x":[{"b":1,"b":1}]}`, 1, 14, "second time"},
		{"NaN", `{"a":NaN}`, 1, 6, "NaN"},
		{"Infinity", `[Infinity]`, 1, 2, "Infinity"},
		{"-Infinity", `[-Infinity]`, 1, 2, "-Infinity"},
		{"float too large", `[1e309]`, 1, 2, "too large"},
		{"float too small below zero", `[-1e99999]`, 1, 2, "too large"},
		{"65 digits", "[" + strings.Repeat("9", 65) + "]", 1, 2, "65 digits"},
		{"5000 digits", "[-" + strings.Repeat("9", 5000) + "]", 1, 2, "5000 digits"},
		{"invalid UTF-8", "[\"a\xff\"]", 1, 4, "0xff"},
		{"invalid UTF-8 after escape", "[\"\\n\xc0\x80\"]", 1, 5, "0xc0"},
		{"surrogate in UTF-8", "[\"\xed\xa0\x80\"]", 1, 3, "0xed"},
		{"lone high", `["\ud83c"]`, 1, 3, "surrogate"},
		{"lone low", `["\udf0a"]`, 1, 3, "surrogate"},
		{"high twice", `["\ud83c\ud83c"]`, 1, 3, "surrogate"},
		{"high and text", `["\ud83cx"]`, 1, 3, "surrogate"},
		{"lone in a key", `{"\ud83c":1}`, 1, 3, "surrogate"},
		{"short unicode", `["\u12"]`, 1, 3, "four hex"},
		{"bad escape", `["\q"]`, 1, 3, `\q`},
		{"escape at the end", `["\`, 1, 3, "inside an escape"},
		{"raw newline", "[\"a\nb\"]", 1, 4, "control character"},
		{"raw tab after escape", "[\"\\n\t\"]", 1, 5, "control character"},
		{"open string", "[\n\"abc", 2, 1, "no end"},
		{"open object", `{"a":1`, 1, 7, "end of text"},
		{"open list", `[1`, 1, 3, "end of text"},
		{"missing value", `{"a":`, 1, 6, "ends where a value"},
		{"missing colon", `{"a" 1}`, 1, 6, "colon"},
		{"trailing comma", `{"a":1,}`, 1, 8, "key"},
		{"trailing comma in list", `[1,]`, 1, 4, "value"},
		{"bare key", `{a:1}`, 1, 2, "key"},
		{"single quotes", `['a']`, 1, 2, "value"},
		{"comment", "// x\n{}", 1, 1, "value"},
		{"two values", "{} {}", 1, 4, "after the end"},
		{"zero first", "[01]", 1, 2, "zero"},
		{"plus", "[+1]", 1, 2, "value"},
		{"only minus", "[-]", 1, 3, "digit"},
		{"no fraction", "[1.]", 1, 4, "decimal point"},
		{"no exponent", "[1e+]", 1, 5, "exponent"},
		{"wrong word", "[nul]", 1, 2, "value"},
		{"non-ASCII space", "[\u00a01]", 1, 2, `'\u00a0'`},
		{"deep", strings.Repeat("[", 65), 1, 65, "64 levels"},
		{"very deep", strings.Repeat(`{"a":`, 5000), 1, 321, "64 levels"},
		{"1001 entries", "[" + strings.Repeat("1,", 1000) + "1]", 1, 2002, "1000 entries"},
		{"1001 keys", keys(1001), 0, 0, "1000 keys"},
		{"too big", strings.Repeat(" ", MaxBytes) + "1", 1, 1, "bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			v, err := Parse([]byte(c.in))
			var se *SyntaxError
			if !errors.As(err, &se) {
				t.Fatalf("got %v, %v, want a *SyntaxError", v, err)
			}
			if c.line > 0 && (se.Line != c.line || se.Col != c.col) {
				t.Errorf("got %d:%d, want %d:%d (%s)", se.Line, se.Col, c.line, c.col, se.Message)
			}
			if !strings.Contains(se.Message, c.says) {
				t.Errorf("got message %q, want it to say %q", se.Message, c.says)
			}
			if strings.ContainsFunc(se.Message, func(r rune) bool { return r < 0x20 || r == 0x7f }) {
				t.Errorf("got a control character in message %q", se.Message)
			}
		})
	}
}

func keys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"k%d":%d`, i, i)
	}
	return "{" + b.String()[1:] + "}"
}

func TestParseKeeps(t *testing.T) {
	t.Parallel()
	got, err := Parse([]byte(" {\"b\":1.0,\"a\":[true,false,null,\"\\u00e9x\\/\",-0,1E+2],\"\":{}}\r\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := &Object{Members: []Member{
		{"b", Number("1.0")},
		{"a", []any{true, false, nil, "éx/", Number("-0"), Number("1E+2")}},
		{"", &Object{}},
	}}
	if diff := cmp.Diff(any(want), got); diff != "" {
		t.Errorf("got +, want -:\n%s", diff)
	}
}

func TestParseAtTheLimits(t *testing.T) {
	t.Parallel()
	for _, in := range []string{
		strings.Repeat("[", 64) + strings.Repeat("]", 64), keys(1000),
		"[" + strings.Repeat("1,", 999) + "1]", "-" + strings.Repeat("9", 64),
		"0." + strings.Repeat("1", 5000), "1e-99999", `"` + strings.Repeat("x", 200_000) + `"`,
		strings.Repeat(" ", MaxBytes-1) + "1",
	} {
		if _, err := Parse([]byte(in)); err != nil {
			t.Errorf("%.40s…: got %v, want none", in, err)
		}
	}
}

func TestParseObjectRoot(t *testing.T) {
	t.Parallel()
	for in, kind := range map[string]string{"\n [1]": "a list", "\n null": "null", "\n 1": "a number", "\n \"s\"": "a string", "\n true": "a boolean"} {
		_, err := ParseObject([]byte(in))
		var se *SyntaxError
		if !errors.As(err, &se) || se.Line != 2 || se.Col != 2 || !strings.HasSuffix(se.Message, kind) {
			t.Errorf("%q: got %v, want 2:2 and %q", in, err, kind)
		}
	}
}

func TestParsePositions(t *testing.T) {
	t.Parallel()
	_, got, err := ParsePositions([]byte("{\n  \"a\": {\"b\": [1, {\"c\": null}]},\n\t\"é\" : 2}"))
	if err != nil {
		t.Fatal(err)
	}
	want := Positions{
		PathKey():         {1, 1},
		PathKey("a"):      {2, 8},
		"a\x00key":        {2, 3},
		PathKey("a", "b"): {2, 14}, PathKey("a", "b") + "\x00key": {2, 9},
		PathKey("a", "b", "0"):      {2, 15},
		PathKey("a", "b", "1"):      {2, 18},
		PathKey("a", "b", "1", "c"): {2, 24}, PathKey("a", "b", "1", "c") + "\x00key": {2, 19},
		PathKey("é"): {3, 9}, "é\x00key": {3, 2},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("got +, want -:\n%s", diff)
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]bool{
		"a": true, "a-b": true, "0": true, "a1-2b": true, strings.Repeat("a", 64): true,
		"": false, "-a": false, "a-": false, "a--b": false, "A": false, "a_b": false, "a\n": false, "a b": false,
		"é": false, "..": false, "a/b": false, ".new-a": false,
	} {
		if got := ValidID(s); got != want {
			t.Errorf("ValidID(%q): got %v, want %v", s, got, want)
		}
		if got := ValidVariant(s); got != want {
			t.Errorf("ValidVariant(%q): got %v, want %v", s, got, want)
		}
	}
	for n, want := range map[int]bool{65: true, 128: true, 129: false, 300: false} {
		if got := ValidID(strings.Repeat("a", n)); got != want {
			t.Errorf("ValidID of %d: got %v, want %v", n, got, want)
		}
		if ValidVariant(strings.Repeat("a", n)) {
			t.Errorf("ValidVariant of %d: got true, want false", n)
		}
	}
}

func TestObjectJSON(t *testing.T) {
	t.Parallel()
	var o Object
	if err := json.Unmarshal([]byte(`{"z":1.0,"a":{"é":[null,"<"]}}`), &o); err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(map[string]any{"o": &o, "none": (*Object)(nil)})
	if want := `{"none":null,"o":{"z":1.0,"a":{"\u00e9":[null,"\u003c"]}}}`; err != nil || string(got) != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
	tree, err := ToTree(map[string]any{"o": &o, "n": 3, "f": 1.5})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(AppendCanonical(nil, tree)), `{"f":1.5,"n":3,"o":{"a":{"\u00e9":[null,"<"]},"z":1.0}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestFromObject(t *testing.T) {
	t.Parallel()
	o, err := ParseObject([]byte(`{"id":"a","description":"d","prompt":"p","model":"m","capabilities":{"shell":"none"},
		"spec_version":"0.1.0","model_params":{"top_k":1},"can_spawn":["b"],"compaction_prompt":""}`))
	if err != nil {
		t.Fatal(err)
	}
	empty := ""
	want := &Persona{ID: "a", Description: "d", Prompt: "p", Model: "m", SpecVersion: "0.1.0",
		Capabilities: map[string]string{"shell": "none"}, ModelParams: &Object{Members: []Member{{"top_k", Number("1")}}},
		CanSpawn: &CanSpawn{IDs: []string{"b"}}, CompactionPrompt: &empty, Digest: Digest(o)}
	if diff := cmp.Diff(want, FromObject(o)); diff != "" {
		t.Errorf("got +, want -:\n%s", diff)
	}
	for text, want := range map[string]*CanSpawn{`{}`: nil, `{"can_spawn":false}`: {}, `{"can_spawn":true}`: {All: true}, `{"can_spawn":[]}`: {IDs: []string{}}} {
		o, err := ParseObject([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, FromObject(o).CanSpawn); diff != "" {
			t.Errorf("%s: got +, want -:\n%s", text, diff)
		}
	}
}
