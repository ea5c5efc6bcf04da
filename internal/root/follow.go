package root

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// real follows the links of a path, also of one that does not exist.
func real(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return filepath.Clean(path)
	}
	r, _ := follow(abs)
	return r
}

// maxLinks is what Linux allows on one path.
const maxLinks = 40

// follow resolves an absolute path that need not be clean. What cannot be
// looked at (it does not exist, or we may not) is joined as text. ok is false
// for links that go in circles.
func follow(path string) (real string, ok bool) {
	vol := filepath.VolumeName(path)
	top := vol + string(filepath.Separator)
	done, left := top, parts(path[len(vol):])
	links := 0
	for len(left) > 0 {
		name := left[0]
		left = left[1:]
		if name == ".." {
			done = filepath.Dir(done)
			continue
		}
		next := filepath.Join(done, name)
		fi, err := os.Lstat(next)
		if err != nil || fi.Mode()&fs.ModeSymlink == 0 {
			done = next
			continue
		}
		if links++; links > maxLinks {
			return filepath.Join(append([]string{next}, left...)...), false
		}
		target, err := os.Readlink(next)
		if err != nil {
			done = next
			continue
		}
		if v := filepath.VolumeName(target); v != "" || filepath.IsAbs(target) {
			done, target = topOf(v, top), target[len(v):]
		}
		left = append(parts(target), left...)
	}
	return done, true
}

// topOf gives the top of a link's own volume, else the one we are on.
func topOf(vol, top string) string {
	if vol == "" {
		return top
	}
	return vol + string(filepath.Separator)
}

// parts splits at separators and leaves out what means nothing.
func parts(path string) []string {
	var out []string
	for _, p := range strings.FieldsFunc(path, func(r rune) bool { return r < 0x80 && os.IsPathSeparator(uint8(r)) }) {
		if p != "." {
			out = append(out, p)
		}
	}
	return out
}
