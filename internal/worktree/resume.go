package worktree

import (
	"context"
	"path/filepath"
)

// Resume takes a finished worktree up again, for a task that goes on: the one
// that was kept as it is, or where it was removed, since nothing was in it, a
// new one in the same place, on the same branch, from the same commit. Finish
// is due again after it. It is refused where what is there is no longer what
// Finish has reported.
func (t *Tree) Resume(ctx context.Context) error {
	if t.held != nil {
		return failed("the worktree %s is still worked in", t.Dir)
	}
	if t.removed {
		return t.renew(ctx)
	}
	switch {
	case t.switched:
		return failed("the task had left its branch %s: its worktree stays as it is", t.Branch).
			WithHint("begin a new task, which may read or merge what is there")
	case recordOf(t.Dir) != t.record || !exists(filepath.Join(t.record, "HEAD")):
		return failed("the worktree %s is gone", t.Dir).
			WithHint("begin a new task, which may read or merge the branch %s", t.Branch)
	}
	ctx, cancel := context.WithTimeout(ctx, cleanTime)
	defer cancel()
	held, err := hold(ctx, filepath.Join(t.record, heldFile))
	if err != nil {
		return wrap(err, "the worktree "+t.Dir+" is held by another larva")
	}
	t.held, t.state.Copied = held, nil
	g, _, err := t.repo.linked(t.record, t.Dir).disarm(ctx, t.subGits()...)
	if err == nil {
		err = t.copyIn(ctx, g, t.options.Copy)
	}
	if err == nil {
		err = t.state.write(t.record)
	}
	if err != nil {
		_, _ = t.state.takeBack(t.Dir)
		t.Release()
		return wrap(err, "the worktree "+t.Dir+" cannot be taken up again")
	}
	return nil
}

// renew makes a removed worktree anew.
func (t *Tree) renew(ctx context.Context) error {
	t.state.Copied, t.state.Subs = nil, nil
	if err := t.addAgain(ctx); err != nil {
		return err
	}
	t.removed = false
	if err := t.fill(ctx, t.options); err != nil {
		t.removed = t.undo(ctx) == nil
		return wrap(err, "the worktree cannot be made again")
	}
	return nil
}

// addAgain is add under the name that it had.
func (t *Tree) addAgain(ctx context.Context) error {
	unlock, err := t.repo.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	at, err := t.repo.shared().commit(ctx, "refs/heads/"+t.Branch)
	switch {
	case err != nil:
		return wrap(err, "the worktree cannot be made again")
	case at != "" || exists(t.Dir):
		return failed("%s is in the way of the worktree, which was removed", t.Branch).
			WithHint("begin a new task")
	}
	if err := t.addNamed(ctx); err != nil {
		return t.notAdded(ctx, err)
	}
	return t.begin(ctx)
}
