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

// finder knows the secret files and the guarded names below the roots. Only
// directories that have changed are read again.
type finder struct {
	denied func(abs, real string) bool
	skip   func(dir string) bool
	dirs   map[string]*listing
}

type listing struct {
	changed time.Time
	subs    []string
	secret  []string
	guarded []string
	git     string // the directory's .git, "" for none
}

func newFinder(denied func(abs, real string) bool, skip func(dir string) bool) *finder {
	return &finder{denied: denied, skip: skip, dirs: map[string]*listing{}}
}

// find gives the files that must stay unseen, links resolved, and the guarded
// names below the roots' tops, each sorted.
func (f *finder) find(roots []string) (secret, guarded []string) {
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
		secret = append(secret, l.secret...)
		guarded = append(guarded, l.guarded...)
		todo = append(todo, l.subs...)
	}
	f.dirs = seen
	slices.Sort(secret)
	slices.Sort(guarded)
	return clip(slices.Compact(secret)), clip(slices.Compact(guarded))
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
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if strings.EqualFold(e.Name(), ".git") {
			l.git = path
		}
		switch {
		case isGuarded(e.Name()):
			l.guarded = append(l.guarded, path)
		case e.IsDir():
			if !slices.Contains(unsearched[:], e.Name()) && !f.skip(path) {
				l.subs = append(l.subs, path)
			}
		case f.denied != nil:
			if real, ok := f.hidden(path, e); ok {
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

// hidden says that a file must stay unseen, and which one it is behind links.
func (f *finder) hidden(path string, e fs.DirEntry) (real string, ok bool) {
	real = path
	if e.Type()&fs.ModeSymlink != 0 {
		r, err := filepath.EvalSymlinks(path)
		if err != nil {
			return "", false
		}
		real = r
	}
	return real, f.denied(path, real)
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
