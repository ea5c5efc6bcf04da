package app

import (
	"context"
	"io"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/load"
	"larva.dev/larva/internal/registry"
	"larva.dev/larva/internal/spec"
)

// FieldDiff is one changed field of a stored persona.
type FieldDiff = registry.FieldDiff

// DiffLine is a change on one line: field: old → new, as JSON.
func DiffLine(d FieldDiff) string {
	return d.Field + ": " + shortJSON(d.Old) + " → " + shortJSON(d.New)
}

// maxDiffRunes keeps a changed prompt from filling the screen.
const maxDiffRunes = 200

func shortJSON(v any) string {
	if v == nil {
		return "(absent)"
	}
	s := string(spec.AppendCanonical(nil, v))
	if len(s) > maxDiffRunes {
		return s[:maxDiffRunes] + "…"
	}
	return s
}

// RegisterInput is everything `register` was told.
type RegisterInput struct {
	Files   []string
	Stdin   io.Reader
	Variant string // "" is default; flat specs only
	Update  bool
	// Confirm asks the person about a changed contract; nil: nobody to ask.
	Confirm func(ctx context.Context, id string, diffs []FieldDiff) bool
}

// Registered is register's answer for one persona.
type Registered struct {
	Where
	Source bool // a persona source; else a flat PersonaSpec
	Change registry.Change
	Diffs  []FieldDiff
	Err    *diag.Error
}

// Register stores every persona of in.Files, each on its own.
func (a *App) Register(ctx context.Context, in RegisterInput) ([]Registered, error) {
	if err := a.refuseNested("register"); err != nil {
		return nil, err
	}
	items, err := a.loadItems(ctx, in.Files, in.Stdin)
	if err != nil {
		return nil, err
	}
	for _, it := range items {
		if it.Source != nil && in.Variant != "" {
			return nil, diag.Usage("%s: --variant is for flat PersonaSpecs; a persona source names its own variants", it.File)
		}
	}
	r, err := a.registry()
	if err != nil {
		return nil, err
	}
	out := make([]Registered, len(items))
	for i := range items {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out[i] = a.registerItem(ctx, r, &items[i], in)
		out[i].Where = whereOf(items, i)
	}
	return out, nil
}

func (a *App) registerItem(ctx context.Context, r *registry.Registry, it *load.Item, in RegisterInput) (out Registered) {
	out.Source = it.Source != nil
	// Warnings are validate's; nil leaves out the one that reads the registry.
	if _, out.Err = judge(it, nil); out.Err != nil {
		return out
	}
	var err error
	if it.Source != nil {
		put := registry.PutOptions{Update: in.Update}
		if in.Confirm != nil {
			put.Confirm = func(d []FieldDiff) bool { return in.Confirm(ctx, it.ID, d) }
		}
		out.Change, out.Diffs, err = r.Put(it.Source, put)
	} else {
		_, err = r.Register(it.Flat, in.Variant)
	}
	if err != nil {
		out.Err = mismatch(diag.As(err), it, out.Diffs)
	}
	return out
}

// mismatch shows a source's changed contract field by field, each at its
// place, and says what accepts it. A flat spec's error is the registry's.
func mismatch(e *diag.Error, it *load.Item, diffs []FieldDiff) *diag.Error {
	if e.Code != diag.BaseContractMismatch || it.Source == nil {
		return e
	}
	for _, d := range diffs {
		file, line, col := it.At(d.Field)
		e.Problems = append(e.Problems, diag.Problem{File: file, Line: line, Col: col, Message: DiffLine(d)})
	}
	if it.File == "-" {
		return e
	}
	return e.WithHint("larva register %s --update", diag.Word(it.File))
}
