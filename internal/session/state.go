package session

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// The kinds of thing that a path may be.
const (
	absent  = "absent"
	regular = "file"
	link    = "link"
	other   = "other" // a directory, a device: never kept, never removed
)

// State is what a path was at some time.
type State struct {
	Kind   string      `json:"kind"`
	Mode   fs.FileMode `json:"mode,omitempty"` // permission bits of a file
	Size   int64       `json:"size,omitempty"`
	Sum    string      `json:"sum,omitempty"` // sha256 of a file's content, "" where it was not read
	Target string      `json:"target,omitempty"`
	// MTime stands in for a content that was not read; Unix nanoseconds.
	MTime int64 `json:"mtime,omitempty"`
}

// same says that two states cannot be told apart.
func (a State) same(b State) bool {
	if a.Kind != b.Kind || a.Mode != b.Mode || a.Target != b.Target || a.Size != b.Size {
		return false
	}
	if a.Kind == regular && (a.Sum == "" || b.Sum == "") {
		return a.MTime == b.MTime
	}
	return a.Sum == b.Sum
}

var errChanged = errors.New("changed while it was read")

// look gives a path's state without its content.
func look(path string) (State, fs.FileInfo, error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) || isNotDir(err):
		return State{Kind: absent}, nil, nil
	case err != nil:
		return State{}, nil, err
	case info.Mode()&fs.ModeSymlink != 0:
		to, err := os.Readlink(path)
		return State{Kind: link, Target: to}, info, err
	case info.Mode().IsRegular():
		return State{Kind: regular, Mode: info.Mode().Perm(), Size: info.Size(), MTime: info.ModTime().UnixNano()}, info, nil
	}
	return State{Kind: other}, info, nil
}

// stateOf is look with the content read, where that is at most limit bytes.
func stateOf(path string, limit int64) (State, []byte, error) {
	s, info, err := look(path)
	if err != nil || s.Kind != regular || s.Size > limit {
		return s, nil, err
	}
	data, err := readFile(path, info)
	if err != nil {
		return s, nil, err
	}
	s.Sum = sum(data)
	return s, data, nil
}

// readFile reads the regular file that was looked at, and no other that was
// put in its place.
func readFile(path string, info fs.FileInfo) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|noWait, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	opened, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !os.SameFile(info, opened) {
		return nil, fmt.Errorf("%s: %w", path, errChanged)
	}
	data := make([]byte, info.Size())
	n, err := io.ReadFull(f, data)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if more, _ := f.Read(make([]byte, 1)); more != 0 || n != len(data) {
		return nil, fmt.Errorf("%s: %w", path, errChanged)
	}
	return data, nil
}

func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}

// blobs keeps contents under their hashes.
type blobs struct{ dir string }

func (b blobs) path(sum string) string { return filepath.Join(b.dir, sum) }

func (b blobs) put(sum string, data []byte) error {
	if info, err := os.Lstat(b.path(sum)); err == nil && info.Size() == int64(len(data)) {
		return nil
	}
	return writeWhole(b.path(sum), data)
}

// get reads a content and proves it.
func (b blobs) get(want string) ([]byte, error) {
	data, err := os.ReadFile(b.path(want))
	if err != nil {
		return nil, err
	}
	if sum(data) != want {
		return nil, fmt.Errorf("%s: its content is not what its name says", b.path(want))
	}
	return data, nil
}

// writeWhole writes a file in one step that outlives this process, killed or
// not. It is not flushed to the disk: that would cost each command more than
// the command, and what it is for is gone with the machine's power.
func writeWhole(path string, data []byte) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, dirMode); err != nil {
		return cannotWrite(dir, err)
	}
	f, err := os.CreateTemp(dir, ".new-")
	if err != nil {
		return cannotWrite(dir, err)
	}
	_, err = f.Write(data)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return cannotWrite(path, err)
	}
	return nil
}
