package worktree

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/proc"
)

// ErrOutside is what errors.Is finds where there is no repository at all: the
// caller may go on in place. Whatever else is wrong is an error of its own.
var ErrOutside = errors.New("not inside a git repository")

// repo is the repository of a checkout.
type repo struct {
	top    string // the checkout's top directory, links resolved
	own    string // its git directory
	common string // the one that all worktrees share
	git    git    // in top
}

// open finds the repository around dir.
func open(ctx context.Context, dir string, environ []string) (repo, error) {
	if !filepath.IsAbs(dir) {
		return repo{}, failed("the directory %q is not absolute", dir)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return repo{}, failed("the directory %s cannot be read: %v", dir, err)
	}
	g := git{environ: environ, dir: real}
	// Where there is no checkout git fails at the last question only.
	out, err := g.run(ctx, "rev-parse", "--is-bare-repository", "--is-inside-work-tree", "--absolute-git-dir", "--git-common-dir", "--show-toplevel")
	l := strings.Split(strings.TrimRight(out, "\r\n"), "\n")
	switch {
	case len(l) < 4:
		if err == nil {
			err = failed("git's answer is not understood: %q", clip(out))
		}
		return repo{}, noRepo(real, err)
	case l[0] == "true":
		return repo{}, failed("%s is a bare repository: it has no checkout to work beside", real).
			WithHint("go to a checkout of it, or make one: git worktree add DIR BRANCH")
	case l[1] != "true":
		return repo{}, failed("%s lies in a repository's git directory, not in a checkout", real)
	}
	if err != nil || len(l) != 5 {
		return repo{}, noRepo(real, err)
	}
	r := repo{git: g}
	for _, p := range []struct {
		to   *string
		path string
	}{{&r.top, l[4]}, {&r.own, l[2]}, {&r.common, l[3]}} {
		if *p.to, err = filepath.EvalSymlinks(from(real, filepath.FromSlash(p.path))); err != nil {
			return repo{}, failed("the repository of %s cannot be read: %v", real, err)
		}
	}
	r.git.dir = r.top
	return r, nil
}

// noRepo tells what git's refusal means: nothing there, or something wrong.
func noRepo(dir string, err error) error {
	switch {
	case errors.Is(err, proc.ErrNotFound):
		return diag.New(diag.Unsupported, "git is not installed, and worktrees are git's").
			WithHint("install git, or work without a worktree")
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return err
	}
	for d := dir; ; d = filepath.Dir(d) {
		if _, lerr := os.Lstat(filepath.Join(d, ".git")); !errors.Is(lerr, fs.ErrNotExist) {
			return failed("the repository at %s cannot be used: %v", d, err)
		}
		if d == filepath.Dir(d) {
			return ErrOutside
		}
	}
}

// failed is an error of git or the disk, said to a person.
func failed(format string, args ...any) *diag.Error {
	return diag.New(diag.WorktreeFailed, format, args...)
}

// wrap says what was tried; a person's cancel stays one.
func wrap(err error, what string) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	var e *diag.Error
	if errors.As(err, &e) {
		return err
	}
	d := failed("%s: %v", what, err)
	d.Cause = err
	return d
}

// linked gives git in a linked worktree by its record, so that what a task has
// made of its .git file leads nowhere.
func (r repo) linked(record, dir string) git {
	return git{environ: r.git.environ, dir: dir, at: []string{"GIT_DIR=" + record, "GIT_WORK_TREE=" + dir}}
}

// shared gives git on the common directory, without a checkout.
func (r repo) shared() git {
	return git{environ: r.git.environ, dir: r.common, at: []string{"GIT_DIR=" + r.common}}
}

// commit gives the object of a commit, "" where there is none.
func (g git) commit(ctx context.Context, name string) (string, error) {
	out, err := g.line(ctx, "rev-parse", "--verify", "-q", "--end-of-options", name+"^{commit}")
	if exitIs(err, 1) {
		return "", nil
	}
	return out, err
}

// within says that path is dir or lies below it; both are clean.
func within(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

func from(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// recordOf reads a checkout's .git file: the git directory that it names, ""
// where it is none.
func recordOf(dir string) string {
	line, ok := strings.CutPrefix(smallLine(filepath.Join(dir, ".git")), "gitdir:")
	if !ok {
		return ""
	}
	real, err := filepath.EvalSymlinks(from(dir, filepath.FromSlash(strings.TrimSpace(line))))
	if err != nil {
		return ""
	}
	return real
}

// smallLine is the first line of one of git's one-line files, "" where it is
// no plain small file.
func smallLine(path string) string {
	fi, err := os.Lstat(path)
	if err != nil || !fi.Mode().IsRegular() || fi.Size() > 64<<10 {
		return ""
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(b), "\n")
	return strings.TrimSpace(line)
}

// records are the git directories of the repository's linked worktrees.
func (r repo) records() []string {
	entries, err := os.ReadDir(filepath.Join(r.common, "worktrees"))
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		if e.IsDir() {
			out = append(out, filepath.Join(r.common, "worktrees", e.Name()))
		}
	}
	slices.Sort(out)
	return out
}
