package load

import (
	"os"
	"path/filepath"
	"testing"
)

// Inputs of calls may hold anything, in every format.
func TestInputsOfCalls(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"s.json": `{"turns":[{"calls":[{"tool":"write_files","input":{"files":[{"path":"a","n":[1,[null]]}],"x":{"y":true}}}]}]}`,
		"s.cue":  `turns: [{calls: [{tool: "write_files", input: files: [{path: "a", n: [1, [null]]}]}]}]`,
		"s.yaml": "turns:\n- calls:\n  - tool: multi_edit\n    input: {edits: [{old_string: a}]}\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Scenario(t.Context(), path, Options{Dir: dir, Trusted: true})
		if err != nil || len(s.Turns) != 1 || len(s.Turns[0].Calls) != 1 {
			t.Errorf("%s: got %+v, %v; want one call", name, s, err)
		}
	}
}

func TestPermissionTables(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "t.cue")
	text := "persona: \"x\"\npermissions: allow: [\"bash(ls *)\"]\ncases: [\n\t{tool: \"bash\", input: \"ls\", want: \"allow\"},\n\t{tool: \"write_files\", input: files: [{path: \"a\"}], want: \"ask\", why: \"w\"},\n]\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	got, origins, err := PermissionTest(t.Context(), path, Options{Dir: dir, Trusted: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Cases) != 2 || string(got.Cases[0].Input) != `"ls"` || got.Cases[1].Why != "w" || got.Persona != "x" || len(got.Permissions.Allow) != 1 {
		t.Errorf("got %+v", got)
	}
	if o := origins["cases.1.tool"]; o != path+":5" {
		t.Errorf("the second case stands at %q, want %s:5", o, path)
	}
	if o := origins["permissions.allow.0"]; o != path+":2" {
		t.Errorf("the rule stands at %q, want %s:2", o, path)
	}
	for _, bad := range []string{`cases: [{tool: "bash", input: "ls", want: "yes"}]`, `cases: [{tool: "bash", input: 7, want: "ask"}]`, `cases: [{tool: "bash", want: "ask"}]`, `case: []`, ``} {
		if err := os.WriteFile(path, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, _, err := PermissionTest(t.Context(), path, Options{Dir: dir, Trusted: true}); err == nil {
			t.Errorf("%s: got %+v, want an error", bad, got)
		}
	}
}
