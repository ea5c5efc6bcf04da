package app

import (
	"fmt"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/load"
	"larva.dev/larva/internal/spec"
)

// judge gives an item's report and, where it is not valid, the error that
// carries it.
func judge(it *load.Item, known func() func(string) bool) (spec.Report, *diag.Error) {
	if it.Unreadable {
		return spec.Report{}, unreadable(it)
	}
	if len(it.Problems) > 0 {
		return invalid(reportOf(it.Problems), it.Problems)
	}
	var (
		report   = spec.Report{Errors: []spec.Issue{}, Warnings: []string{}}
		problems []diag.Problem
		seen     = map[string]bool{}
	)
	for _, s := range specsOf(it) {
		ids := func(string) bool { return true }
		if list, _ := s.spec.Get("can_spawn"); isList(list) {
			ids = known()
		}
		r := spec.Validate(s.spec, ids)
		for _, issue := range r.Errors {
			key := issue.Code + string(spec.AppendCanonical(nil, issue.Details)) + s.scope(issue)
			if seen[key] {
				continue
			}
			seen[key] = true
			p := placed(it, s, issue)
			issue.Message = p.String()
			problems = append(problems, p)
			report.Errors = append(report.Errors, issue)
		}
		for _, w := range r.Warnings {
			if !seen["w"+w] {
				seen["w"+w] = true
				report.Warnings = append(report.Warnings, w)
			}
		}
	}
	report.Valid = len(report.Errors) == 0
	if report.Valid {
		return report, nil
	}
	return invalid(report, problems)
}

// flat is one flat spec of an item; variant is "" for a flat PersonaSpec.
type flat struct {
	spec    *spec.Object
	variant string
}

func specsOf(it *load.Item) []flat {
	if it.Flat != nil {
		return []flat{{spec: it.Flat}}
	}
	if it.Source == nil {
		return nil
	}
	var out []flat
	for _, v := range it.Source.Variants {
		if o, ok := it.Source.Spec(v.Name); ok {
			out = append(out, flat{o, v.Name})
		}
	}
	return out
}

// path is where an issue's field stands in the file: an implementation field
// of a source lies under its variant.
func (f flat) path(issue spec.Issue) []string {
	field := issue.Details.String("field")
	if field == "" {
		return nil
	}
	parts := splitField(field)
	if f.variant == "" {
		return parts
	}
	for _, name := range spec.ImplementationFields {
		if parts[0] == name {
			return append([]string{"variants", f.variant}, parts...)
		}
	}
	return parts
}

// scope keeps two variants' issues apart and the contract's together.
func (f flat) scope(issue spec.Issue) string {
	if p := f.path(issue); len(p) > 0 && p[0] == "variants" {
		return f.variant
	}
	return ""
}

// splitField splits model_params.<key> at the first dot only: keys may hold dots.
func splitField(field string) []string {
	const params = "model_params."
	if len(field) > len(params) && field[:len(params)] == params {
		return []string{"model_params", field[len(params):]}
	}
	return []string{field}
}

// placed is an issue with its place in the file.
func placed(it *load.Item, f flat, issue spec.Issue) diag.Problem {
	path := f.path(issue)
	p := diag.Problem{File: it.File, Message: issue.Message, IssueCode: issue.Code}
	if it.At != nil {
		if file, line, col := it.At(path...); line > 0 {
			p.File, p.Line, p.Col = file, line, col
		}
	}
	return p
}

func isList(v any) bool { _, ok := v.([]any); return ok }

// invalid is the contract's error for an invalid persona.
func invalid(r spec.Report, problems []diag.Problem) (spec.Report, *diag.Error) {
	e := diag.New(diag.PersonaInvalid, "%s", r.Errors[0].Message).With("report", r)
	e.Problems = problems
	return r, e
}

// reportOf gives the loader's problems the shape of a report.
func reportOf(problems []diag.Problem) spec.Report {
	r := spec.Report{Errors: []spec.Issue{}, Warnings: []string{}}
	for _, p := range problems {
		code := p.IssueCode
		if code == "" {
			code = string(diag.InvalidInput)
		}
		details := &spec.Object{}
		if p.Path != "" {
			details.Set("field", p.Path)
		}
		r.Errors = append(r.Errors, spec.Issue{Code: code, Message: p.String(), Details: details})
	}
	return r
}

// unreadable is bad input: INVALID_INPUT, exit 2, the first problem as its message.
func unreadable(it *load.Item) *diag.Error {
	message := fmt.Sprintf("%s: cannot be read", it.File)
	if len(it.Problems) > 0 {
		message = it.Problems[0].String()
	}
	e := diag.Usage("%s", message).With("path", it.File)
	e.Problems = it.Problems
	return e
}
