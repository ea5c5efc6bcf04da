//go:build unix

package proc

import (
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// group is a process group by its id, which is its first process's.
type group int

func (g group) id() int    { return int(g) }
func (g group) terminate() { _ = unix.Kill(-int(g), unix.SIGTERM) }
func (g group) kill()      { _ = unix.Kill(-int(g), unix.SIGKILL) }
func (g group) release()   {}

// alive reports whether the group has members. EPERM means members that we may
// not signal (a setuid program).
func (g group) alive() bool {
	err := unix.Kill(-int(g), 0)
	return err == nil || err == unix.EPERM
}

// EndGroup kills the background children that Result.Group named. Where the
// number has since gone to another program's group, nothing happens: that
// group has a living leader, ours ended before Run returned.
func EndGroup(id int) {
	if id <= 1 || unix.Kill(id, 0) != unix.ESRCH {
		return
	}
	group(id).kill()
}

func adopt(cmd *exec.Cmd, c Command) (group, error) {
	g := group(cmd.Process.Pid)
	return g, limit(cmd.Process.Pid, c)
}

func exitOf(st *os.ProcessState) (int, string) {
	if st == nil {
		return -1, ""
	}
	if ws, ok := st.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal()), unix.SignalName(ws.Signal())
	}
	return st.ExitCode(), ""
}

func executable(fi os.FileInfo) bool {
	return fi.Mode().IsRegular() && fi.Mode()&0o111 != 0
}
