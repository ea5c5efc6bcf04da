package sandbox

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"larva.dev/larva/internal/capability"
)

// Bounds of the search for secret and guarded files in the roots. A tree
// beyond them is searched in part; file tools and judged command lines know
// secrets by their names all the same.
const (
	maxDirs  = 20_000
	maxFound = 500 // each is a mount
)

// unsearched are directories whose files come from elsewhere: what looks like
// a key in them is a test's, or public.
var unsearched = [...]string{"node_modules", ".git", "site-packages", "vendor", ".venv", "__pycache__", "target"}

// finder knows the secret and the fixed files and the guarded names below the
// roots. Only directories that have changed are read again.
type finder struct {
	denied func(abs, real string) bool // nil: nothing is
	fixed  func(abs, real string) bool // nil: nothing is
	skip   func(dir string) bool
	dirs   map[string]*listing
}

type listing struct {
	changed time.Time
	subs    []string
	secret  []string
	fixed   []string
	guarded []string
	git     string // the directory's .git, "" for none
}

func newFinder(denied, fixed func(abs, real string) bool, skip func(dir string) bool) *finder {
	return &finder{denied: denied, fixed: fixed, skip: skip, dirs: map[string]*listing{}}
}

// found is what lies below the roots' tops, each list sorted.
type found struct {
	secret  []string // files that must stay unseen, links resolved
	fixed   []string // files and directories that must stay as they are, links resolved
	guarded []string // names
}

func (f *finder) find(roots []string) found {
	var all found
	for _, dir := range roots {
		if f.holds(dir) {
			all.fixed = append(all.fixed, dir)
		}
	}
	seen := map[string]*listing{}
	todo := slices.Clone(roots)
	for len(todo) > 0 && len(seen) < maxDirs {
		dir := todo[0]
		todo = todo[1:]
		if _, ok := seen[dir]; ok {
			continue
		}
		l := f.list(dir)
		if l == nil {
			continue
		}
		seen[dir] = l
		all.secret = append(all.secret, l.secret...)
		all.fixed = append(all.fixed, l.fixed...)
		all.guarded = append(all.guarded, l.guarded...)
		todo = append(todo, l.subs...)
	}
	f.dirs = seen
	return found{tidy(all.secret), tidy(all.fixed), tidy(all.guarded)}
}

func tidy(list []string) []string {
	slices.Sort(list)
	return clip(slices.Compact(list))
}

func clip(list []string) []string { return list[:min(len(list), maxFound)] }

// list reads a directory, or gives what is known of it where its time of
// change is the same. A time too close to now proves nothing: the clock of
// file systems is coarse.
func (f *finder) list(dir string) *listing {
	fi, err := os.Stat(dir)
	if err != nil || !fi.IsDir() {
		return nil
	}
	if old, ok := f.dirs[dir]; ok && old.changed.Equal(fi.ModTime()) {
		return old
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	l := &listing{changed: fi.ModTime()}
	if time.Since(fi.ModTime()) < 2*time.Second {
		l.changed = time.Time{}
	}
	whole := f.holds(dir)
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if strings.EqualFold(e.Name(), ".git") {
			l.git = path
		}
		if !whole {
			l.fixed = append(l.fixed, f.held(path, e)...)
		}
		switch {
		case isGuarded(e.Name()):
			l.guarded = append(l.guarded, path)
		case e.IsDir():
			if !slices.Contains(unsearched[:], e.Name()) && !f.skip(path) {
				l.subs = append(l.subs, path)
			}
		case f.denied != nil:
			if real, ok := behind(path, e, f.denied); ok {
				l.secret = append(l.secret, real)
			}
		}
	}
	return l
}

func isGuarded(name string) bool {
	for _, g := range capability.GuardedNames() {
		if strings.EqualFold(name, g.Name) {
			return true
		}
	}
	return false
}

// holds says that a directory must stay as it is with all that it holds, by
// way of a name that no rule was written for.
func (f *finder) holds(dir string) bool {
	name := filepath.Join(dir, "\x01any")
	return f.fixed != nil && f.fixed(name, name)
}

// held gives what must stay of one entry of a directory that may change.
func (f *finder) held(path string, e fs.DirEntry) []string {
	if f.fixed == nil {
		return nil
	}
	if e.IsDir() {
		if f.holds(path) {
			return []string{path}
		}
		return nil
	}
	if real, ok := behind(path, e, f.fixed); ok {
		return []string{real}
	}
	return nil
}

// behind says that rule holds for a file, and which one it is behind links.
func behind(path string, e fs.DirEntry, rule func(abs, real string) bool) (real string, ok bool) {
	real = path
	if e.Type()&fs.ModeSymlink != 0 {
		r, err := filepath.EvalSymlinks(path)
		if err != nil {
			return "", false
		}
		real = r
	}
	return real, rule(path, real)
}

// secretsAtHome are where keys lie in a home directory; directories are hidden
// whole.
var secretsAtHome = [...]string{".ssh", ".gnupg", ".aws", ".kube", ".config/gcloud", ".docker/config.json", ".docker/run", ".docker/desktop",
	".config/larva/mcp-auth", ".netrc", ".npmrc", ".pypirc", ".git-credentials"}

// atHome gives the secret places of a home directory that exist. A file in
// them that the user's rules open stays in sight: then its neighbours are
// hidden one by one.
func atHome(home string, denied func(abs, real string) bool) []string {
	if home == "" {
		return nil
	}
	if denied == nil {
		denied = func(string, string) bool { return true }
	}
	var out []string
	hide := func(path string) {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			out = append(out, real)
		}
	}
	for _, name := range secretsAtHome {
		path := filepath.Join(home, name)
		fi, err := os.Stat(path)
		if err != nil {
			continue
		}
		if !fi.IsDir() {
			if denied(path, path) {
				hide(path)
			}
			continue
		}
		entries, _ := os.ReadDir(path)
		open := slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
			p := filepath.Join(path, e.Name())
			return !strings.HasPrefix(name, ".docker/") && !denied(p, p)
		})
		if !open {
			hide(path)
			continue
		}
		for _, e := range entries {
			if p := filepath.Join(path, e.Name()); denied(p, p) {
				hide(p)
			}
		}
	}
	entries, _ := os.ReadDir(home)
	for _, e := range entries {
		if p := filepath.Join(home, e.Name()); !e.IsDir() && denied(p, p) {
			hide(p)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
