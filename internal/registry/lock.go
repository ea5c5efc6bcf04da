package registry

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

var errBusy = errors.New("another process holds the registry's lock; it is still writing, or it was stopped")

// lock takes the writers' lock and gives what releases it. Each call opens
// the file anew, so goroutines of one process exclude each other too.
func (r *Registry) lock() (unlock func(), err error) {
	path := filepath.Join(r.root, lockName)
	deadline := time.Now().Add(r.wait)
	for {
		f := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR|openFlags), flock.SetPermissions(0o600))
		if err := r.acquire(f.TryLock, deadline); err != nil {
			f.Close()
			return nil, fmt.Errorf("lock: %w", err)
		}
		if current(f, path) {
			return func() { f.Close() }, nil
		}
		// The file was removed with the whole registry while we waited; what
		// we hold excludes nobody.
		f.Close()
	}
}

// rlock takes the shared lock for a reader who is in doubt. ok is false where
// there is no lock file (no writer was ever here) or it cannot be had.
func (r *Registry) rlock() (unlock func(), ok bool) {
	path := filepath.Join(r.root, lockName)
	f := flock.New(path, flock.SetFlag(os.O_RDONLY|openFlags))
	if err := r.acquire(f.TryRLock, time.Now().Add(r.wait)); err != nil || !current(f, path) {
		f.Close()
		return nil, false
	}
	return func() { f.Close() }, true
}

// acquire tries until the deadline, at first often.
func (r *Registry) acquire(try func() (bool, error), deadline time.Time) error {
	const slowest = 10 * time.Millisecond
	for pause := 200 * time.Microsecond; ; pause = min(2*pause, slowest) {
		if err := r.gone(); err != nil {
			return err
		}
		ok, err := try()
		switch {
		case err != nil:
			return err
		case ok:
			return nil
		case time.Now().After(deadline):
			return errBusy
		}
		time.Sleep(pause)
	}
}

// current says whether the locked file still stands at its path.
func current(f *flock.Flock, path string) bool {
	held, err := f.Stat()
	if err != nil {
		return false
	}
	now, err := os.Lstat(path)
	return err == nil && now.Mode()&fs.ModeSymlink == 0 && os.SameFile(held, now)
}
