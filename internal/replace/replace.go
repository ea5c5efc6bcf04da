// Package replace puts a whole file in the place of another in one step: a
// reader sees the old bytes or the new ones, never half of either.
package replace

import (
	"os"
	"path/filepath"
)

// File writes data beside path, flushes it, and renames it over path. On an
// error path is as it was and nothing is left behind. check, if not nil, gets
// the new file's name before the rename and can refuse it.
func File(path string, data []byte, mode os.FileMode, check func(aside string) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*-"+filepath.Base(path))
	if err != nil {
		return err
	}
	aside := f.Name()
	defer func() {
		if err != nil {
			os.Remove(aside)
		}
	}()
	if err := fill(f, data, mode); err != nil {
		return err
	}
	if check != nil {
		if err := check(aside); err != nil {
			return err
		}
	}
	return os.Rename(aside, path)
}

// fill writes and closes f.
func fill(f *os.File, data []byte, mode os.FileMode) error {
	_, err := f.Write(data)
	if err == nil {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}
