package app

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/launch/opencode/plugin"
	"larva.dev/larva/internal/replace"
)

// writePlugin makes the plugin's directory what it should be: a directory of
// ours alone, with our files in it and none else. What somebody has changed is
// written anew; a link in its place is refused.
func writePlugin(dir string) error {
	fail := func(err error) error {
		return diag.New(diag.Internal, "larva's plugin for OpenCode cannot be written: %v", err).WithHint("remove %s", diag.Word(dir))
	}
	if err := privateDir(dir); err != nil {
		return fail(err)
	}
	want, err := fs.Glob(plugin.Files, "*")
	if err != nil {
		return fail(err)
	}
	keep := map[string]bool{}
	for _, name := range want {
		keep[name] = true
		text, err := fs.ReadFile(plugin.Files, name)
		if err != nil {
			return fail(err)
		}
		if err := sameFile(filepath.Join(dir, name), text); err != nil {
			return fail(err)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fail(err)
	}
	for _, e := range entries {
		if !keep[e.Name()] {
			if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
				return fail(err)
			}
		}
	}
	return nil
}

// sameFile leaves a regular file of mode 0600 with that text where path is.
func sameFile(path string, text []byte) error {
	if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o077 == 0 {
		if have, err := os.ReadFile(path); err == nil && bytes.Equal(have, text) {
			return nil
		}
	} else if err == nil && info.IsDir() {
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	return replace.File(path, text, 0o600, nil)
}

// privateDir makes a directory that only its owner can enter, and refuses one
// that is a link.
func privateDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return errors.New(dir + " is no directory")
	}
	if info.Mode().Perm()&0o077 != 0 {
		return os.Chmod(dir, 0o700)
	}
	return nil
}

// privateRun is a directory for the files of one start. Its lock is held as
// long as we wait for the program; what nobody holds is left over.
type privateRun struct {
	path string
	lock *flock.Flock
}

// openCodeRun begins the name of such a directory.
const openCodeRun = "run-"

func newPrivateRun(parent string) (*privateRun, error) {
	if err := privateDir(parent); err != nil {
		return nil, err
	}
	sweepRuns(parent)
	path, err := os.MkdirTemp(parent, openCodeRun)
	if err != nil {
		return nil, err
	}
	r := &privateRun{path: path, lock: flock.New(filepath.Join(path, "lock"), flock.SetPermissions(0o600))}
	if ok, err := r.lock.TryLock(); err != nil || !ok {
		r.remove()
		return nil, errors.Join(err, errors.New("its lock cannot be had"))
	}
	return r, nil
}

func (r *privateRun) remove() {
	_ = r.lock.Close()       // Windows removes no open file
	_ = os.RemoveAll(r.path) // what is left the next start sweeps
}

// sweepRuns removes what starts have left that were killed.
func sweepRuns(parent string) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), openCodeRun) {
			continue
		}
		dir := filepath.Join(parent, e.Name())
		name := filepath.Join(dir, "lock")
		if _, err := os.Lstat(name); err != nil {
			continue // one that is being made; or empty
		}
		f := flock.New(name)
		if ok, err := f.TryLock(); err == nil && ok {
			_ = os.RemoveAll(dir)
			_ = f.Close()
		}
	}
}
