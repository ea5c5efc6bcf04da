//go:build !linux && !darwin && !windows

package cli

import "os"

// dropTyped forgets what was typed at a terminal and not yet read; here there
// is no way to.
func dropTyped(*os.File) {}
