//go:build unix

package sandbox

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// placeholders hold guarded names that do not exist: a mount needs something
// to lie on. They stand in the project for as long as a command runs, so they
// are made of content that changes nothing. Several runs may need the same
// one: the last to end removes it. What a killed run has left, the next one
// removes, by a list kept in the state directory.
//
// guard is locked while anything is made or removed; use is held, shared, by
// each wall with a running command. All of use happens under guard.
type placeholders struct {
	state string // directory; "" keeps no list
	key   string
	n     int // commands of this wall that run
	use   *os.File
	made  []place // by this wall
}

func newPlaceholders(state, project string) *placeholders {
	sum := sha256.Sum256([]byte(project))
	return &placeholders{state: state, key: hex.EncodeToString(sum[:8])}
}

// acquire makes what is missing. It gives the places that are ours, made now
// or by another run that still needs them.
func (h *placeholders) acquire(places []place) (ours []place, err error) {
	err = h.guarded(func() error {
		old := h.list()
		if h.n == 0 {
			if h.alone() {
				removeAll(old)
				old = nil
			}
			if err := h.enter(); err != nil {
				return err
			}
		}
		h.n++
		for _, p := range places {
			if made(old, p.path) {
				ours = append(ours, p)
				continue
			}
			if _, err := os.Lstat(p.path); err == nil {
				continue
			}
			// On the list first: a crash must not leave one that nobody knows of.
			if err := h.record(append(old, p)); err != nil {
				return err
			}
			if err := create(p); err != nil {
				if errors.Is(err, fs.ErrPermission) || errors.Is(err, unix.EROFS) || errors.Is(err, fs.ErrNotExist) {
					continue // then no command can make it either
				}
				return err
			}
			old, ours = append(old, p), append(ours, p)
			h.made = append(h.made, p)
		}
		return nil
	})
	return ours, err
}

func create(p place) error {
	if p.content == "/" {
		return os.Mkdir(p.path, 0o755)
	}
	f, err := os.OpenFile(p.path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(p.content)
	return errors.Join(err, f.Close())
}

// release ends one command; releaseAll all of them.
func (h *placeholders) release() {
	if h.n == 0 {
		return
	}
	if h.n--; h.n > 0 {
		return
	}
	_ = h.guarded(func() error {
		if h.use != nil {
			// Unlocked first: a program that is just being started holds a copy
			// of the descriptor, and with it the lock.
			_ = flock(h.use, unix.LOCK_UN)
			_ = h.use.Close()
			h.use = nil
		}
		if h.state == "" {
			removeAll(h.made)
		} else if h.alone() {
			removeAll(h.list())
			_ = os.Remove(h.file("list"))
		}
		h.made = nil
		return nil
	})
}

func (h *placeholders) releaseAll() {
	if h.n > 0 {
		h.n = 1
		h.release()
	}
}

func (h *placeholders) file(end string) string {
	return filepath.Join(h.state, h.key+"."+end)
}

// guarded runs f while no other run makes or removes placeholders.
func (h *placeholders) guarded(f func() error) error {
	if h.state == "" {
		return f()
	}
	if err := os.MkdirAll(h.state, 0o700); err != nil {
		h.state = "" // a home that cannot be written: no list, and no other run that has one
		return f()
	}
	g, err := os.OpenFile(h.file("guard"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		h.state = ""
		return f()
	}
	defer g.Close()
	defer func() { _ = flock(g, unix.LOCK_UN) }()
	if err := flock(g, unix.LOCK_EX); err != nil {
		return err
	}
	return f()
}

func flock(f *os.File, how int) error {
	for {
		if err := unix.Flock(int(f.Fd()), how); err != unix.EINTR {
			return err
		}
	}
}

// enter says that this wall has a command.
func (h *placeholders) enter() error {
	if h.state == "" {
		return nil
	}
	f, err := os.OpenFile(h.file("use"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	if err := flock(f, unix.LOCK_SH); err != nil {
		_ = f.Close()
		return err
	}
	h.use = f
	return nil
}

// alone says that no wall has a command.
func (h *placeholders) alone() bool {
	if h.state == "" {
		return true
	}
	f, err := os.OpenFile(h.file("use"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return false
	}
	defer f.Close()
	defer func() { _ = flock(f, unix.LOCK_UN) }()
	return flock(f, unix.LOCK_EX|unix.LOCK_NB) == nil
}

// list reads what has been made; record writes it.
func (h *placeholders) list() []place {
	if h.state == "" {
		return h.made
	}
	b, err := os.ReadFile(h.file("list"))
	if err != nil {
		return nil
	}
	var out []place
	for line := range strings.SplitSeq(string(b), "\x00") {
		if path, content, ok := strings.Cut(line, "\x01"); ok && filepath.IsAbs(path) {
			out = append(out, place{path, content})
		}
	}
	return out
}

func (h *placeholders) record(list []place) error {
	if h.state == "" {
		return nil
	}
	var b strings.Builder
	for _, p := range list {
		b.WriteString(p.path + "\x01" + p.content + "\x00")
	}
	return os.WriteFile(h.file("list"), []byte(b.String()), 0o600)
}

// removeAll takes away what is still as it was made, innermost first.
func removeAll(list []place) {
	for i := len(list) - 1; i >= 0; i-- {
		p := list[i]
		fi, err := os.Lstat(p.path)
		if err != nil {
			continue
		}
		if p.content == "/" {
			if fi.IsDir() {
				_ = unix.Rmdir(p.path) // fails where somebody has put something in
			}
			continue
		}
		if !fi.Mode().IsRegular() || fi.Size() != int64(len(p.content)) {
			continue
		}
		if b, err := os.ReadFile(p.path); err == nil && string(b) == p.content {
			_ = os.Remove(p.path)
		}
	}
}
