package worktree

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// drop removes a worktree with its record, its submodules' and the branches
// that still stand at the bases: a branch that has moved is left alone. The
// caller holds the repository's lock.
func (r repo) drop(ctx context.Context, record, dir string, subs []sub, branch, base string) error {
	var errs []error
	for _, s := range slices.Backward(subs) {
		m := repo{common: s.Common, git: r.git}
		errs = append(errs, m.remove(ctx, s.Record, filepath.Join(dir, filepath.FromSlash(s.Path))), m.unbranch(ctx, s.Branch, s.Base))
	}
	if record != "" || exists(dir) {
		errs = append(errs, r.remove(ctx, record, dir))
	}
	errs = append(errs, r.unbranch(ctx, branch, base))
	return errors.Join(errs...)
}

// remove takes a checkout and its record away. Where git will not, since a
// task has changed what it goes by, it is done by hand: both are ours.
func (r repo) remove(ctx context.Context, record, dir string) error {
	if fi, err := os.Lstat(dir); err == nil && !fi.IsDir() {
		if err := os.Remove(dir); err != nil { // a link, which nobody follows
			return err
		}
	}
	_, err := r.shared().run(ctx, "worktree", "remove", "--force", "--force", "--", dir)
	if err == nil && !exists(dir) {
		return nil
	}
	if ctx.Err() != nil {
		return errors.Join(err, ctx.Err())
	}
	if err := removeAll(dir); err != nil {
		return err
	}
	if record == "" || filepath.Dir(record) != filepath.Join(r.common, "worktrees") {
		return err
	}
	return os.RemoveAll(record)
}

// removeAll also removes what lies in directories that are closed to writing.
func removeAll(dir string) error {
	err := os.RemoveAll(dir)
	if err == nil || !errors.Is(err, fs.ErrPermission) {
		return err
	}
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	return os.RemoveAll(dir)
}

// unbranch deletes a branch that stands at a commit.
func (r repo) unbranch(ctx context.Context, branch, at string) error {
	if at == "" { // git would take it for no condition
		return nil
	}
	ref := "refs/heads/" + branch
	_, err := r.shared().run(ctx, "update-ref", "-d", ref, at)
	if err == nil || ctx.Err() != nil {
		return err
	}
	if now, cerr := r.shared().commit(ctx, ref); cerr == nil && now != at {
		return nil // moved, or gone
	}
	return err
}

func exists(path string) bool { _, err := os.Lstat(path); return err == nil }
