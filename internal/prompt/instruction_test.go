package prompt

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// plant writes files below a fresh directory; a text that begins with "->" is
// a link.
func plant(t *testing.T, files map[string]string) string {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(top, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if to, ok := strings.CutPrefix(text, "->"); ok {
			if err := os.Symlink(to, path); err != nil {
				t.Skip("no links here")
			}
			continue
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return top
}

func TestInstructions(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", maxFile+1)
	for name, c := range map[string]struct {
		files   map[string]string
		want    []string // name: text
		notices []string // parts of each
	}{
		"order": {files: map[string]string{"config/AGENTS.md": "mine", "p/AGENTS.md": "root", "p/CLAUDE.md": "unread", "p/a/CLAUDE.md": "below"},
			want: []string{"config/AGENTS.md: mine", "p/AGENTS.md: root", "p/a/CLAUDE.md: below"}},
		"empty": {files: map[string]string{"p/AGENTS.md": " \n", "p/CLAUDE.md": "no", "p/a/AGENTS.md": "yes"}, want: []string{"p/a/AGENTS.md: yes"}},
		"import": {files: map[string]string{"p/AGENTS.md": "See @docs/style.md, and `@docs/not.md`.\n```\n@docs/no.md\n```\n@docs/style.md", "p/docs/style.md": "tabs\n@more.md", "p/docs/more.md": "deep", "p/docs/not.md": "x", "p/docs/no.md": "x"},
			want: []string{"p/AGENTS.md: See @docs/style.md, and `@docs/not.md`.\n```\n@docs/no.md\n```\n@docs/style.md", "p/docs/style.md: tabs\n@more.md", "p/docs/more.md: deep"}},
		"circle":        {files: map[string]string{"p/AGENTS.md": "@b.md", "p/b.md": "@AGENTS.md @b.md"}, want: []string{"p/AGENTS.md: @b.md", "p/b.md: @AGENTS.md @b.md"}},
		"escape":        {files: map[string]string{"p/AGENTS.md": "@../out.md @/etc/passwd @~/x.md", "out.md": "secret"}, want: []string{"p/AGENTS.md: @../out.md @/etc/passwd @~/x.md"}, notices: []string{"leads out", "leads out", "lies below"}},
		"link out":      {files: map[string]string{"p/AGENTS.md": "->../out.md", "out.md": "secret"}, notices: []string{"leads out"}},
		"import link":   {files: map[string]string{"p/AGENTS.md": "@l/x.md", "p/l": "->../other", "other/x.md": "secret"}, want: []string{"p/AGENTS.md: @l/x.md"}, notices: []string{"leads out"}},
		"link inside":   {files: map[string]string{"p/AGENTS.md": "->docs/a.md", "p/docs/a.md": "text", "p/a/AGENTS.md": "->../docs/a.md"}, want: []string{"p/AGENTS.md: text"}},
		"missing":       {files: map[string]string{"p/AGENTS.md": "@docs/gone.md, ask @someone"}, want: []string{"p/AGENTS.md: @docs/gone.md, ask @someone"}, notices: []string{"does not exist"}},
		"too large":     {files: map[string]string{"p/AGENTS.md": long, "p/a/AGENTS.md": "ok"}, want: []string{"p/a/AGENTS.md: ok"}, notices: []string{"larger than 64 KiB"}},
		"binary":        {files: map[string]string{"p/AGENTS.md": "a\x00b", "p/a/AGENTS.md": "\xff"}, notices: []string{"not UTF-8", "not UTF-8"}},
		"denied":        {files: map[string]string{"p/AGENTS.md": "@.env", "p/.env": "KEY=1"}, want: []string{"p/AGENTS.md: @.env"}, notices: []string{"may not be read"}},
		"directory":     {files: map[string]string{"p/AGENTS.md/x": "", "p/a/AGENTS.md": "ok"}, want: []string{"p/a/AGENTS.md: ok"}, notices: []string{"no regular file"}},
		"marks and CRs": {files: map[string]string{"p/AGENTS.md": "\ufeffa\r\nb"}, want: []string{"p/AGENTS.md: a\nb"}},
		"deep": {files: map[string]string{"p/AGENTS.md": "@1.md", "p/1.md": "@2.md", "p/2.md": "@3.md", "p/3.md": "@4.md", "p/4.md": "@5.md", "p/5.md": "@6.md", "p/6.md": "x"},
			want: []string{"p/AGENTS.md: @1.md", "p/1.md: @2.md", "p/2.md: @3.md", "p/3.md: @4.md", "p/4.md: @5.md", "p/5.md: @6.md"}, notices: []string{"5 deep"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			top := plant(t, c.files)
			if err := os.MkdirAll(filepath.Join(top, "p", "a"), 0o700); err != nil {
				t.Fatal(err)
			}
			files, notices := Instructions(Search{Config: filepath.Join(top, "config"), Dirs: []string{filepath.Join(top, "p"), filepath.Join(top, "p", "a")},
				Denied: func(abs, _ string) bool { return filepath.Base(abs) == ".env" },
				Name:   func(p string) string { r, _ := filepath.Rel(top, p); return filepath.ToSlash(r) }})
			var got []string
			for _, f := range files {
				got = append(got, f.Source+": "+f.Text)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("files (-want +got):\n%s", d)
			}
			if len(notices) != len(c.notices) {
				t.Fatalf("notices: got %q, want %d", notices, len(c.notices))
			}
			for i, part := range c.notices {
				if !strings.Contains(notices[i], part) {
					t.Errorf("notice %d: got %q, want one with %q", i, notices[i], part)
				}
			}
		})
	}
}

func TestInstructionsAreBoundedTogether(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	var all strings.Builder
	for _, n := range []string{"a", "b", "c", "d"} {
		files["p/"+n+".md"] = strings.Repeat("y", maxFile)
		all.WriteString("@" + n + ".md ")
	}
	files["p/AGENTS.md"] = all.String()
	top := plant(t, files)
	got, notices := Instructions(Search{Dirs: []string{filepath.Join(top, "p")}})
	if len(got) != 3 || len(notices) != 2 {
		t.Errorf("got %d files and notices %q, want 3 files and 2 notices", len(got), notices)
	}
}
