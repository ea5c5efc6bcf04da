package cli

import (
	"context"

	"larva.dev/larva/internal/app"
	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/spec"
)

type validateCmd struct {
	Files []string `arg:"" name:"file" help:"JSON, YAML, TOML, CUE or Markdown; a directory means its personas, or its profiles; - is stdin." complete:"file"`
}

func (validateCmd) doc() doc {
	return doc{
		Long:     "All mistakes at once, one line each: file:line:col: path: message. Profiles (package profiles, config.cue, config.toml) are checked with their rules.",
		Examples: []string{"larva validate personas", "larva validate code-reviewer.json --json"},
		Exits:    slowExits(),
	}
}

// Run checks each persona on its own.
func (c validateCmd) Run(ctx context.Context, s *session) error {
	checked, err := s.app.Validate(ctx, c.Files, untilDone(ctx, s.process.Stdin))
	if err != nil {
		return err
	}
	if len(checked) == 1 {
		return s.oneReport(checked[0])
	}
	return s.several(len(checked), func(i int) entry {
		c := checked[i]
		return entry{where: c.Where, err: c.Err, fields: reportFields(c.Report), text: func(label string) {
			s.line("%s: valid", label)
			for _, w := range c.Report.Warnings {
				s.line("%s: warning: %s", label, w)
			}
		}}
	})
}

func (s *session) oneReport(c app.Checked) error {
	if c.Err != nil {
		return c.Err
	}
	if s.json() {
		return s.data(c.Report)
	}
	s.line("valid")
	for _, w := range c.Report.Warnings {
		s.line("warning: %s", w)
	}
	return nil
}

func reportFields(r spec.Report) map[string]any {
	return map[string]any{"valid": r.Valid, "errors": r.Errors, "warnings": r.Warnings}
}

// entry is one of several personas on its way out.
type entry struct {
	where  app.Where
	err    *diag.Error
	fields map[string]any // the single shape's fields
	text   func(label string)
}

// several prints a list of personas, each on its own; any failure makes the
// exit code 1.
func (s *session) several(n int, at func(i int) entry) error {
	list := make([]any, 0, n)
	for i := range n {
		e := at(i)
		label := e.where.Label()
		if e.err != nil {
			s.code = diag.ExitFailed
		}
		if s.json() {
			list = append(list, e.row())
			continue
		}
		if e.err != nil {
			s.out.Flush() // keep stdout and stderr in order where both are a terminal
			s.printFailure(label, e.err)
			continue
		}
		e.text(label)
	}
	if s.json() {
		return s.data(list)
	}
	return nil
}

func (e entry) row() map[string]any {
	row := map[string]any{"file": e.where.File}
	if e.where.ID != "" {
		row["id"] = e.where.ID
	}
	if e.err != nil {
		row["error"] = envelope(e.err)
		return row
	}
	for k, v := range e.fields {
		row[k] = v
	}
	return row
}
