package app

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// What a command names is covered by its hash, however it is written; what it
// does not name is not.
func TestNamedFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, f := range []string{"check.sh", "tools/check.py", "tools/deep/x.sh", "hooks/run.js", "my dir/a b.sh", "sub/check.sh", "Makefile", "config.json", "pkg/mod.py", "out.txt"} {
		path := filepath.Join(dir, filepath.FromSlash(f))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(f), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("check.sh", filepath.Join(dir, "link.sh")); err != nil {
		t.Skipf("no links here: %v", err)
	}
	for _, c := range []struct {
		command string
		want    []string
	}{
		{"./check.sh", []string{"check.sh"}},
		{"bash check.sh", []string{"check.sh"}},
		{`"$CLAUDE_PROJECT_DIR"/check.sh`, []string{"check.sh"}},
		{`"${LARVA_PROJECT_DIR}/my dir/a b.sh"`, []string{"my dir/a b.sh"}},
		{`'my dir/a b.sh'`, []string{"my dir/a b.sh"}},
		{dir + "/check.sh --x", []string{"check.sh"}},
		{"$PWD/check.sh", []string{"check.sh"}},
		{"cd tools && python3 check.py", []string{"tools/check.py"}},
		{"cd tools; cd deep; ./x.sh", []string{"tools/deep/x.sh"}},
		{"node hooks/run", []string{"hooks/run.js"}},
		{"python3 -m pkg.mod", []string{"pkg/mod.py"}},
		{"./tools/*.py", []string{"tools/check.py"}},
		{"bash -c 'exec ./check.sh'", []string{"check.sh"}},
		{`eval "./check.sh"`, []string{"check.sh"}},
		{"tool --config=config.json", []string{"config.json"}},
		{"X=./check.sh; $X", []string{"check.sh"}},
		{"env A=1 timeout 5 ./check.sh </dev/null", []string{"check.sh"}},
		{"cat <config.json", []string{"config.json"}},
		{"source ./check.sh", []string{"check.sh"}},
		{"if then ( ./check.sh", []string{"check.sh"}},
		{"./link.sh", []string{"link.sh"}},
		{"./tools/../check.sh", []string{"check.sh"}},
		{"true | tee `./check.sh`", []string{"check.sh"}},
		{"echo hello", nil},
		{"/etc/hostname", nil},
		{"../outside.sh", nil},
	} {
		n := newNaming(dir, dir, "/home/none")
		n.shell(c.command)
		if _, got := n.parts(); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.command, got, c.want)
		}
	}
	n := newNaming(dir, filepath.Join(dir, "sub"), "/home/none")
	n.shell("./check.sh")
	if _, got := n.parts(); !slices.Equal(got, []string{"check.sh", "sub/check.sh"}) {
		t.Errorf("from sub: got %q, want both that may be meant", got)
	}
	n = newNaming(dir, dir, "/home/none")
	n.argv([]string{"python3", "tools/check.py", "--in=config.json"})
	if _, got := n.parts(); !slices.Equal(got, []string{"config.json", "tools/check.py"}) {
		t.Errorf("argv: got %q", got)
	}
}

// A worktree's own copy of a file is what counts there; where it is the same
// the item is the same.
func TestNamedFilesOfAWorktree(t *testing.T) {
	t.Parallel()
	project, tree := t.TempDir(), t.TempDir()
	write := func(dir, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "check.sh"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(project, "a")
	write(tree, "a")
	if err := os.WriteFile(filepath.Join(tree, ".git"), []byte("gitdir: x"), 0o600); err != nil {
		t.Fatal(err)
	}
	digests := func(dir string) (out []string) {
		n := newNaming(project, dir, "")
		n.shell("./check.sh")
		parts, _ := n.parts()
		for _, p := range parts {
			out = append(out, p.Name+string(p.Bytes))
		}
		return out
	}
	here, there := digests(project), digests(tree)
	if len(here) != 1 || !slices.Equal(here, there) {
		t.Errorf("the same file: got %q and %q", here, there)
	}
	write(tree, "b")
	if changed := digests(tree); slices.Equal(here, changed) {
		t.Error("a changed file of the worktree was not seen")
	}
}
