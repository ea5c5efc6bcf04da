package definition

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func agent(name, description string) string {
	return "---\nname: " + name + "\ndescription: " + description + "\n---\nBody.\n"
}

func TestFindOrder(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	put(t, filepath.Join(root, "low", "a.md"), agent("a", "low"))
	put(t, filepath.Join(root, "low", "only.md"), agent("only", "low"))
	put(t, filepath.Join(root, "high", "deep", "down", "a.MD"), agent("a", "high"))
	put(t, filepath.Join(root, "high", "deep", "z.md"), agent("A!", "high, second by path"))
	put(t, filepath.Join(root, "high", "notes.txt"), "no")
	put(t, filepath.Join(root, "file"), "no directory")
	defs, problems := Find([]Dir{
		{Path: filepath.Join(root, "low"), Shown: "low", Origin: Personal},
		{Path: filepath.Join(root, "none"), Shown: "none"},
		{Path: filepath.Join(root, "file"), Shown: "file"},
		{Path: filepath.Join(root, "high"), Shown: "high", Root: root, Origin: Project},
	})
	var got []string
	for _, d := range defs {
		got = append(got, fmt.Sprintf("%s %s %s %d", d.ID, d.Shown, d.Origin, d.Level))
	}
	want := "a low/a.md personal 0\nonly low/only.md personal 0\na high/deep/down/a.MD project 3\na high/deep/z.md project 3"
	if s := strings.Join(got, "\n"); s != want || len(problems) > 0 {
		t.Errorf("got\n%s\n%v\nwant\n%s", s, problems, want)
	}
	for _, c := range []struct {
		id   string
		ok   func(*Definition) bool
		want string
	}{
		{"a", nil, "high/deep/down/a.MD"}, {"only", nil, "low/only.md"},
		{"a", func(d *Definition) bool { return d.Origin == Personal }, "low/a.md"},
	} {
		if got := Best(defs, c.id, c.ok); got == nil || got.Shown != c.want {
			t.Errorf("%s: got %v, want %s", c.id, got, c.want)
		}
	}
	if got := Best(defs, "none", nil); got != nil {
		t.Errorf("got %v for an id that nothing has", got)
	}
	for _, i := range []int{2, 3} {
		if s := said(&defs[i], nil); !strings.Contains(s, "a is given by two files of one directory: high/deep/down/a.MD:2 and high/deep/z.md:2; the first counts") {
			t.Errorf("got %s", s)
		}
	}
}

func TestFindHostile(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("links need rights there")
	}
	base := t.TempDir()
	out, root := filepath.Join(base, "out"), filepath.Join(base, "p")
	dir := filepath.Join(root, ".claude", "agents")
	put(t, filepath.Join(out, "x.md"), agent("x", "outside"))
	put(t, filepath.Join(root, "docs", "in.md"), agent("in", "inside"))
	put(t, filepath.Join(dir, "big.md"), agent("big", strings.Repeat("x", maxFile)))
	put(t, filepath.Join(dir, "closed.md"), agent("closed", "d"))
	put(t, filepath.Join(dir, strings.Repeat("d/", maxDepth+2), "deep.md"), agent("deep", "d"))
	for from, to := range map[string]string{
		filepath.Join(dir, "out.md"): filepath.Join(out, "x.md"), filepath.Join(dir, "gone.md"): "nowhere.md", filepath.Join(dir, "loop.md"): "loop.md",
		filepath.Join(dir, "in.md"): "../../docs/in.md", filepath.Join(dir, "folder.md"): out, filepath.Join(root, "linked"): out,
	} {
		if err := os.Symlink(to, from); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(dir, "closed.md"), 0); err != nil {
		t.Fatal(err)
	}
	defs, problems := Find([]Dir{
		{Path: dir, Shown: "agents", Root: root, Origin: Project},
		{Path: filepath.Join(root, "linked"), Shown: "linked", Root: root, Origin: Project},
		{Path: filepath.Join(root, "linked"), Shown: "mine", Origin: Personal},
	})
	var got []string
	for _, d := range defs {
		got = append(got, d.Shown)
	}
	want := "agents/in.md mine/x.md"
	if os.Geteuid() == 0 {
		want = "agents/closed.md " + want
	}
	if s := strings.Join(got, " "); s != want {
		t.Errorf("got %s, want %s", s, want)
	}
	told := ""
	for _, p := range problems {
		told += p.Kind + ": " + p.String() + "\n"
	}
	for _, want := range []string{
		"error: agents/big.md: is larger than 1 MiB", "error: agents/out.md: is a link that leads out of the project and is not followed",
		"error: agents/gone.md: cannot be read: no such file", "error: agents/loop.md: cannot be read", "skipped: agents/folder.md: is a link to a directory",
		"error: linked: is a link that leads out of the project", "lies more than 8 directories deep",
	} {
		if !strings.Contains(told, want) {
			t.Errorf("got\n%s\nwant %s", told, want)
		}
	}
}

func TestFindTooMany(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range maxFiles + 1 {
		put(t, filepath.Join(dir, fmt.Sprintf("a%d.md", i)), "")
	}
	_, problems := Find([]Dir{{Path: dir, Shown: "agents"}})
	if n := len(problems); n != maxFiles+1 || !strings.Contains(problems[n-1].Message, "holds more than 1000 files; the rest is left out") {
		t.Errorf("got %d problems, the last one %v", n, problems[n-1])
	}
}
