package sandbox

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"larva.dev/larva/internal/proc"
)

// needABI is the first version of Landlock that has all that we say it holds:
// files, TCP (4), signals and abstract sockets (6).
const needABI = 6

func probeLandlock(ctx context.Context, m Machine) (Found, *reason) {
	abi := landlockABI()
	switch {
	case abi == 0:
		return Found{}, &reason{"the kernel has no Landlock", "a kernel of Linux 6.12 or later with lsm=landlock has it; a container may forbid the call"}
	case abi < needABI:
		return Found{}, &reason{fmt.Sprintf("the kernel's Landlock is version %d and cannot hold signals or abstract sockets; %d is needed", abi, needABI), "Linux 6.12 has it"}
	case len(m.Self) == 0:
		return Found{}, &reason{"larva's own program is not known", "start larva by its path"}
	}
	argv := slices.Concat(m.Self, []string{tryJob, "/proc/self/exe", HelperVerb})
	r, err := proc.Run(ctx, proc.Command{Argv: argv, Dir: "/", Env: proc.Env(m.Environ), MaxOutput: 4 << 10, Merge: true})
	if err != nil {
		return Found{}, &reason{err.Error(), "see whether larva --version runs"}
	}
	if r.Exit != 0 {
		line, _, _ := strings.Cut(string(r.Stdout), "\n")
		return Found{}, &reason{fmt.Sprintf("the helper ended with %d: %.200q", r.Exit, line), "a container may forbid Landlock's calls"}
	}
	return Found{kind: Landlock, self: m.Self}, nil
}

// devices are what a command may write in /dev.
var devices = [...]string{"/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/ptmx", "/dev/random", "/dev/urandom"}

// landlockABI is the version of the kernel's Landlock, 0 for none. The answer
// comes from the call itself: /sys/kernel/security need not be mounted.
func landlockABI() int {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(v)
}

const (
	fileRead  = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE
	dirRead   = fileRead | unix.LANDLOCK_ACCESS_FS_READ_DIR
	fileWrite = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	// dirWrite leaves device files out: nobody makes those for an agent.
	dirWrite = dirRead | fileWrite | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_MAKE_DIR |
		unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_SYM |
		unix.LANDLOCK_ACCESS_FS_REFER
	allFiles = dirWrite | unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
)

// confine restricts this thread for good and becomes argv. It returns only
// where that fails. Everything that the ruleset names is asked of the kernel
// as it is: what it does not know is an error, never left out.
func confine(c confinement, argv []string) error {
	runtime.LockOSThread() // both walls are the thread's, and so is what it becomes
	attr := unix.LandlockRulesetAttr{
		Handled_access_fs:  allFiles,
		Handled_access_net: unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP,
		Scoped:             unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL,
	}
	// The first three fields are those of version 6; later ones stay unsaid.
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Offsetof(attr.Quiet_access_fs), 0)
	if errno != 0 {
		return fmt.Errorf("landlock: %w", errno)
	}
	for _, list := range []struct {
		paths     []string
		dir, file uint64
	}{
		{c.Read, dirRead, fileRead},
		{c.List, unix.LANDLOCK_ACCESS_FS_READ_DIR, 0},
		{c.Write, dirWrite, fileRead | fileWrite},
		{devices[:], 0, fileRead | fileWrite | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV},
		{[]string{"/dev/pts"}, dirRead | fileWrite | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV, 0},
	} {
		for _, p := range list.paths {
			if err := permit(int(fd), p, list.dir, list.file); err != nil {
				return fmt.Errorf("landlock: %s: %w", p, err)
			}
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); errno != 0 {
		return fmt.Errorf("landlock: %w", errno)
	}
	_ = unix.Close(int(fd))
	if err := noOtherSockets(); err != nil {
		return fmt.Errorf("seccomp: %w", err)
	}
	return syscall.Exec(argv[0], argv, os.Environ())
}

// permit adds what may be done with a file, or below a directory. A path that
// does not exist any more is passed over: nothing is allowed by it.
func permit(ruleset int, path string, dir, file uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	rights := file
	if st.Mode&unix.S_IFMT == unix.S_IFDIR {
		rights = dir
	}
	if rights == 0 {
		return nil
	}
	attr := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&attr)), 0, 0, 0)
	if errno == unix.EBADFD { // a pipe or a socket: no rule can name it, and none needs to
		return nil
	}
	if errno != 0 {
		return errno
	}
	return nil
}

// noOtherSockets closes two ways around Landlock's rule on TCP: sockets of
// multipath TCP, which that rule does not see, and io_uring, which makes
// sockets without a call that a filter sees. Programs fall back to plain ones.
func noOtherSockets() error {
	arch, ok := map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64, "riscv64": unix.AUDIT_ARCH_RISCV64}[runtime.GOARCH]
	if !ok {
		return fmt.Errorf("no filter for %s", runtime.GOARCH)
	}
	const (
		offNr, offArch, offProtocol = 0, 4, 16 + 2*8
		refuse                      = unix.SECCOMP_RET_ERRNO
		x32                         = 0x40000000
	)
	ld := func(off uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: off}
	}
	jump := func(op uint16, k uint32, yes, no uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | op | unix.BPF_K, K: k, Jt: yes, Jf: no}
	}
	ret := func(k uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: k}
	}
	filter := []unix.SockFilter{
		ld(offArch),
		jump(unix.BPF_JEQ, arch, 1, 0),
		ret(refuse | uint32(unix.ENOSYS)), // another architecture's calls: nothing of theirs is looked at
		ld(offNr),
		jump(unix.BPF_JGE, x32, 4, 0),
		jump(unix.BPF_JEQ, unix.SYS_IO_URING_SETUP, 3, 0),
		jump(unix.BPF_JEQ, unix.SYS_SOCKET, 0, 3),
		ld(offProtocol),
		jump(unix.BPF_JEQ, unix.IPPROTO_MPTCP, 2, 1),
		ret(refuse | uint32(unix.ENOSYS)),
		ret(unix.SECCOMP_RET_ALLOW),
		ret(refuse | uint32(unix.EPROTONOSUPPORT)),
	}
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	// This thread alone: it is the one that becomes the command.
	return unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&prog)), 0, 0)
}
