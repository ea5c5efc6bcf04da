package webui

import (
	"context"
	"slices"
	"time"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/load"
	"larva.dev/larva/internal/ops"
	"larva.dev/larva/internal/registry"
	"larva.dev/larva/internal/spec"
)

const (
	// maxEvaluating bounds how many texts are read at once.
	maxEvaluating = 2
	// evaluationTime bounds one text, the wait for its turn included; CUE has
	// its own limit of ten seconds, which is told as such.
	evaluationTime = 25 * time.Second
)

// importRequest is the body of both import routes.
type importRequest struct {
	text, format, name, variant string
	update                      bool
}

// importRequest reads {text, format?, name?} and, to store it, {variant?,
// update?}.
func (c *call) importRequest(more ...string) (importRequest, error) {
	names := append([]string{"text", "format", "name"}, more...)
	if err := c.only(names...); err != nil {
		return importRequest{}, err
	}
	if v, _ := c.body.Get("text"); v == nil {
		return importRequest{}, diag.New(diag.InvalidInput, "the parameter text is missing").With("field", "text")
	}
	for _, m := range c.body.Members {
		want := "string"
		if m.Key == "update" {
			want = "boolean"
		}
		if got := ops.TypeOf(m.Value); m.Value != nil && got != want {
			return importRequest{}, diag.New(diag.InvalidInput, "the parameter %s is of the wrong type", m.Key).
				With("field", m.Key).With("expected_type", want).With("received_type", got)
		}
	}
	in := importRequest{text: c.body.String("text"), format: c.body.String("format"), name: c.body.String("name"), variant: c.body.String("variant")}
	v, _ := c.body.Get("update")
	in.update, _ = v.(bool)
	if in.name == "" {
		in.name = "import"
	}
	return in, nil
}

// items reads the text's personas.
func (s *server) items(ctx context.Context, in importRequest) ([]load.Item, error) {
	ctx, cancel := context.WithTimeout(ctx, evaluationTime)
	defer cancel()
	select {
	case s.evaluating <- struct{}{}:
		defer func() { <-s.evaluating }()
	case <-ctx.Done():
		return nil, diag.New(diag.Interrupted, "the text could not be read in time")
	}
	items, err := load.Text(ctx, in.name, []byte(in.text), in.format, load.Options{Self: s.Load.Self})
	if ctx.Err() != nil {
		return nil, diag.New(diag.Interrupted, "the text could not be read in time")
	}
	return items, err
}

// importCheck tells what a text holds and what is wrong with it, with places;
// nothing is stored. Faults of the text are part of the answer, not errors.
func importCheck(s *server, c *call) (any, error) {
	in, err := c.importRequest()
	if err != nil {
		return nil, err
	}
	items, err := s.items(c.r.Context(), in)
	if err != nil {
		return nil, err
	}
	known, there := s.knownIDs(items)
	valid, rows := len(items) > 0, []any{}
	for i := range items {
		row := describe(&items[i], known)
		row["exists"] = there[items[i].ID]
		valid = valid && len(items[i].Problems) == 0
		rows = append(rows, row)
	}
	return map[string]any{"valid": valid, "personas": rows}, nil
}

// describe is one persona of a text: {id, kind, valid, report, problems,
// notices} and, of a valid one, {active, specs}.
func describe(it *load.Item, known func(string) bool) map[string]any {
	row := map[string]any{"id": it.ID, "kind": "", "valid": len(it.Problems) == 0, "unreadable": it.Unreadable,
		"report": it.Report(known), "problems": places(it.Problems), "notices": places(it.Notices)}
	specs := &spec.Object{}
	switch {
	case it.Flat != nil:
		row["kind"] = "spec"
		if len(it.Problems) == 0 {
			row["active"] = registry.DefaultVariant
			specs.Set(registry.DefaultVariant, spec.Normalize(it.Flat))
		}
	case it.Source != nil:
		row["kind"], row["active"] = "source", it.Source.Active
		for _, v := range it.Source.Variants {
			o, _ := it.Source.Spec(v.Name)
			specs.Set(v.Name, spec.Normalize(o))
		}
	}
	row["specs"] = specs
	return row
}

// places are problems as JSON, all keys always there; 0 is an unknown place.
func places(list []diag.Problem) []any {
	out := []any{}
	for _, p := range list {
		out = append(out, map[string]any{"file": p.File, "line": p.Line, "col": p.Col, "path": p.Path, "message": p.Message, "hint": p.Hint, "code": p.IssueCode})
	}
	return out
}

// knownIDs says which ids can_spawn may name: the registry's and those of the
// same text. there are the registry's alone; where it cannot be read, every
// id is known, which leaves the warning out.
func (s *server) knownIDs(items []load.Item) (known func(string) bool, there map[string]bool) {
	ids, err := s.Ops.Registry.IDs()
	there = make(map[string]bool, len(ids))
	for _, id := range ids {
		there[id] = true
	}
	return func(id string) bool {
		return err != nil || there[id] || slices.ContainsFunc(items, func(it load.Item) bool { return it.ID == id })
	}, there
}

// importText stores the personas of a text: none where one of them is not
// valid, else each on its own, as larva register does.
func importText(s *server, c *call) (any, error) {
	in, err := c.importRequest("variant", "update")
	if err != nil {
		return nil, err
	}
	if s.Ops.Writable != nil {
		if err := s.Ops.Writable("register"); err != nil {
			return nil, err
		}
	}
	items, err := s.items(c.r.Context(), in)
	if err != nil {
		return nil, err
	}
	if err := refuseBad(items, in); err != nil {
		return nil, err
	}
	rows, failed := []any{}, 0
	for i := range items {
		row := c.store(&items[i], in)
		if row["error"] != nil {
			failed++
		}
		rows = append(rows, row)
	}
	return map[string]any{"personas": rows, "failed": failed}, nil
}

// refuseBad gives the first fault of a text as the error of the whole. The
// problems of all stand in its details.
func refuseBad(items []load.Item, in importRequest) error {
	if len(items) == 0 {
		return diag.New(diag.InvalidInput, "the text holds no persona").With("field", "text")
	}
	for i := range items {
		if items[i].Source != nil && in.variant != "" {
			return diag.New(diag.InvalidInput, "a persona source names its own variants").With("field", "variant")
		}
	}
	var first *diag.Error
	problems := []any{}
	for i := range items {
		if e := items[i].Err(); e != nil {
			problems = append(problems, places(e.Problems)...)
			if first == nil {
				first = e
			}
		}
	}
	if first == nil {
		return nil
	}
	return first.With("problems", problems)
}

// store stores one persona and says what came of it: {id, change} with
// created, updated, unchanged or registered (a variant of a flat spec), or
// {id, error, diffs}.
func (c *call) store(it *load.Item, in importRequest) map[string]any {
	row := map[string]any{"id": it.ID}
	if it.Source == nil {
		p := object("spec", it.Flat)
		if in.variant != "" {
			p.Set("variant", in.variant)
		}
		if _, err := c.do("register", p); err != nil {
			row["error"] = envelope(diag.As(err))
			return row
		}
		row["change"] = "registered"
		return row
	}
	change, diffs, err := c.ops.Registry.Put(it.Source, registry.PutOptions{Update: in.update})
	if err != nil {
		row["error"] = envelope(diag.As(err))
		changes := []any{}
		for _, d := range diffs {
			changes = append(changes, map[string]any{"field": d.Field, "old": d.Old, "new": d.New})
		}
		row["diffs"] = changes
		return row
	}
	row["change"] = string(change)
	return row
}
