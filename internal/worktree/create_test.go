package worktree

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"larva.dev/larva/internal/diag"
)

func TestCreate(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.put("a.txt", "changed\n") // not taken along
	w := b.create(func(o *Options) { o.Cwd = filepath.Join(b.repo, "sub") })
	if !within(filepath.Join(b.data, "worktrees"), w.Dir) || within(b.repo, w.Dir) {
		t.Errorf("got the worktree in %s, want it in %s and outside of the repository", w.Dir, b.data)
	}
	same(t, "directory", w.Cwd, filepath.Join(w.Dir, "sub"))
	same(t, "branch", b.gitIn(w.Dir, "symbolic-ref", "--short", "HEAD"), w.Branch)
	if !nameForm.MatchString(w.Name) || w.Branch != "larva/"+w.Name {
		t.Errorf("got branch %s of %s, want larva/task-xxxxxx", w.Branch, w.Name)
	}
	same(t, "base", w.Base, b.git("rev-parse", "HEAD"))
	same(t, "a.txt", read(t, filepath.Join(w.Dir, "a.txt")), "one\n")
	same(t, "state", b.gitIn(w.Dir, "status", "--porcelain"), "")
	same(t, "parent", b.git("status", "--porcelain"), " M a.txt")
	fi, err := os.Stat(filepath.Dir(w.Dir))
	if err != nil || fi.Mode().Perm() != 0o700 {
		t.Errorf("got mode %v (%v), want 0700", fi.Mode(), err)
	}
	if r := b.finish(w); !r.Removed || exists(w.Dir) {
		t.Errorf("got %+v, want it removed", r)
	}
	same(t, "branches", b.branches(), "main other")
}

// TestCreateLinked makes one for a parent that is in a linked worktree itself,
// and for one that sits in a worktree of a bare repository.
func TestCreateLinked(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	linked := filepath.Join(filepath.Dir(b.repo), "linked")
	b.git("worktree", "add", "-q", "-b", "side", linked)
	write(t, filepath.Join(linked, "a.txt"), "other\n")
	b.gitIn(linked, "commit", "-qam", "Other")
	w := b.create(func(o *Options) { o.Cwd = linked })
	same(t, "a.txt", read(t, filepath.Join(w.Dir, "a.txt")), "other\n")
	same(t, "repo", w.Repo, linked)
	write(t, filepath.Join(w.Dir, "new.txt"), "new\n")
	r := b.finish(w)
	same(t, "commits", r.Commits, 1)
	same(t, "merges", r.Merges, MergesClean)
	same(t, "place", filepath.Dir(w.Dir), filepath.Dir(b.create().Dir))

	bare := filepath.Join(filepath.Dir(b.repo), "bare.git")
	b.git("clone", "-q", "--bare", b.repo, bare)
	of := filepath.Join(filepath.Dir(b.repo), "of-bare")
	b.gitIn(bare, "worktree", "add", "-q", of, "main")
	w = b.create(func(o *Options) { o.Cwd = of })
	same(t, "a.txt", read(t, filepath.Join(w.Dir, "a.txt")), "one\n")
	b.finish(w)
}

func TestCreateRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	top := filepath.Dir(b.repo)
	mkdir(t, filepath.Join(top, "plain"))
	mkdir(t, filepath.Join(top, "empty"))
	b.gitIn(filepath.Join(top, "empty"), "init", "-q")
	b.git("clone", "-q", "--bare", b.repo, filepath.Join(top, "bare.git"))
	mkdir(t, filepath.Join(top, "broken"))
	write(t, filepath.Join(top, "broken/.git"), "gitdir: /nowhere\n")
	mkdir(t, filepath.Join(top, "crooked"))
	b.gitIn(filepath.Join(top, "crooked"), "init", "-q")
	write(t, filepath.Join(top, "crooked/.git/HEAD"), strings.Repeat("1", 40)+"\n")
	old := filepath.Join(top, "old")
	write(t, filepath.Join(old, "git"), "#!/bin/sh\ncase $1 in version) echo git version 2.30.9;; *) exit 129;; esac\n")
	if err := os.Chmod(filepath.Join(old, "git"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change  func(*Options)
		outside bool
		says    string
	}{
		"outside":       {func(o *Options) { o.Cwd = filepath.Join(top, "plain") }, true, ""},
		"no commit":     {func(o *Options) { o.Cwd = filepath.Join(top, "empty") }, false, "no commit yet"},
		"bare":          {func(o *Options) { o.Cwd = filepath.Join(top, "bare.git") }, false, "bare repository"},
		"git directory": {func(o *Options) { o.Cwd = filepath.Join(b.repo, ".git") }, false, "git directory"},
		"broken":        {func(o *Options) { o.Cwd = filepath.Join(top, "broken") }, false, "cannot be used"},
		"HEAD to none":  {func(o *Options) { o.Cwd = filepath.Join(top, "crooked") }, false, "leads to no commit"},
		"missing":       {func(o *Options) { o.Cwd = filepath.Join(top, "nowhere") }, false, "cannot be read"},
		"relative":      {func(o *Options) { o.Cwd = "x" }, false, "not absolute"},
		"base":          {func(o *Options) { o.Base = "nope" }, false, `no commit "nope"`},
		"option base":   {func(o *Options) { o.Base = "--all" }, false, `no commit "--all"`},
		"data":          {func(o *Options) { o.Data = filepath.Join(b.repo, "a.txt") }, false, "cannot be written"},
		"copy outside":  {func(o *Options) { o.Copy = []string{"../secret"} }, false, "outside of the repository"},
		"copy absolute": {func(o *Options) { o.Copy = []string{"/etc/passwd"} }, false, "outside of the repository"},
		"copy home":     {func(o *Options) { o.Copy = []string{"~/x"} }, false, "outside of the repository"},
		"copy git":      {func(o *Options) { o.Copy = []string{".git/config"} }, false, "git's own"},
		"no git":        {func(o *Options) { o.Environ = []string{"PATH=/nowhere"} }, false, "not installed"},
		"old git":       {func(o *Options) { o.Environ = []string{"PATH=" + old} }, false, "git 2.30.9 is too old for worktrees: it has to be 2.31 or later"},
	} {
		t.Run(name, func(t *testing.T) {
			o := b.options()
			c.change(&o)
			w, err := Create(context.Background(), o)
			if err == nil {
				w.Release()
				t.Fatalf("got %s, want an error", w.Dir)
			}
			same(t, "outside", errors.Is(err, ErrOutside), c.outside)
			if !c.outside {
				has(t, "error", diag.As(err).Message, c.says)
				if code := diag.As(err).Code; code == diag.Internal {
					t.Errorf("got code %s for %v, want one of its own", code, err)
				}
			}
		})
	}
	same(t, "branches", b.branches(), "main other")
}

// TestCreateBranchInTheWay has branches that leave no room for larva/….
func TestCreateBranchInTheWay(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.git("branch", "larva")
	_, err := Create(context.Background(), b.options())
	if err == nil {
		t.Fatal("got no error, want one")
	}
	has(t, "error", err.Error(), "the branch larva is in the way")
	same(t, "worktrees", strings.Count(b.git("worktree", "list"), "\n"), 0)
	same(t, "branches", b.branches(), "larva main other")
}

// TestCreateCancelled leaves nothing behind.
func TestCreateCancelled(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Create(ctx, b.options()); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	same(t, "branches", b.branches(), "main other")
}

func TestCreateFrom(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first := b.git("rev-parse", "HEAD")
	b.put("a.txt", "two\n")
	b.git("commit", "-qam", "Second")
	w := b.create(func(o *Options) { o.Base = "HEAD~1" })
	same(t, "base", w.Base, first)
	same(t, "a.txt", read(t, filepath.Join(w.Dir, "a.txt")), "one\n")
	if r := b.finish(w); !r.Removed {
		t.Errorf("got %+v, want it removed", r)
	}
	b.git("checkout", "-q", "--detach")
	w = b.create()
	same(t, "detached parent", w.Base, b.git("rev-parse", "HEAD"))
	b.finish(w)
}

// TestWithChanges takes the parent's uncommitted changes along.
func TestWithChanges(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.put("a.txt", "staged\n")
	b.git("add", "a.txt")
	b.put("a.txt", "unstaged\n")
	b.put("new/ü n.txt", "new\n")
	b.put("x.log", "ignored\n")
	if err := os.Remove(filepath.Join(b.repo, "sub/b.txt")); err != nil {
		t.Fatal(err)
	}
	before, index := b.git("status", "--porcelain"), read(t, filepath.Join(b.repo, ".git/index"))
	w := b.create(func(o *Options) { o.WithChanges = true })
	same(t, "parent", b.git("status", "--porcelain"), before)
	same(t, "index", read(t, filepath.Join(b.repo, ".git/index")) == index, true)
	same(t, "a.txt", read(t, filepath.Join(w.Dir, "a.txt")), "unstaged\n")
	same(t, "new", read(t, filepath.Join(w.Dir, "new/ü n.txt")), "new\n")
	for _, gone := range []string{"x.log", "sub/b.txt"} {
		if exists(filepath.Join(w.Dir, gone)) {
			t.Errorf("%s is in the worktree", gone)
		}
	}
	same(t, "from", w.From, b.git("rev-parse", "HEAD"))
	same(t, "commits", b.gitIn(w.Dir, "rev-list", "--count", w.From+"..HEAD"), "1")
	write(t, filepath.Join(w.Dir, "task.txt"), "task\n")
	r := b.finish(w)
	same(t, "commits of the task", r.Commits, 1)
	same(t, "files", strings.Join(r.Files, ","), "A task.txt")
	// What the report says to do works over the parent's own changes.
	sh := strings.Replace(r.Commands.Merge, "git diff", "git -C "+b.repo+" diff", 1)
	if out, err := b.shell(b.repo, sh); err != nil {
		t.Fatalf("%s: %v\n%s", sh, err, out)
	}
	same(t, "merged", read(t, filepath.Join(b.repo, "task.txt")), "task\n")

	b.git("stash", "-q", "-u")
	clean := b.create(func(o *Options) { o.WithChanges = true })
	same(t, "nothing to take along", clean.Base, clean.From)
	if r := b.finish(clean); !r.Removed {
		t.Errorf("got %+v, want it removed", r)
	}
}

// TestCwdElsewhere has a place in the parent's checkout that the commit has
// not, or has as a link out of the worktree.
func TestCwdElsewhere(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	mkdir(t, filepath.Join(b.repo, "untracked/deep"))
	w := b.create(func(o *Options) { o.Cwd = filepath.Join(b.repo, "untracked/deep") })
	same(t, "directory", w.Cwd, filepath.Join(w.Dir, "untracked/deep"))
	if r := b.finish(w); !r.Removed {
		t.Errorf("got %+v, want it removed", r)
	}
	if err := os.Symlink("/etc", filepath.Join(b.repo, "link")); err != nil {
		t.Fatal(err)
	}
	b.git("add", "link")
	b.git("commit", "-qm", "Link")
	if err := os.Remove(filepath.Join(b.repo, "link")); err != nil {
		t.Fatal(err)
	}
	mkdir(t, filepath.Join(b.repo, "link"))
	w = b.create(func(o *Options) { o.Cwd = filepath.Join(b.repo, "link") })
	same(t, "directory", w.Cwd, w.Dir)
	has(t, "notices", strings.Join(w.Notices, "\n"), "has no directory link")
	b.finish(w)
}
