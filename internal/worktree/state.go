package worktree

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"time"
)

// Names of what lies beside git's record of a worktree. Git removes the
// directory with the worktree.
const (
	stateFile = "larva.json"
	heldFile  = "larva.lock"
)

// state is what Finish, List and Remove must know of a worktree later, in
// another process, too.
type state struct {
	V       int       `json:"v"`
	Branch  string    `json:"branch"`
	Base    string    `json:"base"` // where the task began
	From    string    `json:"from"` // the commit that the parent was at
	Repo    string    `json:"repo"` // the parent's checkout
	Dir     string    `json:"dir"`
	Label   string    `json:"label,omitempty"`
	Created time.Time `json:"created"`
	Stash   string    `json:"stash,omitempty"` // of the repository, before
	Copied  []copied  `json:"copied,omitempty"`
	Subs    []sub     `json:"submodules,omitempty"`
}

// maxState bounds what is read of it.
const maxState = 4 << 20

func (s state) write(record string) error {
	b, err := json.Marshal(s)
	if err != nil {
		return err
	}
	path := filepath.Join(record, stateFile)
	tmp := path + ".new"
	if err := os.WriteFile(tmp, append(b, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, path)
}

func readState(record string) (state, error) {
	path := filepath.Join(record, stateFile)
	fi, err := os.Lstat(path)
	if err != nil {
		return state{}, err
	}
	if !fi.Mode().IsRegular() || fi.Size() > maxState {
		return state{}, errors.New(path + ": not a plain small file")
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return state{}, err
	}
	var s state
	if err := json.Unmarshal(b, &s); err != nil {
		return state{}, err
	}
	if s.V != 1 {
		return state{}, errors.New(path + ": of another version")
	}
	return s, nil
}
