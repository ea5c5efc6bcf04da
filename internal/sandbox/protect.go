package sandbox

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"larva.dev/larva/internal/capability"
)

// place is a path that commands must not change.
type place struct {
	path    string
	content string // of a placeholder where nothing is there: "/" makes a directory
}

// protected lists the places that the judge guards, in every root and in the
// directories from the project down to the working directory, and the repository's directories that git must
// be able to write although they lie outside of the project.
func (w *Wall) protected() (places []place, writable []string) {
	for _, dir := range w.tops() {
		for _, g := range capability.GuardedNames() {
			places = append(places, place{filepath.Join(dir, g.Name), g.Content})
		}
		git, open := repository(filepath.Join(dir, ".git"), dir == w.o.Project)
		places = append(places, git...)
		writable = append(writable, open...)
		places = append(places, variants(dir)...)
	}
	for _, g := range w.o.Guarded {
		if holder(w.o.Roots, g) != "" && !within(g, w.o.Temp) {
			places = append(places, place{g, "/"})
		}
	}
	return places, writable
}

// tops are the roots but Temp, and the directories down to the working one.
func (w *Wall) tops() []string {
	var out []string
	for _, r := range w.o.Roots {
		if r != w.o.Temp {
			out = append(out, r)
		}
	}
	if w.o.Cwd != w.o.Project && within(w.o.Project, w.o.Cwd) {
		for dir := w.o.Cwd; dir != w.o.Project; dir = filepath.Dir(dir) {
			out = append(out, dir)
		}
	}
	return out
}

// variants are entries that a disk without case would take for guarded ones.
func variants(dir string) []place {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var out []place
	for _, e := range entries {
		for _, g := range capability.GuardedNames() {
			if e.Name() != g.Name && strings.EqualFold(e.Name(), g.Name) {
				out = append(out, place{filepath.Join(dir, e.Name()), g.Content})
			}
		}
	}
	return out
}

// repository gives the places of a .git, and what git writes outside of it: a
// linked worktree's own directory and the one that it shares. Where there is no
// repository its name is kept free only in the project itself.
func repository(git string, project bool) (places []place, writable []string) {
	fi, err := os.Lstat(git)
	switch {
	case err != nil:
		if project {
			places = append(places, place{git, "/"})
		}
	case fi.IsDir():
		places = code(git)
	case fi.Mode().IsRegular():
		places = append(places, place{git, ""})
		own, common := linked(git)
		if own == "" {
			return places, nil
		}
		if common == "" { // a submodule: its repository is whole
			return append(places, code(own)...), []string{own}
		}
		return append(append(places, code(common)...), code(own)...), []string{common, own}
	default: // a link: see Firm
		places = append(places, place{git, "/"})
	}
	return places, writable
}

func code(dir string) []place {
	parts := capability.GuardedGit()
	out := make([]place, len(parts))
	for i, c := range parts {
		out[i] = place{filepath.Join(dir, c.Name), c.Content}
	}
	return out
}

// linked reads a .git file: the directory that it names, and the shared one,
// "" where there is none. Both must look like a repository that knows of this
// checkout, since a file in the project must not open a directory elsewhere.
func linked(git string) (own, common string) {
	line := firstLine(git)
	dir, ok := strings.CutPrefix(line, "gitdir:")
	if !ok {
		return "", ""
	}
	own = from(filepath.Dir(git), strings.TrimSpace(dir))
	if own, _ = filepath.EvalSymlinks(own); own == "" {
		return "", ""
	}
	if _, err := os.Lstat(filepath.Join(own, "HEAD")); err != nil {
		return "", ""
	}
	shared := firstLine(filepath.Join(own, "commondir"))
	if shared == "" {
		// A submodule's repository lies in its parent's .git/modules and names
		// the checkout as its worktree.
		if !strings.Contains(own, "/.git/modules/") {
			return "", ""
		}
		return own, ""
	}
	common, err := filepath.EvalSymlinks(from(own, shared))
	if err != nil || filepath.Dir(own) != filepath.Join(common, "worktrees") {
		return "", ""
	}
	back, err := filepath.EvalSymlinks(from(own, firstLine(filepath.Join(own, "gitdir"))))
	if err != nil || back != git {
		return "", ""
	}
	return own, common
}

func from(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

func firstLine(file string) string {
	fi, err := os.Lstat(file)
	if err != nil || !fi.Mode().IsRegular() || fi.Size() > 64<<10 {
		return ""
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(b), "\n")
	return strings.TrimSpace(line)
}

// loose is the first guarded place that is a symbolic link, "" for none: it
// could be replaced, since a mount lands on its target.
func (w *Wall) loose() string {
	if w.o.ReadOnly {
		return ""
	}
	places, _ := w.protected()
	for _, p := range places {
		if holder(w.o.Roots, p.path) == "" {
			continue
		}
		if fi, err := os.Lstat(p.path); err == nil && fi.Mode()&fs.ModeSymlink != 0 {
			return p.path
		}
	}
	return ""
}

// made says that a placeholder is on the list, and there.
func made(list []place, path string) bool {
	for _, p := range list {
		if p.path == path {
			_, err := os.Lstat(path)
			return err == nil
		}
	}
	return false
}
