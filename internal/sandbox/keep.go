package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Bounds of what is remembered of guarded places: they hold small texts. What
// lies beyond is not watched.
const (
	maxKeptFiles = 4000
	maxKeptBytes = 16 << 20
)

// kept is a guarded file or directory as it was before a command.
type kept struct {
	info fs.FileInfo
	text []byte // of a file
	link string // of a link
}

// keep remembers the guarded places of the roots. Landlock cannot take a place
// out of a directory that may be written, so what a command changes there is
// put back when it has ended. What it had made of them is set aside in State,
// not thrown away: it may be the work of somebody else. done names the places.
func (w *Wall) keep() (done func() (changed []string)) {
	places, writable := w.guards()
	var tops []string
	for _, p := range places {
		if holder(w.o.Roots, p.path) == "" && holder(writable, p.path) == "" {
			continue
		}
		if filepath.Base(p.path) == ".git" && isDir(p.path) {
			continue // its parts are places of their own
		}
		tops = append(tops, p.path)
	}
	if w.o.Fixed != nil {
		tops = append(tops, w.finder().find(w.tops()).fixed...)
	}
	before, whole := remember(tops, writable)
	return func() (changed []string) {
		after, _ := remember(tops, writable)
		aside, gone := "", ""
		for _, path := range both(before, after) {
			if within(gone, path) {
				continue // it went with its directory
			}
			old, had := before[path]
			now, has := after[path]
			if had == has && (!has || same(old, now)) || !whole && !had {
				continue
			}
			if aside == "" {
				aside = w.aside()
			}
			if !had {
				gone = path
			}
			changed = append(changed, w.shown(path)+putBack(path, old, had, aside))
		}
		if len(changed) > 0 && aside != "" {
			changed = append(changed, "what was there is in "+aside)
		}
		return changed
	}
}

// remember reads the places; whole is false where there was too much.
func remember(tops, not []string) (all map[string]kept, whole bool) {
	all, whole = map[string]kept{}, true
	left := maxKeptBytes
	for _, top := range tops {
		_ = filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return nil
			}
			if path != top && slices.Contains(not, path) {
				return fs.SkipDir
			}
			if len(all) >= maxKeptFiles {
				whole = false
				return fs.SkipAll
			}
			info, err := d.Info()
			if err != nil {
				return nil
			}
			k := kept{info: info}
			switch {
			case info.Mode().IsRegular() && info.Size() <= int64(left):
				if k.text, err = os.ReadFile(path); err != nil {
					k.text = nil
				}
				left -= len(k.text)
			case info.Mode()&fs.ModeSymlink != 0:
				k.link, _ = os.Readlink(path)
			}
			all[path] = k
			return nil
		})
	}
	return all, whole
}

// both gives the paths of two memories, surroundings first.
func both(a, b map[string]kept) []string {
	var out []string
	for p := range a {
		out = append(out, p)
	}
	for p := range b {
		if _, ok := a[p]; !ok {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b string) int { return slices.Compare(strings.Split(a, "/"), strings.Split(b, "/")) })
	return out
}

func same(a, b kept) bool {
	if a.info.Mode() != b.info.Mode() || a.link != b.link {
		return false
	}
	if a.info.Mode().IsRegular() {
		return a.info.Size() == b.info.Size() && string(a.text) == string(b.text) && (a.text != nil || a.info.ModTime().Equal(b.info.ModTime()))
	}
	return true
}

// putBack makes path what it was, and says where it could not.
func putBack(path string, old kept, had bool, aside string) string {
	err := func() error {
		if _, err := os.Lstat(path); err == nil && !(had && old.info.IsDir() && isDir(path)) {
			if err := setAside(path, aside); err != nil {
				return err
			}
		}
		switch {
		case !had:
			return nil
		case old.info.IsDir():
			if err := os.MkdirAll(path, 0o755); err != nil {
				return err
			}
			return os.Chmod(path, old.info.Mode().Perm())
		case old.info.Mode()&fs.ModeSymlink != 0:
			return os.Symlink(old.link, path)
		case old.text == nil:
			return errors.New("it was not kept")
		}
		if err := os.WriteFile(path, old.text, 0o600); err != nil {
			return err
		}
		return errors.Join(os.Chmod(path, old.info.Mode().Perm()), os.Chtimes(path, time.Time{}, old.info.ModTime()))
	}()
	if err != nil {
		return fmt.Sprintf(" (this failed: %v)", err)
	}
	return ""
}

// aside makes a directory for what commands have made of guarded places.
func (w *Wall) aside() string {
	dir := w.o.State
	if dir == "" {
		dir = w.dir
	}
	dir = filepath.Join(dir, "aside")
	if os.MkdirAll(dir, 0o700) != nil {
		return ""
	}
	dir, err := os.MkdirTemp(dir, time.Now().UTC().Format("20060102-150405-"))
	if err != nil {
		return ""
	}
	return dir
}

// setAside moves what is at path away; from another disk a copy is made.
func setAside(path, aside string) error {
	if aside == "" {
		return errors.New("there is no place to set it aside")
	}
	to := filepath.Join(aside, strings.ReplaceAll(strings.Trim(path, "/"), "/", "%"))
	if os.Rename(path, to) == nil {
		return nil
	}
	if isDir(path) {
		if err := os.CopyFS(to, os.DirFS(path)); err != nil {
			return err
		}
	} else if fi, err := os.Lstat(path); err == nil && fi.Mode().IsRegular() {
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := os.WriteFile(to, b, 0o600); err != nil {
			return err
		}
	}
	return os.RemoveAll(path)
}

func (w *Wall) shown(path string) string {
	if rel, err := filepath.Rel(w.o.Project, path); err == nil && !strings.HasPrefix(rel, "..") {
		return rel
	}
	return path
}
