package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"larva.dev/larva/internal/event"
)

// record is one line of a turn's manifest: a path before a call, or after it.
type record struct {
	Call   string `json:"call,omitempty"`
	Path   string `json:"path,omitempty"`
	Before *State `json:"before,omitempty"`
	After  *State `json:"after,omitempty"`
	// Lost says why the content of Before is not kept.
	Lost string `json:"lost,omitempty"`
	// Foreign marks a path that somebody else changed between two calls.
	Foreign bool `json:"foreign,omitempty"`
	// Undone ends the manifest.
	Undone *time.Time `json:"undone,omitempty"`
}

// turn is a manifest: what one run changed.
type turn struct {
	n       int
	path    string
	changes map[string]*change
	undone  bool
}

// change is one path in a turn.
type change struct {
	before  State  // at the turn's first touch
	after   *State // as the last call left it, nil while one runs or was killed
	lost    string
	foreign bool
}

func (c *change) net() bool { return c.after == nil || !c.before.same(*c.after) }

func turnPath(dir string, n int) string { return filepath.Join(dir, fmt.Sprintf("turn-%06d.jsonl", n)) }

// turns reads all manifests of a session, the oldest first.
func turns(dir string) ([]*turn, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var out []*turn
	for _, e := range entries {
		var n int
		if _, err := fmt.Sscanf(e.Name(), "turn-%d.jsonl", &n); err != nil || e.Name() != filepath.Base(turnPath(dir, n)) {
			continue
		}
		t, err := readTurn(dir, n)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	slices.SortFunc(out, func(a, b *turn) int { return a.n - b.n })
	return out, nil
}

func readTurn(dir string, n int) (*turn, error) {
	t := &turn{n: n, path: turnPath(dir, n), changes: map[string]*change{}}
	data, err := os.ReadFile(t.path)
	if err != nil {
		return nil, err
	}
	lines := bytes.Split(data, []byte("\n"))
	for i, line := range lines {
		if i == len(lines)-1 { // "" or a torn last line: the call it was for never ran
			break
		}
		var r record
		if err := json.Unmarshal(line, &r); err != nil {
			if i == len(lines)-2 || torn(lines[i+1]) {
				continue
			}
			return nil, corrupt(t.path, i+1, "no entry: %v", err)
		}
		t.take(r)
	}
	return t, nil
}

// torn lines are ended by the next writer with an empty line.
func torn(next []byte) bool { return len(next) == 0 }

func (t *turn) take(r record) {
	if r.Undone != nil {
		t.undone = true
		return
	}
	if r.Path == "" {
		return
	}
	c := t.changes[r.Path]
	if c == nil {
		if r.Before == nil {
			return
		}
		c = &change{before: *r.Before, lost: r.Lost}
		t.changes[r.Path] = c
	} else if r.Before != nil {
		c.after = nil
	}
	c.foreign = c.foreign || r.Foreign
	if r.After != nil {
		c.after = r.After
	}
}

// write appends records; a torn line before them is ended first.
func (t *turn) write(records ...record) error {
	var b []byte
	for _, r := range records {
		line, err := event.Encode(r)
		if err != nil {
			return err
		}
		b = append(append(b, line...), '\n')
	}
	if err := os.MkdirAll(filepath.Dir(t.path), dirMode); err != nil {
		return cannotWrite(t.path, err)
	}
	f, err := os.OpenFile(t.path, os.O_RDWR|os.O_APPEND|os.O_CREATE, fileMode)
	if err != nil {
		return cannotWrite(t.path, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return cannotWrite(t.path, err)
	}
	if n := info.Size(); n > 0 {
		end := make([]byte, 1)
		if _, err := f.ReadAt(end, n-1); err == nil && end[0] != '\n' {
			b = append([]byte("\n\n"), b...)
		}
	}
	if _, err := f.Write(b); err != nil {
		_ = f.Truncate(info.Size())
		return cannotWrite(t.path, err)
	}
	for _, r := range records {
		t.take(r)
	}
	return nil
}

// changed says whether the turn left anything other than it was.
func (t *turn) changed() bool {
	for _, c := range t.changes {
		if c.net() {
			return true
		}
	}
	return false
}

// below says whether path lies in dir.
func below(dir, path string) bool {
	return strings.HasPrefix(path, strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
}
