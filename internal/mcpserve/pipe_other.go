//go:build !unix

package mcpserve

import (
	"errors"
	"os"
)

// brokenPipe says that nobody reads the output any more.
func brokenPipe(err error) bool { return errors.Is(err, os.ErrClosed) }
