package proc

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// group is a job object: it holds the program and all that it starts, also
// what would leave a Unix process group. There is no polite end on Windows,
// terminate is kill.
type group struct {
	job windows.Handle
	pid int
}

func (g group) id() int    { return 0 }
func (g group) terminate() { g.kill() }

func (g group) kill() {
	if g.job != 0 {
		_ = windows.TerminateJobObject(g.job, 1)
	}
}

// alive is only asked to name a group for EndGroup, which Windows has not:
// closing the job ends it.
func (g group) alive() bool { return false }

func (g group) release() {
	if g.job != 0 {
		_ = windows.CloseHandle(g.job)
	}
}

// EndGroup does nothing on Windows: background children end with the command.
func EndGroup(int) {}

func prepare(cmd *exec.Cmd, _ Command) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP, HideWindow: true}
}

// adopt puts the running program into a job that dies with its last handle.
// What it starts before this call (some microseconds) stays outside.
func adopt(cmd *exec.Cmd, c Command) (group, error) {
	g := group{pid: cmd.Process.Pid}
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		_ = cmd.Process.Kill()
		return g, err
	}
	g.job = job
	var info windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	if c.MemoryBytes > 0 {
		info.BasicLimitInformation.LimitFlags |= windows.JOB_OBJECT_LIMIT_PROCESS_MEMORY
		info.ProcessMemoryLimit = uintptr(c.MemoryBytes)
	}
	if c.CPUSeconds > 0 {
		info.BasicLimitInformation.LimitFlags |= windows.JOB_OBJECT_LIMIT_PROCESS_TIME
		info.BasicLimitInformation.PerProcessUserTimeLimit = int64(c.CPUSeconds) * 1e7 // 100 ns units
	}
	if _, err := windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info))); err != nil {
		_ = cmd.Process.Kill()
		return g, err
	}
	h, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(g.pid))
	if err != nil {
		if cmd.Process.Kill() == os.ErrProcessDone {
			return g, nil
		}
		return g, err
	}
	defer windows.CloseHandle(h)
	if err := windows.AssignProcessToJobObject(job, h); err != nil {
		_ = cmd.Process.Kill()
		return g, err
	}
	return g, nil
}

func exitOf(st *os.ProcessState) (int, string) {
	if st == nil {
		return -1, ""
	}
	return st.ExitCode(), ""
}

func executable(fi os.FileInfo) bool {
	ext := strings.ToLower(filepath.Ext(fi.Name()))
	return fi.Mode().IsRegular() && (ext == ".exe" || ext == ".com" || ext == ".bat" || ext == ".cmd")
}
