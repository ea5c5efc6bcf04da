package cli

import (
	"strings"

	"larva.dev/larva/internal/app"
	"larva.dev/larva/internal/diag"
)

type doctorCmd struct {
	Repair bool `help:"Mend what can be mended without guessing, and say what was done."`
}

func (doctorCmd) doc() doc {
	return doc{
		Long:     "Changes nothing without --repair. Leftovers, permissions and unknown can_spawn ids are warnings; a persona that cannot be read is a failure.",
		Examples: []string{"larva doctor", "larva doctor --repair --json"},
		Exits:    plainExits(),
	}
}

// Run prints the verdict, then one tagged line a finding.
func (c doctorCmd) Run(s *session) error {
	h, err := s.app.Doctor(c.Repair)
	if err != nil {
		return err
	}
	if h.OK() {
		if s.json() {
			return s.data(map[string]any{"status": "ok", "diagnostics": doctorLines(h)})
		}
		s.line("OK")
		for _, l := range doctorLines(h) {
			s.line("%s", l)
		}
		return nil
	}
	if s.json() {
		return h.Err()
	}
	s.say("FAIL")
	for _, l := range doctorLines(h) {
		s.say("%s", l)
	}
	s.code = diag.ExitFailed
	return nil
}

// doctorLines are the findings as "[TAG] text".
func doctorLines(h app.Health) []string {
	lines := []string{}
	for _, f := range h.Findings {
		where := f.PersonaID
		if f.Path != "" {
			where = strings.TrimSpace(where + " " + f.Path)
		}
		text := f.Message
		if where != "" {
			text = where + ": " + text
		}
		lines = append(lines, "["+strings.ToUpper(f.Tag)+"] "+text)
	}
	return lines
}
