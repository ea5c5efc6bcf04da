package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"

	"larva.dev/larva/schema"
)

func load1(t *testing.T) *schemas {
	t.Helper()
	s, err := loadSchemas(root)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// What is committed is what the schema generates, and generating twice gives
// the same bytes.
func TestNothingDrifted(t *testing.T) {
	t.Parallel()
	first, err := generate(root)
	if err != nil {
		t.Fatal(err)
	}
	second, err := generate(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(first) != len(second) || len(first) < 20 {
		t.Fatalf("got %d and %d files, want the same 20 or more", len(first), len(second))
	}
	for i, f := range first {
		if !bytes.Equal(f.content, second[i].content) || f.path != second[i].path {
			t.Errorf("%s: two runs differ", f.path)
		}
		old, err := os.ReadFile(filepath.Join(root, f.path))
		if err != nil || !bytes.Equal(old, f.content) {
			t.Errorf("%s differs from the schema (%v): run go run ./scripts/gen", f.path, err)
		}
	}
}

// -check names each file that differs and writes nothing.
func TestCheckNamesDrift(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, part := range []string{"schema", "cue.mod", "personas", "profiles"} {
		if err := os.CopyFS(filepath.Join(dir, part), os.DirFS(filepath.Join(root, part))); err != nil {
			t.Fatal(err)
		}
	}
	if code := run([]string{"-root", dir}); code != 0 {
		t.Fatalf("write: got exit %d, want 0", code)
	}
	if code := run([]string{"-root", dir, "-check"}); code != 0 {
		t.Errorf("check after write: got exit %d, want 0", code)
	}
	planted := filepath.Join(dir, "schema", "json", "rule.json")
	if err := os.WriteFile(planted, []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	if code := run([]string{"-root", dir, "-check"}); code != 1 {
		t.Errorf("check after a change: got exit %d, want 1", code)
	}
	if got, err := os.ReadFile(planted); err != nil || string(got) != "{}" {
		t.Errorf("check wrote %q (%v), want it left alone", got, err)
	}
}

// Every definition and every field says what it is for.
func TestEverythingHasADoc(t *testing.T) {
	t.Parallel()
	s := load1(t)
	fields := 0
	for _, d := range s.defs() {
		v, err := s.def(d.name)
		if err != nil {
			t.Fatal(err)
		}
		if doc(v) == "" {
			t.Errorf("%s has no comment", d.name)
		}
		if v.IncompleteKind() != cue.StructKind {
			continue
		}
		it, err := v.Fields(cue.Optional(true))
		if err != nil {
			t.Fatal(err)
		}
		for it.Next() {
			fields++
			if doc(it.Value()) == "" {
				t.Errorf("%s.%s has no comment", d.name, it.Selector())
			}
		}
	}
	if fields < 80 {
		t.Errorf("got %d fields, want 80 at least", fields)
	}
}

// The names of larva schema are definitions of the files they say.
func TestEntries(t *testing.T) {
	t.Parallel()
	s := load1(t)
	at := map[string]string{}
	for _, d := range s.defs() {
		at[d.name] = d.file
	}
	seen := map[string]bool{}
	for _, e := range schema.Entries() {
		if at[e.Def] != e.File {
			t.Errorf("%s: got file %s, want %s", e.Def, e.File, at[e.Def])
		}
		if seen[e.Name] || e.Doc == "" {
			t.Errorf("%s stands twice or has no doc", e.Name)
		}
		seen[e.Name] = true
		if _, err := schema.JSON.ReadFile(e.JSONFile()); err != nil {
			t.Errorf("%s: %v", e.Name, err)
		}
		if _, err := schema.FS.ReadFile(e.File); err != nil {
			t.Errorf("%s: %v", e.Name, err)
		}
	}
}

// A pattern that JSON Schema would lose is an error, not a silence.
func TestLostPatternIsRefused(t *testing.T) {
	t.Parallel()
	v := cuecontext.New().CompileString("#ID: =~\"^a$\" & !=\"b\"\n#C: {[#ID]: int}\n#D: {[=~\"^a$\" & !=\"b\"]: int}\n#Fine: {[=~\"^a$\"]: int}")
	for name, lost := range map[string]bool{"#C": true, "#D": true, "#Fine": false} {
		err := lostWalk{map[string]bool{}}.value(name, v.LookupPath(cue.ParsePath(name)))
		if got := err != nil && strings.Contains(err.Error(), "would lose"); got != lost {
			t.Errorf("%s: got %v, want a refusal: %v", name, err, lost)
		}
	}
}

// What MCP clients of other languages read keeps to expressions that all of
// them know.
func TestPortable(t *testing.T) {
	t.Parallel()
	doc := object{"a": []any{object{"pattern": `[^\s\v\x85\p{Z}]`}}, "properties": object{"pattern": object{"type": "string"}}}
	if err := portable(doc); err != nil {
		t.Fatal(err)
	}
	if got := doc["a"].([]any)[0].(object)["pattern"]; got != `\S` {
		t.Errorf("got %v, want the expression of a text that is not blank", got)
	}
	if err := portable(object{"$defs": object{"X": object{"pattern": `^\p{L}+$`}}}); err == nil {
		t.Error("got no error for a Unicode class, want one")
	}
}

// Each operation has both sides, and the files are no others.
func TestOperationFiles(t *testing.T) {
	t.Parallel()
	files, err := genOperations(load1(t))
	if err != nil {
		t.Fatal(err)
	}
	there, err := filepath.Glob("../../schema/json/operations/*.json")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 26 || len(there) != len(files) {
		t.Errorf("got %d files and %d on disk, want 26", len(files), len(there))
	}
}
