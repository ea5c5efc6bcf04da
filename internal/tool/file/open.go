package file

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"larva.dev/larva/internal/tool"
)

// parent opens the directory that a resolved path lies in, and gives the name
// in it. Inside the roots it goes down from the root one directory at a time
// and compares what it opened with what it looked at, so that no link put in
// the way meanwhile is followed, wherever it leads. With make, missing
// directories are made.
func (d *desk) parent(p tool.Path, make bool) (*os.Root, string, error) {
	dir, name := filepath.Split(p.Real)
	if name == "" { // the top of a file system
		r, err := os.OpenRoot(p.Real)
		return r, ".", err
	}
	top, rest, ok := d.rs.Holder(p.Real)
	if !ok {
		r, err := d.outside(filepath.Clean(dir), make)
		return r, name, err
	}
	r, err := os.OpenRoot(top)
	if err != nil || rest == "." {
		return r, ".", err
	}
	r, err = descend(r, filepath.Dir(rest), make)
	return r, name, err
}

// descend goes down from r, which it closes.
func descend(r *os.Root, rest string, make bool) (*os.Root, error) {
	if rest == "." {
		return r, nil
	}
	for name := range strings.SplitSeq(rest, string(filepath.Separator)) {
		next, err := step(r, name, make)
		r.Close()
		if err != nil {
			return nil, err
		}
		r = next
	}
	return r, nil
}

func step(r *os.Root, name string, make bool) (*os.Root, error) {
	fi, err := r.Lstat(name)
	if make && errors.Is(err, fs.ErrNotExist) {
		if err := r.Mkdir(name, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		fi, err = r.Lstat(name)
	}
	if err != nil {
		return nil, err
	}
	switch {
	case fi.Mode()&fs.ModeSymlink != 0:
		return nil, fmt.Errorf("%s: %w", name, errMoved)
	case !fi.IsDir():
		return nil, &fs.PathError{Op: "open", Path: name, Err: errors.New(name + " is not a directory")}
	}
	next, err := r.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	if opened, err := next.Stat("."); err != nil || !os.SameFile(fi, opened) {
		next.Close()
		return nil, fmt.Errorf("%s: %w", name, errMoved)
	}
	return next, nil
}

// outside opens a directory that a person has allowed by its name. There is no
// root of ours to go down from (and its parents may be closed to us), so it is
// opened by name and then compared with what the name leads to without links.
func (d *desk) outside(dir string, make bool) (*os.Root, error) {
	if make {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return nil, err
		}
	}
	r, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	opened, err := r.Stat(".")
	if err == nil {
		var fi fs.FileInfo
		fi, err = os.Lstat(dir)
		if err == nil && (!os.SameFile(fi, opened) || d.rs.Resolve(dir, false).Real != dir) {
			err = fmt.Errorf("%s: %w", dir, errMoved)
		}
	}
	if err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// directory opens a resolved path that is a directory.
func (d *desk) directory(p tool.Path) (*os.Root, error) {
	r, name, err := d.parent(p, false)
	if err != nil || name == "." {
		return r, err
	}
	defer r.Close()
	return step(r, name, false)
}

// errors of open that have a text of their own.
var (
	errDirectory = errors.New("is a directory")
	errSpecial   = errors.New("is not a regular file (a device, pipe or socket)")
)

// open opens a regular file for reading. The caller closes both.
func (d *desk) open(p tool.Path) (*os.File, fs.FileInfo, error) {
	r, name, err := d.parent(p, false)
	if err != nil {
		return nil, nil, err
	}
	defer r.Close()
	return openIn(r, name)
}

// openIn opens a regular file of a directory, and only what it looked at: a
// link or a pipe put there meanwhile is refused, without waiting for a writer.
func openIn(r *os.Root, name string) (*os.File, fs.FileInfo, error) {
	fi, err := r.Lstat(name)
	if err != nil {
		return nil, nil, err
	}
	switch {
	case fi.IsDir():
		return nil, nil, errDirectory
	case fi.Mode()&fs.ModeSymlink != 0:
		return nil, nil, errMoved
	case !fi.Mode().IsRegular():
		return nil, nil, errSpecial
	}
	f, err := r.OpenFile(name, os.O_RDONLY|noWait, 0)
	if err != nil {
		return nil, nil, err
	}
	opened, err := f.Stat()
	if err == nil && !os.SameFile(fi, opened) {
		err = errMoved
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, opened, nil
}

// replace writes a file beside its place and renames it in: a reader sees the
// old or the new one whole, a link in its place is replaced and not followed,
// and another hard link keeps the old content. old is the file to replace, nil
// for a new one. It gives the new file's facts.
func replace(r *os.Root, name string, old fs.FileInfo, data []byte) (fs.FileInfo, error) {
	perm := fs.FileMode(0o666) // less the umask
	if old != nil {
		perm = 0o600
	}
	temp := tool.TempName(name)
	f, err := r.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return nil, err
	}
	_, err = f.Write(data)
	if old != nil && err == nil {
		keepOwner(f, old)
		err = f.Chmod(old.Mode().Perm())
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = unchanged(r, name, old)
	}
	if err == nil {
		err = r.Rename(temp, name)
	}
	if err != nil {
		_ = r.Remove(temp)
		return nil, err
	}
	return r.Lstat(name)
}

// unchanged looks once more at what is about to be replaced.
func unchanged(r *os.Root, name string, old fs.FileInfo) error {
	now, err := r.Lstat(name)
	switch {
	case old == nil && errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case old == nil:
		return fmt.Errorf("%s was made by someone else meanwhile; read it first", name)
	case !os.SameFile(old, now) || stampOf(old) != stampOf(now):
		return fmt.Errorf("%s was changed by someone else meanwhile; read it again", name)
	}
	return nil
}
