//go:build unix

package session

import (
	"errors"
	"syscall"
)

// noWait keeps the opening of a pipe, put where a file was, from waiting for a
// writer, and does not follow a link put there.
const noWait = syscall.O_NONBLOCK | syscall.O_NOFOLLOW

// isNotDir: a parent of the path is a file, so the path is not there.
func isNotDir(err error) bool { return errors.Is(err, syscall.ENOTDIR) }
