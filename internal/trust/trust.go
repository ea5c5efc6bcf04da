// Package trust keeps the user's recorded yes to exact content: one approval
// for one project item with one hash, in a file outside the repository.
package trust

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gofrs/flock"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/replace"
)

// Status of an item.
type Status string

// An item is trusted when its exact hash is recorded, changed when another
// hash of it is, else untrusted.
const (
	Trusted   Status = "trusted"
	Changed   Status = "changed"
	Untrusted Status = "untrusted"
)

// Approval is one recorded yes.
type Approval struct {
	Project string    `json:"project"` // the git common directory, or the project's directory: the same for all worktrees
	Kind    string    `json:"kind"`    // profile, source, …
	Name    string    `json:"name"`
	Hash    string    `json:"hash"` // sha256:…
	Granted time.Time `json:"granted"`
}

// Store is the approvals file. A file that cannot be read trusts nothing and
// says so.
type Store struct {
	path      string
	approvals []Approval
}

type file struct {
	Version   int        `json:"version"`
	Approvals []Approval `json:"approvals"`
}

// maxFile bounds the file; an approval is some 200 bytes.
const maxFile = 4 << 20

// Open reads path; a missing file is an empty store.
func Open(path string) (*Store, error) {
	s := &Store{path: path}
	return s, s.read()
}

func (s *Store) read() error {
	info, err := os.Stat(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		s.approvals = nil
		return nil
	}
	if err != nil {
		return s.broken(err)
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile {
		return s.broken(errors.New("not a file of a sensible size"))
	}
	data, err := os.ReadFile(s.path)
	if err != nil {
		return s.broken(err)
	}
	var f file
	if err := json.Unmarshal(data, &f); err != nil {
		return s.broken(err)
	}
	if f.Version != 1 {
		return s.broken(fmt.Errorf("version %d, this larva knows 1", f.Version))
	}
	s.approvals = f.Approvals
	return nil
}

func (s *Store) broken(err error) error {
	return &diag.Error{Code: diag.InvalidInput, Exit: diag.ExitFailed, Cause: err,
		Message: fmt.Sprintf("%s cannot be read, so nothing is trusted: %v", s.path, err),
		Details: map[string]any{"path": s.path},
		Hint:    "mend the file or move it away, then grant again: larva trust list"}
}

// Status says how an item with this hash stands.
func (s *Store) Status(project, kind, name, hash string) Status {
	st := Untrusted
	for _, a := range s.approvals {
		if a.Project == project && a.Kind == kind && a.Name == name {
			if a.Hash == hash {
				return Trusted
			}
			st = Changed
		}
	}
	return st
}

// Recorded are a project's approvals, whether their items still exist or not.
func (s *Store) Recorded(project string) []Approval {
	return slices.DeleteFunc(slices.Clone(s.approvals), func(a Approval) bool { return a.Project != project })
}

// Grant records approvals; an older hash of the same item is replaced.
func (s *Store) Grant(ctx context.Context, list ...Approval) error {
	return s.change(ctx, func(have []Approval) []Approval {
		for _, a := range list {
			have = without(have, a.Project, a.Kind, a.Name)
			have = append(have, a)
		}
		return have
	})
}

// Revoke forgets items whatever their hash; it says how many there were.
func (s *Store) Revoke(ctx context.Context, project, kind, name string) (n int, err error) {
	err = s.change(ctx, func(have []Approval) []Approval {
		out := without(have, project, kind, name)
		n = len(have) - len(out)
		return out
	})
	return n, err
}

func without(list []Approval, project, kind, name string) []Approval {
	return slices.DeleteFunc(slices.Clone(list), func(a Approval) bool {
		return a.Project == project && a.Kind == kind && a.Name == name
	})
}

// change is read, modify and write under a lock, the write atomic.
func (s *Store) change(ctx context.Context, edit func([]Approval) []Approval) error {
	dir := filepath.Dir(s.path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return s.unwritable(err)
	}
	lock := flock.New(s.path + ".lock")
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if ok, err := lock.TryLockContext(ctx, 20*time.Millisecond); err != nil || !ok {
		return s.unwritable(fmt.Errorf("the lock is held: %w", err))
	}
	defer lock.Unlock()
	if err := s.read(); err != nil {
		return err
	}
	s.approvals = edit(s.approvals)
	slices.SortFunc(s.approvals, func(a, b Approval) int {
		return slices.Compare([]string{a.Project, a.Kind, a.Name}, []string{b.Project, b.Kind, b.Name})
	})
	data, err := json.MarshalIndent(file{Version: 1, Approvals: s.approvals}, "", "  ")
	if err != nil {
		return s.unwritable(err)
	}
	if err := replace.File(s.path, append(data, '\n'), 0o600, nil); err != nil {
		return s.unwritable(err)
	}
	return nil
}

func (s *Store) unwritable(err error) error {
	return &diag.Error{Code: diag.InvalidInput, Exit: diag.ExitFailed, Cause: err,
		Message: fmt.Sprintf("%s cannot be written, nothing was recorded: %v", s.path, err),
		Details: map[string]any{"path": s.path}}
}
