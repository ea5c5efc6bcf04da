package cli

import (
	"context"

	"larva.dev/larva/internal/diag"
)

type doctorCmd struct {
	Host   string `arg:"" optional:"" help:"opencode: start it offline, and compare what its agents may do with the personas." words:"opencode"`
	ID     string `arg:"" optional:"" help:"With opencode: this persona alone." complete:"persona"`
	Repair bool   `help:"First mend what can be mended without guessing, and say what was done."`
}

func (doctorCmd) doc() doc {
	return doc{
		Long:     "Changes nothing without --repair. A persona that cannot be read is a failure; leftovers, permissions, strange files and unknown can_spawn ids are warnings.\n\nFor OpenCode it says what a persona's rules cannot express there and what was tightened for it. An agent that may more than its persona is a failure.",
		Examples: []string{"larva doctor", "larva doctor --repair --json"},
		Exits:    plainExits(),
	}
}

// Run prints the verdict, then one tagged line a finding: on stdout where all
// is well, else on stderr.
func (c doctorCmd) Run(ctx context.Context, s *session) error {
	if c.Host != "" {
		if c.Host != openCodeVerb {
			return diag.Usage("doctor does not know %q", c.Host).WithHint("larva doctor, or larva doctor opencode")
		}
		if c.Repair {
			return diag.Usage("--repair is for the registry").WithHint("larva doctor --repair")
		}
		return s.openCodeDoctor(ctx, c.ID)
	}
	h, err := s.app.Doctor(c.Repair)
	if err != nil {
		return err
	}
	failure := h.Err()
	if s.json() {
		if failure != nil {
			return failure
		}
		lines := []string{}
		for _, f := range h.Findings {
			lines = append(lines, "["+f.Tag+"] "+f.Text)
		}
		return s.data(map[string]any{"status": "ok", "diagnostics": lines})
	}
	put, verdict := s.line, "OK"
	if failure != nil {
		put, verdict = s.say, "FAIL"
		s.code = diag.ExitFailed
	}
	put("%s", verdict)
	for _, f := range h.Findings {
		put("[%s] %s", f.Tag, f.Text)
	}
	return nil
}
