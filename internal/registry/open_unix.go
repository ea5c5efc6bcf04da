//go:build unix

package registry

import (
	"errors"

	"golang.org/x/sys/unix"
)

// openFlags keep an open from following a link in the last place of the path
// and from waiting for the other end of a named pipe.
const openFlags = unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_CLOEXEC

// hasModes: permission bits say who may read here.
const hasModes = true

// isLink says that an open failed because openFlags met a symbolic link.
func isLink(err error) bool { return errors.Is(err, unix.ELOOP) || errors.Is(err, unix.EMLINK) }

// shortage says that the system had no room for one more open file, or the
// device failed: it says nothing about the file.
func shortage(err error) bool {
	for _, e := range []error{unix.EMFILE, unix.ENFILE, unix.ENOMEM, unix.EIO, unix.ESTALE} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}
