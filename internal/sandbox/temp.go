package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

// What the private directories of a run are called.
const (
	runPrefix  = "larva-run-"
	wallPrefix = "larva-wall-"
)

// youngTemp is how long a directory is left alone though nobody holds it: it
// may have been made a moment ago.
const youngTemp = time.Hour

// temp is a private directory that lasts as long as its process at most: what
// a killed one leaves, a later run removes.
type temp struct {
	path string
	held *os.File // locked while the process lives; nil where there are no such locks
}

// RunDir makes the private directory of a run, absolute. remove is called once.
func RunDir() (dir string, remove func(), err error) {
	t, err := newTemp(runPrefix)
	if err != nil {
		return "", nil, err
	}
	return t.path, func() { _ = t.remove() }, nil
}

func newTemp(prefix string) (*temp, error) {
	top, err := filepath.Abs(os.TempDir())
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(top, prefix)
	if err != nil {
		return nil, err
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	return &temp{real, hold(real)}, nil
}

func (t *temp) remove() error {
	err := os.RemoveAll(t.path)
	if t.held != nil {
		_ = t.held.Close()
	}
	return err
}

// SweepTemp removes what killed runs of this user have left in the temp
// directory. What cannot be removed stays.
func SweepTemp(now time.Time) {
	top, err := filepath.Abs(os.TempDir())
	if err != nil {
		return
	}
	entries, err := os.ReadDir(top)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), runPrefix) && !strings.HasPrefix(e.Name(), wallPrefix) {
			continue
		}
		if info, err := e.Info(); err == nil && now.Sub(info.ModTime()) > youngTemp {
			sweepDir(filepath.Join(top, e.Name()))
		}
	}
}
