package app

import (
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
	return report, e
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
	file, line, col := it.At(path...)
	if line == 0 {
		return it.File + ": "
	}
	p := diag.Problem{File: file, Line: line, Col: col}
	return p.String()
}
