package registry

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/spec"
)

// 24 updates of one persona, half of them from other processes, each with a
// key of its own: all 24 survive.
func TestParallelUpdates(t *testing.T) {
	t.Parallel()
	r := harbour(t)
	var wg sync.WaitGroup
	for i := range 24 {
		key := fmt.Sprintf("model_params.k%d", i)
		if i%2 == 0 {
			cmd, _ := start(t, "set", r.root, "tide-clerk", key)
			wg.Go(func() {
				if err := cmd.Wait(); err != nil {
					t.Error(err)
				}
			})
			continue
		}
		wg.Go(func() {
			if _, err := Open(r.root).Update("tide-clerk", &spec.Object{Members: []spec.Member{{Key: key, Value: spec.Number("1")}}}, ""); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	o, err := r.Resolve("tide-clerk", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := len(mustGet(t, o, "model_params").(*spec.Object).Members); got != 24 {
		t.Errorf("got %d keys, want 24: %s", got, canon(o))
	}
}

// A write falls into each gap of a read: before the manifest is opened, before
// the contract, before the variant. The reader gives the state before the
// write or the one after it.
func TestWriteInsideARead(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(r *Registry) error{
		"put": func(r *Registry) error { return swapKelp(r, 1) },
		"put, then delete the old active one": func(r *Registry) error {
			s := churned("kelp", 3)
			s.Active, s.Variants = "c", s.Variants[1:]
			return third(r.Put(s, PutOptions{Update: true}))
		},
		"activate and delete": func(r *Registry) error {
			return errors.Join(r.VariantActivate("kelp", "a"), r.VariantDelete("kelp", "b"))
		},
		"contract and prompt": func(r *Registry) error {
			return errors.Join(second(r.Update("kelp", &spec.Object{Members: []spec.Member{{Key: "prompt", Value: "version 2"}, {Key: "model", Value: "new"}}}, "")),
				second(r.Update("kelp", &spec.Object{Members: []spec.Member{{Key: "capabilities.git", Value: "none"}}}, "")))
		},
		"delete and register": func(r *Registry) error { return errors.Join(r.Delete("kelp"), step(r, "kelp", 1)) },
	} {
		for gap := 1; gap <= 3; gap++ {
			for _, variant := range []string{"", "b"} {
				t.Run(fmt.Sprintf("%s, gap %d, variant %q", name, gap, variant), func(t *testing.T) {
					t.Parallel()
					r := Open(t.TempDir())
					if _, _, err := r.Put(churned("kelp", 2), PutOptions{}); err != nil {
						t.Fatal(err)
					}
					before, err := r.Resolve("kelp", variant, nil)
					if err != nil {
						t.Fatal(err)
					}
					opens := 0
					r.fault = func(step, path string) error {
						if opens++; opens == gap {
							return write(Open(r.root))
						}
						return nil
					}
					got, err := r.Resolve("kelp", variant, nil)
					r.fault = nil
					after, errAfter := r.Resolve("kelp", variant, nil)
					switch {
					case err != nil && (errAfter == nil || diag.As(err).Code != diag.As(errAfter).Code):
						t.Errorf("got %v, want an answer", err)
					case err == nil && canon(got) != canon(before) && (errAfter != nil || canon(got) != canon(after)):
						t.Errorf("got a mix %s of %s and %s", canon(got), canon(before), canon(after))
					}
				})
			}
		}
	}
}

func third(_ Change, _ []FieldDiff, err error) error { return err }

// Parallel registrations of different variants and of new personas all survive.
func TestParallelRegisters(t *testing.T) {
	t.Parallel()
	r := harbour(t)
	var wg sync.WaitGroup
	for i := range 12 {
		wg.Go(func() {
			if _, err := r.Register(object(t, clerk), "v"+strconv.Itoa(i)); err != nil {
				t.Error(err)
			}
		})
		wg.Go(func() {
			if _, err := r.Register(with(t, clerk, "id", "same"), "v"+strconv.Itoa(i)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for id, want := range map[string]int{"tide-clerk": 14, "same": 12} {
		if info, err := r.VariantList(id); err != nil || len(info.Variants) != want {
			t.Errorf("%s: got %v, %v, want %d variants", id, info, err, want)
		}
	}
}

// Readers look while writers activate, delete, replace, swap and update: no
// reader may see a broken persona or a mix of two states, and one that is
// never deleted is never missing.
func TestReadersAmongWriters(t *testing.T) {
	t.Parallel()
	for name, way := range map[string]func(a, b string) error{"exchange": exchange, "two renames": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := Open(filepath.Join(t.TempDir(), "registry"))
			r.exchange = way
			if _, _, err := r.Put(churned("kelp", 2), PutOptions{}); err != nil {
				t.Fatal(err)
			}
			register(t, r, clerk, "")
			var readers, writers sync.WaitGroup
			var over atomic.Bool
			var reads atomic.Int64
			for range 2 {
				readers.Go(func() {
					for !over.Load() && !t.Failed() {
						look(t, r)
						reads.Add(1)
					}
				})
			}
			readers.Go(func() { // asks for the lock, and so goes slower than the others
				for !over.Load() && !t.Failed() {
					if d, err := r.Doctor(false); err != nil || len(d.Issues) > 0 {
						t.Errorf("doctor: got %v, %v, want no issues", d.Issues, err)
					}
				}
			})
			const rounds = 20
			writers.Go(func() { repeat(t, rounds, func(i int) error { return swapKelp(r, i) }) })
			writers.Go(func() { repeat(t, rounds, func(i int) error { return turnClerk(t, r, i) }) })
			writers.Go(func() { repeat(t, rounds, func(i int) error { return comeAndGo(t, r) }) })
			writers.Wait()
			over.Store(true)
			readers.Wait()
			t.Logf("%d reads among %d writes", reads.Load(), 3*rounds)
			if reads.Load() < 10 {
				t.Errorf("got %d reads, want more to have happened", reads.Load())
			}
		})
	}
}

func repeat(t *testing.T, n int, do func(i int) error) {
	for i := range n {
		if err := do(i); err != nil && !t.Failed() {
			t.Error(err)
		}
	}
}

// look reads everything once. tide-clerk's model names its variant's prompt.
func look(t *testing.T, r *Registry) {
	sound := func(o *spec.Object) error {
		switch o.String("id") {
		case "kelp", "wrack":
			_, err := version(o)
			return err
		case "tide-clerk":
			if p, m := o.String("prompt"), o.String("model"); p != "for "+m && p != "Record each tide in order." {
				return fmt.Errorf("a mix: %s", canon(o))
			}
		}
		return nil
	}
	for _, id := range []string{"kelp", "tide-clerk", "wrack"} {
		o, err := r.Resolve(id, "", nil)
		if id == "wrack" && is(err, diag.PersonaNotFound) {
			continue
		}
		if err == nil {
			err = sound(o)
		}
		if err != nil {
			t.Errorf("resolve %s: %v", id, err)
		}
	}
	seen := map[string]bool{}
	if err := r.Export(nil, func(o *spec.Object) error { seen[o.String("id")] = true; return sound(o) }); err != nil {
		t.Errorf("export: %v", err)
	}
	if !seen["tide-clerk"] || !seen["kelp"] && r.exchange != nil {
		t.Errorf("export: got %v, want kelp and tide-clerk", seen)
	}
	info, err := r.VariantList("kelp")
	if want := []string{"a", "b"}; err != nil || !slices.Equal(info.Variants, want) && !slices.Equal(info.Variants, []string{"b", "c"}) || info.Active != "b" {
		t.Errorf("variant list: got %v, %v", info, err)
	}
	if _, err := r.VariantList("tide-clerk"); err != nil {
		t.Errorf("variant list: %v", err)
	}
	if o, err := r.Resolve("kelp", "b", nil); err != nil {
		t.Errorf("resolve kelp b: %v", err)
	} else if err := sound(o); err != nil {
		t.Errorf("resolve kelp b: %v", err)
	}
}

// swapKelp replaces the whole persona: other variants, contract and prompts.
func swapKelp(r *Registry, i int) error {
	_, _, err := r.Put(churned("kelp", 2+i%2), PutOptions{Update: true})
	return err
}

// turnClerk adds a variant, makes it active, patches it, and removes it after
// going back.
func turnClerk(t *testing.T, r *Registry, i int) error {
	name := "v" + strconv.Itoa(i%3)
	_, err := r.Register(with(t, clerk, "model", name, "prompt", "for "+name), name)
	return errors.Join(err, r.VariantActivate("tide-clerk", name),
		second(r.Update("tide-clerk", object(t, fmt.Sprintf(`{"model":"m%d","prompt":"for m%[1]d"}`, i)), "")),
		r.VariantActivate("tide-clerk", "default"), r.VariantDelete("tide-clerk", name))
}

func second(_ *spec.Object, err error) error { return err }

// comeAndGo registers a persona and deletes it.
func comeAndGo(t *testing.T, r *Registry) error {
	if err := step(r, "wrack", 1); err != nil {
		return err
	}
	return r.Delete("wrack")
}
