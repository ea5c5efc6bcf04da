package registry

import (
	"errors"
	"os"
	"path/filepath"
)

// putPersona builds a persona's directory aside and puts it in its place;
// replace says whether there is one already.
func (w *writer) putPersona(id string, p *persona, replace bool) error {
	files, err := p.files(id)
	if err != nil {
		return err
	}
	built, err := w.build(id, files)
	if err == nil {
		if replace {
			err = w.swap(id, built)
		} else {
			err = w.rename(built, w.dir(id))
		}
	}
	if built != "" {
		_ = os.RemoveAll(built) // what failed, or what swap brought out
	}
	if err != nil {
		return w.failed(id, w.dir(id), err)
	}
	return w.failedSync(id, w.root)
}

type file struct {
	name string // below the persona's directory
	data []byte
}

// build makes new-ID… in .aside. The path is given whenever it exists.
func (w *writer) build(id string, files []file) (dir string, err error) {
	if err := w.step("mkdir", w.aside()); err != nil {
		return "", err
	}
	dir, err = os.MkdirTemp(w.aside(), "new-"+id+"-")
	if err != nil {
		return "", err
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return dir, err
	}
	if err := w.makeDir(filepath.Join(dir, variantsName)); err != nil {
		return dir, err
	}
	for _, f := range files {
		if err := w.createFile(filepath.Join(dir, f.name), f.data); err != nil {
			return dir, err
		}
	}
	for _, d := range []string{filepath.Join(dir, variantsName), dir} {
		if err := errors.Join(w.step("syncdir", d), syncDir(d)); err != nil {
			return dir, err
		}
	}
	return dir, nil
}

func (w *writer) createFile(path string, data []byte) error {
	if err := w.step("create", path); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|openFlags, 0o600)
	if err != nil {
		return err
	}
	return w.finish(f, data)
}

// swap puts the built directory in the place of the persona's; the old one
// stands at built afterwards. Where the system cannot exchange two
// directories in one step, it takes two renames: a reader who comes between
// them waits for the lock and then finds the persona, and a writer killed
// between them is put right by the next one. Only a reader after such a kill
// and before the next write misses the persona.
func (w *writer) swap(id, built string) error {
	if err := w.step("exchange", w.dir(id)); err != nil {
		return err
	}
	err := errors.ErrUnsupported
	if w.exchange != nil {
		err = w.exchange(built, w.dir(id))
	}
	if !cannotExchange(err) {
		return err
	}
	old := w.aside(swapPrefix + id)
	if err := w.rename(w.dir(id), old); err != nil {
		return err
	}
	if err := w.rename(built, w.dir(id)); err != nil {
		return errors.Join(err, w.rename(old, w.dir(id)))
	}
	_ = os.RemoveAll(old) // else the next writer's
	return nil
}

// remove takes a persona's directory out of sight in one rename, then away.
// It makes nothing new, so that it also works on a full disk.
func (w *writer) remove(id string) error {
	old := w.aside("old-" + id)
	_ = os.RemoveAll(old) // only there if sweeping could not remove it
	if err := w.rename(w.dir(id), old); err != nil {
		return err
	}
	_ = os.RemoveAll(old) // what stays is the next writer's to sweep
	if err := w.step("syncdir", w.root); err != nil {
		return err
	}
	return syncDir(w.root)
}
