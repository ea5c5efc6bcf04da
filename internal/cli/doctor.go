package cli

import (
	"larva.dev/larva/internal/diag"
)

type doctorCmd struct {
	Repair bool `help:"First mend what can be mended without guessing, and say what was done."`
}

func (doctorCmd) doc() doc {
	return doc{
		Long:     "Changes nothing without --repair. A persona that cannot be read is a failure; leftovers, permissions, strange files and unknown can_spawn ids are warnings.",
		Examples: []string{"larva doctor", "larva doctor --repair --json"},
		Exits:    plainExits(),
	}
}

// Run prints the verdict, then one tagged line a finding: on stdout where all
// is well, else on stderr.
func (c doctorCmd) Run(s *session) error {
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
