//go:build unix

package mcpserve

import (
	"errors"
	"syscall"
)

// brokenPipe says that nobody reads the output any more.
func brokenPipe(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET)
}
