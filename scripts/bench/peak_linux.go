package main

import (
	"os"
	"syscall"
)

// peak is the most memory that a process held, in bytes.
func peak(p *os.ProcessState) int64 {
	if u, ok := p.SysUsage().(*syscall.Rusage); ok {
		return u.Maxrss << 10 // Linux counts KiB
	}
	return 0
}
