package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

// dropTyped forgets what was typed at a terminal and not yet read.
func dropTyped(in *os.File) {
	const read = 1 // FREAD
	_ = unix.IoctlSetPointerInt(int(in.Fd()), unix.TIOCFLUSH, read)
}
