package sandbox

import (
	"path/filepath"
	"slices"
	"strings"
)

// access is what a command may do at a place. A stronger one wins where two
// are said of the same place.
type access int

const (
	pin   access = iota // as its surroundings, but held in position: it cannot be renamed
	write               // readable and writable
	read                // read-only
	shut                // out of sight
)

// mounts are the places of a command that differ from their surroundings, by
// path.
type mounts map[string]mount

type mount struct {
	access access
	src    string // what is seen there; "" is the place itself
}

// put says what a place is. write and pin never weaken a place; force does.
func (m mounts) put(path string, a access, src string) {
	if old, ok := m[path]; ok && old.access > a {
		return
	}
	m[path] = mount{a, src}
}

// pins holds the directories between a root and a place below it: a directory
// that can be renamed takes what is mounted in it along, and the place is
// free again.
func (m mounts) pins(roots []string, path string) {
	root := holder(roots, path)
	if root == "" {
		return
	}
	for dir := filepath.Dir(path); len(dir) > len(root); dir = filepath.Dir(dir) {
		m.put(dir, pin, "")
	}
}

// argv is bubblewrap's, surroundings first. What lies below a place that is
// shut is left out.
func (m mounts) argv(void, shutSrc string, isDir func(string) bool) []string {
	paths := make([]string, 0, len(m))
	for p := range m {
		paths = append(paths, p)
	}
	slices.SortFunc(paths, func(a, b string) int {
		return slices.Compare(strings.Split(a, "/"), strings.Split(b, "/"))
	})
	var out []string
	closed := ""
	effective := map[string]access{}
	for _, p := range paths {
		if closed != "" && within(closed, p) {
			continue
		}
		e := m[p]
		if e.access == pin && above(effective, p) == read {
			continue // nothing there can be renamed, and a pin would open it
		}
		effective[p] = e.access
		src := e.src
		if src == "" {
			src = p
		}
		switch e.access {
		case pin, write:
			out = append(out, "--bind", src, p)
		case read:
			out = append(out, "--ro-bind", src, p)
		case shut:
			closed = p
			src = void
			if isDir(p) {
				src = shutSrc
			}
			out = append(out, "--ro-bind", src, p)
		}
	}
	return out
}

// above is what the innermost place around a path is.
func above(effective map[string]access, path string) access {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if a, ok := effective[dir]; ok && a != pin {
			return a
		}
		if dir == filepath.Dir(dir) {
			return pin
		}
	}
}

// holder is the innermost root that a path lies in, "" for none.
func holder(roots []string, path string) string {
	best := ""
	for _, r := range roots {
		if within(r, path) && len(r) > len(best) {
			best = r
		}
	}
	return best
}

// within says that path is dir or lies below it. Both are clean; "" holds
// nothing.
func within(dir, path string) bool {
	if dir == "" || path == "" {
		return false
	}
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}
