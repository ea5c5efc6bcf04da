package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

// dropTyped forgets what was typed at a terminal and not yet read.
func dropTyped(in *os.File) { _ = unix.IoctlSetInt(int(in.Fd()), unix.TCFLSH, unix.TCIFLUSH) }
