package session

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/event"
)

// Prompt is one that a person typed.
type Prompt struct {
	Text  string
	Entry int // of the user event
}

// Prompts are what people typed, in order; what hooks and summaries put into
// the user's mouth is not among them.
func (s *Session) Prompts() []Prompt {
	var out []Prompt
	for _, e := range s.Entries {
		if u, ok := e.Event.Body.(event.User); ok && !u.Generated && e.Event.Agent == "" {
			out = append(out, Prompt{Text: u.Said(), Entry: e.ID})
		}
	}
	return out
}

// Before is the session as it was in front of its nth typed prompt, counted
// from 1; 0 is all of it, and so is a number beyond the last.
func (s *Session) Before(n int) *Session {
	out := *s
	if p := s.Prompts(); n > 0 && n <= len(p) {
		for i, e := range s.Entries {
			if e.ID == p[n-1].Entry {
				out.Entries = s.Entries[:i]
				out.Meta = out.metaNow()
				break
			}
		}
	}
	return &out
}

// ParseCut reads ID or ID@N, the place in front of the Nth typed prompt.
func ParseCut(text string) (id string, before int, err error) {
	id, n, cut := strings.Cut(text, "@")
	if !cut {
		return id, 0, nil
	}
	before, err = strconv.Atoi(n)
	if err != nil || before < 1 {
		return "", 0, diag.Usage("%q: behind the @ stands the number of a typed prompt, from 1", text).
			WithHint("larva session show %s numbers them", id)
	}
	return id, before, nil
}

// Fork begins the session m as a copy of from. before is the number of the
// typed prompt, from 1, in front of which the copy ends; 0 copies all. What
// was spent is not copied: each branch reports its own.
func (s *Store) Fork(from *Session, m Meta, before int, now time.Time) (*Log, *Session, error) {
	if n := len(from.Prompts()); before < 0 || before > n {
		return nil, nil, diag.Usage("session %s has %d typed prompts, so it cannot be cut before prompt %d",
			from.Meta.SessionID, n, before).WithHint("see: larva session show %s", from.Meta.SessionID)
	}
	entries := from.Before(before).Entries
	m.ForkedFrom = &Cut{Session: from.Meta.SessionID, Entry: 1}
	if n := len(entries); n > 0 {
		m.ForkedFrom.Entry = entries[n-1].ID
	}
	l, err := s.Create(m, now)
	if err != nil {
		return nil, nil, err
	}
	out := &Session{Path: l.path, Meta: m, first: m, Started: now}
	if err := l.copy(from, entries, out); err != nil {
		l.Close()
		os.Remove(l.path)
		os.RemoveAll(s.raws(l.id))
		return nil, nil, err
	}
	return l, out, nil
}

func (l *Log) copy(from *Session, entries []Entry, to *Session) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range entries {
		if !copied(e.Event.Body) {
			continue
		}
		if err := l.write(nil, e.Event); err != nil {
			return err
		}
		to.Entries = append(to.Entries, Entry{Line: l.last, ID: l.last, Parent: l.last - 1, Event: e.Event})
		if end, ok := e.Event.Body.(event.ToolEnd); ok {
			if err := l.copyRaw(from, end.ID); err != nil {
				return err
			}
		}
	}
	return l.f.Sync()
}

// copied is the conversation, and nothing of what it cost.
func copied(b event.Body) bool {
	switch b.(type) {
	case event.User, event.Assistant, event.Permission, event.ToolStart, event.ToolEnd, event.Aged, event.Compacted, Undone, Cleared:
		return true
	}
	return false
}

// copyRaw links a kept output, or copies it where links are not to be had.
func (l *Log) copyRaw(from *Session, call string) error {
	dir := filepath.Join(filepath.Dir(from.Path), from.Meta.SessionID+".raw")
	old := filepath.Join(dir, rawName(call))
	if _, err := os.Lstat(old); err != nil {
		return nil
	}
	if err := os.MkdirAll(l.store.raws(l.id), dirMode); err != nil {
		return cannotWrite(dir, err)
	}
	to := filepath.Join(l.store.raws(l.id), rawName(call))
	if os.Link(old, to) == nil {
		return nil
	}
	data, err := os.ReadFile(old)
	if err == nil {
		err = os.WriteFile(to, data, fileMode)
	}
	if err != nil {
		return cannotWrite(to, err)
	}
	return nil
}
