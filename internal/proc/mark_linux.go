package proc

import (
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// maxSweeps bounds how often EndMarked looks again: what is killed may have
// started another meanwhile. A chain that is faster than we are gives up at
// the limit of processes before this.
const maxSweeps = 20

// EndMarked kills every process that bears the mark, or one that begins with
// it ("run" and "run.7"), wherever it has got to. "" is nothing.
func EndMarked(mark string) {
	if !goodMark(mark) {
		return
	}
	for range maxSweeps {
		if !sweep(mark) {
			return
		}
	}
}

// sweep goes over all processes once and reports whether it has killed one.
func sweep(mark string) bool {
	dirs, err := os.ReadDir("/proc")
	if err != nil {
		return false
	}
	killed := false
	for _, d := range dirs {
		if pid, err := strconv.Atoi(d.Name()); err == nil && pid > 1 && pid != os.Getpid() {
			killed = killMarked(pid, mark) || killed
		}
	}
	return killed
}

// killMarked holds the process while it looks, so that the number cannot go to
// another one between looking and killing.
func killMarked(pid int, mark string) bool {
	environ := filepath.Join("/proc", strconv.Itoa(pid), "environ")
	if data, err := os.ReadFile(environ); err != nil || !marks(string(data), mark) {
		return false // most processes: one look is enough
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return err == unix.ENOSYS && unix.Kill(pid, unix.SIGKILL) == nil
	}
	defer unix.Close(fd)
	data, err := os.ReadFile(environ)
	if err != nil || !marks(string(data), mark) {
		return false
	}
	return unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) == nil
}
