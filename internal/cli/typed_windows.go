package cli

import (
	"os"

	"golang.org/x/sys/windows"
)

// dropTyped forgets what was typed at a terminal and not yet read.
func dropTyped(in *os.File) { _ = windows.FlushConsoleInputBuffer(windows.Handle(in.Fd())) }
