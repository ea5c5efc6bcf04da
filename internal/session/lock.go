package session

import (
	"context"
	"os"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"larva.dev/larva/internal/diag"
)

// lock is a writer's hold on a session. It is a file of its own beside the
// session's, since on Windows a locked file cannot be read. It is never
// removed while its session lives: who removes a lock that another process is
// about to take makes two writers.
type lock struct{ f *flock.Flock }

func lockPath(path string) string { return strings.TrimSuffix(path, ending) + ".lock" }

// lockPatience outlasts a list that looks whether a session is being written.
const lockPatience = 100 * time.Millisecond

// lockFile takes the lock of the session at path, or says who has it.
func lockFile(path string) (*lock, error) {
	f := flock.New(lockPath(path), flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(fileMode))
	ctx, cancel := context.WithTimeout(context.Background(), lockPatience)
	defer cancel()
	ok, err := f.TryLockContext(ctx, lockPatience/10)
	if err != nil && ctx.Err() == nil {
		return nil, cannotWrite(lockPath(path), err)
	}
	if !ok {
		id := idOf(path)
		return nil, diag.New(diag.SessionBusy, "session %s is being written by another process", id).With("session_id", id).
			WithHint("wait until that run ends, or go on from a copy: larva run --fork %s", id)
	}
	return &lock{f}, nil
}

// Close gives the lock back.
func (k *lock) Close() {
	if k != nil {
		_ = k.f.Close()
	}
}

// running says whether some process writes the session at path. It makes no
// lock file.
func running(path string) bool {
	p := lockPath(path)
	if _, err := os.Lstat(p); err != nil {
		return false
	}
	f := flock.New(p, flock.SetFlag(os.O_RDWR))
	ok, err := f.TryRLock()
	if ok {
		_ = f.Close()
	}
	return err == nil && !ok
}
