package webui

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

const source = `package personas

import "larva.dev/schema"

personas: "tide-clerk": schema.#Persona & {
	description: "Keeps harbour tide tables tidy and current."
	capabilities: {filesystem: "read_write", shell: "read_only"}
	active: "terse"
	variants: {
		default: {model: "acme/gamma-2", prompt: "Record each tide in order."}
		terse: {model: "acme/gamma-9", prompt: "Record tides."}
	}
}
`

type place struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Col     int    `json:"col"`
	Path    string `json:"path"`
	Message string `json:"message"`
	Hint    string `json:"hint"`
	Code    string `json:"code"`
}

type checked struct {
	Data struct {
		Valid    bool `json:"valid"`
		Personas []struct {
			ID         string                    `json:"id"`
			Kind       string                    `json:"kind"`
			Valid      bool                      `json:"valid"`
			Exists     bool                      `json:"exists"`
			Unreadable bool                      `json:"unreadable"`
			Active     string                    `json:"active"`
			Specs      map[string]map[string]any `json:"specs"`
			Problems   []place                   `json:"problems"`
			Report     struct {
				Valid    bool     `json:"valid"`
				Warnings []string `json:"warnings"`
			} `json:"report"`
		} `json:"personas"`
	} `json:"data"`
}

func (f *fixture) check(name, format, text string) checked {
	f.t.Helper()
	body, _ := json.Marshal(map[string]string{"text": text, "name": name, "format": format})
	var c checked
	if err := json.Unmarshal([]byte(f.must(200, f.do("POST", "/api/import/check", string(body)))), &c); err != nil {
		f.t.Fatal(err)
	}
	return c
}

// TestImportCheck: what a text holds and where it is wrong, in every format;
// CUE is read in a child.
func TestImportCheck(t *testing.T) {
	t.Parallel()
	f := serverFor(t, clerk)
	before := f.files()
	yaml := "id: reef-scout\ndescription: Surveys reef maps and reports hazards.\nprompt: p\nmodel: m\ncapabilities:\n  http: sometimes\nspec_version: 0.1.0\n"
	tests := []struct {
		name, format, text string
		id, kind           string
		exists             bool
		problem            string // line:col: path of the first; "" where it is valid
	}{
		{"json", "json", clerk, "tide-clerk", "spec", true, ""},
		{"guessed", "", scout, "reef-scout", "spec", false, ""},
		{"a posture that is none", "yaml", yaml, "reef-scout", "spec", false, "6:9: capabilities.http"},
		{"by its name.yaml", "auto", yaml, "reef-scout", "spec", false, "6:9: capabilities.http"},
		{"json, broken", "json", "{\n \"id\": \"x\",\n}", "", "", false, "3:1: "},
		{"cue", "cue", source, "tide-clerk", "source", true, ""},
		{"cue, a wrong value", "cue", strings.Replace(source, `"read_only"`, `"reading"`, 1), "tide-clerk", "", true, "7:50: personas.tide-clerk.capabilities.shell"},
		{"cue, broken", "cue", "package a\n{", "", "", false, "2:2: "},
		{"cue, a file beside it", "cue", "@extern(embed)\n\npackage a\n\nx: _ @embed(file=x.md,type=text)\n", "", "", false, "5:6: "},
	}
	for _, tt := range tests {
		got := f.check(tt.name, tt.format, tt.text).Data
		if len(got.Personas) != 1 {
			t.Errorf("%s: got %+v, want one persona", tt.name, got)
			continue
		}
		p := got.Personas[0]
		ok := tt.problem == ""
		if p.ID != tt.id || p.Kind != tt.kind || p.Exists != tt.exists || p.Valid != ok || p.Report.Valid != ok || got.Valid != ok {
			t.Errorf("%s: got %+v, want %s %s, exists %v, valid %v", tt.name, p, tt.id, tt.kind, tt.exists, ok)
		}
		if ok {
			if s := p.Specs[p.Active]; s["id"] != tt.id || s["spec_digest"] == nil {
				t.Errorf("%s: got specs %v, want that of %s with its digest", tt.name, p.Specs, p.Active)
			}
			continue
		}
		q := p.Problems[0]
		if at := itoa(q.Line) + ":" + itoa(q.Col) + ": " + q.Path; at != tt.problem || q.File != tt.name || q.Message == "" {
			t.Errorf("%s: got %+v, want it at %s", tt.name, q, tt.problem)
		}
	}
	if after := f.files(); after != before {
		t.Errorf("files are\n%s\nwant\n%s", after, before)
	}
}

func itoa(n int) string { b, _ := json.Marshal(n); return string(b) }

// TestImportWarns: a list of can_spawn may name the registry's personas and
// those of the same text.
func TestImportWarns(t *testing.T) {
	t.Parallel()
	f := serverFor(t, clerk)
	p := f.check("a.json", "", scout).Data.Personas[0]
	if w := strings.Join(p.Report.Warnings, "; "); !strings.Contains(w, "nobody-here") || strings.Contains(w, "tide-clerk") {
		t.Errorf("got %q, want a warning of nobody-here alone", w)
	}
}

func TestImport(t *testing.T) {
	t.Parallel()
	f := serverFor(t)
	other := strings.Replace(source, "tidy and current", "tidy", 1)
	for _, tt := range []struct {
		name string
		body map[string]any
		want string
	}{
		{"new", map[string]any{"text": source, "format": "cue"}, `{"data":{"failed":0,"personas":[{"change":"created","id":"tide-clerk"}]}}`},
		{"the same", map[string]any{"text": source, "format": "cue"}, `{"data":{"failed":0,"personas":[{"change":"unchanged","id":"tide-clerk"}]}}`},
		{"a variant", map[string]any{"text": clerk, "variant": "third"}, `{"data":{"failed":0,"personas":[{"change":"registered","id":"tide-clerk"}]}}`},
		{"without it again", map[string]any{"text": source}, `{"data":{"failed":0,"personas":[{"change":"updated","id":"tide-clerk"}]}}`},
		{"another contract", map[string]any{"text": other}, `{"data":{"failed":1,"personas":[{"diffs":[{"field":"description","new":"Keeps harbour tide tables tidy.","old":"Keeps harbour tide tables tidy and current."}],` +
			`"error":{"code":"BASE_CONTRACT_MISMATCH","details":{"id":"tide-clerk","mismatched_fields":["description"]},"message":"MESSAGE","numeric_code":123},"id":"tide-clerk"}]}}`},
		{"another contract, meant", map[string]any{"text": other, "update": true}, `{"data":{"failed":0,"personas":[{"change":"updated","id":"tide-clerk"}]}}`},
		{"two, one refused", map[string]any{"text": "[" + clerk + "," + scout + "]", "format": "json"}, ""},
	} {
		b, _ := json.Marshal(tt.body)
		w := f.do("POST", "/api/import", string(b))
		if tt.want == "" {
			if w.Code != 400 {
				t.Errorf("%s: got %d %s, want 400", tt.name, w.Code, w.Body)
			}
			continue
		}
		got := anyMessage.ReplaceAllString(w.Body.String(), `"message":"MESSAGE"`)
		if w.Code != 200 || got != tt.want+"\n" {
			t.Errorf("%s:\ngot  %d %swant 200 %s", tt.name, w.Code, got, tt.want)
		}
	}
	w := f.do("POST", "/api/import", `{"text":`+quoted(source)+`,"variant":"x"}`)
	if got := failureOf(t, w); w.Code != 400 || got.Details != `{"field":"variant"}` {
		t.Errorf("a variant for a source: got %d %s, want 400 about variant", w.Code, w.Body)
	}
	// One persona that is wrong keeps the others of its text out.
	two := source + strings.Replace(strings.SplitN(source, "\n\n", 3)[2], `"tide-clerk"`, `"reef-scout"`, 1)
	two = strings.Replace(two, `"Record tides."`, `1`, 1)
	before := f.files()
	w = f.do("POST", "/api/import", `{"text":`+quoted(two)+`,"format":"cue","name":"two.cue"}`)
	if got := failureOf(t, w); w.Code != 400 || got.Code != "PERSONA_INVALID" || !strings.Contains(got.Details, `"file":"two.cue","hint":"write it in quotes","line":11`) {
		t.Errorf("got %d %s, want PERSONA_INVALID with a problem in line 11", w.Code, w.Body)
	}
	if after := f.files(); after != before {
		t.Errorf("files are\n%s\nwant\n%s", after, before)
	}
}

// TestCorruptWhileServed: what goes wrong on disk is an error of what it
// concerns, and over when it is mended.
func TestCorruptWhileServed(t *testing.T) {
	t.Parallel()
	f := serverFor(t, clerk, scout)
	path := filepath.Join(f.root, "reef-scout", "contract.json")
	good := readFile(t, path)
	for _, bad := range []string{"", "{", "[]", `{"id":"other"}`, "\xff", strings.Repeat("[", 100000)} {
		write(t, path, bad)
		w := f.do("GET", "/api/personas", "")
		if got := failureOf(t, w); w.Code != 500 || got.Code != "REGISTRY_CORRUPT" || !strings.Contains(got.Details, `"persona_id":"reef-scout"`) {
			t.Errorf("%.10q: got %d %s, want 500 REGISTRY_CORRUPT of reef-scout", bad, w.Code, w.Body)
		}
		f.must(200, f.do("GET", "/api/personas/tide-clerk", ""))
		f.must(200, f.do("PATCH", "/api/personas/tide-clerk", `{"model":"n"}`))
		f.must(500, f.do("PATCH", "/api/personas/reef-scout", `{"model":"n"}`))
	}
	write(t, path, good)
	f.must(200, f.do("GET", "/api/personas", ""))
}
