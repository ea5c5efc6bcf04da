package load

import (
	"strings"
	"testing"

	"larva.dev/larva/internal/diag"
)

const cueText = `package personas

import "larva.dev/schema"

personas: "alpha": schema.#Persona & {
	description: "Reads a repository and answers questions."
	capabilities: {filesystem: "read_only"}
	variants: default: {model: "smart", prompt: "Read."}
}
`

func TestText(t *testing.T) {
	t.Parallel()
	const flat = `{"id":"alpha","description":"Reads a repository and answers.","prompt":"p","model":"m","capabilities":{},"spec_version":"0.1.0"}`
	tests := []struct {
		name, file, format, text string
		problem                  string // "" where the text is fine
	}{
		{"json", "import", "json", flat, ""},
		{"sniffed json", "import", "auto", flat, ""},
		{"no format", "import", "", flat, ""},
		{"yaml", "a.yaml", "auto", "id: alpha\ndescription: Reads a repository and answers.\nprompt: p\nmodel: m\ncapabilities: {}\nspec_version: 0.1.0\n", ""},
		{"toml", "import", "toml", "id = \"alpha\"\ndescription = \"Reads a repository and answers.\"\nprompt = \"p\"\nmodel = \"m\"\nspec_version = \"0.1.0\"\n[capabilities]\n", ""},
		{"markdown", "import", "markdown", "---\nname: alpha\ndescription: Reads a repository and answers.\nmodel: m\ncapabilities: {}\nspec_version: 0.1.0\n---\nText\n", ""},
		{"cue", "import", "cue", cueText, ""},
		{"sniffed cue", "import", "auto", cueText, ""},
		{"cue, a field that is not", "x.cue", "cue", strings.Replace(cueText, "description", "desription", 1), "x.cue:6:2: personas.alpha.desription: "},
		{"cue, wrong syntax", "import", "cue", "package a\n{", "import:2:2: "},
		{"cue, foreign import", "import", "cue", "package a\n\nimport \"evil.example/x\"\n\npersonas: x.y\n", `import:3:8: the package "evil.example/x" is not here`},
		{"cue, embedded file", "import", "cue", "@extern(embed)\n\npackage a\n\nx: _ @embed(file=text.md,type=text)\n", "import:5:6: @embed: a text on its own has no files beside it"},
		{"cue, embedded files", "import", "cue", "@extern(embed)\n\npackage a\n\nx: _ @embed(glob=*.md)\n", "import:5:6: @embed: "},
		{"cue, embedded secret", "import", "cue", "@extern(embed)\n\npackage a\n\nx: _ @embed(file=\"../../../etc/passwd\",type=text)\n", "@embed"},
		{"json, wrong syntax", "import", "json", "{\"id\":\n}", "import:2:1: "},
		{"not UTF-8", "import", "auto", "id: \xff", "import:1:5: the byte 0xff"},
		{"a name with a line in it", "a\nb", "json", "{", `a\nb:1:2: `},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			items, err := Text(t.Context(), tt.file, []byte(tt.text), tt.format, Options{Trusted: true})
			if err != nil || len(items) != 1 {
				t.Fatalf("got %v %v, want one item", items, err)
			}
			got := ""
			if len(items[0].Problems) > 0 {
				got = items[0].Problems[0].String()
			}
			if tt.problem == "" && (got != "" || items[0].ID != "alpha") || !strings.Contains(got, tt.problem) {
				t.Errorf("got id %q, %q, want alpha, %q", items[0].ID, got, tt.problem)
			}
		})
	}
}

func TestTextFormat(t *testing.T) {
	t.Parallel()
	_, err := Text(t.Context(), "import", []byte("{}"), "ini", Options{})
	if e := diag.As(err); err == nil || e.Code != diag.InvalidInput || e.Details["field"] != "format" {
		t.Errorf("got %v, want INVALID_INPUT about format", err)
	}
}
