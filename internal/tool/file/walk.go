package file

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"larva.dev/larva/internal/tool"
)

// skipped are directories that hold what was fetched or built. They are passed
// over, as everything is whose name begins with a dot, unless the call names
// them: as its path, as the literal beginning of its pattern, or as a part of
// the pattern. The set is the same with and without rg.
var skipped = [...]string{"node_modules", "vendor", "dist", "build", "target"}

// maxEntries ends a walk over something that is no project.
const maxEntries = 500_000

var errTooMany = errors.New("too many files")

// walk is one way down from a start directory.
type walk struct {
	d     *desk
	start tool.Path
	dir   *os.Root
	// pattern is matched against the slash path below start; "" takes all.
	pattern string
	depth   int // how many levels a match can lie deep; 0 is any
	links   bool
	hidden  int // files that rules keep unseen
}

// files calls fn for each regular file that fits, directory by directory in
// the order of names. With links, a link to a regular file counts as one, too;
// a link to a directory is never followed.
func (w *walk) files(ctx context.Context, fn func(rel string, entry fs.DirEntry) error) error {
	n := 0
	return fs.WalkDir(w.dir.FS(), ".", func(rel string, e fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if rel == "." {
			return err
		}
		if n++; n > maxEntries {
			return errTooMany
		}
		if err != nil { // a directory that we may not read
			return fs.SkipDir
		}
		if e.IsDir() {
			if w.passOver(e.Name(), rel) || w.denied(rel, e) {
				return fs.SkipDir
			}
			return nil
		}
		if !w.fits(rel, e) {
			return nil
		}
		if w.denied(rel, e) {
			w.hidden++
			return nil
		}
		return fn(rel, e)
	})
}

func (w *walk) passOver(name, rel string) bool {
	if w.depth > 0 && strings.Count(rel, "/")+1 >= w.depth {
		return true
	}
	if name == ".git" {
		return !w.names(name, false)
	}
	if strings.HasPrefix(name, ".") {
		return !w.names(name, true)
	}
	for _, s := range skipped {
		if name == s {
			return !w.names(name, false)
		}
	}
	return false
}

// names reports whether the pattern names this entry: by its very name, or,
// where a wildcard may do, by one that begins with the dot as well.
func (w *walk) names(name string, wild bool) bool {
	for part := range strings.SplitSeq(w.pattern, "/") {
		if part == name {
			return true
		}
		if wild && strings.HasPrefix(part, ".") {
			if ok, _ := doublestar.Match(part, name); ok {
				return true
			}
		}
	}
	return false
}

func (w *walk) fits(rel string, e fs.DirEntry) bool {
	name := path.Base(rel)
	if strings.HasPrefix(name, ".") && !w.names(name, true) {
		return false
	}
	if w.pattern != "" && !matches(w.pattern, rel) {
		return false
	}
	switch t := e.Type(); {
	case t.IsRegular():
		return true
	case t&fs.ModeSymlink != 0 && w.links:
		fi, err := os.Stat(w.abs(rel))
		return err == nil && fi.Mode().IsRegular()
	}
	return false
}

func matches(pattern, rel string) bool {
	ok, err := doublestar.Match(pattern, rel)
	return ok && err == nil
}

func (w *walk) abs(rel string) string { return filepath.Join(w.start.Real, filepath.FromSlash(rel)) }

// shown is an entry's path for display.
func (w *walk) shown(rel string) string {
	return w.d.rs.Rel(filepath.Join(w.start.Abs, filepath.FromSlash(rel)))
}

func (w *walk) denied(rel string, e fs.DirEntry) bool {
	if w.d.o.Denied == nil {
		return false
	}
	real := w.abs(rel)
	if e.Type()&fs.ModeSymlink != 0 {
		real = w.d.rs.Resolve(real, false).Real
	}
	return w.d.o.Denied(filepath.Join(w.start.Abs, filepath.FromSlash(rel)), real)
}

// depthOf gives how deep a pattern's matches can lie, 0 for any depth.
func depthOf(pattern string) int {
	if pattern == "" || strings.Contains(pattern, "**") || strings.Contains(pattern, "{") {
		return 0
	}
	return strings.Count(pattern, "/") + 1
}

// goodPattern refuses what cannot be matched below a start directory.
func goodPattern(pattern string) error {
	if !doublestar.ValidatePattern(pattern) {
		return errors.New("the pattern is broken: a bracket or brace is not closed")
	}
	for part := range strings.FieldsFuncSeq(pattern, func(r rune) bool { return strings.ContainsRune("/{},", r) }) {
		if strings.ReplaceAll(part, `\`, "") == ".." {
			return errors.New(`".." may stand only at the beginning of the pattern`)
		}
	}
	return nil
}
