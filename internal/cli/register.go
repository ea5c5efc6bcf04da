package cli

import (
	"context"
	"strings"

	"larva.dev/larva/internal/app"
)

type registerCmd struct {
	Files   []string `arg:"" name:"file" help:"Persona sources or flat PersonaSpecs; a directory means its personas; - is stdin." complete:"file"`
	Variant string   `placeholder:"NAME" help:"Store a flat PersonaSpec as this variant (default: default)."`
	Update  bool     `help:"Accept a changed contract of a persona source."`
}

func (registerCmd) doc() doc {
	return doc{
		Long: "A persona source makes the stored persona equal to it: contract, variants, the active one; a variant gone from the source goes. " +
			"A flat PersonaSpec stores one variant beside the others.",
		Examples: []string{"larva register personas", "larva register code-reviewer.json --variant terse --json"},
		Exits:    slowExits(),
	}
}

// Run stores each persona on its own.
func (c registerCmd) Run(ctx context.Context, s *session) error {
	stored, err := s.app.Register(ctx, app.RegisterInput{
		Files: c.Files, Stdin: untilDone(ctx, s.process.Stdin),
		Variant: c.Variant, Update: c.Update, Confirm: s.confirmContract(),
	})
	if err != nil {
		return err
	}
	if len(stored) == 1 {
		return s.oneStored(stored[0])
	}
	return s.several(len(stored), func(i int) entry {
		r := stored[i]
		return entry{where: r.Where, err: r.Err, fields: storedFields(r), text: func(string) { s.sayStored(r) }}
	})
}

func storedFields(r app.Registered) map[string]any {
	return map[string]any{"id": r.ID, "registered": true}
}

func (s *session) oneStored(r app.Registered) error {
	switch {
	case r.Err != nil:
		return r.Err
	case s.json() || !r.Source:
		return s.result(storedFields(r))
	}
	s.sayStored(r)
	return nil
}

// sayStored is register's one line a persona on stderr.
func (s *session) sayStored(r app.Registered) {
	what := "registered"
	if r.Source {
		what = string(r.Change)
	}
	if len(r.Diffs) > 0 {
		var fields []string
		for _, d := range r.Diffs {
			fields = append(fields, d.Field)
		}
		what += " (" + strings.Join(fields, ", ") + ")"
	}
	s.say("%s: %s %s", r.File, r.ID, what)
}

// confirmContract asks the person about a changed contract; nil where there
// is nobody to ask.
func (s *session) confirmContract() func(context.Context, string, []app.FieldDiff) bool {
	if !s.canAsk() {
		return nil
	}
	return func(ctx context.Context, id string, diffs []app.FieldDiff) bool {
		s.say("%s: the contract changes", id)
		for _, d := range diffs {
			s.say("  %s", app.DiffLine(d))
		}
		yes, err := s.confirm(ctx, "Store the changed contract of "+id+"?")
		return err == nil && yes
	}
}
