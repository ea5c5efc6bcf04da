//go:build unix

package watch

import (
	"io/fs"
	"syscall"
)

// inode is the file's number: a file that replaces another one was made while
// that one was still there, so its number differs.
func inode(info fs.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Ino)
	}
	return 0
}
