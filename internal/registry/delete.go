package registry

import (
	"errors"
	"os"
	"path/filepath"

	"larva.dev/larva/internal/diag"
)

// Delete removes a persona with all its variants, without reading it, so it
// works on a broken one. A link that stands in a persona's place is removed,
// not what it leads to.
func (r *Registry) Delete(id string) error {
	if err := checkID(id); err != nil {
		return err
	}
	return deleting("delete", r.change(diag.RegistryDeleteFailed, id, "", func(w *writer) error {
		if err := w.checkDir(id); is(err, diag.PersonaNotFound) {
			return err
		}
		if err := w.remove(id); err != nil {
			return deleteFailed("delete", id, w.dir(id), []string{w.dir(id)}, err)
		}
		return nil
	}))
}

// Clear removes every persona once it hears ClearToken, and gives their
// number. Files and directories that are no personas stay, also a directory
// with a persona's name that holds only what is not ours.
func (r *Registry) Clear(confirm string) (int, error) {
	if err := r.noExpectation("clear"); err != nil {
		return 0, err
	}
	if confirm != ClearToken {
		return 0, diag.New(diag.InvalidConfirmationToken, "the confirmation is not %q; nothing was removed", ClearToken).
			WithHint("larva clear --confirm %q", ClearToken)
	}
	if _, err := os.Stat(r.root); errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	count := 0
	err := r.write(diag.RegistryDeleteFailed, "", func(w *writer) error {
		ids, err := w.IDs()
		if err != nil {
			return err
		}
		var bad []string
		var causes []error
		for _, id := range ids {
			if w.foreign(id) {
				continue
			}
			if err := w.remove(id); err != nil {
				bad, causes = append(bad, w.dir(id)), append(causes, err)
				continue
			}
			count++
		}
		if len(bad) > 0 {
			return deleteFailed("clear", "", w.root, bad, errors.Join(causes...))
		}
		return nil
	})
	return count, deleting("clear", err)
}

// foreign says whether a directory with a persona's name holds something, and
// nothing of a persona.
func (r *Registry) foreign(id string) bool {
	entries, err := os.ReadDir(r.dir(id))
	if err != nil || len(entries) == 0 {
		return false
	}
	for _, e := range entries {
		switch e.Name() {
		case manifestName, contractName, variantsName:
			return false
		}
	}
	return true
}

func deleteFailed(operation, id, path string, paths []string, err error) *diag.Error {
	e := failed(diag.RegistryDeleteFailed, id, path, "remove", err)
	return e.With("operation", operation).With("failed_spec_paths", paths)
}

// deleting gives a failure on the way to a removal (no lock, no room beside
// the personas) the details that a failed removal itself has.
func deleting(operation string, err error) error {
	if is(err, diag.RegistryDeleteFailed) {
		if e := diag.As(err); e.Details["operation"] == nil {
			e.With("operation", operation).With("failed_spec_paths", []string{})
		}
	}
	return err
}

// removeFile takes one variant file out of sight by a rename to .aside, as
// every change goes through there, then away.
func (w *writer) removeFile(id, path string) error {
	old := w.aside("old-" + id + suffix)
	err := w.step("remove", path)
	if err == nil {
		_ = os.RemoveAll(old) // only there if sweeping could not remove it
		err = w.rename(path, old)
	}
	if err != nil {
		return deleteFailed("variant_delete", id, path, []string{path}, err)
	}
	_ = os.Remove(old) // what stays is the next writer's to sweep
	return w.failedSync(id, filepath.Dir(path))
}
