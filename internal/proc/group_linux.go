package proc

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// prepare: an own group, and death with the process that started it, so that a
// killed larva leaves no program behind. Run holds the thread for that.
func prepare(cmd *exec.Cmd, _ Command) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// limit sets the limits on the running child only. There is a gap of some
// microseconds between exec and this call; memory taken in it counts from here
// on, and input flows only after it. A process forked inside the gap would be
// free of the limits, so they are meant for programs that fork nothing.
//
// The soft limit equals the hard one: at a lower soft limit a Go program would
// first print every goroutine on SIGXCPU.
func limit(pid int, c Command) error {
	if c.MemoryBytes > 0 {
		if err := setLimit(pid, unix.RLIMIT_DATA, c.MemoryBytes); err != nil {
			return err
		}
	}
	if c.CPUSeconds > 0 {
		if err := setLimit(pid, unix.RLIMIT_CPU, c.CPUSeconds); err != nil {
			return err
		}
	}
	if c.MemoryBytes > 0 || c.CPUSeconds > 0 {
		// No core file of a program that hits its limit.
		return setLimit(pid, unix.RLIMIT_CORE, 0)
	}
	return nil
}

func setLimit(pid, resource int, n uint64) error {
	err := unix.Prlimit(pid, resource, &unix.Rlimit{Cur: n, Max: n}, nil)
	if err == unix.ESRCH {
		return nil // it has ended already
	}
	return err
}
