package worktree

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"larva.dev/larva/internal/diag"
)

// Find gives one worktree by its name, its branch or its directory.
func Find(ctx context.Context, dir, name string, environ []string) (Entry, error) {
	list, err := List(ctx, dir, environ)
	if err != nil {
		return Entry{}, err
	}
	for _, e := range list {
		if e.Name == name || e.Branch == name || e.Dir != "" && e.Dir == filepath.Clean(name) {
			return e, nil
		}
	}
	return Entry{}, diag.New(diag.WorktreeUnknown, "this repository has no worktree %q", name).With("name", name).
		WithHint("see: larva worktree list")
}

// Safe says that removing the entry loses nothing that is not elsewhere; what
// git ignores does not count.
func (e Entry) Safe() bool { return e.State == StateMerged || e.State == StateEmpty }

// Loses says what removing takes away, "" for nothing.
func (e Entry) Loses() string {
	var parts []string
	if e.Commits > 0 && e.State != StateMerged {
		parts = append(parts, count(e.Commits, "commit that is", "commits that are")+" merged nowhere")
	}
	if e.Changed > 0 {
		parts = append(parts, count(e.Changed, "file", "files")+" not committed")
	}
	if e.Ignored > 0 {
		parts = append(parts, count(e.Ignored, "ignored file", "ignored files"))
	}
	return strings.Join(parts, ", ")
}

// Remove takes a worktree and its branch away. Without force it refuses where
// that loses something; where a process works in it it refuses always. What it
// goes by is looked at again under the lock.
func Remove(ctx context.Context, e Entry, force bool) error {
	unlock, err := e.repo.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	list, err := e.repo.list(ctx)
	if err != nil {
		return err
	}
	for _, now := range list {
		if now.Branch == e.Branch && now.Dir == e.Dir {
			return now.remove(ctx, force)
		}
	}
	return diag.New(diag.WorktreeUnknown, "the worktree %s is not there any more", e.Name).With("name", e.Name)
}

func (e Entry) remove(ctx context.Context, force bool) error {
	switch {
	case e.State == StateRunning:
		return diag.New(diag.WorktreeUnsaved, "a run is at work in %s", e.Name).With("name", e.Name).With("state", e.State).
			WithHint("wait until it ends, or end it")
	case !force && e.State == StateBroken:
		return diag.New(diag.WorktreeUnsaved, "what is in %s cannot be told: %s", e.Name, e.Why).With("name", e.Name).With("state", e.State).
			WithHint("remove it all the same: larva worktree remove %s --force", e.Name)
	case !force && !e.Safe():
		return diag.New(diag.WorktreeUnsaved, "%s holds what is nowhere else: %s", e.Name, e.Loses()).
			With("name", e.Name).With("state", e.State).With("commits", e.Commits).With("changed", e.Changed).
			WithHint("look: git log -p %s; remove it all the same: larva worktree remove %s --force", e.Branch, e.Name)
	}
	subs := e.state.Subs
	for i := range subs { // whatever they have come to: nothing unsaved is in them, or it was to go
		m := repo{common: subs[i].Common, git: e.repo.git}
		if at, err := m.shared().commit(ctx, "refs/heads/"+subs[i].Branch); err == nil && at != "" && force {
			subs[i].Base = at
		}
	}
	err := e.repo.drop(ctx, e.record, e.Dir, subs, e.Branch, e.tip)
	if err != nil && !errors.Is(err, context.Canceled) {
		return failed("%s cannot be removed: %v", e.Name, err)
	}
	return err
}

// Prune removes what is merged, empty or gone and holds nothing that is not
// elsewhere; with force, everything that no process works in. It gives what
// was removed and what was kept.
func Prune(ctx context.Context, dir string, environ []string, force, dry bool) (removed, kept []Entry, err error) {
	r, err := open(ctx, dir, environ)
	if err != nil {
		return nil, nil, err
	}
	unlock, err := r.lock(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer unlock()
	list, err := r.list(ctx)
	if err != nil {
		return nil, nil, err
	}
	removed, kept = []Entry{}, []Entry{}
	var errs []error
	for _, e := range list {
		if e.State == StateRunning || !force && !e.Safe() {
			kept = append(kept, e)
			continue
		}
		if !dry {
			if err := e.remove(ctx, force); err != nil {
				errs = append(errs, err)
				kept = append(kept, e)
				continue
			}
		}
		removed = append(removed, e)
	}
	return removed, kept, errors.Join(errs...)
}
