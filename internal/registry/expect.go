package registry

import (
	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/spec"
)

// Expect gives a registry whose writes happen only while the spec that the
// caller saw is still the stored one, which is what If-Match asks for. It is
// looked at under the lock and before anything is written. The spec is:
//
//   - where a variant is named (update, activate, delete of a variant), that
//     variant's own; for Register the one that it writes, default unless named;
//   - otherwise (update, delete of a persona) the active variant's.
//
// digest is its spec_digest; "" means that there must be none, which keeps
// Register from replacing anything. Where it is another one, or gone, the
// error is STALE_WRITE {persona_id, variant?, expected, actual}; expected and
// actual are null for no spec at all. A stored persona that cannot be read is
// REGISTRY_CORRUPT.
//
// Clone, Put, UpdateWhere and Clear write no one spec that the caller saw and
// refuse an expectation with INVALID_INPUT. Reading is as ever.
func (r *Registry) Expect(digest string) *Registry {
	other := *r
	other.expected = &digest
	return &other
}

// asExpected compares what stands at a persona's variant, "" for the active
// one, with what the caller expects.
func (w *writer) asExpected(id, variant string) error {
	if w.expected == nil {
		return nil
	}
	s, err := w.load(id, variant)
	if is(err, diag.PersonaNotFound) || is(err, diag.VariantNotFound) {
		return w.compare(id, variant, "")
	}
	if err != nil {
		return err
	}
	return w.compare(id, variant, spec.Digest(s.flat()))
}

// compare is STALE_WRITE where actual, "" for no spec, is not what the caller
// expects.
func (r *Registry) compare(id, variant, actual string) error {
	if r.expected == nil || *r.expected == actual {
		return nil
	}
	what := "persona " + id
	if variant != "" {
		what += ", variant " + variant + ","
	}
	e := diag.New(diag.StaleWrite, "%s has changed since it was read; nothing was written", what)
	switch {
	case actual == "":
		e.Message = what + " is gone since it was read; nothing was written"
	case *r.expected == "":
		e.Message = what + " is there already; nothing was written"
	}
	if variant != "" {
		e.With("variant", variant)
	}
	return e.With("persona_id", id).With("expected", orNull(*r.expected)).With("actual", orNull(actual)).
		WithHint("read it again, merge your change into what is there now, and write with the new spec_digest")
}

// noExpectation refuses an expectation where it would mean nothing.
func (r *Registry) noExpectation(operation string) error {
	if r.expected == nil {
		return nil
	}
	return diag.New(diag.InvalidInput, "%s changes no one spec that an expected digest could be about", operation).
		With("operation", operation).With("field", "if_match")
}
