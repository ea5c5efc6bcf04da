//go:build unix

package file

import (
	"io/fs"
	"os"
	"syscall"
)

// noWait keeps the opening of a pipe from waiting for a writer.
const noWait = syscall.O_NONBLOCK

// keepOwner gives a replaced file its owner back where we may: a run as root
// must not take a user's files.
func keepOwner(f *os.File, old fs.FileInfo) {
	if st, ok := old.Sys().(*syscall.Stat_t); ok {
		_ = f.Chown(int(st.Uid), int(st.Gid))
	}
}
