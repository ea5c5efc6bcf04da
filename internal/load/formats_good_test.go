package load

import (
	"context"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/spec"
)

const canonical = `{"can_spawn":["explorer"],"capabilities":{"filesystem":"read_write","shell":"read_only"},` +
	`"description":"Keeps harbour tide tables tidy.","id":"tide-clerk","model":"acme/gamma-2",` +
	`"model_params":{"seed":12345678901234567890123,"temperature":1.0},"prompt":"Record each\ntide.","spec_version":"0.1.0"}`

// TestSamePersona reads one persona in every format to the same bytes.
func TestSamePersona(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"a.json": canonical,
		"a.yaml": `spec_version: 0.1.0
id: tide-clerk
description: >-
  Keeps harbour
  tide tables tidy.
prompt: |-
  Record each
  tide.
model: acme/gamma-2
capabilities: {filesystem: read_write, "shell": 'read_only'}
model_params:
  temperature: 1.0
  seed: 12345678901234567890123
can_spawn:
- explorer
`,
		"a.toml": `spec_version = "0.1.0"
id = "tide-clerk"
description = "Keeps harbour tide tables tidy."
prompt = """
Record each
tide."""
model = 'acme/gamma-2'
capabilities.filesystem = "read_write"
capabilities.shell = "read_only"
can_spawn = [
  "explorer", # finds things
]
[model_params]
temperature = 1.0
`,
		"a.cue": `spec_version: "0.1.0"
id: "tide-clerk"
description: "Keeps harbour tide tables tidy."
prompt: """
	Record each
	tide.
	"""
model: "acme/gamma-2"
capabilities: filesystem: "read_write"
capabilities: shell: "read_only"
model_params: {temperature: 1.0, seed: 12345678901234567890123}
can_spawn: ["explorer"]
`,
		"a.md": `---
name: tide-clerk
spec_version: 0.1.0
description: Keeps harbour tide tables tidy.
model: acme/gamma-2
capabilities: {filesystem: read_write, shell: read_only}
model_params: {temperature: 1.0, seed: 12345678901234567890123}
can_spawn: [explorer]
---
Record each
tide.
`,
	}
	dir := write(t, files)
	for name := range files {
		items, err := Specs(context.Background(), []string{name}, Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		if len(items) != 1 || items[0].Flat == nil || len(items[0].Problems) > 0 {
			t.Fatalf("%s: %+v", name, items)
		}
		want := canonical
		if name == "a.toml" {
			want = strings.Replace(want, `"seed":12345678901234567890123,`, "", 1) // TOML has 64 bits
		}
		if diff := cmp.Diff(want, string(spec.AppendCanonical(nil, items[0].Flat))); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestSources reads one source in the formats that hold sources.
func TestSources(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"s.json": `{"id": "x-y", "description": "Does what x and y do.", "capabilities": {}, "active": "tacit",
			"variants": {"tacit": {"prompt": "p", "model": "m"}, "default": {"prompt": "q", "model": "m", "model_params": {"top_k": 3}}}}`,
		"s.yaml": `personas:
  x-y:
    description: Does what x and y do.
    capabilities: {}
    active: tacit
    variants:
      tacit: &t {prompt: p, model: m}
      default:
        <<: *t
        prompt: q
        model_params: {top_k: 3}
`,
		"s.toml": `[personas.x-y]
description = "Does what x and y do."
capabilities = {}
active = "tacit"
[personas.x-y.variants.tacit]
prompt = "p"
model = "m"
[personas.x-y.variants.default]
prompt = "q"
model = "m"
model_params = {top_k = 3}
`,
		"s.cue": `import "larva.dev/schema"

personas: "x-y": schema.#Persona & {
	description: "Does what x and y do."
	capabilities: {}
	active: "tacit"
	variants: [string]: model: "m"
	variants: tacit: prompt:   "p"
	variants: default: {prompt: "q", model_params: top_k: 3}
}
`,
	}
	dir := write(t, files)
	for name := range files {
		items, err := Specs(context.Background(), []string{name}, Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		if len(items) != 1 || items[0].Source == nil {
			t.Fatalf("%s: %v", name, lines(items))
		}
		s := items[0].Source
		if s.ID != "x-y" || s.Active != "tacit" || len(s.Variants) != 2 || items[0].ID != "x-y" {
			t.Errorf("%s: %+v", name, s)
		}
		o, _ := s.Spec("default")
		want := `{"capabilities":{},"description":"Does what x and y do.","id":"x-y","model":"m","model_params":{"top_k":3},"prompt":"q","spec_version":"0.1.0"}`
		if diff := cmp.Diff(want, string(spec.AppendCanonical(nil, o))); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if r := items[0].Report(nil); !r.Valid || len(r.Warnings) == 0 {
			t.Errorf("%s: report %+v", name, r)
		}
		if file, line, _ := items[0].At("variants", "tacit", "prompt"); file != name || line == 0 {
			t.Errorf("%s: at %s:%d", name, file, line)
		}
	}
}

func TestSourceMistakes(t *testing.T) {
	t.Parallel()
	got := strings.Join(bad(t, "s.json", `{"personas": {
  "a": {"id": "b", "description": " ", "capabilities": {"shell": "full"}, "prompt": "x", "modle": 1, "active": "tacti",
    "variants": {
      "tacit": {"prompt": "p", "model": 5, "description": "x"},
      "No": {"promt": "p", "model": "m", "model_params": {"top_p": 2}}
    }},
  "b": {"description": "Fine in itself.", "capabilities": {}, "variants": {}},
  "c": {"description": "Fine in itself.", "capabilities": {}, "variants": {"other": {"prompt": "p", "model": "m"}}},
  "D": 7
}, "version": 1}`), "\n")
	want := `s.json:10:4: version: unknown field beside personas
s.json:2:15: personas.a.id: is "b", but the persona stands under "a" (leave id out)
s.json:2:35: personas.a.description: must not be blank, got " "
s.json:2:66: personas.a.capabilities.shell: must be one of "none", "read_only", "read_write", "destructive", got "full"
s.json:2:75: personas.a.prompt: belongs to a variant (write it under variants.tacit)
s.json:2:90: personas.a.modle: unknown field (did you mean "model"?)
s.json:2:112: personas.a.active: "tacti" is not one of the variants (did you mean "tacit"?)
s.json:4:41: personas.a.variants.tacit.model: must be a string, got 5 (write it in quotes)
s.json:4:44: personas.a.variants.tacit.description: is the same for all variants of a persona (write it beside variants)
s.json:5:7: personas.a.variants.No: the name of a variant must be kebab-case: a-z, 0-9 and single hyphens, at most 64 characters
s.json:5:14: personas.a.variants.No.promt: unknown field (did you mean "prompt"?)
s.json:5:68: personas.a.variants.No.model_params.top_p: must be a number from 0 to 1, got 2
s.json:7:75: personas.b.variants: holds no variant (write at least "default")
s.json:8:8: personas.c: no variant is called "default", and active names no other (write active: "other")
s.json:9:8: personas.D: must be a persona source, got the number 7`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestSourceReport gives the contract's issues of a source, in its order of
// findings, each field named from the source.
func TestSourceReport(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{"s.json": `{"personas": {"a": {"description": " ", "capabilities": {}, "prompt": "x",
		"variants": {"default": {"prompt": "p", "model": 5}, "tacit": {"prompt": "p", "model": "m"}}}}}`})
	items, err := Specs(context.Background(), []string{"s.json"}, Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	e := items[0].Err()
	if e == nil || e.Code != diag.PersonaInvalid || e.ExitCode() != diag.ExitFailed {
		t.Fatalf("got %v", e)
	}
	var got []string
	for _, is := range e.Details["report"].(spec.Report).Errors {
		got = append(got, is.Code+" "+is.Details.String("field"))
	}
	want := []string{"EXTRA_FIELD_NOT_ALLOWED prompt", "EMPTY_REQUIRED_FIELD description", "INVALID_FIELD_TYPE variants.default.model"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestHealedFrontmatter reads what people write without quotes, and says so.
func TestHealedFrontmatter(t *testing.T) {
	t.Parallel()
	const rest = "\nspec_version: 0.1.0\nmodel: m\ncapabilities:\n  shell: none\n---\nB\n"
	for name, c := range map[string]struct{ front, description string }{
		"colon":   {"description: Use for: audits", "Use for: audits"},
		"example": {`description: Use it. Examples:\n\n<example>\nuser: "hi"`, "Use it. Examples:\n\n<example>\nuser: \"hi\""},
		"lines":   {"description: Use it.\nuser: \"a\" and b\n<commentary>\nuser: \"c\"", "Use it.\nuser: \"a\" and b\n<commentary>\nuser: \"c\""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := write(t, map[string]string{"a.md": "---\nname: a\n" + c.front + rest})
			items, err := Specs(context.Background(), []string{"a.md"}, Options{Dir: dir})
			if err != nil {
				t.Fatal(err)
			}
			if len(items) != 1 || items[0].Flat == nil || len(items[0].Problems) > 0 {
				t.Fatalf("got %v", lines(items))
			}
			if got := items[0].Flat.String("description"); got != c.description {
				t.Errorf("got %q, want %q", got, c.description)
			}
			if len(items[0].Notices) != 1 || items[0].Notices[0].Line == 0 {
				t.Errorf("notices %v", items[0].Notices)
			}
		})
	}
	// What restricts the persona is never guessed.
	got := strings.Join(bad(t, "a.md", "---\nname: a\ndescription: Use for: audits\nspec_version: 0.1.0\nmodel: m\ncapabilities: {shell: [}\n---\nB"), "\n")
	if want := `a.md:6:15: capabilities: must be an object, got "{shell: [}"`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestHarmlessLines: what a file holds never reaches a terminal raw.
func TestHarmlessLines(t *testing.T) {
	t.Parallel()
	for name, src := range map[string]string{
		"a.json": `{"\u001b[31m\n": 1, "id": "\u001b]0;x\u0007", "can_spawn": ["\u0000"], "capabilities": {"\t": "\n"}}`,
		"a.toml": "\"\\u001b[31m\" = 1\nid = \"\\u001b\"\n",
		"a.yaml": "\"\\e[31m\": 1\n\"\\e[31m\": 1\n",
		"a.cue":  "\"\\u001b[31m\": \"\\u001b\" & \"\\n\"\nid: \"x\"\n",
	} {
		got := bad(t, name, src)
		if len(got) == 0 {
			t.Errorf("%s: no problem", name)
		}
		for _, l := range got {
			if strings.ContainsFunc(l, unicode.IsControl) {
				t.Errorf("got %q", l)
			}
		}
	}
}

func TestSniff(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]format{
		`  {"a": 1}`:                      asJSON,
		`[1]`:                             asJSON,
		"":                                asJSON,
		"---\nname: x\n---\nbody":         asMarkdown,
		"---\nname: x\n":                  asYAML,
		"# c\nname: x":                    asYAML,
		"# c\nname = 1":                   asTOML,
		"[a.b]\nc = 1":                    asTOML,
		"[[a]]\nc = 1":                    asTOML,
		"package p\n":                     asCUE,
		"// c\nid: \"x\"":                 asCUE,
		"import \"list\"\na: 1":           asCUE,
		"@extern(embed)\npackage p":       asCUE,
		"capabilities: shell: \"none\"\n": asCUE,
		"id: x\nprompt: a = b":            asYAML,
	} {
		if got := sniff([]byte(text)); got != want {
			t.Errorf("%q: got %d, want %d", text, got, want)
		}
	}
}

func TestStdin(t *testing.T) {
	t.Parallel()
	for _, text := range []string{goodJSON, goodCUE} {
		items, err := Specs(context.Background(), []string{"-"}, Options{Stdin: strings.NewReader(text), Dir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		if len(items) != 1 || items[0].Flat == nil || len(items[0].Problems) > 0 || items[0].File != "-" {
			t.Errorf("%+v %v", items, lines(items))
		}
	}
	items, _ := Specs(context.Background(), []string{"-"}, Options{Stdin: strings.NewReader(`{"id": 1,}`)})
	if got := strings.Join(lines(items), "\n"); got != "-:1:10: a key in double quotes should stand here, not '}'" {
		t.Errorf("got %s", got)
	}
}
