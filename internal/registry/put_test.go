package registry

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/spec"
)

func TestPut(t *testing.T) {
	t.Parallel()
	for name, with := range map[string]func(a, b string) error{"exchange": exchange, "two renames": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := Open(filepath.Join(t.TempDir(), "registry"))
			r.exchange = with
			put := func(s *spec.Source, o PutOptions, want Change, fields ...string) {
				t.Helper()
				got, diffs, err := r.Put(s, o)
				if err != nil || got != want {
					t.Fatalf("got %q, %v, want %q", got, err, want)
				}
				var changed []string
				for _, d := range diffs {
					changed = append(changed, d.Field)
				}
				if diff := cmp.Diff(fields, changed); diff != "" {
					t.Errorf("got +, want -:\n%s", diff)
				}
				info, err := r.VariantList(s.ID)
				if err != nil || info.Active != s.Active || len(info.Variants) != len(s.Variants) {
					t.Errorf("got %v, %v, want what the source says", info, err)
				}
				for _, v := range s.Variants {
					want, _ := s.Spec(v.Name)
					o, err := r.Resolve(s.ID, v.Name, nil)
					if err != nil || o.String("spec_digest") != spec.Digest(want) {
						t.Errorf("got %v, %v, want %v", canon(o), err, canon(want))
					}
				}
			}
			put(source(t, "kelp", 1, "a", "a", "b"), PutOptions{}, Created)
			before := snapshot(t, r.root)
			put(source(t, "kelp", 1, "a", "b", "a"), PutOptions{}, Unchanged)
			if diff := cmp.Diff(before, snapshot(t, r.root)); diff != "" {
				t.Errorf("got changes on disk, want none:\n%s", diff)
			}
			put(source(t, "kelp", 1, "c", "b", "c"), PutOptions{}, Updated)
			put(source(t, "kelp", 1, "b", "b", "c"), PutOptions{}, Updated)
			before = snapshot(t, r.root)
			for _, o := range []PutOptions{{}, {Confirm: func([]FieldDiff) bool { return false }}} {
				_, diffs, err := r.Put(source(t, "kelp", 2, "b", "b"), o)
				code(t, err, diag.BaseContractMismatch, `{"id":"kelp","mismatched_fields":["description"]}`)
				if diff := cmp.Diff([]FieldDiff{{"description", "version 1", "version 2"}}, diffs); diff != "" {
					t.Errorf("got +, want -:\n%s", diff)
				}
			}
			if diff := cmp.Diff(before, snapshot(t, r.root)); diff != "" {
				t.Errorf("got changes on disk, want none:\n%s", diff)
			}
			put(source(t, "kelp", 2, "b", "b"), PutOptions{Update: true}, Updated, "description")
			s := source(t, "kelp", 2, "b", "b")
			s.Contract.Set("can_spawn", false)
			put(s, PutOptions{Confirm: func(d []FieldDiff) bool { return len(d) == 1 && d[0].Old == nil && d[0].New == false }}, Updated, "can_spawn")
			if got := snapshot(t, r.aside()); len(got) > 0 {
				t.Errorf("got leftovers %v, want none", got)
			}
		})
	}
}

// The answer is for the contract that was shown: when another writer changes
// it meanwhile, the person is asked again.
func TestPutAsksAgainWhenTheContractMoves(t *testing.T) {
	t.Parallel()
	r := Open(t.TempDir())
	if _, _, err := r.Put(source(t, "kelp", 1, "a", "a"), PutOptions{}); err != nil {
		t.Fatal(err)
	}
	var asked []any
	_, _, err := r.Put(source(t, "kelp", 9, "a", "a"), PutOptions{Confirm: func(d []FieldDiff) bool {
		asked = append(asked, d[0].Old)
		if len(asked) == 1 {
			if _, err := r.Update("kelp", object(t, `{"description":"another hand"}`), ""); err != nil {
				t.Error(err)
			}
		}
		return true
	}})
	if diff := cmp.Diff([]any{"version 1", "another hand"}, asked); err != nil || diff != "" {
		t.Errorf("got error %v, asked %v", err, asked)
	}
}

func TestPutRefuses(t *testing.T) {
	t.Parallel()
	r := Open(t.TempDir())
	for name, c := range map[string]struct {
		change func(*spec.Source)
		code   diag.Code
	}{
		"active is missing":  {func(s *spec.Source) { s.Active = "c" }, diag.VariantNotFound},
		"bad variant":        {func(s *spec.Source) { s.Variants[0].Name = "A" }, diag.InvalidVariantName},
		"twice the same":     {func(s *spec.Source) { s.Variants[1].Name = "a" }, diag.InvalidInput},
		"bad id":             {func(s *spec.Source) { s.ID = "../x" }, diag.InvalidPersonaID},
		"another id":         {func(s *spec.Source) { s.ID = "other" }, diag.PersonaIDMismatch},
		"invalid variant":    {func(s *spec.Source) { s.Variants[1].Implementation.Set("model", "") }, diag.PersonaInvalid},
		"unknown field":      {func(s *spec.Source) { s.Variants[1].Implementation.Set("tools", true) }, diag.PersonaInvalid},
		"unknown contract":   {func(s *spec.Source) { s.Contract.Set("zeta", true) }, diag.PersonaInvalid},
		"text not in UTF-8":  {func(s *spec.Source) { s.Variants[1].Implementation.Set("prompt", "\xc0") }, diag.InvalidInput},
		"no variants at all": {func(s *spec.Source) { s.Variants = nil }, diag.VariantNotFound},
	} {
		s := source(t, "kelp", 1, "a", "a", "b")
		c.change(s)
		_, _, err := r.Put(s, PutOptions{Update: true})
		if err == nil {
			t.Errorf("%s: got no error", name)
			continue
		}
		code(t, err, c.code, "")
	}
	if got := snapshot(t, r.root); len(got) > 0 {
		t.Errorf("got %v on disk, want nothing", got)
	}
}
