// Package load turns what a person writes into checked values: personas and
// their sources, profiles and scenarios, from JSON, YAML, TOML, CUE and
// Markdown with frontmatter. It is the sole owner of CUE.
//
// The way of a file: limits (size, UTF-8, depth, entries, duplicate keys,
// numbers), then one tree with the place of every value, then the judgement.
// A flat PersonaSpec and a persona source are judged by spec.Check, profiles
// and scenarios by the CUE schema. CUE files are evaluated first, beside the
// schema, in a child process unless they are trusted (see Options).
package load

import (
	"context"
	"io"
	"slices"
	"strings"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/spec"
)

// Options says how to read.
type Options struct {
	// Stdin is read where "-" is named; nil is an empty input.
	Stdin io.Reader
	// Dir is what relative names are relative to; "" is the process's own
	// working directory.
	Dir string
	// Trusted evaluates CUE in this process. Otherwise Self runs as a child
	// with limits on memory and time, since nobody has read the file.
	Trusted bool
	// Self is the argv of this program's hidden verb that calls EvalChild. Where
	// it is empty, CUE is evaluated in this process within a time limit.
	Self []string

	bounds limits // of one evaluation; zero is the standard ones
}

// Item is one persona of an input, or an input that yields none.
type Item struct {
	// File is the file the persona is written in, as the person would name it;
	// "-" is stdin.
	File string
	// ID is the persona's id as far as it could be read.
	ID string
	// Flat is a flat PersonaSpec as written. It is set with Problems too, so
	// that a report can be made of it.
	Flat *spec.Object
	// Source is a persona source; nil while it has Problems.
	Source *spec.Source
	// Problems are the mistakes, sorted by place. None means that Flat or
	// Source is valid.
	Problems []diag.Problem
	// Notices are worth a word but no mistake.
	Notices []diag.Problem
	// Unreadable is a failure of the whole file, exit 2: it could not be read,
	// is not written in its format, or its evaluation was stopped.
	Unreadable bool
	// Code is the error code that fits Problems; "" without any.
	Code diag.Code
	// Issues are the contract's issues of a source with Problems, in the
	// contract's order. Those of Flat come from spec.Check.
	Issues []spec.Issue
	// At tells where the value of a path stands: variants, tacit, model. A path
	// that is not there gives the nearest part that is. Never nil.
	At func(path ...string) (file string, line, col int)
}

// Err gives the item's problems as one error, nil without any: INVALID_INPUT
// or EVALUATION_LIMIT with exit 2 for an unreadable file, else
// PERSONA_INVALID with the report in its details.
func (it Item) Err() *diag.Error {
	if len(it.Problems) == 0 {
		return nil
	}
	e := &diag.Error{Code: it.Code, Message: it.Problems[0].String(), Problems: it.Problems}
	if it.Unreadable {
		e.Exit = diag.ExitUsage
		return e
	}
	report := it.Report(nil)
	if len(report.Errors) > 0 {
		e.Message = report.Errors[0].Message
	}
	return e.With("report", report)
}

// Report is the contract's report of the item: of a flat spec that of
// spec.Validate, of a source that of all its variants together. known is as
// in spec.Warnings. An item without either reports its problems.
func (it Item) Report(known func(id string) bool) spec.Report {
	r := spec.Report{Valid: true, Errors: []spec.Issue{}, Warnings: []string{}}
	switch {
	case it.Flat != nil:
		r = spec.Validate(it.Flat, known)
	case it.Source != nil:
		seen := map[string]bool{}
		for _, v := range it.Source.Variants {
			o, _ := it.Source.Spec(v.Name)
			for _, w := range spec.Warnings(o, known) {
				if !seen[w] {
					seen[w] = true
					r.Warnings = append(r.Warnings, w)
				}
			}
		}
	}
	if len(it.Problems) > 0 {
		issues := append(r.Errors, it.Issues...)
		r.Errors = slices.DeleteFunc(slices.Clone(issues), it.explained)
		for _, p := range it.Problems {
			if len(issues) == 0 || p.IssueCode == "" {
				r.Errors = append(r.Errors, it.issueOf(p))
			}
		}
	}
	r.Valid = len(r.Errors) == 0
	return r
}

// explained says of an issue that a field is missing whether a problem of CUE
// alone gives the reason: a conflict or a value that is not there yet leaves
// nothing to check, and "is required" would hide it.
func (it Item) explained(is spec.Issue) bool {
	if is.Code != "MISSING_REQUIRED_FIELD" {
		return false
	}
	field := is.Details.String("field")
	return slices.ContainsFunc(it.Problems, func(p diag.Problem) bool {
		path := it.within(p.Path)
		return p.IssueCode == "" && (path == "" || near(path, field))
	})
}

// within is a problem's path from where the persona begins.
func (it Item) within(path string) string {
	base := dotted([]string{"personas", it.ID})
	if rest, ok := strings.CutPrefix(path, base); ok && (rest == "" || rest[0] == '.') {
		return strings.TrimPrefix(rest, ".")
	}
	return path
}

// issueOf turns a problem that no issue of the contract stands for into one.
func (it Item) issueOf(p diag.Problem) spec.Issue {
	code := p.IssueCode
	if code == "" {
		code = "SCHEMA_VIOLATION"
	}
	details := &spec.Object{}
	if field := it.within(p.Path); field != "" {
		details.Set("field", field)
	}
	return spec.Issue{Code: code, Message: p.Message, Details: details}
}

// Specs reads the personas of files, directories and stdin ("-"). One input
// may give several items; the order is that of args, then of files by name,
// then of the lines. Whatever is wrong with an input stands in its item. The
// error is not nil only when nothing was named or ctx ended.
func Specs(ctx context.Context, args []string, o Options) ([]Item, error) {
	if len(args) == 0 {
		return nil, diag.Usage("no file was named").WithHint("name persona files or a directory, or - for stdin")
	}
	b := &batch{o: o}
	for _, arg := range args {
		b.add(arg)
	}
	if err := b.evaluate(ctx); err != nil {
		return nil, err
	}
	var items []Item
	for _, in := range b.inputs {
		items = append(items, in.items()...)
	}
	return items, ctx.Err()
}
