package worktree

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"larva.dev/larva/internal/diag"
)

// Options say which checkout to make.
type Options struct {
	Cwd  string // the parent's working directory, absolute; its checkout is the parent's
	Data string // larva's data directory, absolute: the checkout is made in its worktrees
	Base string // where the task begins; "" is the parent's HEAD
	// WithChanges makes the parent's uncommitted changes, with files that git
	// does not know yet but without ignored ones, the branch's first commit.
	WithChanges bool
	// Copy are files that git ignores and that the task needs, as patterns from
	// the top of the parent's checkout (git's glob). They are removed at Finish.
	Copy    []string
	Label   string // who the task is, for lists
	Environ []string
}

// Tree is one task's checkout. It is one goroutine's at a time.
type Tree struct {
	Name    string // task-xxxxxx
	Dir     string // its top directory, links resolved
	Cwd     string // the parent's place in it
	Branch  string
	Base    string   // the commit where the task begins
	From    string   // the commit that the parent was at
	Repo    string   // the top of the parent's checkout
	Notices []string // what a person should know of it

	repo   repo
	record string // git's directory for it
	state  state
	held   *flock.Flock

	options           Options
	removed, switched bool // what Finish has done and found
}

const (
	prefix = "larva/"
	// cleanTime is what undoing a failed creation may take.
	cleanTime = 30 * time.Second
	nameTries = 20
)

var nameForm = regexp.MustCompile(`^task-[0-9a-f]{6}$`)

// Create makes a checkout. It wraps ErrOutside where Cwd is in no repository.
// Whatever fails inside of one is an error, and nothing is left behind.
func Create(ctx context.Context, o Options) (*Tree, error) {
	r, err := open(ctx, o.Cwd, o.Environ)
	if err != nil {
		return nil, err
	}
	if err := checkPatterns(o.Copy); err != nil {
		return nil, err
	}
	base := o.Base
	if base == "" {
		base = "HEAD"
	}
	t := &Tree{Repo: r.top, repo: r, options: o}
	if t.From = r.head; o.Base != "" || r.head == "" {
		t.From, err = r.git.commit(ctx, base)
	}
	if err != nil {
		return nil, wrap(err, "the commit to begin at cannot be read")
	}
	if t.From == "" {
		return nil, noCommit(ctx, r, base)
	}
	if t.Base = t.From; o.WithChanges {
		if t.Base, err = t.changes(ctx, o.Data); err != nil {
			return nil, wrap(err, "your uncommitted changes cannot be taken along")
		}
	}
	if err := t.add(ctx, o); err != nil {
		return nil, err
	}
	if err := t.fill(ctx, o); err != nil {
		if rest := t.undo(ctx); rest != nil {
			d := *diag.As(wrap(err, "the worktree cannot be made"))
			return nil, (&d).WithHint("%s is left behind (%v): git worktree remove --force %s", t.Dir, rest, diag.Word(t.Dir))
		}
		return nil, wrap(err, "the worktree cannot be made")
	}
	return t, nil
}

func noCommit(ctx context.Context, r repo, base string) error {
	if base != "HEAD" {
		return failed("there is no commit %q in %s", base, r.top)
	}
	if branch, err := r.git.line(ctx, "symbolic-ref", "-q", "HEAD"); err == nil {
		if made, err := r.git.commit(ctx, branch); err == nil && made == "" {
			return failed("%s has no commit yet, and a worktree begins at one", r.top).
				WithHint("make a first one: git commit --allow-empty -m First")
		}
	}
	return failed("HEAD of %s leads to no commit", r.top)
}

// place is the directory of a repository's worktrees.
func (r repo) place(data string) string {
	sum := sha256.Sum256([]byte(r.common))
	name := filepath.Base(r.common)
	if name == ".git" {
		name = filepath.Base(filepath.Dir(r.common))
	}
	name = strings.TrimSuffix(name, ".git")
	plain := regexp.MustCompile(`[^A-Za-z0-9._-]+`).ReplaceAllString(name, "_")
	if len(plain) > 40 {
		plain = plain[:40]
	}
	return filepath.Join(data, "worktrees", strings.TrimLeft(plain, ".-")+"-"+hex.EncodeToString(sum[:4]))
}

// add makes branch, directory and record, under the repository's lock. Nothing
// is checked out yet.
func (t *Tree) add(ctx context.Context, o Options) error {
	if !filepath.IsAbs(o.Data) {
		return failed("the data directory %q is not absolute", o.Data)
	}
	place := t.repo.place(o.Data)
	if err := os.MkdirAll(place, 0o700); err != nil {
		return failed("the data directory cannot be written: %v", err)
	}
	place, err := filepath.EvalSymlinks(place)
	if err != nil {
		return failed("the data directory cannot be read: %v", err)
	}
	unlock, err := t.repo.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if err := t.addFree(ctx, place); err != nil {
		return err
	}
	return t.begin(ctx)
}

// begin records what was added, and holds it.
func (t *Tree) begin(ctx context.Context) error {
	var err error
	t.record = recordOf(t.Dir)
	if t.record == "" || filepath.Dir(t.record) != filepath.Join(t.repo.common, "worktrees") {
		return failed("git has made the worktree %s in a place of its own: %q", t.Dir, t.record)
	}
	t.state = state{V: 1, Branch: t.Branch, Base: t.Base, From: t.From, Repo: t.Repo, Dir: t.Dir, Label: t.options.Label, Created: time.Now().UTC(), Stash: t.repo.stash}
	if t.held, err = hold(ctx, filepath.Join(t.record, heldFile)); err == nil {
		err = t.state.write(t.record)
	}
	if err != nil {
		_ = t.undoLocked(ctx)
		return wrap(err, "the worktree cannot be recorded")
	}
	return nil
}

// notAdded says what is in the way.
func (t *Tree) notAdded(ctx context.Context, err error) error {
	if at, cerr := t.repo.shared().commit(ctx, "refs/heads/larva"); cerr == nil && at != "" {
		return failed("the branch larva is in the way of %s: git keeps no branch below another", t.Branch).
			WithHint("rename it: git branch -m larva NAME")
	}
	return wrap(err, "the worktree cannot be made")
}

// addFree adds under a name that no branch and no directory has.
func (t *Tree) addFree(ctx context.Context, place string) error {
	for range nameTries {
		var b [3]byte
		if _, err := rand.Read(b[:]); err != nil {
			return err
		}
		t.Name = "task-" + hex.EncodeToString(b[:])
		t.Dir, t.Branch = filepath.Join(place, t.Name), prefix+t.Name
		if exists(t.Dir) {
			continue
		}
		err := t.addNamed(ctx)
		if err == nil {
			return nil
		}
		if at, cerr := t.repo.shared().commit(ctx, "refs/heads/"+t.Branch); cerr == nil && at != "" && !exists(t.Dir) && ctx.Err() == nil {
			if at != t.Base {
				continue // somebody else's branch
			}
		}
		_ = t.undoLocked(ctx)
		return t.notAdded(ctx, err)
	}
	return failed("no free name was found in %s", place)
}

func (t *Tree) addNamed(ctx context.Context) error {
	_, err := t.repo.git.run(ctx, "worktree", "add", "--no-checkout", "--no-track", "-q", "-b", t.Branch, "--", t.Dir, t.Base)
	return err
}

// fill checks out and puts in what the task needs besides.
func (t *Tree) fill(ctx context.Context, o Options) error {
	g, filters, err := t.repo.linked(t.record, t.Dir).disarm(ctx)
	if err != nil {
		return err
	}
	if _, err := g.run(ctx, "reset", "--hard", "-q", "--no-recurse-submodules", t.Base); err != nil {
		return err
	}
	t.unfiltered(ctx, g, filters)
	if err := t.addSubs(ctx, t.repo, g, t.Dir, "", 0); err != nil {
		return err
	}
	if err := t.copyIn(ctx, g, o.Copy); err != nil {
		return err
	}
	if err := t.settle(o.Cwd); err != nil {
		return err
	}
	return t.state.write(t.record)
}

// unfiltered tells of files that a filter would have changed.
func (t *Tree) unfiltered(ctx context.Context, g git, filters []string) {
	args := []string{"ls-files", "-z", "--"}
	for _, n := range filters {
		if regexp.MustCompile(`^[A-Za-z0-9_-]+$`).MatchString(n) {
			args = append(args, ":(top,attr:filter="+n+")")
		}
	}
	if len(args) == 3 {
		return
	}
	out, err := g.run(ctx, args...)
	if n := len(fields(out)); err == nil && n > 0 {
		t.Notices = append(t.Notices, fmt.Sprintf("%s as stored in git: their filters (%s) are not run", count(n, "file stands in the worktree", "files stand in the worktree"), strings.Join(filters, ", ")))
	}
}

// settle finds the parent's place in the checkout.
func (t *Tree) settle(cwd string) error {
	t.Cwd = t.Dir
	real, err := filepath.EvalSymlinks(cwd)
	if err != nil {
		return err
	}
	rel, err := filepath.Rel(t.Repo, real)
	if err != nil || !filepath.IsLocal(rel) || rel == "." {
		return nil
	}
	root, err := os.OpenRoot(t.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	// What is a directory in the parent's checkout may be a link or a file in
	// the commit.
	_ = root.MkdirAll(rel, 0o755)
	at, err := filepath.EvalSymlinks(filepath.Join(t.Dir, rel))
	if fi, serr := os.Stat(at); err != nil || serr != nil || !fi.IsDir() || !within(t.Dir, at) {
		t.Notices = append(t.Notices, "the worktree has no directory "+filepath.ToSlash(rel)+": the task begins at its top")
		return nil
	}
	t.Cwd = at
	return nil
}

// undo takes back what add and fill have made.
func (t *Tree) undo(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanTime)
	defer cancel()
	unlock, err := t.repo.lock(ctx)
	if err != nil {
		t.Release()
		return err
	}
	defer unlock()
	return t.undoLocked(ctx)
}

func (t *Tree) undoLocked(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanTime)
	defer cancel()
	err := t.repo.drop(ctx, t.record, t.Dir, t.state.Subs, t.Branch, t.Base)
	t.Release()
	return err
}

// Release gives the worktree up without looking at it: it stays, and other
// processes may remove it.
func (t *Tree) Release() {
	if t.held != nil {
		_ = t.held.Close()
		t.held = nil
	}
}

// count says a number with its noun.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
