package registry

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// putFile writes data to path, in one rename.
func (w *writer) putFile(id, path string, data []byte) error {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return corrupt(id, path, "is not a regular file")
	}
	temp, err := w.writeTemp(id, data)
	if err != nil {
		return w.failed(id, path, err)
	}
	if err := w.rename(temp, path); err != nil {
		_ = os.Remove(temp)
		return w.failed(id, path, err)
	}
	return w.failedSync(id, filepath.Dir(path))
}

// writeTemp makes file-ID-… in .aside. Whoever watches there reads the id from
// the name, as from new-ID-…, old-ID and swap-ID.
func (w *writer) writeTemp(id string, data []byte) (path string, err error) {
	if err := w.step("create", w.aside()); err != nil {
		return "", err
	}
	f, err := os.CreateTemp(w.aside(), "file-"+id+"-")
	if err != nil {
		return "", err
	}
	if err := w.finish(f, data); err != nil {
		_ = os.Remove(f.Name())
		return "", err
	}
	return f.Name(), nil
}

// finish writes data to f, makes it last and private, and closes it.
func (w *writer) finish(f *os.File, data []byte) (err error) {
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := w.step("write", f.Name()); err != nil {
		return err
	}
	if _, err := f.Write(data); err != nil {
		return err
	}
	if err := f.Chmod(0o600); err != nil {
		return err
	}
	if err := w.step("sync", f.Name()); err != nil {
		return err
	}
	return f.Sync()
}

func (w *writer) rename(from, to string) error {
	if err := w.step("rename", to); err != nil {
		return err
	}
	err := os.Rename(from, to)
	var le *os.LinkError
	if errors.As(err, &le) {
		return &fs.PathError{Op: "rename", Path: to, Err: le.Err}
	}
	return err
}

// failedSync makes a rename in dir last. The change itself has happened and
// readers see it; an error says that a power cut could still take it back.
func (w *writer) failedSync(id, dir string) error {
	err := w.step("syncdir", dir)
	if err == nil {
		err = syncDir(dir)
	}
	if err != nil {
		return w.failed(id, dir, fmt.Errorf("the change is made, but may not survive a power cut: %w", err))
	}
	return nil
}
