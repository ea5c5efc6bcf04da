package session

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/tool"
)

// The limits of what is kept for undo. A file tool's call beyond its limit is
// refused; a command runs, and what of its changes cannot be put back is said.
const (
	maxFile  = 2 << 20  // a file that a command may change
	maxTotal = 64 << 20 // of all such files in a turn
	maxFiles = 2000
	lookTime = 15 * time.Second // for each look at the project
	// maxEdited is the largest file that a file tool may change.
	maxEdited = 64 << 20
)

// CheckOptions say whose changes are kept.
type CheckOptions struct {
	Project string   // absolute, links resolved
	Environ []string // for git, not yet scrubbed
	// Notice tells what undo does not cover. nil: nobody is told.
	Notice func(code, text string)
	// Now is the clock, nil: time.Now.
	Now func() time.Time
}

// Checkpoints keep files as they were before a turn changed them. A turn is
// one run, or what lies between two calls of NextTurn. Its methods may be called from several goroutines.
type Checkpoints struct {
	o     CheckOptions
	dir   string
	blobs blobs

	mu     sync.Mutex
	last   int   // the newest turn on disk
	turn   *turn // of this run, nil until it may change something
	open   int   // calls that are at work
	next   bool  // the next call begins a turn, once none is at work
	cache  map[string]seen
	stored int64 // bytes of contents kept for commands in this turn
	count  int   // and their number
	told   map[string]bool
}

// Checkpoints opens those of a session. The holder of the session's Log is the
// only one that may. A command that a crash cut off is settled first: what it
// has changed becomes part of its turn.
func (s *Store) Checkpoints(ctx context.Context, id string, o CheckOptions) (*Checkpoints, error) {
	c := &Checkpoints{o: o, dir: s.checks(id), cache: map[string]seen{}, told: map[string]bool{}}
	c.blobs = blobs{filepath.Join(c.dir, "blobs")}
	all, err := turns(c.dir)
	if err != nil {
		return nil, err
	}
	if n := len(all); n > 0 {
		c.last = all[n-1].n
		all[n-1].sweep()
	}
	return c, c.settle(ctx)
}

// sweep removes what a write that a crash cut off has left beside its file.
func (t *turn) sweep() {
	for path, c := range t.changes {
		if c.after != nil {
			continue
		}
		dir, name := filepath.Split(path)
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, e := range entries {
			if e.Type().IsRegular() && tool.IsTemp(e.Name(), name) {
				_ = os.Remove(filepath.Join(dir, e.Name()))
			}
		}
	}
}

func (c *Checkpoints) now() time.Time {
	if c.o.Now != nil {
		return c.o.Now()
	}
	return time.Now()
}

// tell says each thing once a run.
func (c *Checkpoints) tell(text string) {
	if c.o.Notice != nil && !c.told[text] {
		c.told[text] = true
		c.o.Notice("undo", text)
	}
}

// BeforeRun keeps what the call may change: for agent.Points.BeforeRun. A call
// that changes nothing costs nothing. An error refuses the call: what it was
// about to change could not be kept.
func (c *Checkpoints) BeforeRun(ctx context.Context, call tool.Call, eff tool.Effects) (func(context.Context, tool.Result), error) {
	if eff.ReadOnly {
		return nil, nil
	}
	command := eff.Command != "" || strings.HasPrefix(call.Tool, "mcp__")
	paths := written(eff)
	if !command && len(paths) == 0 {
		return nil, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.begin()
	limit := int64(maxEdited)
	if command {
		limit = maxFile
	}
	for _, p := range paths {
		if err := c.keep(call.ID, p, limit, command); err != nil {
			return nil, err
		}
	}
	var before *snapshot
	if command {
		var err error
		if before, err = c.snap(ctx, call.ID); err != nil {
			return nil, err
		}
	}
	c.open++
	return func(ctx context.Context, _ tool.Result) { c.after(ctx, call.ID, paths, before) }, nil
}

// written are the files that a call names for writing, or has named for undo.
func written(eff tool.Effects) []string {
	var out []string
	for _, p := range eff.Paths {
		if p.Write && !p.Unknown && filepath.IsAbs(p.Real) {
			out = append(out, p.Real)
		}
	}
	for _, s := range eff.Saves {
		if filepath.IsAbs(s) {
			out = append(out, filepath.Clean(s))
		}
	}
	return out
}

// NextTurn lets what is changed from here on be a turn of its own. While calls
// are at work, those of a background task say, their turn goes on.
func (c *Checkpoints) NextTurn() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.next = true
}

// begin starts the run's turn.
func (c *Checkpoints) begin() {
	if c.next && c.open == 0 {
		c.turn, c.next, c.stored, c.count = nil, false, 0, 0
		c.told = map[string]bool{}
	}
	if c.turn == nil {
		c.last++
		c.turn = &turn{n: c.last, path: turnPath(c.dir, c.last), changes: map[string]*change{}}
	}
}

// keep saves one file before a call.
func (c *Checkpoints) keep(call, path string, limit int64, command bool) error {
	st, data, err := stateOf(path, limit)
	if err != nil {
		if command { // the command may say for itself what it cannot read
			c.tell(fmt.Sprintf("undo does not cover %s: %v", path, err))
			return nil
		}
		return diag.New(diag.SessionWrite, "%s cannot be kept for undo: %v", path, err)
	}
	if st.Kind == other {
		return nil
	}
	lost := ""
	if st.Kind == regular && st.Sum == "" {
		if !command {
			return diag.New(diag.SessionWrite, "%s has %d bytes, more than can be kept for undo (%d)", path, st.Size, limit)
		}
		lost = tooLarge(limit)
	}
	return c.note(call, path, st, data, lost)
}

func tooLarge(limit int64) string { return fmt.Sprintf("it was larger than %d MiB", limit>>20) }

// note puts a state before a call into the manifest, and the content into its
// place where it is the turn's first of this path.
func (c *Checkpoints) note(call, path string, st State, data []byte, lost string) error {
	r := record{Call: call, Path: path, Before: &st, Lost: lost}
	if was := c.turn.changes[path]; was != nil {
		r.Foreign = was.after != nil && !was.after.same(st)
		return c.turn.write(r)
	}
	if data != nil {
		if err := c.blobs.put(st.Sum, data); err != nil {
			return err
		}
	}
	return c.turn.write(r)
}

// after keeps what a call has made of its files. Where that fails the paths
// stay open, as if the call had been cut off: undo still puts them back.
func (c *Checkpoints) after(ctx context.Context, call string, paths []string, before *snapshot) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open--
	ctx = context.WithoutCancel(ctx) // what an interrupted call has done is kept too
	var records []record
	for _, p := range paths {
		if c.turn.changes[p] == nil {
			continue
		}
		st, _, err := stateOf(p, maxEdited)
		if err != nil {
			c.tell(fmt.Sprintf("undo will not know %s: %v", p, err))
			continue
		}
		records = append(records, record{Call: call, Path: p, After: &st})
	}
	if len(records) > 0 {
		if err := c.turn.write(records...); err != nil {
			c.tell("undo is incomplete: " + diag.As(err).Message)
		}
	}
	if before != nil {
		if err := c.compare(ctx, before); err != nil {
			c.tell("undo does not cover a command: " + diag.As(err).Message)
		}
	}
}
