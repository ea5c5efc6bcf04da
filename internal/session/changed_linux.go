package session

import (
	"io/fs"
	"syscall"
	"time"
)

// changedAt is when a file's facts last changed: nobody can set it.
func changedAt(info fs.FileInfo) time.Time {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(st.Ctim.Unix())
	}
	return info.ModTime()
}
