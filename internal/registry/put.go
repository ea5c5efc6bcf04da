package registry

import (
	"errors"
	"slices"
	"strings"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/spec"
)

// Change says what Put did.
type Change string

// What Put can have done.
const (
	Created   Change = "created"
	Updated   Change = "updated"
	Unchanged Change = "unchanged"
)

// FieldDiff is one contract field before and after. An absent side is nil; a
// contract holds no null.
type FieldDiff struct {
	Field    string
	Old, New any
}

// PutOptions say what may happen to a contract that differs.
type PutOptions struct {
	Update bool // change it without asking
	// Confirm is asked otherwise, without the lock held; it may take its time
	// and may be asked again if the contract has changed meanwhile. nil is no.
	Confirm func([]FieldDiff) bool
}

// Put makes the stored persona equal to the source: contract, all variants,
// those that the source no longer has removed, and the active one, in one
// step. An equal persona is not written. A contract that differs needs the
// options' yes, else BASE_CONTRACT_MISMATCH {id, mismatched_fields}; its
// differences are given in either case.
func (r *Registry) Put(s *spec.Source, o PutOptions) (Change, []FieldDiff, error) {
	if err := r.noExpectation("put"); err != nil {
		return "", nil, err
	}
	p, err := fromSource(s)
	if err != nil {
		return "", nil, err
	}
	var agreed []FieldDiff
	for {
		change, diffs, err := r.put(s.ID, p, func(diffs []FieldDiff) bool { return o.Update || sameDiffs(agreed, diffs) })
		if !errors.Is(err, errAsk) {
			return change, diffs, err
		}
		if o.Confirm == nil || !o.Confirm(diffs) {
			return "", diffs, refused(s.ID, diffs)
		}
		agreed = diffs
	}
}

var errAsk = errors.New("the contract differs")

func refused(id string, diffs []FieldDiff) error {
	fields := []string{}
	for _, d := range diffs {
		fields = append(fields, d.Field)
	}
	return contractMismatch(id, fields).With("id", id).
		WithHint("larva register --update changes the stored contract to what the source says")
}

func (r *Registry) put(id string, p *persona, may func([]FieldDiff) bool) (change Change, diffs []FieldDiff, err error) {
	err = r.write(diag.RegistryWriteFailed, id, func(w *writer) error {
		there, err := w.occupied(id)
		if err != nil {
			return err
		}
		if !there {
			change = Created
			return w.putPersona(id, p, false)
		}
		old, err := w.whole(id)
		if err != nil {
			return err
		}
		diffs = differences(old.contract, p.contract)
		if len(diffs) > 0 && !may(diffs) {
			return errAsk
		}
		if len(diffs) == 0 && old.equal(p) {
			change = Unchanged
			return nil
		}
		change = Updated
		return w.putPersona(id, p, true)
	})
	if err != nil {
		return "", diffs, err
	}
	return change, diffs, nil
}

// whole reads everything that is stored of a persona.
func (w *writer) whole(id string) (*persona, error) {
	s, err := w.load(id, "")
	if err != nil {
		return nil, err
	}
	names, err := w.variantNames(id)
	if err != nil {
		return nil, err
	}
	p := &persona{contract: s.contract, active: s.active}
	for _, name := range names {
		o, err := w.readVariant(id, name)
		if err != nil {
			return nil, err
		}
		p.variants = append(p.variants, spec.Variant{Name: name, Implementation: o})
	}
	return p, nil
}

// equal compares all but the contract; both lists of variants are sorted.
func (p *persona) equal(q *persona) bool {
	return p.active == q.active && slices.EqualFunc(p.variants, q.variants, func(a, b spec.Variant) bool {
		return a.Name == b.Name && same(a.Implementation, b.Implementation)
	})
}

// fromSource checks a source as register does: every variant is a valid spec.
func fromSource(s *spec.Source) (*persona, error) {
	p := &persona{contract: pick(s.Contract, spec.ContractFields), active: s.Active}
	if !p.contract.Has("id") {
		p.contract.Set("id", s.ID)
	}
	if err := checkID(s.ID); err != nil {
		return nil, err
	}
	if got := p.contract.String("id"); got != s.ID {
		return nil, diag.New(diag.PersonaIDMismatch, "the source is called %s, its contract %q", s.ID, short(got)).
			With("field", "id").With("expected", s.ID).With("got", got)
	}
	for _, v := range s.Variants {
		if err := checkVariant(v.Name); err != nil {
			return nil, err
		}
		if err := checkSpec(join(s.Contract, v.Implementation)); err != nil {
			e := diag.As(err)
			e.Message = "variant " + v.Name + ": " + e.Message
			return nil, e
		}
		p.variants = append(p.variants, spec.Variant{Name: v.Name, Implementation: pick(v.Implementation, spec.ImplementationFields)})
	}
	slices.SortFunc(p.variants, func(a, b spec.Variant) int { return strings.Compare(a.Name, b.Name) })
	for i, v := range p.variants {
		if i > 0 && v.Name == p.variants[i-1].Name {
			return nil, diag.New(diag.InvalidInput, "persona %s has the variant %s twice", s.ID, v.Name)
		}
	}
	if !slices.ContainsFunc(p.variants, func(v spec.Variant) bool { return v.Name == s.Active }) {
		return nil, variantNotFound(s.ID, s.Active).WithHint("active must name one of the source's variants")
	}
	_, err := p.files(s.ID)
	return p, err
}

// differences compares two contracts field by field, in the stored order.
func differences(old, new *spec.Object) []FieldDiff {
	var list []FieldDiff
	for _, field := range spec.ContractFields {
		a, inOld := old.Get(field)
		b, inNew := new.Get(field)
		if inOld != inNew || !same(a, b) {
			list = append(list, FieldDiff{field, a, b})
		}
	}
	return list
}

func sameDiffs(a, b []FieldDiff) bool {
	return slices.EqualFunc(a, b, func(a, b FieldDiff) bool {
		return a.Field == b.Field && same(a.Old, b.Old) && same(a.New, b.New)
	})
}
