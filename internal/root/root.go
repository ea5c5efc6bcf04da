// Package root knows which paths lie inside a run's roots, links resolved. It
// looks at the disk and changes nothing; what follows from an answer is for
// permission to judge.
package root

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"larva.dev/larva/internal/tool"
)

// Set is the places of one run; read-only once the run begins. All paths are absolute and
// clean, with links resolved.
type Set struct {
	Cwd     string
	Project string   // the git root above Cwd, else Cwd
	Home    string   // "" where there is none
	Temp    string   // the run's private directory, made by the caller; "" for none
	Roots   []string // Project, the added directories, Temp

	// Readable are directories outside of the roots that may be read like them.
	Readable []string

	// written are the roots as they were named, where a link makes that differ
	// (/tmp on darwin): a path named through it is inside, too.
	written []string
}

// New finds the project above cwd and checks that cwd and every added
// directory ("~/", relative to cwd, or absolute) exist. home and temp may be "".
func New(cwd string, add []string, home, temp string) (*Set, error) {
	if !filepath.IsAbs(cwd) {
		return nil, fmt.Errorf("working directory %q: not absolute", cwd)
	}
	s := &Set{}
	var err error
	if s.Cwd, err = directory(cwd); err != nil {
		return nil, fmt.Errorf("working directory: %w", err)
	}
	if home != "" {
		s.Home = real(home)
	}
	s.Project = gitRoot(s.Cwd)
	s.Roots = []string{s.Project}
	if p := gitRoot(filepath.Clean(cwd)); p != s.Project && real(p) == s.Project {
		s.written = append(s.written, p)
	}
	for _, a := range add {
		abs := s.absolute(s.Cwd, a)
		dir, err := directory(abs)
		if err != nil {
			return nil, fmt.Errorf("added directory: %w", err)
		}
		s.add(abs, dir)
	}
	if temp != "" {
		if !filepath.IsAbs(temp) {
			return nil, fmt.Errorf("private directory %q: not absolute", temp)
		}
		s.Temp = real(temp)
		s.add(temp, s.Temp)
	}
	return s, nil
}

func (s *Set) add(written, dir string) {
	s.Roots = append(s.Roots, dir)
	if written = filepath.Clean(written); written != dir {
		s.written = append(s.written, written)
	}
}

// directory gives the real path of a directory that exists.
func directory(path string) (string, error) {
	dir, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	fi, err := os.Stat(dir)
	if err != nil {
		return "", err
	}
	if !fi.IsDir() {
		return "", fmt.Errorf("%s: not a directory", path)
	}
	return filepath.Abs(dir)
}

// gitRoot gives the nearest directory from dir upward that holds a repository:
// a .git directory with a HEAD, or the .git file of a worktree or submodule.
// Without one it is dir.
func gitRoot(dir string) string {
	for d := dir; ; {
		if isGit(filepath.Join(d, ".git")) {
			return d
		}
		up := filepath.Dir(d)
		if up == d {
			return dir
		}
		d = up
	}
}

// isGit wants more than a name: a stray empty .git in a parent directory must
// not widen the roots.
func isGit(path string) bool {
	fi, err := os.Stat(path)
	if err != nil {
		return false
	}
	if fi.IsDir() {
		_, err := os.Lstat(filepath.Join(path, "HEAD"))
		return err == nil
	}
	if !fi.Mode().IsRegular() || fi.Size() > 64<<10 {
		return false
	}
	b, err := os.ReadFile(path)
	return err == nil && strings.HasPrefix(string(b), "gitdir:")
}

// Resolve gives the facts about a path as a call names it: "~/" is Home, a
// relative path is taken from Cwd. Real is where the system would end up: each
// link is followed when it is met, so that ".." after a link leaves the link's
// target, and a link to a file that does not exist yet leads there. Abs is the
// text alone, made clean. Outside holds when either leaves the roots, and for
// links that go in circles.
func (s *Set) Resolve(given string, write bool) tool.Path {
	return s.ResolveFrom(s.Cwd, given, write)
}

// ResolveFrom is Resolve with relative paths taken from dir, for a command line
// that has changed its directory.
func (s *Set) ResolveFrom(dir, given string, write bool) tool.Path {
	raw := s.absolute(dir, given)
	p := tool.Path{Given: given, Abs: filepath.Clean(raw), Write: write}
	var ok bool
	p.Real, ok = follow(raw)
	p.Outside = !ok || !s.inside(p.Abs) || !s.inside(p.Real)
	if p.Outside && ok && !write {
		p.Outside = !s.readable(p.Abs) || !s.readable(p.Real)
	}
	return p
}

// absolute joins without cleaning: ".." must still stand behind the link that
// it leaves.
func (s *Set) absolute(dir, given string) string {
	if s.Home != "" && (given == "~" || strings.HasPrefix(given, "~/")) {
		return s.Home + given[1:]
	}
	if filepath.IsAbs(given) {
		return given
	}
	return dir + string(filepath.Separator) + given
}

func (s *Set) inside(path string) bool {
	for _, list := range [2][]string{s.Roots, s.written} {
		for _, r := range list {
			if _, ok := below(r, path); ok {
				return true
			}
		}
	}
	return false
}

// readable says that a path may be read: it lies in a root or in one of
// Readable.
func (s *Set) readable(path string) bool {
	for _, r := range s.Readable {
		if _, ok := below(r, path); ok {
			return true
		}
	}
	return s.inside(path)
}

// Holder gives the innermost root that a resolved path lies in and the path's
// rest below it ("." for the root itself).
func (s *Set) Holder(real string) (root, rest string, ok bool) {
	for _, r := range s.Roots {
		if tail, in := below(r, real); in && (!ok || len(r) > len(root)) {
			root, rest, ok = r, tail, true
		}
	}
	return root, rest, ok
}

// Rel is a path for display: with slashes, relative to Cwd where it lies inside.
func (s *Set) Rel(abs string) string {
	if rest, ok := below(s.Cwd, filepath.Clean(abs)); ok {
		return filepath.ToSlash(rest)
	}
	return filepath.ToSlash(abs)
}

// below gives path's rest under dir; both are clean. Where disks may ignore
// case, a difference in case alone counts as the same only if it is the same
// directory.
func below(dir, path string) (string, bool) {
	if path == dir {
		return ".", true
	}
	head := strings.TrimSuffix(dir, string(filepath.Separator))
	if len(path) <= len(head) || path[len(head)] != filepath.Separator {
		return "", false
	}
	if path[:len(head)] != head {
		if runtime.GOOS != "darwin" && runtime.GOOS != "windows" {
			return "", false
		}
		if !strings.EqualFold(path[:len(head)], head) || !same(path[:len(head)], dir) {
			return "", false
		}
	}
	rest := path[len(head)+1:]
	if rest == "" {
		rest = "."
	}
	return rest, true
}

func same(a, b string) bool {
	fa, err := os.Stat(a)
	if err != nil {
		return false
	}
	fb, err := os.Stat(b)
	return err == nil && os.SameFile(fa, fb)
}
