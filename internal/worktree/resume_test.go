package worktree

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestResume goes on in a worktree that was kept, and in one that was removed:
// in the same place, on the same branch, with what was copied in.
func TestResume(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.put(".env", "KEY=1\n")
	w := b.create(func(o *Options) { o.Copy = []string{".env"}; o.Cwd = filepath.Join(b.repo, "sub") })
	if err := w.Resume(t.Context()); err == nil {
		t.Error("got a worktree taken up that is worked in")
	}
	dir, branch := w.Dir, w.Branch
	if r := b.finish(w); !r.Removed {
		t.Fatalf("got %s, want it removed", r.Text())
	}
	for i, name := range []string{"one.txt", "two.txt"} { // removed before the first, kept before the second
		if err := w.Resume(t.Context()); err != nil {
			t.Fatal(err)
		}
		same(t, "state", b.gitIn(dir, "status", "--porcelain"), "")
		same(t, "branch", b.gitIn(w.Cwd, "symbolic-ref", "--short", "HEAD"), branch)
		same(t, ".env", read(t, filepath.Join(dir, ".env")), "KEY=1\n")
		list, err := List(t.Context(), b.repo, b.env)
		if err != nil || len(list) != 1 || list[0].State != StateRunning {
			t.Errorf("got %+v (%v), want one that is running", list, err)
		}
		write(t, filepath.Join(dir, name), name)
		r := b.finish(w)
		same(t, "commits", r.Commits, i+1)
		same(t, "files", strings.Join(r.Files, ","), []string{"A one.txt", "A one.txt,A two.txt"}[i])
		same(t, "copied", exists(filepath.Join(dir, ".env")), false)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	err := w.Resume(t.Context())
	if err == nil {
		t.Fatal("got a worktree taken up that is gone")
	}
	has(t, "error", err.Error(), "is gone")
}

// TestResumeRefused has a removed one whose branch somebody has made anew, and
// a task that had left its branch.
func TestResumeRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	w := b.create()
	b.finish(w)
	b.git("branch", w.Branch, "other")
	if err := w.Resume(t.Context()); err == nil || !strings.Contains(err.Error(), "in the way") {
		t.Errorf("got %v, want the branch in the way", err)
	}
	same(t, "directory", exists(w.Dir), false)
	w = b.create()
	b.gitIn(w.Dir, "checkout", "-q", "--detach")
	write(t, filepath.Join(w.Dir, "n"), "n")
	b.finish(w)
	if err := w.Resume(t.Context()); err == nil || !strings.Contains(err.Error(), "had left its branch") {
		t.Errorf("got %v, want a word of the branch", err)
	}
}
