//go:build !linux

package session

import (
	"io/fs"
	"time"
)

// changedAt is the closest that every system has.
func changedAt(info fs.FileInfo) time.Time { return info.ModTime() }
