package worktree

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

const (
	// lockTime is how long one process waits for another's worktree work, which
	// takes a second or two.
	lockTime = 60 * time.Second
	// lockEvery is how often it looks: too short to be felt.
	lockEvery = 15 * time.Millisecond
)

// lock takes the repository's lock, which holds between processes: a file in
// the common git directory's info, where no task's sandbox lets it write. The
// kernel frees it when its holder is killed. The file itself stays.
func (r repo) lock(ctx context.Context) (unlock func(), err error) {
	dir := filepath.Join(r.common, "info")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, failed("the repository cannot be locked: %v", err)
	}
	ctx, cancel := context.WithTimeout(ctx, lockTime)
	defer cancel()
	f, err := hold(ctx, filepath.Join(dir, "larva.lock"))
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return nil, failed("another larva has been changing the worktrees of %s for over a minute", r.common).
			WithHint("wait for it, or end it: the lock is %s", filepath.Join(dir, "larva.lock"))
	case errors.Is(err, context.Canceled):
		return nil, err
	case err != nil:
		return nil, failed("the repository cannot be locked: %v", err)
	}
	return func() { _ = f.Close() }, nil
}

// hold waits for a lock file's lock. noFollow keeps a link in its place from
// leading elsewhere.
func hold(ctx context.Context, path string) (*flock.Flock, error) {
	f := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR|noFollow), flock.SetPermissions(0o600))
	ok, err := f.TryLockContext(ctx, lockEvery)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, context.DeadlineExceeded
	}
	return f, nil
}

// busy says that some process holds a lock file. It makes none.
func busy(path string) bool {
	if fi, err := os.Lstat(path); err != nil || !fi.Mode().IsRegular() {
		return false
	}
	f := flock.New(path, flock.SetFlag(os.O_RDWR|noFollow))
	ok, err := f.TryRLock()
	if ok {
		_ = f.Close()
	}
	return err == nil && !ok
}
