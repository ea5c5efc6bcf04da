package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"larva.dev/larva/internal/event"
)

// snapshot is the project's files before a command.
type snapshot struct {
	Call  string          `json:"call"`
	Turn  int             `json:"turn"`
	Began time.Time       `json:"began"`
	Files map[string]seen `json:"files"`
}

// seen is one file of a snapshot and where its content can be had: from git by
// Object, or from the blobs by State.Sum, unless Lost says why from neither.
type seen struct {
	State
	Object string `json:"object,omitempty"`
	Lost   string `json:"lost,omitempty"`
	// Racy: it was written so short a time before it was read that a later
	// change may show in nothing but its bytes.
	Racy bool `json:"racy,omitempty"`
}

const (
	// racy is longer than the steps of any file system's clock that we meet.
	racy = 50 * time.Millisecond
	// longest is how long a command may run at the most; later changes are not
	// a killed one's.
	longest = 15 * time.Minute
)

func (c *Checkpoints) pendingPath() string { return filepath.Join(c.dir, "pending.json") }

// snap looks at the project before a command and writes down what it saw, so
// that a killed run can be settled. A project that is too large, or a git that
// does not answer, is told, and the command runs.
func (c *Checkpoints) snap(ctx context.Context, call string) (*snapshot, error) {
	looking, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	s := &snapshot{Call: call, Turn: c.turn.n, Files: map[string]seen{}}
	files, err := c.list(looking)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		c.tell(fmt.Sprintf("undo does not cover what commands change here: %v", err))
		return nil, nil
	}
	for path, object := range files {
		if looking.Err() != nil {
			c.tell(fmt.Sprintf("undo does not cover what commands change here: the project took longer than %v to look through", lookTime))
			return nil, ctx.Err()
		}
		got, err := c.see(path, object)
		if err != nil {
			return nil, err
		}
		s.Files[path] = got
	}
	s.Began = c.now()
	data, err := event.Encode(s)
	if err != nil {
		return nil, err
	}
	return s, writeWhole(c.pendingPath(), data)
}

// see gives one file with its content in safety. The error is ours: the
// content could not be kept.
func (c *Checkpoints) see(path, object string) (seen, error) {
	st, info, err := look(path)
	if err != nil {
		return seen{State: State{Kind: other}, Lost: err.Error()}, nil
	}
	if st.Kind != regular {
		return seen{State: st}, nil
	}
	if was, ok := c.cache[path]; ok && !was.Racy && was.MTime == st.MTime && was.Size == st.Size && was.Mode == st.Mode &&
		(was.Object != "" || was.Lost != "" || c.has(was.Sum)) {
		return was, nil
	}
	got := seen{State: st, Racy: c.now().Sub(info.ModTime()) < racy}
	if st.Size > maxFile {
		got.Lost = tooLarge(maxFile)
		return got, nil
	}
	data, err := readFile(path, info)
	if err != nil {
		got.Lost = err.Error()
		return got, nil
	}
	got.Sum = sum(data)
	if object != "" && objectID(data, len(object)) == object {
		got.Object = object
	} else if err := c.save(&got, data); err != nil {
		return got, err
	}
	c.cache[path] = got
	return got, nil
}

func (c *Checkpoints) has(sum string) bool {
	_, err := os.Lstat(c.blobs.path(sum))
	return err == nil
}

// save keeps a content that git does not have, within the turn's limits.
func (c *Checkpoints) save(s *seen, data []byte) error {
	if c.has(s.Sum) {
		return nil
	}
	if c.count >= maxFiles || c.stored+int64(len(data)) > maxTotal {
		s.Lost = fmt.Sprintf("more than %d files or %d MiB outside git", maxFiles, maxTotal>>20)
		c.tell("undo does not cover all that commands change here: there is " + s.Lost)
		return nil
	}
	c.count++
	c.stored += int64(len(data))
	return c.blobs.put(s.Sum, data)
}

// compare looks again after the command and keeps what is other than before.
func (c *Checkpoints) compare(ctx context.Context, s *snapshot) error {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	files, err := c.list(ctx)
	if err != nil {
		return err
	}
	var records []record
	objects := map[string]string{} // object → sum
	for path := range s.Files {
		files[path] += "" // also those that are no longer listed
	}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		pair, err := c.differs(s, path)
		if err != nil {
			return err
		}
		if pair == nil {
			continue
		}
		if was := s.Files[path]; was.Object != "" && !c.has(was.Sum) {
			objects[was.Object] = was.Sum
		}
		records = append(records, pair...)
	}
	lost, err := c.fetch(ctx, objects)
	if err != nil {
		return err
	}
	for i := range records {
		if b := records[i].Before; b != nil && lost[b.Sum] && b.Sum != "" {
			records[i].Lost = "git no longer has it"
		}
	}
	if len(records) > 0 {
		if err := c.turn.write(records...); err != nil {
			return err
		}
	}
	if err := os.Remove(c.pendingPath()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// differs gives the records of a path that the command has changed, else nil.
func (c *Checkpoints) differs(s *snapshot, path string) ([]record, error) {
	was, known := s.Files[path]
	st, info, err := look(path)
	if err != nil || was.Kind == other && known {
		return nil, nil
	}
	if !known {
		if st.Kind == absent || st.Kind == other || changedAt(info).Before(s.Began) {
			return nil, nil // it was there before and only was not listed
		}
		was.State = State{Kind: absent}
	}
	if known && !was.Racy && st.same(was.State) && st.MTime == was.MTime {
		return nil, nil
	}
	if st.Kind == regular {
		if full, _, err := stateOf(path, maxEdited); err == nil {
			st = full
		}
	}
	// Lost content with equal facts is no change that we could know of.
	if known && (st.same(was.State) || was.Sum == "" && was.Kind == regular && st.Kind == regular && st.MTime == was.MTime && st.Size == was.Size && st.Mode == was.Mode) {
		return nil, nil
	}
	if ch := c.turn.changes[path]; ch != nil && ch.after != nil && ch.after.same(st) {
		return nil, nil // told by its name already
	}
	before := record{Call: s.Call, Path: path, Before: &was.State, Lost: was.Lost}
	if ch := c.turn.changes[path]; ch != nil {
		before.Foreign = ch.after != nil && !ch.after.same(was.State)
	}
	if s.late(info) {
		before.Foreign = true
	}
	return []record{before, {Call: s.Call, Path: path, After: &st}}, nil
}

// late says that a file changed when the command cannot have run any more:
// only for one that was settled long after.
func (s *snapshot) late(info fs.FileInfo) bool {
	return info != nil && changedAt(info).Sub(s.Began) > longest
}

// fetch copies contents out of git's objects, which may be tidied away. lost
// are the sums of those that are gone.
func (c *Checkpoints) fetch(ctx context.Context, objects map[string]string) (lost map[string]bool, err error) {
	if len(objects) == 0 {
		return nil, nil
	}
	found, err := c.objects(ctx, slices.Sorted(maps.Keys(objects)))
	if err != nil {
		return nil, err
	}
	lost = map[string]bool{}
	for object, want := range objects {
		data, ok := found[object]
		if !ok || sum(data) != want {
			lost[want] = true
			continue
		}
		if err := c.blobs.put(want, data); err != nil {
			return nil, err
		}
	}
	return lost, nil
}

// settle finishes what a killed run left open.
func (c *Checkpoints) settle(ctx context.Context) error {
	data, err := os.ReadFile(c.pendingPath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var s snapshot
	if err := json.Unmarshal(data, &s); err != nil {
		return corrupt(c.pendingPath(), 1, "%v", err)
	}
	t, err := readTurn(c.dir, s.Turn)
	if errors.Is(err, fs.ErrNotExist) {
		t, err = &turn{n: s.Turn, path: turnPath(c.dir, s.Turn), changes: map[string]*change{}}, nil
		c.last = max(c.last, s.Turn)
	}
	if err != nil {
		return err
	}
	c.turn = t
	err = c.compare(ctx, &s)
	c.turn = nil
	return err
}
