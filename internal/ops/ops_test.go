package ops

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/registry"
	"larva.dev/larva/internal/spec"
)

type success struct{ name, op, params, want string }

// successes are the results of every operation on harbour.
func successes(t testing.TB) []success {
	summary := func(text string) string {
		o := object(t, text)
		caps, _ := o.Get("capabilities")
		return canon(map[string]any{"id": o.String("id"), "description": o.String("description"), "model": o.String("model"),
			"capabilities": caps, "spec_digest": spec.Digest(o)})
	}
	return []success{
		{"valid", "validate", `{"spec":` + clerk + `}`, `{"valid":true,"errors":[],"warnings":[]}`},
		{"resolve", "resolve", `{"id":"tide-clerk"}`, proved(t, clerk)},
		{"resolve, nulls", "resolve", `{"id":"tide-clerk","overrides":null,"variant":null}`, proved(t, clerk)},
		{"resolve a variant", "resolve", `{"id":"tide-clerk","variant":"terse"}`, proved(t, clerkTerse)},
		{"resolve with overrides", "resolve", `{"id":"tide-clerk","overrides":{"model":"x","model_params":{"top_p":1.0}}}`,
			proved(t, with(t, clerk, "model", "x", "model_params", object(t, `{"top_p":1.0}`)))},
		{"register anew", "register", `{"spec":` + with(t, scout, "id", "new-scout") + `}`, `{"id":"new-scout","registered":true}`},
		{"register a variant", "register", `{"spec":` + clerk + `,"variant":"long"}`, `{"id":"tide-clerk","registered":true}`},
		{"list", "list", `{}`, `[` + summary(scout) + `,` + summary(clerk) + `]`},
		{"variant_list", "variant_list", `{"id":"tide-clerk"}`, `{"id":"tide-clerk","active":"default","variants":["default","terse"]}`},
		{"variant_activate", "variant_activate", `{"id":"tide-clerk","variant":"terse"}`, `{"id":"tide-clerk","active":"terse"}`},
		{"variant_delete", "variant_delete", `{"id":"tide-clerk","variant":"terse"}`, `{"id":"tide-clerk","variant":"terse","deleted":true}`},
		{"delete", "delete", `{"id":"reef-scout"}`, `{"id":"reef-scout","deleted":true}`},
		{"clear", "clear", `{"confirm":"CLEAR REGISTRY"}`, `{"cleared":true,"count":2}`},
		{"clone", "clone", `{"source_id":"tide-clerk","new_id":"copy"}`, proved(t, with(t, clerk, "id", "copy"))},
		{"export all", "export", `{"all":true}`, `[` + proved(t, scout) + `,` + proved(t, clerk) + `]`},
		{"export ids", "export", `{"ids":["tide-clerk","reef-scout","tide-clerk"]}`, `[` + proved(t, clerk) + `,` + proved(t, scout) + `,` + proved(t, clerk) + `]`},
		{"export no ids", "export", `{"ids":[]}`, `[]`},
		{"export ids, all: false", "export", `{"all":false,"ids":["tide-clerk"]}`, `[` + proved(t, clerk) + `]`},
		{"export all, ids: null", "export", `{"all":true,"ids":null}`, `[` + proved(t, scout) + `,` + proved(t, clerk) + `]`},
		{"update", "update", `{"id":"tide-clerk","patches":{"model":"x"}}`, proved(t, with(t, clerk, "model", "x"))},
		{"update a variant", "update", `{"id":"tide-clerk","patches":{"model_params.temperature":1},"variant":"terse"}`,
			proved(t, with(t, clerkTerse, "model_params", object(t, `{"temperature":1,"top_k":4}`)))},
		{"update nothing", "update", `{"id":"tide-clerk","patches":{}}`, proved(t, clerk)},
		{"update_batch", "update_batch", `{"where":{"model":"acme/gamma-2"},"patches":{"model":"x"}}`,
			`{"items":[{"id":"tide-clerk","updated":true}],"matched":1,"updated":1}`},
		{"update_batch, dry", "update_batch", `{"where":{},"patches":{"model":"x"},"dry_run":true}`,
			`{"items":[{"id":"reef-scout","updated":false},{"id":"tide-clerk","updated":false}],"matched":2,"updated":0}`},
	}
}

func TestResults(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, c := range successes(t) {
		seen[c.op] = true
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := harbour(t)
			before := tree(t, s.Registry.Root())
			v, err := s.Do(context.Background(), c.op, object(t, c.params))
			if err != nil {
				t.Fatal(err)
			}
			if got, want := canon(v), sorted(t, c.want); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			o, _ := Find(c.op)
			fits(t, o, v)
			if o.ReadOnly && tree(t, s.Registry.Root()) != before {
				t.Errorf("%s is read-only and has changed the registry", c.op)
			}
		})
	}
	if len(seen) != len(Operations()) {
		t.Errorf("got results of %d operations, want all %d", len(seen), len(Operations()))
	}
}

// An empty registry, and one that does not exist, answer too.
func TestResultsOfNothing(t *testing.T) {
	t.Parallel()
	for _, c := range []success{
		{"", "list", "", `[]`},
		{"", "export", `{"all":true}`, `[]`},
		{"", "clear", `{"confirm":"CLEAR REGISTRY"}`, `{"cleared":true,"count":0}`},
		{"", "update_batch", `{"where":{},"patches":{"model":"x"}}`, `{"items":[],"matched":0,"updated":0}`},
	} {
		var p *spec.Object
		if c.params != "" {
			p = object(t, c.params)
		}
		root := filepath.Join(t.TempDir(), "none")
		v, err := (&Service{Registry: registry.Open(root)}).Do(context.Background(), c.op, p)
		if err != nil {
			t.Fatal(err)
		}
		if got := canon(v); got != sorted(t, c.want) {
			t.Errorf("%s: got %s, want %s", c.op, got, c.want)
		}
		o, _ := Find(c.op)
		fits(t, o, v)
		if _, err := os.Stat(root); err == nil {
			t.Errorf("%s has made the registry's directory", c.op)
		}
	}
}

// validate reports on whatever it is given.
func TestValidateReportsOnAnything(t *testing.T) {
	t.Parallel()
	s := harbour(t)
	for params, want := range map[string]string{
		`{"spec":{}}`:      "MISSING_REQUIRED_FIELD",
		`{"spec":null}`:    "INVALID_FIELD_TYPE",
		`{"spec":[1]}`:     "INVALID_FIELD_TYPE",
		`{"spec":"text"}`:  "INVALID_FIELD_TYPE",
		`{"spec":1e3}`:     "INVALID_FIELD_TYPE",
		`{"spec":{"x":1}}`: "EXTRA_FIELD_NOT_ALLOWED",
		`{"spec":` + with(t, clerk, "prompt", 1) + `}`:                                        "INVALID_FIELD_TYPE",
		`{"spec":` + with(t, clerk, "variant", "x") + `}`:                                     "EXTRA_FIELD_NOT_ALLOWED",
		`{"spec":` + with(t, clerk, "can_spawn", spec.Number("1")) + `}`:                      "INVALID_CAN_SPAWN",
		`{"spec":` + with(t, clerk, "capabilities", object(t, `{"shell":"all of it"}`)) + `}`: "INVALID_POSTURE",
	} {
		v, err := s.Do(context.Background(), "validate", object(t, params))
		if err != nil {
			t.Errorf("%s: got %v, want a report", params, err)
			continue
		}
		r := v.(spec.Report)
		if r.Valid || !slices.ContainsFunc(r.Errors, func(i spec.Issue) bool { return i.Code == want }) {
			t.Errorf("%s: got %s, want %s in it", params, canon(v), want)
		}
		o, _ := Find("validate")
		fits(t, o, v)
	}
	v, err := s.Do(context.Background(), "validate", object(t, `{"spec":`+with(t, clerk, "can_spawn", []any{"nobody", "reef-scout"})+`}`))
	if err != nil {
		t.Fatal(err)
	}
	if w := v.(spec.Report).Warnings; len(w) != 1 || !strings.Contains(w[0], "nobody") || strings.Contains(w[0], "reef-scout") {
		t.Errorf("got warnings %q, want one about nobody", w)
	}
}

func TestHints(t *testing.T) {
	t.Parallel()
	var got []string
	for _, o := range Operations() {
		word := "destructive"
		switch {
		case o.ReadOnly && o.Destructive || !o.Idempotent:
			word = "odd"
		case o.ReadOnly:
			word = "reads"
		case !o.Destructive:
			word = "adds"
		}
		got = append(got, o.Name+" "+word)
		if o.Title == "" || len(o.Description) < 60 || len(o.Description) > 700 {
			t.Errorf("%s: got a description of %d characters and the title %q", o.Name, len(o.Description), o.Title)
		}
	}
	want := []string{"validate reads", "resolve reads", "register destructive", "list reads", "variant_list reads",
		"variant_activate destructive", "variant_delete destructive", "delete destructive", "clear destructive", "clone adds",
		"export reads", "update destructive", "update_batch destructive"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// Every operation that writes asks first, and the others never do.
func TestWritable(t *testing.T) {
	t.Parallel()
	refused := diag.New(diag.Nested, "no")
	for _, c := range successes(t) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := harbour(t)
			before := tree(t, s.Registry.Root())
			var asked []string
			s.Writable = func(name string) error { asked = append(asked, name); return refused }
			_, err := s.Do(context.Background(), c.op, object(t, c.params))
			o, _ := Find(c.op)
			if o.ReadOnly || strings.Contains(c.params, "dry_run") {
				if err != nil || len(asked) > 0 {
					t.Errorf("got %v after asking %q, want success unasked", err, asked)
				}
				return
			}
			code(t, err, diag.Nested, "")
			if !slices.Equal(asked, []string{c.op}) {
				t.Errorf("got asked for %q, want %s", asked, c.op)
			}
			if tree(t, s.Registry.Root()) != before {
				t.Error("a refused operation changed the registry")
			}
		})
	}
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	s := harbour(t)
	before := tree(t, s.Registry.Root())
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range successes(t) {
		_, err := s.Do(ctx, c.op, object(t, c.params))
		code(t, err, diag.Interrupted, "")
	}
	if tree(t, s.Registry.Root()) != before {
		t.Error("a cancelled operation changed the registry")
	}
}

// once is a context that ends after it was looked at n times.
type once struct {
	context.Context
	left int
}

func (o *once) Err() error {
	if o.left--; o.left < 0 {
		return context.Canceled
	}
	return nil
}

// Reading many personas ends soon after its caller has gone.
func TestCancelledOnTheWay(t *testing.T) {
	t.Parallel()
	s := harbour(t)
	for _, op := range []string{"list", "export"} {
		p := `{}`
		if op == "export" {
			p = `{"all":true}`
		}
		_, err := s.Do(&once{context.Background(), 2}, op, object(t, p))
		code(t, err, diag.Interrupted, "")
	}
}

func TestIf(t *testing.T) {
	t.Parallel()
	s := harbour(t)
	p := object(t, `{"id":"tide-clerk","patches":{"model":"x"}}`)
	_, err := s.If("sha256:0").Do(context.Background(), "update", p)
	code(t, err, diag.StaleWrite, `{"persona_id":"tide-clerk","expected":"sha256:0","actual":"`+digest(t, clerk)+`"}`)
	if _, err := s.If(digest(t, clerk)).Do(context.Background(), "update", p); err != nil {
		t.Error(err)
	}
	for op, p := range map[string]string{"clear": `{"confirm":"CLEAR REGISTRY"}`, "update_batch": `{"where":{},"patches":{}}`,
		"clone": `{"source_id":"tide-clerk","new_id":"copy"}`} {
		_, err := s.If(digest(t, clerk)).Do(context.Background(), op, object(t, p))
		code(t, err, diag.InvalidInput, `{"operation":"`+op+`","field":"if_match"}`)
	}
	if _, err := s.Do(context.Background(), "update", p); err != nil {
		t.Errorf("got %v, want the service itself unconditional", err)
	}
}
