//go:build unix

package sandbox

import (
	"os"

	"golang.org/x/sys/unix"
)

// hold locks a directory. The kernel lets go of the lock when the process ends,
// however that happens; a command inside cannot.
func hold(dir string) *os.File {
	f, err := os.OpenFile(dir, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil
	}
	if err := flock(f, unix.LOCK_SH); err != nil {
		_ = f.Close()
		return nil
	}
	return f
}

// sweepDir removes a directory that is this user's and that nobody holds. In a
// temp directory that all write, another's may bear the name.
func sweepDir(dir string) {
	f, err := os.OpenFile(dir, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return
	}
	defer f.Close()
	var st unix.Stat_t
	if unix.Fstat(int(f.Fd()), &st) != nil || int(st.Uid) != os.Geteuid() {
		return
	}
	if flock(f, unix.LOCK_EX|unix.LOCK_NB) == nil {
		_ = os.RemoveAll(dir)
	}
}
