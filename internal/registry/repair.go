package registry

import (
	"os"
	"path/filepath"
	"slices"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/spec"
)

// mend does what Doctor promises, with the lock held and the leftovers swept.
func (w *writer) mend() ([]Finding, error) {
	var done []Finding
	for _, name := range w.swept {
		done = append(done, Finding{"", Leftover, w.aside(name), "removed what a stopped writer had left"})
	}
	ids, err := w.IDs()
	if err != nil {
		return done, err
	}
	for _, path := range []string{w.root, filepath.Join(w.root, lockName), w.aside()} {
		done = w.mendMode(done, "", path)
	}
	for _, id := range ids {
		if w.checkDir(id) != nil || w.foreign(id) {
			continue
		}
		w.walk(id, func(path string, ours bool) {
			switch {
			case ours:
				done = w.mendMode(done, id, path)
			case isTemp(path):
				if os.Remove(path) == nil {
					done = append(done, Finding{id, Leftover, path, "removed a temporary file"})
				}
			}
		})
		f, err := w.mendManifest(id)
		if err != nil {
			return done, err
		}
		if f != nil {
			done = append(done, *f)
		}
	}
	return done, nil
}

func (w *writer) mendMode(done []Finding, id, path string) []Finding {
	info, want, ok := mode(path)
	if !ok || info.Mode().Perm() == want || os.Chmod(path, want) != nil {
		return done
	}
	return append(done, Finding{id, Permissions, path, "changed mode " + info.Mode().Perm().String() + " to " + want.String()})
}

// mendManifest writes a manifest where it is missing or broken and nobody can
// doubt which variant is meant: the only one, or default. That variant must
// give a valid spec.
func (w *writer) mendManifest(id string) (*Finding, error) {
	names, err := w.variantNames(id)
	if err != nil {
		return nil, nil // broken elsewhere; the examination says how
	}
	path := w.manifest(id)
	h, active, err := w.readManifest(id)
	h.close()
	if err == nil && slices.Contains(names, active) {
		return nil, nil
	}
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil, nil // a link or a directory was put there by somebody
	}
	choice := names[0]
	if len(names) > 1 {
		choice = DefaultVariant
	}
	if !slices.Contains(names, choice) {
		return nil, nil
	}
	s, err := w.load(id, choice)
	if err != nil || len(spec.Check(s.flat())) > 0 {
		return nil, nil
	}
	if err := w.putFile(id, path, encodeManifest(choice)); err != nil {
		return nil, err
	}
	return &Finding{id, diag.RegistryCorrupt, path, "wrote a manifest that makes " + choice + " the active variant"}, nil
}
