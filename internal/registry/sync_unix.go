//go:build unix

package registry

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// syncDir makes the entries of a directory last. File systems that cannot
// sync a directory say EINVAL or ENOTSUP; there is no more to be done there.
func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOTSUP) {
		return err
	}
	return nil
}

// cannotExchange says that this system or file system has no exchange.
func cannotExchange(err error) bool {
	for _, e := range []error{errors.ErrUnsupported, unix.ENOSYS, unix.EINVAL, unix.ENOTSUP, unix.EPERM} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}
