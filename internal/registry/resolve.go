package registry

import (
	"slices"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/spec"
)

// Resolve gives a persona's spec with its digest: the active variant's, or
// the named one's, for which the manifest need not be sound. overrides (nil:
// none) replaces whole implementation fields of the answer; nothing is stored.
// Errors: INVALID_PERSONA_ID, PERSONA_NOT_FOUND, INVALID_VARIANT_NAME,
// VARIANT_NOT_FOUND, REGISTRY_CORRUPT, PERSONA_INVALID, FORBIDDEN_OVERRIDE_FIELD.
func (r *Registry) Resolve(id, variant string, overrides *spec.Object) (*spec.Object, error) {
	rd := &reader{Registry: r}
	o, err := rd.flat(id, variant)
	if err != nil {
		return nil, err
	}
	if overrides == nil || len(overrides.Members) == 0 {
		return spec.Normalize(o), nil
	}
	if o, err = override(o, overrides); err != nil {
		return nil, err
	}
	if err := checkSpec(o); err != nil {
		return nil, err
	}
	return spec.Normalize(o), nil
}

// override replaces whole fields; the first forbidden key in sorted order is
// the one that is named.
func override(o, overrides *spec.Object) (*spec.Object, error) {
	var bad []string
	for _, m := range overrides.Members {
		if !slices.Contains(spec.ImplementationFields, m.Key) {
			bad = append(bad, m.Key)
		}
	}
	if len(bad) > 0 {
		field := slices.Min(bad)
		return nil, diag.New(diag.ForbiddenOverrideField, "%q cannot be overridden", short(field)).With("field", field).
			WithHint("prompt, model, model_params and compaction_prompt can, each as a whole")
	}
	o = o.Clone()
	for _, m := range overrides.Members {
		o.Set(m.Key, m.Value)
	}
	return o, nil
}

// flat reads and checks one stored spec; there is no digest in it.
func (rd *reader) flat(id, variant string) (*spec.Object, error) {
	if err := checkNames(id, variant); err != nil {
		return nil, err
	}
	s, err := rd.load(id, variant)
	if err != nil {
		return nil, err
	}
	return checkStored(id, s)
}

// checkNames judges the id, and the variant where one is named.
func checkNames(id, variant string) error {
	if err := checkID(id); err != nil {
		return err
	}
	if variant == "" {
		return nil
	}
	return checkVariant(variant)
}

// checkStored joins a stored persona's halves and checks them; the message
// says which persona it is, since a list of many may fail on it.
func checkStored(id string, s *stored) (*spec.Object, error) {
	o := s.flat()
	if err := checkSpec(o); err != nil {
		e := diag.As(err)
		e.Message = "persona " + id + ", variant " + s.variant + ": " + e.Message
		return nil, e.WithHint("larva doctor lists what is wrong, larva update %s or larva register mends it", id)
	}
	return o, nil
}

// Summary is a persona's line in a list. Its canonical JSON is that of the
// list's entries.
type Summary struct {
	ID           string       `json:"id"`
	Description  string       `json:"description"`
	SpecDigest   string       `json:"spec_digest"`
	Model        string       `json:"model"`
	Capabilities *spec.Object `json:"capabilities"`
}

func summarize(o *spec.Object) Summary {
	caps, _ := o.Get("capabilities")
	c, _ := caps.(*spec.Object)
	return Summary{o.String("id"), o.String("description"), spec.Digest(o), o.String("model"), c}
}

// AppendSummary appends s's canonical JSON.
func AppendSummary(dst []byte, s Summary) []byte {
	return spec.AppendCanonical(dst, &spec.Object{Members: []spec.Member{
		{Key: "capabilities", Value: s.Capabilities}, {Key: "description", Value: s.Description}, {Key: "id", Value: s.ID},
		{Key: "model", Value: s.Model}, {Key: "spec_digest", Value: s.SpecDigest},
	}})
}

// List gives the summaries of all active variants, sorted by id. One broken
// persona fails the whole call.
func (r *Registry) List() ([]Summary, error) {
	list := []Summary{}
	err := r.EachSummary(func(s Summary) error { list = append(list, s); return nil })
	if err != nil {
		return nil, err
	}
	return list, nil
}

// EachSummary is List, one at a time; an error of each ends it.
func (r *Registry) EachSummary(each func(Summary) error) error {
	return r.eachFlat(func(o *spec.Object) error { return each(summarize(o)) })
}

// Export calls each with the specs of ids in their order, duplicates too, or
// with all personas' sorted by id where ids is nil. The first failure, each's
// own included, ends the call: what was handed on before it is then not the
// answer. Errors about a persona that ids names carry it as the detail "id".
func (r *Registry) Export(ids []string, each func(*spec.Object) error) error {
	if ids == nil {
		return r.eachFlat(func(o *spec.Object) error { return each(spec.Normalize(o)) })
	}
	rd := &reader{Registry: r}
	for _, id := range ids {
		o, err := rd.flat(id, "")
		if err != nil {
			return diag.As(err).With("id", id)
		}
		if err := each(spec.Normalize(o)); err != nil {
			return err
		}
	}
	return nil
}

func (r *Registry) eachFlat(each func(*spec.Object) error) error {
	ids, err := r.IDs()
	if err != nil {
		return err
	}
	rd := &reader{Registry: r}
	for _, id := range ids {
		o, err := rd.flat(id, "")
		if is(err, diag.PersonaNotFound) {
			continue // deleted since the directory was listed
		}
		if err != nil {
			return err
		}
		if err := each(o); err != nil {
			return err
		}
	}
	return nil
}
