package cli

import (
	"context"
	"strconv"
	"strings"

	"larva.dev/larva/internal/app"
	"larva.dev/larva/internal/diag"
)

// openCodeDoctor prints a verdict, then what became of each persona: on stdout
// where all is well, else on stderr.
func (s *session) openCodeDoctor(ctx context.Context, id string) error {
	h, err := s.app.OpenCodeDoctor(ctx, id)
	if err != nil {
		return err
	}
	failure := h.Err()
	if s.json() {
		if failure != nil {
			return failure
		}
		return s.data(healthJSON(h))
	}
	put, verdict := s.line, "OK"
	if failure != nil {
		put, verdict = s.say, "FAIL"
		s.code = diag.ExitFailed
	}
	put("%s", verdict)
	note := ""
	if h.Version != h.Tested {
		note = " (larva is tested with " + h.Tested + ")"
	}
	put("[INFO] opencode %s%s: %s", h.Version, note, h.Program)
	for _, l := range h.Left {
		put("[INFO] %s is left out: %s", l.ID, l.Why)
	}
	for _, a := range h.Agents {
		s.putAgent(put, a, id != "")
	}
	return nil
}

// putAgent tells of one agent; its losses in a line each where it is the only
// one that was asked about.
func (s *session) putAgent(put func(string, ...string), a app.OpenCodeAgent, alone bool) {
	for _, w := range a.Wider {
		put("[FAIL] %s: %s", a.ID, w)
	}
	if !alone {
		count := map[string]int{}
		for _, l := range a.Losses {
			count[l.Kind]++
		}
		var parts []string
		for _, kind := range []string{"tightened", "guarded", "refused"} {
			if count[kind] > 0 {
				parts = append(parts, strconv.Itoa(count[kind])+" "+kind)
			}
		}
		if len(a.Wider) == 0 {
			put("[OK] %s%s", a.ID, prefixed(": ", strings.Join(parts, ", ")))
		}
		return
	}
	if len(a.Wider) == 0 {
		put("[OK] %s: no more than it says", a.ID)
	}
	for _, l := range a.Losses {
		put("[INFO] %s: %s: %s", l.Kind, l.Where, l.Text)
	}
}

func prefixed(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + text
}

func healthJSON(h app.OpenCodeHealth) map[string]any {
	agents := []any{}
	for _, a := range h.Agents {
		losses := []any{}
		for _, l := range a.Losses {
			losses = append(losses, map[string]any{"kind": l.Kind, "where": l.Where, "text": l.Text})
		}
		agents = append(agents, map[string]any{"id": a.ID, "wider": a.Wider, "losses": losses})
	}
	left := []any{}
	for _, l := range h.Left {
		left = append(left, map[string]any{"id": l.ID, "why": l.Why})
	}
	return map[string]any{"status": "ok", "program": h.Program, "version": h.Version, "tested": h.Tested, "agents": agents, "left": left}
}
