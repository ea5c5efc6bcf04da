package ops

import (
	"context"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/registry"
	"larva.dev/larva/internal/spec"
)

var table = []Operation{
	{Name: "validate", Title: "Validate a persona", ReadOnly: true, Idempotent: true,
		Description: "Check a PersonaSpec without storing it.",
		Params:      []Param{{"spec", Object, true}}, run: validate},
	{Name: "resolve", Title: "Resolve a persona", ReadOnly: true, Idempotent: true,
		Description: "Give a stored persona as one PersonaSpec.",
		Params:      []Param{{"id", String, true}, {"overrides", Object, false}, {"variant", String, false}}, run: resolve},
	{Name: "register", Title: "Register a persona", Idempotent: true, Destructive: true,
		Description: "Store a PersonaSpec as a variant.",
		Params:      []Param{{"spec", Object, true}, {"variant", String, false}}, run: register},
	{Name: "list", Title: "List personas", ReadOnly: true, Idempotent: true,
		Description: "List the stored personas.", run: list},
	{Name: "variant_list", Title: "List variants", ReadOnly: true, Idempotent: true,
		Description: "List a persona's variants and the active one.",
		Params:      []Param{{"id", String, true}}, run: variantList},
	{Name: "variant_activate", Title: "Activate a variant", Idempotent: true,
		Description: "Make a variant the active one.",
		Params:      []Param{{"id", String, true}, {"variant", String, true}}, run: variantActivate},
	{Name: "variant_delete", Title: "Delete a variant", Destructive: true,
		Description: "Remove a variant; never the active or the last one.",
		Params:      []Param{{"id", String, true}, {"variant", String, true}}, run: variantDelete},
	{Name: "delete", Title: "Delete a persona", Destructive: true,
		Description: "Remove a persona with all its variants.",
		Params:      []Param{{"id", String, true}}, run: remove},
	{Name: "clear", Title: "Clear the registry", Destructive: true,
		Description: "Remove all personas.",
		Params:      []Param{{"confirm", String, true}}, run: clearAll},
	{Name: "clone", Title: "Clone a persona",
		Description: "Copy a persona to a new id.",
		Params:      []Param{{"source_id", String, true}, {"new_id", String, true}}, run: clone},
	{Name: "export", Title: "Export personas", ReadOnly: true, Idempotent: true,
		Description: "Give whole personas.",
		Params:      []Param{{"all", Boolean, false}, {"ids", Strings, false}}, run: export},
	{Name: "update", Title: "Update a persona", Idempotent: true, Destructive: true,
		Description: "Change fields of one persona.",
		Params:      []Param{{"id", String, true}, {"patches", Object, true}, {"variant", String, false}}, run: update},
	{Name: "update_batch", Title: "Update many personas", Idempotent: true, Destructive: true,
		Description: "Change fields of all personas that match.",
		Params:      []Param{{"where", Object, true}, {"patches", Object, true}, {"dry_run", Boolean, false}}, run: updateBatch},
}

func validate(_ context.Context, s *Service, p params) (any, error) {
	return spec.Validate(p.object("spec"), s.known()), nil
}

// known says which ids can_spawn may name; where the registry cannot be read
// every id is known, which leaves the warning out.
func (s *Service) known() func(string) bool {
	var set map[string]bool
	read, all := false, false
	return func(id string) bool {
		if !read {
			read = true
			ids, err := s.Registry.IDs()
			all = err != nil
			set = make(map[string]bool, len(ids))
			for _, id := range ids {
				set[id] = true
			}
		}
		return all || set[id]
	}
}

func resolve(_ context.Context, s *Service, p params) (any, error) {
	return s.Registry.Resolve(p.str("id"), p.str("variant"), p.object("overrides"))
}

func register(_ context.Context, s *Service, p params) (any, error) {
	id, err := s.Registry.Register(p.object("spec"), p.str("variant"))
	return map[string]any{"id": id, "registered": true}, err
}

func list(_ context.Context, s *Service, _ params) (any, error) {
	all, err := s.Registry.List()
	if all == nil {
		all = []registry.Summary{}
	}
	return all, err
}

func variantList(_ context.Context, s *Service, p params) (any, error) {
	return s.Registry.VariantList(p.str("id"))
}

func variantActivate(_ context.Context, s *Service, p params) (any, error) {
	id, v := p.str("id"), p.str("variant")
	return map[string]any{"id": id, "active": v}, s.Registry.VariantActivate(id, v)
}

func variantDelete(_ context.Context, s *Service, p params) (any, error) {
	id, v := p.str("id"), p.str("variant")
	return map[string]any{"id": id, "variant": v, "deleted": true}, s.Registry.VariantDelete(id, v)
}

func remove(_ context.Context, s *Service, p params) (any, error) {
	id := p.str("id")
	return map[string]any{"id": id, "deleted": true}, s.Registry.Delete(id)
}

func clearAll(_ context.Context, s *Service, p params) (any, error) {
	n, err := s.Registry.Clear(p.str("confirm"))
	return map[string]any{"cleared": true, "count": n}, err
}

func clone(_ context.Context, s *Service, p params) (any, error) {
	return s.Registry.Clone(p.str("source_id"), p.str("new_id"))
}

func export(_ context.Context, s *Service, p params) (any, error) {
	all, byID := p.flag("all"), p.o.Has("ids")
	if all == byID {
		return nil, diag.New(diag.InvalidInput, "export wants either all: true or ids").With("field", "params")
	}
	var ids []string
	if byID {
		ids = p.list("ids")
	}
	out := []*spec.Object{}
	err := s.Registry.Export(ids, func(o *spec.Object) error { out = append(out, o); return nil })
	return out, err
}

func update(_ context.Context, s *Service, p params) (any, error) {
	return s.Registry.Update(p.str("id"), p.object("patches"), p.str("variant"))
}

func updateBatch(_ context.Context, s *Service, p params) (any, error) {
	return s.Registry.UpdateWhere(p.object("where"), p.object("patches"), p.flag("dry_run"))
}
