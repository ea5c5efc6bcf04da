//go:build unix

package cli

import (
	"os"
	"os/signal"
	"syscall"
)

// keepOnBrokenPipe makes a write to a pipe that nobody reads an error instead
// of the end of the process; undo brings the default back.
func keepOnBrokenPipe() (undo func()) {
	ch := make(chan os.Signal, 1)
	signal.Notify(ch, syscall.SIGPIPE)
	return func() { signal.Stop(ch) }
}
