package sandbox

import (
	"os"
	"path/filepath"
	"slices"
)

// guards are the protected places, and those of the repositories that lay
// somewhere in the roots before the first command: what is planted in such a
// one runs as soon as the user works there, or asks git for the state of the
// repository around it. A repository that commands have made themselves is
// theirs to change and remove.
func (w *Wall) guards() (places []place, writable []string) {
	places, writable = w.protected()
	return append(places, w.nested()...), writable
}

// nested looks once, before the first command. A .git that is a file leads to
// a repository which is guarded where it is, or lies outside; the file itself
// stays as it is, and so does a link.
func (w *Wall) nested() []place {
	if w.looked {
		return w.repos
	}
	w.looked = true
	tops := w.tops()
	for _, git := range w.finder().repositories(tops) {
		if slices.Contains(tops, filepath.Dir(git)) {
			continue // protected knows it
		}
		if fi, err := os.Lstat(git); err == nil && fi.IsDir() {
			w.repos = append(w.repos, code(git)...)
			continue
		}
		w.repos = append(w.repos, place{git, ""})
	}
	return w.repos
}

// finder is the wall's own, made when it is first needed.
func (w *Wall) finder() *finder {
	if w.secrets == nil {
		w.secrets = newFinder(w.o.Denied, w.o.Fixed, func(dir string) bool {
			return dir == w.o.Temp || slices.Contains(w.o.Guarded, dir)
		})
	}
	return w.secrets
}

// repositories gives every .git below the roots, sorted. One of a directory
// that is not searched is nobody's to work in.
func (f *finder) repositories(roots []string) []string {
	f.find(roots)
	var out []string
	for _, l := range f.dirs {
		if l.git != "" {
			out = append(out, l.git)
		}
	}
	slices.Sort(out)
	return clip(out)
}
