package session

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"larva.dev/larva/internal/event"
)

// Summary is a session as a list shows it.
type Summary struct {
	ID         string           `json:"id"`
	Started    time.Time        `json:"started"`
	Updated    time.Time        `json:"updated"`
	Persona    event.PersonaRef `json:"persona"`
	Model      string           `json:"model"`
	Cwd        string           `json:"cwd"`
	Prompt     string           `json:"prompt"`   // the first typed prompt's first line
	Prompts    int              `json:"prompts"`  // typed
	Turns      int              `json:"turns"`    // requests to a model
	CostUSD    *float64         `json:"cost_usd"` // null where no run had a price
	State      string           `json:"state"`    // running, done, stopped, failed, crashed, empty
	ForkedFrom string           `json:"forked_from,omitempty"`
	Path       string           `json:"path"`
}

// Summary of a session that was read.
func (s *Session) Summary() Summary {
	out := Summary{ID: s.Meta.SessionID, Started: s.Started, Updated: s.Started, Persona: s.Meta.Persona, Model: s.Meta.Model,
		Cwd: s.Meta.Cwd, State: "empty", Path: s.Path}
	if s.Meta.ForkedFrom != nil {
		out.ForkedFrom = s.Meta.ForkedFrom.Session
	}
	if n := len(s.Entries); n > 0 {
		out.Updated = s.Entries[n-1].Event.Time
	}
	var cost, run *float64 // of the runs and turns before, of this one
	over := false          // a turn has ended, and another may follow
	for _, e := range s.Entries {
		if e.Event.Agent != "" {
			continue // a subagent's: what it cost is in its parent's
		}
		switch b := e.Event.Body.(type) {
		case event.Init:
			cost, run, out.State, over = plus(cost, run), nil, "crashed", false
		case event.User:
			if over {
				out.State, over = "crashed", false
			}
			if !b.Generated {
				if out.Prompts++; out.Prompts == 1 {
					out.Prompt = FirstLine(b.Said())
				}
			}
		case event.Spent:
			out.Turns++
			run = b.CostUSD
		case event.Fault:
			cost, run, out.State, over = plus(cost, run), nil, "failed", true
		case event.Result:
			cost, run, over = plus(cost, run), nil, true
			if out.State = "stopped"; b.ExitCode == 0 {
				out.State = "done"
			}
		}
	}
	out.CostUSD = plus(cost, run)
	if s.Running {
		out.State = "running"
	}
	return out
}

func plus(a, b *float64) *float64 {
	if a == nil {
		return b
	}
	if b == nil {
		return a
	}
	sum := *a + *b
	return &sum
}

// FirstLine is the first line of text that says something, cut at 200 bytes.
func FirstLine(text string) string {
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "<") {
			if len(line) > 200 {
				line = strings.ToValidUTF8(line[:200], "") + "…"
			}
			return line
		}
	}
	return ""
}

// List reads every session of the project, the newest first. One that cannot
// be read is listed as broken, with why.
func (s *Store) List() ([]Summary, error) {
	ids, err := s.IDs()
	if err != nil {
		return nil, err
	}
	out := make([]Summary, 0, len(ids))
	for i := len(ids) - 1; i >= 0; i-- {
		path := s.Path(ids[i])
		ses, err := Load(path)
		if err != nil {
			if _, gone := os.Lstat(path); gone != nil {
				continue // swept meanwhile
			}
			out = append(out, Summary{ID: ids[i], State: "broken", Prompt: err.Error(), Path: path})
			continue
		}
		out = append(out, ses.Summary())
	}
	return out, nil
}

// Latest is the id of the session of this project that was written last, ""
// where there is none. persona, where not empty, is the id or the name that its
// persona must have.
func (s *Store) Latest(persona string) (string, error) {
	ids, err := s.IDs()
	if err != nil {
		return "", err
	}
	best, when := "", time.Time{}
	for _, id := range ids {
		info, err := os.Lstat(s.Path(id))
		if err != nil || best != "" && info.ModTime().Before(when) {
			continue
		}
		if persona != "" {
			m, err := readMeta(s.Path(id))
			if err != nil || m.Persona.ID != persona && m.Named != persona {
				continue
			}
		}
		best, when = id, info.ModTime()
	}
	return best, nil
}

// readMeta reads the first line alone.
func readMeta(path string) (Meta, error) {
	f, err := os.Open(path)
	if err != nil {
		return Meta{}, err
	}
	defer f.Close()
	return firstMeta(f, path)
}

// NewestFirst sorts summaries by their ids, which begin with the time.
func NewestFirst(list []Summary) {
	slices.SortStableFunc(list, func(a, b Summary) int { return strings.Compare(b.ID, a.ID) })
}

func idOf(path string) string { return strings.TrimSuffix(filepath.Base(path), ending) }
