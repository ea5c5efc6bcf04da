package load

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// write makes files below a new directory and returns it.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// lines gives every problem of the items, one a line.
func lines(items []Item) []string {
	var out []string
	for _, it := range items {
		for _, p := range it.Problems {
			out = append(out, p.String())
		}
	}
	return out
}

const goodJSON = `{
  "spec_version": "0.1.0",
  "id": "tide-clerk",
  "description": "Keeps harbour tide tables tidy and current.",
  "prompt": "Record each tide in order.",
  "model": "acme/gamma-2",
  "capabilities": {"filesystem": "read_write", "shell": "read_only"}
}
`

// nine holds nine mistakes of every kind.
const nine = `{
  "spec_version": "0.2.0",
  "id": "My Persona",
  "desciption": "x",
  "prompt": " ",
  "model": 5,
  "capabilities": {"shell": "read_onyl"},
  "model_params": {"temperature": 3.5, "max_tokens": 4096.5},
  "can_spawn": ["ok", "Not Ok", "ok"],
  "tools": []
}`

func TestFlatMistakes(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{"nine.json": nine, "good.json": goodJSON})
	items, err := Specs(context.Background(), []string{"nine.json", "good.json"}, Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`nine.json:2:19: spec_version: must be "0.1.0", got "0.2.0"`,
		`nine.json:3:9: id: must be kebab-case: a-z, 0-9 and single hyphens, at most 128 characters, got "My Persona"`,
		`nine.json:4:3: desciption: unknown field (did you mean "description"?)`,
		`nine.json:5:13: prompt: must not be blank, got " "`,
		`nine.json:6:12: model: must be a string, got 5 (write it in quotes)`,
		`nine.json:7:29: capabilities.shell: must be one of "none", "read_only", "read_write", "destructive", got "read_onyl" (did you mean "read_only"?)`,
		`nine.json:8:35: model_params.temperature: must be a number from 0 to 2, got 3.5`,
		`nine.json:8:54: model_params.max_tokens: must be an integer, got 4096.5`,
		`nine.json:9:23: can_spawn.1: must be kebab-case: a-z, 0-9 and single hyphens, at most 128 characters, got "Not Ok"`,
		`nine.json:9:33: can_spawn.2: "ok" stands in the list twice`,
		`nine.json:10:3: tools: is not part of a PersonaSpec`,
	}
	if diff := cmp.Diff(strings.Join(want, "\n"), strings.Join(lines(items), "\n")); diff != "" {
		t.Error(diff)
	}
	if len(items) != 2 || items[1].ID != "tide-clerk" || items[1].Flat == nil {
		t.Errorf("got %d items, %+v", len(items), items)
	}
}
