package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNestedRepositories: the repositories that lie in a project choose code as
// much as its own does; git still works in them, and one that commands make is
// theirs.
func TestNestedRepositories(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{Bubblewrap, Landlock} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			h := build(t)
			sub := filepath.Join(h.project, "src", "deep", "sub")
			if err := os.MkdirAll(sub, 0o755); err != nil {
				t.Fatal(err)
			}
			git(t, sub, "init", "-q")
			put(t, filepath.Join(sub, "f"), "1\n")
			config, err := os.ReadFile(filepath.Join(sub, ".git", "config"))
			if err != nil {
				t.Fatal(err)
			}
			w := wall(t, kind, h.o)
			for _, line := range []string{
				`cd src/deep/sub && git config core.fsmonitor ./evil`,
				`cd src/deep/sub && printf '[core]\n\tfsmonitor = ./evil\n' >> .git/config`,
				`cd src/deep/sub && echo evil > .git/hooks/post-commit`,
				`cd src/deep/sub && echo /elsewhere > .git/commondir`,
				`cd src/deep/sub && printf '[core]\n\tfsmonitor = ./evil\n' > .git/config.worktree`,
				`cd src/deep/sub && mkdir -p x/hooks && mv .git y && mv x .git`,
				`cd src/deep && mv sub sub2 && mkdir sub && cp -r sub2/. sub && echo evil > sub/.git/hooks/post-commit`,
			} {
				in(t, w, line)
				now, _ := os.ReadFile(filepath.Join(sub, ".git", "config"))
				if string(now) != string(config) {
					t.Errorf("%s: the configuration is %q now", line, now)
				}
				for _, made := range []string{"hooks/post-commit", "commondir", "config.worktree"} {
					b, err := os.ReadFile(filepath.Join(sub, ".git", made))
					if err == nil && (strings.Contains(string(b), "evil") || strings.Contains(string(b), "elsewhere")) {
						t.Errorf("%s: %s is %q now", line, made, b)
					}
				}
				if kind == Landlock && t.Failed() {
					return
				}
			}
			if kind == Landlock {
				return
			}
			r, _ := in(t, w, `cd src/deep/sub && git add f && git -c user.name=a -c user.email=a@b.test commit -qm one && git log --format=%s`)
			if got := string(r.Stdout); got != "one\n" {
				t.Errorf("work in it: got %q, exit %d", got, r.Exit)
			}
			r, _ = in(t, w, `git init -q own && git -C own config core.pager cat`)
			r2, _ := in(t, w, `git -C own config core.editor ed && rm -rf own && echo gone`)
			if got := string(r2.Stdout); r.Exit != 0 || got != "gone\n" {
				t.Errorf("one of its own: exit %d, then got %q", r.Exit, got)
			}
			if err := w.Close(); err != nil {
				t.Error(err)
			}
			for _, made := range []string{"commondir", "config.worktree", "modules", "worktrees"} {
				if _, err := os.Lstat(filepath.Join(sub, ".git", made)); err == nil {
					t.Errorf("%s is left behind", made)
				}
			}
		})
	}
}
