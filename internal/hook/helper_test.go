package hook

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"larva.dev/larva/internal/agent"
	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/profile"
	"larva.dev/larva/internal/tool"
)

// heard is what a runner told.
type heard struct {
	mu      sync.Mutex
	events  []event.Hook
	notices []string
}

func (h *heard) tell(b event.Body) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if e, ok := b.(event.Hook); ok {
		h.events = append(h.events, e)
	}
}

func (h *heard) notice(code, text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.notices = append(h.notices, code+": "+text)
}

func (h *heard) effects() string {
	var out []string
	for _, e := range h.events {
		out = append(out, e.Effect)
	}
	return strings.Join(out, " ")
}

func (h *heard) said(t *testing.T, part string) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	if !strings.Contains(strings.Join(h.notices, "\n"), part) {
		t.Errorf("notices: got %q, want one with %q", h.notices, part)
	}
}

// build makes a runner in a directory of its own, and its points.
func build(t *testing.T, edit func(*Options), hooks ...Hook) (*Runner, agent.Points, *heard) {
	t.Helper()
	h := &heard{}
	o := Options{Hooks: hooks, Environ: os.Environ(), Session: "s", Tell: h.tell, Notice: h.notice}
	o.Cwd = t.TempDir()
	o.ProjectDir = o.Cwd
	for i := range o.Hooks {
		if o.Hooks[i].Name == "" {
			o.Hooks[i].Name = string(rune('a' + i))
		}
	}
	if edit != nil {
		edit(&o)
	}
	r, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	var p agent.Points
	r.Attach(&p)
	return r, p, h
}

// sh is a command hook.
func sh(ev, command string) Hook {
	return Hook{Event: ev, Hook: profile.Hook{Type: "command", Command: command}}
}

func (h Hook) with(edit func(*profile.Hook)) Hook {
	edit(&h.Hook)
	return h
}

// says is a command hook that prints a text.
func says(ev, text string) Hook { return sh(ev, "cat <<'EOF'\n"+text+"\nEOF") }

func read1(t *testing.T, parts ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

var call = tool.Call{ID: "c1", Tool: "bash", Input: json.RawMessage(`{"command":"echo <one> & two"}`)}
