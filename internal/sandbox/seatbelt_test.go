package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// seatbeltPlant is a project with a repository and secrets, in a directory
// whose name has to be quoted.
func seatbeltPlant(t *testing.T) Options {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	top = filepath.Join(top, `a"b\c`)
	for _, f := range []string{"p/.git/HEAD", "p/.git/config", "p/.git/hooks/x", "p/.env", "p/src/a.go", "home/.ssh/id_rsa", "tmp/x"} {
		path := filepath.Join(top, filepath.FromSlash(f))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Skipf("no such name can be had here: %v", err)
		}
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	at := func(name string) string { return filepath.Join(top, name) }
	return Options{Project: at("p"), Cwd: at("p"), Roots: []string{at("p"), at("tmp")}, Temp: at("tmp"), Home: at("home"),
		Denied: func(abs, _ string) bool {
			return filepath.Base(abs) == ".env" || strings.Contains(abs, string(filepath.Separator)+".ssh")
		}}
}

func TestSeatbeltProfile(t *testing.T) {
	t.Parallel()
	o := seatbeltPlant(t)
	w := &Wall{o: o, kind: Seatbelt}
	got := w.seatbelt()
	if !strings.HasPrefix(got, "(version 1)\n(deny default)\n") {
		t.Errorf("got %.60q, want a profile that denies by default", got)
	}
	open := strings.Index(got, "(allow file-write* (subpath "+quote(o.Project)+"))")
	if open < 0 {
		t.Fatalf("got no line that opens the project:\n%s", got)
	}
	for _, path := range []string{".git/hooks", ".git/config", ".larva", ".claude", ".agents", ".mcp.json", "cue.mod"} {
		at := strings.Index(got, "(deny file-write* (subpath "+quote(filepath.Join(o.Project, filepath.FromSlash(path)))+"))")
		if at < open {
			t.Errorf("%s: its denial stands at %d, want it behind the project's line at %d: later rules win", path, at, open)
		}
	}
	for _, path := range []string{filepath.Join(o.Project, ".env"), filepath.Join(o.Home, ".ssh")} {
		if at := strings.LastIndex(got, "(deny file-read* file-write* (subpath "+quote(path)); at < open {
			t.Errorf("%s: got no line that hides it behind what is open:\n%s", path, got)
		}
	}
	if strings.Contains(got, "(allow network*") && !strings.Contains(got, `(remote ip "localhost:*")`) {
		t.Errorf("got a network beyond this machine:\n%s", got)
	}
	for _, line := range strings.Split(strings.TrimSpace(got), "\n") {
		if strings.Count(line, "(") != strings.Count(line, ")") || strings.Count(strings.NewReplacer(`\\`, "", `\"`, "").Replace(line), `"`)%2 != 0 {
			t.Errorf("got %q, want every string and form ended on its line", line)
		}
	}
}

func TestSeatbeltReadOnlyOpensTempAlone(t *testing.T) {
	t.Parallel()
	o := seatbeltPlant(t)
	o.ReadOnly = true
	got := (&Wall{o: o, kind: Seatbelt}).seatbelt()
	if n := strings.Count(got, "(allow file-write* (subpath "); n != 1 || !strings.Contains(got, "(allow file-write* (subpath "+quote(o.Temp)+"))") {
		t.Errorf("got %d open directories, want the temp directory alone:\n%s", n, got)
	}
}
