package registry

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

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
		return w.failed(id, r.root, err)
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
// that does not exist yet they find nothing and create nothing.
func (r *Registry) change(code diag.Code, id string, fn func(*writer) error) error {
	if _, err := os.Stat(r.root); errors.Is(err, fs.ErrNotExist) {
		return notFound(id)
	}
	return r.write(code, id, fn)
}

func (w *writer) failed(id, path string, err error) error {
	var done *diag.Error
	if errors.As(err, &done) {
		return done
	}
	return failed(w.code, id, path, "write", err)
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

// putFile writes data to path, in one rename.
func (w *writer) putFile(id, path string, data []byte) error {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return corrupt(id, path, "is not a regular file")
	}
	temp, err := w.writeTemp(data)
	if err != nil {
		return w.failed(id, path, err)
	}
	if err := w.rename(temp, path); err != nil {
		_ = os.Remove(temp)
		return w.failed(id, path, err)
	}
	return w.failedSync(id, filepath.Dir(path))
}

func (w *writer) writeTemp(data []byte) (path string, err error) {
	if err := w.step("create", w.aside()); err != nil {
		return "", err
	}
	f, err := os.CreateTemp(w.aside(), "file-")
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
func (w *writer) remove(id string) error {
	if err := w.step("mkdir", w.aside()); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(w.aside(), "old-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) // what stays is swept by the next writer
	if err := w.rename(w.dir(id), filepath.Join(dir, id)); err != nil {
		return err
	}
	if err := w.step("syncdir", w.root); err != nil {
		return err
	}
	return syncDir(w.root)
}

// persona is all that is stored of one.
type persona struct {
	contract *spec.Object
	active   string
	variants []spec.Variant
}

func (p *persona) files(id string) ([]file, error) {
	var list []file
	add := func(name string, o *spec.Object, order []string) error {
		data, err := encode(id, o, order)
		list = append(list, file{name, data})
		return err
	}
	for _, v := range p.variants {
		if err := add(filepath.Join(variantsName, v.Name+suffix), v.Implementation, spec.ImplementationFields); err != nil {
			return nil, err
		}
	}
	if err := add(contractName, p.contract, spec.ContractFields); err != nil {
		return nil, err
	}
	return append(list, file{manifestName, encodeManifest(p.active)}), nil
}

func encodeManifest(active string) []byte {
	o := &spec.Object{Members: []spec.Member{{Key: "active", Value: active}}}
	return spec.AppendStored(nil, o, nil)
}

// encode gives a file's text and refuses one that could not be read back: a
// merge can outgrow the limits that its parts keep, and a value from a
// command line can hold bytes that are no UTF-8.
func encode(id string, o *spec.Object, order []string) ([]byte, error) {
	data := spec.AppendStored(nil, o, order)
	err := utf8Only(o)
	if err == nil {
		_, err = spec.ParseObject(data)
	}
	if err != nil {
		return nil, diag.New(diag.InvalidInput, "persona %s cannot be stored: %s", id, err).With("persona_id", id)
	}
	return data, nil
}

func utf8Only(v any) error {
	switch v := v.(type) {
	case string:
		if !utf8.ValidString(v) {
			return fmt.Errorf("%q is not valid UTF-8", short(v))
		}
	case []any:
		for _, item := range v {
			if err := utf8Only(item); err != nil {
				return err
			}
		}
	case *spec.Object:
		for _, m := range v.Members {
			if err := errors.Join(utf8Only(m.Key), utf8Only(m.Value)); err != nil {
				return err
			}
		}
	}
	return nil
}
