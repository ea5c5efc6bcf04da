package registry

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/spec"
)

// writer is the one who holds the lock. It reads without doubts.
type writer struct {
	reader
	code  diag.Code // of the errors of its disk work
	swept []string  // names in .aside that a killed writer had left
}

// write runs fn under the lock, in a swept registry. code is the operation's
// own for disk errors; id is "" where the operation concerns no one persona.
func (r *Registry) write(code diag.Code, id string, fn func(*writer) error) error {
	w := &writer{reader: reader{Registry: r}, code: code}
	if err := w.prepare(); err != nil {
		return w.failed(id, w.named(err), err)
	}
	unlock, err := r.lock()
	if err != nil {
		return w.failed(id, filepath.Join(r.root, lockName), err)
	}
	defer unlock()
	if err := w.sweep(); err != nil {
		return w.failed(id, r.aside(), err)
	}
	return fn(w)
}

// change is write for operations that change what is there: in a registry
// that does not exist yet they find nothing and create nothing. An
// expectation is about the variant, "" for the active one.
func (r *Registry) change(code diag.Code, id, variant string, fn func(*writer) error) error {
	if _, err := os.Stat(r.root); errors.Is(err, fs.ErrNotExist) {
		if err := r.compare(id, variant, ""); err != nil {
			return err
		}
		return notFound(id)
	}
	return r.write(code, id, func(w *writer) error {
		if err := w.asExpected(id, variant); err != nil {
			return err
		}
		return fn(w)
	})
}

func (w *writer) failed(id, path string, err error) error {
	var done *diag.Error
	if errors.As(err, &done) {
		return done
	}
	return failed(w.code, id, path, "write", err)
}

// named is the path that a disk error names, where it is one of the
// registry's own; else the root.
func (w *writer) named(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) && filepath.Dir(p.Path) == w.root {
		return p.Path
	}
	return w.root
}

func (w *writer) load(id, variant string) (*stored, error) {
	s, err := w.once(id, variant)
	if errors.Is(err, errChanged) {
		err = w.readFailed(id, w.dir(id), errors.New("somebody changes the persona without the lock"))
	}
	return s, err
}

// prepare makes the root and .aside, for the user alone.
func (w *writer) prepare() error {
	if err := w.makeDirs(w.root); err != nil {
		return err
	}
	if err := w.makeDir(w.aside()); err != nil {
		return err
	}
	return w.makeLock()
}

// makeLock makes the lock file with mode 0600 whatever the umask: the lock
// alone would make one that a strict umask keeps even its owner from opening.
func (w *writer) makeLock() error {
	path := filepath.Join(w.root, lockName)
	if _, err := os.Lstat(path); err == nil {
		return nil
	}
	if err := w.step("create", path); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|openFlags, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(f.Chmod(0o600), f.Close())
}

func (w *writer) makeDirs(path string) error {
	if info, err := os.Stat(path); err == nil {
		if !info.IsDir() {
			return &fs.PathError{Op: "mkdir", Path: path, Err: errors.New("is not a directory")}
		}
		return nil
	}
	if parent := filepath.Dir(path); parent != path {
		if err := w.makeDirs(parent); err != nil {
			return err
		}
	}
	return w.makeDir(path)
}

// makeDir makes one directory with mode 0700 whatever the umask; one that is
// there stays as it is.
func (w *writer) makeDir(path string) error {
	if err := w.step("mkdir", path); err != nil {
		return err
	}
	err := os.Mkdir(path, 0o700)
	if errors.Is(err, fs.ErrExist) {
		info, err := os.Lstat(path)
		if err == nil && !info.IsDir() {
			err = &fs.PathError{Op: "mkdir", Path: path, Err: errors.New("is not a directory")}
		}
		return err
	}
	if err != nil {
		return err
	}
	return os.Chmod(path, 0o700)
}

// sweep removes what killed writers left. A directory that stood between the
// two renames of swap goes back to its place first.
func (w *writer) sweep() error {
	entries, err := os.ReadDir(w.aside())
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := w.putBack(e.Name()); err != nil {
			return err
		}
		// What cannot be removed harms nobody; doctor names it.
		_ = os.RemoveAll(w.aside(e.Name()))
		w.swept = append(w.swept, e.Name())
	}
	return nil
}

// putBack undoes a swap that was cut in the middle: the id is free and its
// persona stands aside.
func (w *writer) putBack(name string) error {
	id, ok := strings.CutPrefix(name, swapPrefix)
	if !ok || !spec.ValidID(id) {
		return nil
	}
	if _, err := os.Lstat(w.dir(id)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return w.rename(w.aside(name), w.dir(id))
}

// swapPrefix begins the name of a persona's directory while swap has it
// aside; the id follows. No other work in .aside begins so.
const swapPrefix = "swap-"
