//go:build unix

package load

import "syscall"

// noWait keeps the opening of a pipe from waiting for a writer.
const noWait = syscall.O_NONBLOCK
