package worktree

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
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
	head   string // the commit of HEAD, "" where that was not told
	stash  string // that of the stash, "" for none
}

// What open asks for besides: a glob that is one name, since there may be none.
const (
	stashGlob  = "refs/stas[h]"
	headCommit = "HEAD^{commit}"
)

// oldestGit knows settings that are handed over in the environment: an older
// one would run what the repository's configuration names.
const oldestGit = "2.31"

// tooOld says that git is older than that; nil where its version is not the
// reason.
func tooOld(ctx context.Context, g git) error {
	out, err := g.line(ctx, "version")
	if err != nil {
		return nil
	}
	v := strings.TrimPrefix(out, "git version ")
	major, rest, _ := strings.Cut(v, ".")
	minor, _, _ := strings.Cut(rest, ".")
	a, aerr := strconv.Atoi(major)
	b, berr := strconv.Atoi(minor)
	if v == out || aerr != nil || berr != nil || a > 2 || a == 2 && b >= 31 {
		return nil
	}
	return diag.New(diag.Unsupported, "git %s is too old for worktrees: it has to be %s or later", clip(v), oldestGit).
		WithHint("install a newer git, or work without a worktree")
}

// commits reads the ends of open's answer: the stash, if there is one, and
// HEAD, which git repeats as it was asked where it is no commit.
func commits(l []string) (head, stash string, ok bool) {
	if len(l) == 2 {
		if !isObject(l[0]) {
			return "", "", false
		}
		stash, l = l[0], l[1:]
	}
	switch {
	case len(l) == 0 || len(l) == 1 && l[0] == headCommit:
		return "", stash, true
	case len(l) == 1 && isObject(l[0]):
		return l[0], stash, true
	}
	return "", "", false
}

func isObject(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
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
	// Where there is no checkout git fails at the last but two. HEAD, which may
	// have no commit yet, is asked for last.
	out, err := g.run(ctx, "rev-parse", "--local-env-vars", "--is-bare-repository", "--is-inside-work-tree", "--absolute-git-dir", "--git-common-dir", "--show-toplevel",
		"--glob="+stashGlob, headCommit)
	l, knows := strings.Split(strings.TrimRight(out, "\r\n"), "\n"), false
	for len(l) > 0 && strings.HasPrefix(l[0], "GIT_") {
		knows = knows || strings.TrimRight(l[0], "\r") == "GIT_CONFIG_COUNT"
		l = l[1:]
	}
	if !knows {
		if old := tooOld(ctx, g); old != nil {
			return repo{}, old
		}
	}
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
	head, stash, ok := commits(l[min(len(l), 5):])
	if len(l) < 5 || !ok || err != nil && head != "" {
		return repo{}, noRepo(real, err)
	}
	r := repo{git: g, head: head, stash: stash}
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
