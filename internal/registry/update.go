package registry

import (
	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/spec"
)

// Update patches a persona and gives the spec that results. Keys of patches
// are fields, or dotted paths into one; capabilities and model_params merge,
// other fields are replaced, and nothing can be deleted. A patch of the
// contract is for all variants; any other is for the active variant or the
// named one. No patches change nothing. Order: scope, load, patch rules,
// validation, write. Errors beside Resolve's: MIXED_SCOPE_PATCH,
// FIELD_SCOPE_VIOLATION, FORBIDDEN_PATCH_FIELD, REGISTRY_UPDATE_FAILED.
func (r *Registry) Update(id string, patches *spec.Object, variant string) (*spec.Object, error) {
	if patches == nil || len(patches.Members) == 0 {
		return r.unpatched(id, variant)
	}
	if err := checkScope(patches, variant); err != nil {
		return nil, err
	}
	if err := checkNames(id, variant); err != nil {
		return nil, err
	}
	var o *spec.Object
	err := r.change(diag.RegistryUpdateFailed, id, variant, func(w *writer) error {
		s, err := w.load(id, variant)
		if err != nil {
			return err
		}
		if err := checkPatches(patches); err != nil {
			return err
		}
		p, err := w.plan(id, s, patches)
		if err != nil {
			return err
		}
		o = p.spec
		return w.carryOut(id, p)
	})
	if err != nil {
		return nil, err
	}
	return spec.Normalize(o), nil
}

// unpatched is an update that changes nothing: it takes no lock, and an
// expectation is judged by the very spec that it gives.
func (r *Registry) unpatched(id, variant string) (*spec.Object, error) {
	o, err := r.Resolve(id, variant, nil)
	if r.expected == nil || err != nil && !is(err, diag.PersonaNotFound) && !is(err, diag.VariantNotFound) {
		return o, err
	}
	actual := ""
	if err == nil {
		actual = o.String(spec.DigestField)
	}
	if stale := r.compare(id, variant, actual); stale != nil {
		return nil, stale
	}
	return o, err
}

// plan is what a patch makes of a persona.
type plan struct {
	spec *spec.Object
	path string // "" where nothing changes
	data []byte
}

// plan applies patches and checks the outcome. What is stored need not be
// valid, so that an update can mend it. The scope check has seen to it that
// only one of the two files can change.
func (w *writer) plan(id string, s *stored, patches *spec.Object) (plan, error) {
	p := plan{spec: patch(s.flat(), patches)}
	if err := checkSpec(p.spec); err != nil {
		return p, err
	}
	contract, implementation := split(p.spec)
	var err error
	switch {
	case !same(contract, s.contract):
		p.path = w.contract(id)
		p.data, err = encode(id, contract, spec.ContractFields)
	case !same(implementation, s.implementation):
		p.path = w.variant(id, s.variant)
		p.data, err = encode(id, implementation, spec.ImplementationFields)
	}
	return p, err
}

func (w *writer) carryOut(id string, p plan) error {
	if p.path == "" {
		return nil
	}
	return w.putFile(id, p.path, p.data)
}
