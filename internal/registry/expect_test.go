package registry

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/spec"
)

const noDigest = "sha256:0000"

func digestOf(t *testing.T, r *Registry, id, variant string) string {
	t.Helper()
	o, err := r.Resolve(id, variant, nil)
	if err != nil {
		t.Fatal(err)
	}
	return o.String(spec.DigestField)
}

// writes are the operations that an expectation is about, each with the
// variant whose digest counts.
var writes = []struct {
	name, id, variant string
	named             bool // the error names the variant
	do                func(t *testing.T, r *Registry) error
}{
	{"update", "tide-clerk", "", false, func(t *testing.T, r *Registry) error {
		_, err := r.Update("tide-clerk", object(t, `{"model":"acme/new"}`), "")
		return err
	}},
	{"update the contract", "tide-clerk", "", false, func(t *testing.T, r *Registry) error {
		_, err := r.Update("tide-clerk", object(t, `{"description":"Keeps the tide tables of other harbours."}`), "")
		return err
	}},
	{"update nothing", "tide-clerk", "", false, func(t *testing.T, r *Registry) error {
		_, err := r.Update("tide-clerk", object(t, `{}`), "")
		return err
	}},
	{"update a variant", "tide-clerk", "terse", true, func(t *testing.T, r *Registry) error {
		_, err := r.Update("tide-clerk", object(t, `{"model":"acme/new"}`), "terse")
		return err
	}},
	{"register", "tide-clerk", "default", true, func(t *testing.T, r *Registry) error {
		_, err := r.Register(with(t, clerk, "model", "acme/new"), "")
		return err
	}},
	{"register a variant", "tide-clerk", "terse", true, func(t *testing.T, r *Registry) error {
		_, err := r.Register(with(t, clerk, "model", "acme/new"), "terse")
		return err
	}},
	{"activate", "tide-clerk", "terse", true, func(_ *testing.T, r *Registry) error { return r.VariantActivate("tide-clerk", "terse") }},
	{"delete a variant", "tide-clerk", "terse", true, func(_ *testing.T, r *Registry) error { return r.VariantDelete("tide-clerk", "terse") }},
	{"delete", "tide-clerk", "", false, func(_ *testing.T, r *Registry) error { return r.Delete("tide-clerk") }},
}

func TestExpect(t *testing.T) {
	t.Parallel()
	for _, c := range writes {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := harbour(t)
			actual := digestOf(t, r, c.id, c.variant)
			before := snapshot(t, r.Root())
			named := ""
			if c.named {
				named = `"variant":"` + c.variant + `",`
			}
			err := c.do(t, r.Expect(noDigest))
			code(t, err, diag.StaleWrite, `{"persona_id":"tide-clerk",`+named+`"expected":"`+noDigest+`","actual":"`+actual+`"}`)
			if hint := diag.As(err).Hint; !strings.Contains(hint, "merge") {
				t.Errorf("got hint %q, want one about merging", hint)
			}
			code(t, c.do(t, r.Expect("")), diag.StaleWrite, `{"persona_id":"tide-clerk",`+named+`"expected":null,"actual":"`+actual+`"}`)
			if after := snapshot(t, r.Root()); !maps.Equal(before, after) {
				t.Errorf("a refused write changed the registry:\ngot  %v\nwant %v", after, before)
			}
			if err := c.do(t, r.Expect(actual)); err != nil {
				t.Errorf("got %v, want success with the digest of now", err)
			}
		})
	}
}

func TestExpectGone(t *testing.T) {
	t.Parallel()
	for _, c := range writes {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, r := range []*Registry{Open(filepath.Join(t.TempDir(), "none")), harbour(t)} {
				if _, err := os.Stat(r.Root()); err == nil {
					if err := r.Delete("tide-clerk"); err != nil {
						t.Fatal(err)
					}
				}
				err := c.do(t, r.Expect(noDigest))
				e := diag.As(err)
				if e == nil || e.Code != diag.StaleWrite || e.Details["actual"] != nil || e.Details["expected"] != noDigest {
					t.Errorf("got %v, want STALE_WRITE with nothing there", err)
				}
				if _, err := os.Stat(filepath.Join(r.Root(), "tide-clerk")); !errors.Is(err, os.ErrNotExist) {
					t.Errorf("got %v, want no persona after a refused write", err)
				}
			}
		})
	}
}

// A variant that must not be there yet: two who create it cannot both win.
func TestExpectNothing(t *testing.T) {
	t.Parallel()
	r := harbour(t)
	if _, err := r.Expect("").Register(with(t, clerk, "model", "acme/long"), "long"); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(filepath.Join(t.TempDir(), "new")).Expect("").Register(object(t, clerk), ""); err != nil {
		t.Fatal(err)
	}
	err := r.Expect("").Delete("nobody")
	code(t, err, diag.PersonaNotFound, `{"persona_id":"nobody"}`)
	_, err = r.Expect("").Update("nobody", object(t, `{}`), "")
	code(t, err, diag.PersonaNotFound, `{"persona_id":"nobody"}`)
}

func TestExpectRefused(t *testing.T) {
	t.Parallel()
	r := harbour(t)
	before := snapshot(t, r.Root())
	e := r.Expect(digestOf(t, r, "tide-clerk", ""))
	_, err := e.Clone("tide-clerk", "copy")
	code(t, err, diag.InvalidInput, `{"operation":"clone","field":"if_match"}`)
	_, err = e.Clear(ClearToken)
	code(t, err, diag.InvalidInput, `{"operation":"clear","field":"if_match"}`)
	_, err = e.UpdateWhere(object(t, `{}`), object(t, `{"model":"acme/new"}`), false)
	code(t, err, diag.InvalidInput, `{"operation":"update_batch","field":"if_match"}`)
	_, _, err = e.Put(source(t, "tide-clerk", 2, "default", "default"), PutOptions{Update: true})
	code(t, err, diag.InvalidInput, `{"operation":"put","field":"if_match"}`)
	if after := snapshot(t, r.Root()); !maps.Equal(before, after) {
		t.Errorf("got %v, want %v", after, before)
	}
}

// A broken persona is no proof either way; only mending it without an
// expectation, or removing it, helps.
func TestExpectCorrupt(t *testing.T) {
	t.Parallel()
	r := harbour(t)
	write(t, r.manifest("tide-clerk"), "{")
	code(t, r.Expect(noDigest).Delete("tide-clerk"), diag.RegistryCorrupt, "")
	if err := r.Delete("tide-clerk"); err != nil {
		t.Error(err)
	}
}

// Many who read the same spec and write: one of them does.
func TestExpectOneWriterWins(t *testing.T) {
	t.Parallel()
	r := harbour(t)
	seen := digestOf(t, r, "tide-clerk", "")
	const writers = 12
	errs := make([]error, writers)
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			_, errs[i] = r.Expect(seen).Update("tide-clerk", object(t, `{"model":"acme/`+string(rune('a'+i))+`"}`), "")
		})
	}
	wg.Wait()
	won := 0
	for _, err := range errs {
		if err == nil {
			won++
			continue
		}
		if !is(err, diag.StaleWrite) {
			t.Errorf("got %v, want STALE_WRITE", err)
		}
	}
	if won != 1 {
		t.Errorf("got %d writers that won, want 1", won)
	}
}
