//go:build unix && !linux

package proc

import (
	"os/exec"
	"strconv"
	"syscall"
)

// withLimits sets its limits and becomes the program. A limit that the kernel
// does not know (darwin has no RLIMIT_DATA that binds) is passed over; one that
// it refuses ends the shell, so the program never runs without it.
const withLimits = `[ "$1" = 0 ] || ulimit -t "$1" || exit 126
[ "$2" = 0 ] || ulimit -d "$2" 2>/dev/null
shift 2
exec "$@"`

// prepare: an own group. No Unix but Linux can limit another process, so a
// limited program is started through the shell's ulimit.
func prepare(cmd *exec.Cmd, c Command) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if c.CPUSeconds == 0 && c.MemoryBytes == 0 {
		return
	}
	cpu, kib := strconv.FormatUint(c.CPUSeconds, 10), strconv.FormatUint(c.MemoryBytes/1024, 10)
	cmd.Args = append([]string{"sh", "-c", withLimits, "sh", cpu, kib, cmd.Path}, cmd.Args[1:]...)
	cmd.Path = "/bin/sh"
}

func limit(int, Command) error { return nil }
