package session

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/event"
)

// Session is a file as it was read.
type Session struct {
	Path string
	// Meta is the first entry with what later ones have changed of it.
	Meta  Meta
	first Meta
	// Started is the first entry's time.
	Started time.Time
	// Entries are those of the branch that the last one ends, in order, without
	// the first (the Meta).
	Entries []Entry
	// Torn says that the last line is incomplete: its writer was killed, or is
	// at it now.
	Torn bool
	// Running says that a process had the file open for writing.
	Running bool
}

// Entry is one line.
type Entry struct {
	Line       int // in the file, from 1
	ID, Parent int
	Event      event.Event
}

// Load reads a session without a lock, also one that is being written.
func Load(path string) (*Session, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, notThere(idOf(path), err)
	}
	defer f.Close()
	writing := running(path)
	r, err := scan(f, path)
	if err != nil {
		return nil, err
	}
	s, err := r.session(path)
	if err == nil {
		s.Running = writing
	}
	return s, err
}

// reading is a file on its way to a Session.
type reading struct {
	meta    Meta
	began   time.Time
	entries []Entry // all of them, the Meta's too
	// end is where the next entry goes: behind the last whole line, or behind
	// a torn one.
	end int64
	// torn are the bytes of a last line that is no entry; unended says that the
	// last entry lacks its newline only.
	torn    int
	unended bool
}

func (r *reading) last() int {
	if n := len(r.entries); n > 0 {
		return r.entries[n-1].ID
	}
	return 0
}

// corrupt is a line that should not be what it is.
func corrupt(path string, line int, format string, args ...any) error {
	why := fmt.Sprintf(format, args...)
	return &diag.Error{Code: diag.SessionCorrupt, Message: fmt.Sprintf("%s:%d: %s", path, line, why),
		Details: map[string]any{"path": path, "line": line, "session_id": idOf(path)},
		Hint:    "nothing was changed; what stands before that line can be cut out by hand, the file is JSON lines"}
}

// scan reads all lines. One that is no entry is let pass at the end of the
// file, where a crash may have torn it, or right before a recovery.
func scan(f io.Reader, path string) (*reading, error) {
	in := bufio.NewReaderSize(f, 64<<10)
	r := &reading{}
	var bad error // of the line before, not yet forgiven
	badFrom, badSize := int64(0), 0
	for n := 1; ; n++ {
		line, err := readLine(in)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, diag.New(diag.Internal, "%s cannot be read: %v", path, err).With("path", path)
		}
		whole := err == nil
		if len(line) == 0 && !whole {
			break
		}
		text := bytes.TrimSuffix(line, []byte("\n"))
		e, lerr := r.entry(text, n)
		switch {
		case bad != nil && lerr == nil && isRecovery(e): // forgiven
			bad = nil
			r.entries = append(r.entries, e)
		case bad != nil && !whole && lerr != nil:
			// Half a recovery behind a torn line: both go back to one torn line.
			r.end, r.torn = badFrom+int64(badSize), badSize
			return r, r.begun(path)
		case bad != nil:
			return nil, bad
		case lerr != nil && !whole:
			r.end += int64(len(line))
			r.torn = len(line)
			return r, r.begun(path)
		case lerr != nil:
			bad, badFrom, badSize = corrupt(path, n, "%v", lerr), r.end, len(text)
		case isRecovery(e):
			return nil, corrupt(path, n, "a recovery that follows no torn line")
		default:
			r.entries = append(r.entries, e)
			r.unended = !whole
		}
		r.end += int64(len(line))
		if !whole {
			break
		}
	}
	if bad != nil {
		return nil, bad
	}
	return r, r.begun(path)
}

func isRecovery(e Entry) bool { _, ok := e.Event.Body.(Recovery); return ok }

// begun fails for a file that was torn before its first entry was whole.
func (r *reading) begun(path string) error {
	if len(r.entries) == 0 {
		return corrupt(path, 1, "the session ended before it began")
	}
	return nil
}

// readLine reads to the next newline, which it keeps, within maxLine.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
		if len(line) > maxLine {
			return nil, fmt.Errorf("a line of more than %d bytes", maxLine)
		}
	}
}

// entry reads one line and checks its place in the tree.
func (r *reading) entry(line []byte, n int) (Entry, error) {
	var h struct{ Entry, Parent int }
	if err := json.Unmarshal(line, &h); err != nil {
		return Entry{}, fmt.Errorf("no entry: %w", err)
	}
	ev, err := event.Decode(line)
	if err != nil {
		return Entry{}, err
	}
	if ev.Body, err = ours(ev.Body); err != nil {
		return Entry{}, err
	}
	meta, isMeta := ev.Body.(Meta)
	switch {
	case isMeta != (len(r.entries) == 0):
		return Entry{}, errors.New("the meta entry is the first, and only that")
	case h.Entry <= r.last():
		return Entry{}, fmt.Errorf("entry %d does not follow %d", h.Entry, r.last())
	case !r.has(h.Parent):
		return Entry{}, fmt.Errorf("entry %d has the parent %d, which is not there", h.Entry, h.Parent)
	}
	if isMeta {
		r.meta, r.began = meta, ev.Time
	}
	return Entry{Line: n, ID: h.Entry, Parent: h.Parent, Event: ev}, nil
}

// has says whether an entry is there; the first one's parent is 0.
func (r *reading) has(id int) bool {
	if len(r.entries) == 0 {
		return id == 0
	}
	return r.at(id) >= 0
}

// at finds an entry from behind: the parent is nearly always the one before.
func (r *reading) at(id int) int {
	for i := len(r.entries) - 1; i >= 0 && r.entries[i].ID >= id; i-- {
		if r.entries[i].ID == id {
			return i
		}
	}
	return -1
}

// ours reads the bodies that only a session has.
func ours(b event.Body) (event.Body, error) {
	u, ok := b.(event.Unknown)
	if !ok {
		return b, nil
	}
	switch u.Name {
	case "meta":
		return into[Meta](u.Line)
	case "recovery":
		return into[Recovery](u.Line)
	case "undo":
		return into[Undone](u.Line)
	case "change":
		return into[Changed](u.Line)
	case "clear":
		return into[Cleared](u.Line)
	}
	return b, nil
}

func into[T event.Body](line []byte) (event.Body, error) {
	var b T
	if err := json.Unmarshal(line, &b); err != nil {
		return nil, err
	}
	return b, nil
}

// session follows the branch that the last entry ends back to the first.
func (r *reading) session(path string) (*Session, error) {
	s := &Session{Path: path, Meta: r.meta, first: r.meta, Started: r.began, Torn: r.torn > 0}
	if s.Meta.SessionID != idOf(path) {
		return nil, corrupt(path, 1, "the session says that it is %q", s.Meta.SessionID)
	}
	linear := true
	for i := 1; i < len(r.entries) && linear; i++ {
		linear = r.entries[i].Parent == r.entries[i-1].ID
	}
	if linear {
		s.Entries = r.entries[1:]
		s.Meta = s.metaNow()
		return s, nil
	}
	for at := r.last(); at != 0; {
		e := r.entries[r.at(at)]
		s.Entries = append(s.Entries, e)
		at = e.Parent
	}
	s.Entries = s.Entries[:len(s.Entries)-1] // the Meta
	for i, j := 0, len(s.Entries)-1; i < j; i, j = i+1, j-1 {
		s.Entries[i], s.Entries[j] = s.Entries[j], s.Entries[i]
	}
	s.Meta = s.metaNow()
	return s, nil
}

// metaNow is the Meta as it is behind the last entry.
func (s *Session) metaNow() Meta {
	m := s.first
	for _, e := range s.Entries {
		if c, ok := e.Event.Body.(Changed); ok {
			m = m.behind(c)
		}
	}
	return m
}

// firstMeta reads the first line of a session alone.
func firstMeta(f io.Reader, path string) (Meta, error) {
	line, err := readLine(bufio.NewReader(f))
	if err != nil {
		return Meta{}, corrupt(path, 1, "%v", err)
	}
	r := &reading{}
	if _, err := r.entry(line, 1); err != nil {
		return Meta{}, corrupt(path, 1, "%v", err)
	}
	return r.meta, nil
}
