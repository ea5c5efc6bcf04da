package worktree

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"larva.dev/larva/internal/capability"
	"larva.dev/larva/internal/diag"
)

// finishTime is what a finish may take in all, also after the task was
// cancelled.
const finishTime = time.Minute

// Finish commits what the task has left, and removes the worktree where there
// is nothing in it; else it stays, and the report says what is in it. No
// process of the task may be running any more. It has a deadline of its own:
// a cancelled ctx ends nothing.
//
// The error says what went wrong on the way; the report is valid beside it,
// and the worktree is then kept.
func (t *Tree) Finish(ctx context.Context) (Report, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishTime)
	defer cancel()
	defer t.Release()
	rep := Report{Name: t.Name, Dir: t.Dir, Repo: t.Repo, Branch: t.Branch, Base: t.Base, Head: t.Base,
		Files: []string{}, Conflicts: []string{}, Ignored: []string{}, Notes: []string{}}
	err := t.finish(ctx, &rep)
	if err != nil {
		rep.Removed = false
		rep.Notes = append(rep.Notes, "finishing failed, and everything is kept as it is: "+diag.As(wrap(err, "git")).Message)
		err = wrap(err, "the worktree "+t.Dir+" cannot be finished and is kept as it is")
	}
	rep.command(t.WithChanges())
	t.removed, t.switched = rep.Removed, rep.Switched
	return rep, err
}

// WithChanges says that the branch's first commit holds the parent's
// uncommitted changes.
func (t *Tree) WithChanges() bool { return t.Base != t.From }

func (t *Tree) finish(ctx context.Context, rep *Report) error {
	if gone(t.Dir) {
		return t.finishGone(ctx, rep)
	}
	if recordOf(t.Dir) != t.record {
		rep.Notes = append(rep.Notes, "the worktree's .git is not the one that git has made")
	}
	if !exists(filepath.Join(t.record, "HEAD")) {
		return errors.New("git's record of the worktree is gone: " + t.record)
	}
	changed, stuck := t.state.takeBack(t.Dir)
	for _, c := range changed {
		rep.Notes = append(rep.Notes, show(c)+", which was copied in, had been changed by the task; it is removed")
	}
	for _, c := range stuck {
		rep.Notes = append(rep.Notes, show(c)+", which was copied in, could not be removed")
	}
	g := t.repo.linked(t.record, t.Dir)
	moved, err := t.settleSubs(ctx, rep)
	if err != nil {
		return err
	}
	armed := g
	if g, _, err = armed.disarm(ctx, t.subGits()...); err != nil {
		return err
	}
	w := work{g: g, record: t.record, dir: t.Dir, branch: t.Branch, base: t.Base, label: t.state.Label}
	var leaveOut []string
	for _, f := range append(fakes(t.Dir, t.Cwd, placeholders()), stuck...) {
		if straight(t.Dir, filepath.FromSlash(f)) {
			leaveOut = append(leaveOut, exclude(f))
		}
	}
	o, err := w.settle(ctx, leaveOut...)
	if o.branch != "" {
		rep.Branch = o.branch
	}
	rep.Switched = o.on != t.Branch && err == nil
	rep.Notes = append(rep.Notes, o.notes...)
	if err != nil {
		return err
	}
	return t.judge(ctx, rep, w, o, moved || len(stuck) > 0)
}

// judge fills the report from what was found, and removes what is empty.
func (t *Tree) judge(ctx context.Context, rep *Report, w work, o outcome, keep bool) error {
	rep.Leftovers = o.leftovers
	if o.head != "" {
		rep.Head = o.head
	}
	if o.short != "" {
		keep = true
		rep.Notes = append(rep.Notes, "not everything could be committed; it lies in the worktree: "+o.short)
	}
	if rep.Switched {
		rep.Notes = append(rep.Notes, switchedNote(o, t.Branch))
	}
	own, stash, err := w.g.refs(ctx, "refs/heads/"+t.Branch, "refs/stash")
	if err != nil {
		return err
	}
	if stash != t.state.Stash && stash != "" {
		rep.Notes = append(rep.Notes, "the task has stashed something, which is in the stash of the repository: git stash list")
	}
	if err := t.ignored(ctx, rep, w); err != nil {
		return err
	}
	if !keep && !o.leftovers && !rep.Switched && o.head == t.Base && own == t.Base {
		return t.removeEmpty(ctx, rep)
	}
	if own != "" && own != o.head {
		if n, err := w.g.count(ctx, o.head, own); err == nil && n > 0 && own != t.Base {
			rep.Notes = append(rep.Notes, t.Branch+" has "+count(n, "commit that is", "commits that are")+" not on "+rep.Branch)
		}
	}
	return t.contents(ctx, rep, w.g)
}

func switchedNote(o outcome, branch string) string {
	switch {
	case o.on == "" && o.head != "":
		return "the task had left its branch for no branch at all; its commits are on " + o.branch
	case o.on == "":
		return "the task had left its branch for no branch at all"
	case o.branch != o.on:
		return "the task had switched to the branch " + show(o.on) + ", which stays as the task left it; what was uncommitted is on " + o.branch
	}
	return "the task had switched from " + branch + " to the branch " + show(o.on)
}

func (t *Tree) removeEmpty(ctx context.Context, rep *Report) error {
	unlock, err := t.repo.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if err := t.repo.drop(ctx, t.record, t.Dir, t.state.Subs, t.Branch, t.Base); err != nil {
		return err
	}
	rep.Removed = true
	return nil
}

// contents says what the branch holds and whether it merges.
func (t *Tree) contents(ctx context.Context, rep *Report, g git) error {
	var err error
	if rep.Commits, err = g.count(ctx, t.Base, rep.Head); err != nil {
		return err
	}
	if err := t.files(ctx, rep, g); err != nil {
		return err
	}
	if rep.Commits > 0 {
		rep.Merges, rep.Conflicts = t.repo.merges(ctx, g, rep.Head)
	}
	return nil
}

// count is how many commits to has that from has not.
func (g git) count(ctx context.Context, from, to string) (int, error) {
	if to == "" {
		return 0, nil
	}
	args := []string{"rev-list", "--count", to}
	if from != "" {
		args = append(args, "^"+from)
	}
	out, err := g.line(ctx, append(args, "--")...)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(out)
}

// files names what has changed, and the repositories among it that git knows
// nothing of but their commit.
func (t *Tree) files(ctx context.Context, rep *Report, g git) error {
	if rep.Head == t.Base {
		return nil
	}
	out, err := g.run(ctx, "diff-tree", "-r", "-z", "--raw", "--no-renames", "--ignore-submodules=none", t.Base, rep.Head)
	if err != nil {
		return err
	}
	parts := fields(out)
	rep.FileCount = len(parts) / 2
	for i := 0; i+1 < len(parts); i += 2 {
		f, path := strings.Fields(parts[i]), parts[i+1]
		if len(f) != 5 {
			return errors.New("git diff-tree: not understood: " + clip(parts[i]))
		}
		if len(rep.Files) < maxListed {
			rep.Files = append(rep.Files, f[4][:1]+" "+path)
		}
		if f[1] == "160000" && !slices.ContainsFunc(t.state.Subs, func(s sub) bool { return s.Path == path }) {
			rep.Notes = append(rep.Notes, show(path)+" is a repository of its own: what is in it is in no commit of this one, only in the worktree")
		}
	}
	return nil
}

// refs gives what two refs stand at, "" where there is none.
func (g git) refs(ctx context.Context, a, b string) (atA, atB string, err error) {
	out, err := g.run(ctx, "for-each-ref", "--format=%(refname) %(objectname)", a, b)
	for l := range strings.SplitSeq(out, "\n") {
		switch name, at, _ := strings.Cut(l, " "); name {
		case a:
			atA = at
		case b:
			atB = at
		}
	}
	return atA, atB, err
}

// merges asks git whether a commit merges into what the parent is at. g is any
// disarmed one of the repository.
func (r repo) merges(ctx context.Context, g git, head string) (string, []string) {
	into, err := r.git.commit(ctx, "HEAD")
	if err != nil || into == "" {
		return MergesUnknown, []string{}
	}
	out, err := g.run(ctx, "merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", into, head)
	switch {
	case err == nil:
		return MergesClean, []string{}
	case !exitIs(err, 1), slices.ContainsFunc(g.off, func(s setting) bool { return strings.HasPrefix(s.key, "merge.") }):
		return MergesUnknown, []string{}
	}
	parts := fields(out)
	if len(parts) == 0 {
		return MergesUnknown, []string{}
	}
	parts = parts[1:] // the tree
	return MergesNot, parts[:min(len(parts), maxListed)]
}

// ignored lists what git ignores, directories as one.
func (t *Tree) ignored(ctx context.Context, rep *Report, w work) error {
	out, err := w.g.run(ctx, "ls-files", "-z", "-o", "-i", "--exclude-standard", "--directory", "--no-empty-directory")
	if err != nil {
		return err
	}
	list := fields(out)
	rep.IgnoredCount = len(list)
	rep.Ignored = append(rep.Ignored, list[:min(len(list), maxListed)]...)
	return nil
}

// finishGone is for a directory that somebody has deleted: what was committed
// is still there.
func (t *Tree) finishGone(ctx context.Context, rep *Report) error {
	g := t.repo.shared()
	head, err := g.commit(ctx, "refs/heads/"+t.Branch)
	if err != nil {
		return err
	}
	rep.Notes = append(rep.Notes, "the worktree's directory is gone: what was not committed in it is lost")
	if on := strings.TrimPrefix(smallLine(filepath.Join(t.record, "HEAD")), "ref: refs/heads/"); on != "" && on != t.Branch {
		rep.Switched = true
		if at, err := g.commit(ctx, on); err == nil && at != "" {
			head, rep.Branch = at, on
			if !strings.Contains(on, "/") && len(on) >= 40 {
				rep.Branch = t.Branch
				if rep.Branch, err = (work{g: g, branch: t.Branch}).keep(ctx, at); err != nil {
					return err
				}
			}
		}
		rep.Notes = append(rep.Notes, "the task had left the branch "+t.Branch)
	}
	if head == "" || head == t.Base && !rep.Switched {
		return t.removeEmpty(ctx, rep)
	}
	rep.Head = head
	g, _, err = g.disarm(ctx)
	if err != nil {
		return err
	}
	return t.contents(ctx, rep, g)
}

// settleSubs does for submodules what is done for the worktree. It says
// whether one of them has something to keep.
func (t *Tree) settleSubs(ctx context.Context, rep *Report) (moved bool, err error) {
	for _, s := range slices.Backward(t.state.Subs) {
		dir := filepath.Join(t.Dir, filepath.FromSlash(s.Path))
		if gone(dir) || !exists(filepath.Join(s.Record, "HEAD")) {
			continue
		}
		r := repo{common: s.Common, git: t.repo.git}
		g, _, err := r.linked(s.Record, dir).disarm(ctx, t.subGits()...)
		if err != nil {
			return true, err
		}
		o, err := work{g: g, record: s.Record, dir: dir, branch: s.Branch, base: s.Base, label: t.state.Label}.settle(ctx)
		if err != nil {
			return true, err
		}
		if o.short != "" {
			moved = true
			rep.Notes = append(rep.Notes, "in the submodule "+show(s.Path)+" not everything could be committed: "+o.short)
		}
		if o.head != s.Base || o.on != s.Branch {
			moved = true
			rep.Notes = append(rep.Notes, "the submodule "+show(s.Path)+" has commits of its own, on its branch "+show(o.branch))
		}
		for _, n := range o.notes {
			rep.Notes = append(rep.Notes, show(s.Path)+": "+n)
		}
	}
	return moved, nil
}

// subGits are git in the submodules' checkouts.
func (t *Tree) subGits() []git {
	var out []git
	for _, s := range t.state.Subs {
		dir := filepath.Join(t.Dir, filepath.FromSlash(s.Path))
		if !gone(dir) && exists(filepath.Join(s.Record, "HEAD")) {
			out = append(out, t.repo.linked(s.Record, dir))
		}
	}
	return out
}

// placeholders are names of files that a sandbox holds a place with.
func placeholders() []string {
	var out []string
	for _, g := range capability.GuardedNames() {
		if g.Content != "/" && g.Content != "" {
			out = append(out, g.Name)
		}
	}
	return out
}

// command fills in what to type next, from the parent's checkout.
func (r *Report) command(withChanges bool) {
	if r.Removed {
		return
	}
	r.Commands.Cleanup = "larva worktree remove " + r.Name
	if r.Commits == 0 && r.FileCount == 0 {
		return
	}
	branch := diag.Word(r.Branch)
	base := r.Base[:min(len(r.Base), 12)]
	r.Commands.Diff = "git diff " + base + "..." + branch
	r.Commands.Merge = "git merge " + branch
	if withChanges {
		// The base holds the parent's own changes, over which git will not merge.
		r.Commands.Diff = "git diff " + base + " " + branch
		r.Commands.Merge = "git diff --binary " + base + " " + branch + " | git apply"
	}
}
