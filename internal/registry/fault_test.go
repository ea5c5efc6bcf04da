package registry

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/spec"
)

// operation is one write, for tests that break it at every step.
type operation struct {
	name string
	code diag.Code
	run  func(t *testing.T, r *Registry) error
}

func operations() []operation {
	return []operation{
		{"register new", diag.RegistryWriteFailed, func(t *testing.T, r *Registry) error {
			_, err := r.Register(with(t, clerk, "id", "fresh"), "")
			return err
		}},
		{"register a variant", diag.RegistryWriteFailed, func(t *testing.T, r *Registry) error {
			_, err := r.Register(with(t, clerk, "prompt", "other"), "")
			return err
		}},
		{"put new", diag.RegistryWriteFailed, func(t *testing.T, r *Registry) error {
			_, _, err := r.Put(source(t, "fresh", 1, "a", "a", "b"), PutOptions{})
			return err
		}},
		{"put over", diag.RegistryWriteFailed, func(t *testing.T, r *Registry) error {
			_, _, err := r.Put(source(t, "tide-clerk", 1, "a", "a", "b"), PutOptions{Update: true})
			return err
		}},
		{"update contract", diag.RegistryUpdateFailed, func(t *testing.T, r *Registry) error {
			_, err := r.Update("tide-clerk", object(t, `{"description":"Another one, long enough to pass."}`), "")
			return err
		}},
		{"update variant", diag.RegistryUpdateFailed, func(t *testing.T, r *Registry) error {
			_, err := r.Update("tide-clerk", object(t, `{"model_params.x":1}`), "terse")
			return err
		}},
		{"clone", diag.RegistryWriteFailed, func(t *testing.T, r *Registry) error { _, err := r.Clone("tide-clerk", "fresh"); return err }},
		{"activate", diag.RegistryWriteFailed, func(t *testing.T, r *Registry) error { return r.VariantActivate("tide-clerk", "terse") }},
		{"delete a variant", diag.RegistryDeleteFailed, func(t *testing.T, r *Registry) error { return r.VariantDelete("tide-clerk", "terse") }},
		{"delete", diag.RegistryDeleteFailed, func(t *testing.T, r *Registry) error { return r.Delete("tide-clerk") }},
	}
}

// Every step of every write fails once with a full disk. The error has the
// operation's code and a path; the registry is as before or, where only the
// last sync failed, as after; and nothing is left aside.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"exchange", "two renames"} {
		for _, op := range operations() {
			t.Run(op.name+" "+way, func(t *testing.T) {
				t.Parallel()
				after := harbour(t)
				if err := op.run(t, after); err != nil {
					t.Fatal(err)
				}
				want := relative(snapshot(t, after.root))
				steps := 0
				for n := 1; ; n++ {
					r := harbour(t)
					if way != "exchange" {
						r.exchange = nil
					}
					before := relative(snapshot(t, r.root))
					seen, failed := 0, ""
					r.fault = func(step, path string) error {
						if step == "open" {
							return nil // a read
						}
						if seen++; seen == n {
							failed = step
							return &pathError{step, path}
						}
						return nil
					}
					err := op.run(t, r)
					if failed == "" {
						if err != nil {
							t.Fatalf("step %d: got %v, want success without a fault", n, err)
						}
						break
					}
					steps++
					code(t, err, op.code, "")
					e := diag.As(err)
					if p, _ := e.Details["path"].(string); p == "" || !errors.Is(err, syscall.ENOSPC) || !strings.Contains(e.Message, "no space") {
						t.Errorf("step %d (%s): got %v with %v, want a path and the reason", n, failed, err, e.Details)
					}
					got := relative(snapshot(t, r.root))
					if diff := cmp.Diff(before, got); diff != "" && (failed != "syncdir" || cmp.Diff(want, got) != "") {
						t.Errorf("step %d (%s): got neither the state before nor after; before -, got +:\n%s", n, failed, diff)
					}
					if _, err := r.List(); err != nil {
						t.Errorf("step %d (%s): got %v, want a registry that reads", n, failed, err)
					}
					if left := snapshot(t, r.aside()); len(left) > 0 {
						t.Errorf("step %d (%s): got %v left aside", n, failed, left)
					}
				}
				if steps < 2 {
					t.Errorf("got %d steps, want the fault to be asked at each", steps)
				}
			})
		}
	}
}

type pathError struct{ step, path string }

func (e *pathError) Error() string { return syscall.ENOSPC.Error() }
func (e *pathError) Unwrap() error { return syscall.ENOSPC }

func relative(m map[string]string) map[string]string { return m }

// A batch that meets a full disk says how far it came.
func TestFullDiskInABatch(t *testing.T) {
	t.Parallel()
	r := harbour(t)
	writes := 0
	r.fault = func(step, path string) error {
		if step == "write" {
			if writes++; writes == 2 {
				return &pathError{step, path}
			}
		}
		return nil
	}
	_, err := r.UpdateWhere(nil, object(t, `{"model":"acme/n"}`), false)
	code(t, err, diag.RegistryUpdateFailed, fmt.Sprintf(`{"persona_id":"tide-clerk","path":%q}`, r.variant("tide-clerk", "default")))
	if h := diag.As(err).Hint; !strings.HasPrefix(h, "1 of 2 ") {
		t.Errorf("got hint %q, want it to say 1 of 2", h)
	}
	for id, want := range map[string]string{"reef-scout": "acme/n", "tide-clerk": "acme/gamma-2"} {
		if o, err := r.Resolve(id, "", nil); err != nil || o.String("model") != want {
			t.Errorf("%s: got %v, %v, want model %s", id, canon(o), err, want)
		}
	}
}

// Two renames that were cut between leave the persona aside; the next writer
// puts it back, and does not bring back one that was deleted.
func TestSwapCutInTheMiddle(t *testing.T) {
	t.Parallel()
	r := harbour(t)
	before := snapshot(t, r.dir("tide-clerk"))
	w := &writer{reader: reader{Registry: r}}
	if err := w.rename(r.dir("tide-clerk"), r.aside(swapPrefix+"tide-clerk")); err != nil {
		t.Fatal(err)
	}
	write(t, r.aside("new-tide-clerk-1", contractName), "{")
	write(t, r.aside("old-2", "reef-two", contractName), "{")
	if err := r.Delete("reef-scout"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, snapshot(t, r.dir("tide-clerk"))); diff != "" {
		t.Errorf("got +, want -:\n%s", diff)
	}
	if ids, err := r.IDs(); len(ids) != 1 || err != nil {
		t.Errorf("got %v, %v, want tide-clerk alone", ids, err)
	}
	if left := snapshot(t, r.aside()); len(left) > 0 {
		t.Errorf("got %v left aside, want nothing", left)
	}
}

// everyOperationFails wants a REGISTRY_* error with a path from each.
func everyOperationFails(t *testing.T, r *Registry) {
	t.Helper()
	_, list := r.List()
	_, resolve := r.Resolve("tide-clerk", "", nil)
	_, variants := r.VariantList("tide-clerk")
	_, batch := r.UpdateWhere(nil, object(t, `{"model":"m"}`), false)
	_, clear := r.Clear(ClearToken)
	_, clone := r.Clone("tide-clerk", "x")
	if d, err := r.Doctor(false); err != nil || len(d.Issues) != 1 || d.Issues[0].Code != diag.RegistrySpecReadFailed || d.Issues[0].Path != r.root {
		t.Errorf("doctor in %s: got %+v, %v, want the root as its one issue", filepath.Base(r.root), d.Issues, err)
	}
	errs := map[string]error{"list": list, "resolve": resolve, "variants": variants, "batch": batch, "clear": clear, "clone": clone,
		"export": r.Export(nil, func(*spec.Object) error { return nil })}
	for _, op := range operations() {
		errs[op.name] = op.run(t, r)
	}
	for name, err := range errs {
		e := diag.As(err)
		if e == nil {
			t.Errorf("%s in %s: got no error", name, filepath.Base(r.root))
			continue
		}
		if _, ok := e.Details["path"]; !ok || !strings.HasPrefix(string(e.Code), "REGISTRY_") {
			t.Errorf("%s: got %v with %v, want REGISTRY_* and a path", name, err, e.Details)
		}
	}
}
