package app

import (
	"slices"
	"strings"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/load"
	"larva.dev/larva/internal/spec"
)

// judge gives an item's report and, where it is not valid, the error that
// carries it. The report's messages begin with their place, since details
// never hold one.
func judge(it *load.Item, known func(id string) bool) (spec.Report, *diag.Error) {
	if it.Unreadable {
		return spec.Report{}, it.Err()
	}
	report := it.Report(known)
	if report.Valid {
		return report, nil
	}
	for i := range report.Errors {
		report.Errors[i].Message = place(it, report.Errors[i]) + report.Errors[i].Message
	}
	e := diag.New(diag.PersonaInvalid, "%s", report.Errors[0].Message).With("report", report)
	e.Problems = it.Problems
	return report, e.WithHint("%s", elsewhere(it))
}

// place is where an issue's field stands, as "file:line:col: "; a field that
// is missing has the place of what should hold it.
func place(it *load.Item, issue spec.Issue) string {
	var path []string
	if field := issue.Details.String("field"); field != "" {
		path = strings.Split(field, ".")
	}
	if tool := issue.Details.String("tool"); tool != "" {
		path = append(path, tool)
	}
	if i := slices.IndexFunc(it.Problems, func(p diag.Problem) bool { return p.Path == strings.Join(path, ".") }); i >= 0 && len(path) > 0 {
		p := it.Problems[i]
		return diag.Problem{File: p.File, Line: p.Line, Col: p.Col}.String()
	}
	file, line, col := it.At(path...)
	if line == 0 {
		return it.File + ": "
	}
	p := diag.Problem{File: file, Line: line, Col: col}
	return p.String()
}

// elsewhere says who reads a file that is no persona but something else that
// people write: a scenario, or a table of permission cases.
func elsewhere(it *load.Item) string {
	if it.File == "-" {
		return ""
	}
	for _, p := range it.Problems {
		switch p.Path {
		case "turns":
			return "a scenario is checked by the run that takes it for a model: larva run PERSONA PROMPT --model " + diag.Word(scenarioModel(it.File))
		case "cases":
			return "a table of calls is for: larva permission test " + diag.Word(it.File)
		}
	}
	return ""
}
