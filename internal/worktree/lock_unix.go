//go:build unix

package worktree

import "golang.org/x/sys/unix"

const noFollow = unix.O_NOFOLLOW | unix.O_NONBLOCK
