package mcpserve

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

// dropStart gives back the pages of the program that only its start has
// touched: half the binary is code and tables of packages that set themselves
// up and that a server never uses. They count as this process's memory for as
// long as it lives, tens of megabytes. What is needed again comes back from
// the file in microseconds.
//
// Only mappings of the binary that cannot be written, and of which no page
// ever was (a linker's relocations, a debugger's breakpoints), are dropped.
// Where anything is not as expected, nothing happens.
func dropStart() {
	exe, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	smaps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return
	}
	for _, m := range untouched(string(smaps), exe) {
		_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, m.start, m.size, syscall.MADV_DONTNEED) // advice: a no is fine
	}
}

type mapping struct{ start, size uintptr }

// untouched lists the mappings of file that are as they are on disk and stay
// so. Each begins with a line "START-END PERMS OFFSET DEV INODE PATH" and ends
// with its VmFlags.
func untouched(smaps, file string) (out []mapping) {
	var m mapping
	clean := false
	for line := range strings.Lines(smaps) {
		f := strings.Fields(line)
		if len(f) >= 5 && !strings.HasSuffix(f[0], ":") {
			m, clean = parseMapping(f[0])
			clean = clean && (f[1] == "r--p" || f[1] == "r-xp") && strings.HasSuffix(strings.TrimSpace(line), " "+file)
			continue
		}
		switch {
		case len(f) == 3 && f[0] == "Anonymous:": // not Private_Dirty: a binary that was just built has not reached the disk
			clean = clean && f[1] == "0"
		case len(f) > 0 && f[0] == "VmFlags:" && clean:
			out = append(out, m)
			clean = false
		}
	}
	return out
}

func parseMapping(bounds string) (mapping, bool) {
	from, to, ok := strings.Cut(bounds, "-")
	start, err1 := strconv.ParseUint(from, 16, 64)
	end, err2 := strconv.ParseUint(to, 16, 64)
	return mapping{uintptr(start), uintptr(end - start)}, ok && err1 == nil && err2 == nil && end > start
}
