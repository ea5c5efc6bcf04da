package ops

import (
	"context"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/registry"
	"larva.dev/larva/internal/spec"
)

// dryRun is the parameter with which an operation that writes does not.
const dryRun = "dry_run"

// The descriptions are read by models among those of many other tools: what
// it does, when to use it, what comes back, what may go wrong.
var table = []Operation{
	{Name: "validate", Title: "Validate a persona", ReadOnly: true, Idempotent: true,
		Description: "Check a PersonaSpec without storing it. Use it before larva_register, and after each change while you write a persona. " +
			"Always gives {valid, errors, warnings}, also for what is no PersonaSpec at all: every mistake at once, each with a code, a message and the field; warnings never stand in the way.",
		Params: []Param{{"spec", Any, true}}, run: validate},
	{Name: "resolve", Title: "Resolve a persona", ReadOnly: true, Idempotent: true,
		Description: "Read one stored persona: the whole PersonaSpec of its active variant, or of the one you name, with its spec_digest. " +
			"overrides replaces prompt, model, model_params or compaction_prompt in the answer only; nothing is stored. " +
			"Use larva_list first if you do not know the id. Errors: PERSONA_NOT_FOUND, VARIANT_NOT_FOUND, FORBIDDEN_OVERRIDE_FIELD, PERSONA_INVALID.",
		Params: []Param{{"id", String, true}, {"overrides", Object, false}, {"variant", String, false}}, run: resolve},
	{Name: "register", Title: "Register a persona", Destructive: true, Idempotent: true,
		Description: "Store a PersonaSpec. A new id becomes a persona with this variant active. For a known id the variant (default unless named) is created or replaced and the active one stays; " +
			"description, capabilities, can_spawn and spec_version must equal the stored ones, since all variants share them: change those with larva_update. Gives {id, registered}. " +
			"Errors: PERSONA_INVALID with the report of larva_validate, BASE_CONTRACT_MISMATCH with the fields that differ.",
		Params: []Param{{"spec", Object, true}, {"variant", String, false}}, run: register},
	{Name: "list", Title: "List personas", ReadOnly: true, Idempotent: true, List: true,
		Description: "List all stored personas, sorted by id: id, description, model, capabilities and spec_digest of each one's active variant. " +
			"Use it to find out who is there; larva_resolve gives a whole persona, larva_variant_list the variants. REGISTRY_CORRUPT or PERSONA_INVALID means that one stored persona is broken and must be mended first.",
		run: list},
	{Name: "variant_list", Title: "List variants", ReadOnly: true, Idempotent: true,
		Description: "List a persona's variants: {id, active, variants}. Use it before a variant is named to another tool. Error: PERSONA_NOT_FOUND.",
		Params:      []Param{{"id", String, true}}, run: variantList},
	{Name: "variant_activate", Title: "Activate a variant", Destructive: true, Idempotent: true,
		Description: "Make a variant the active one, which everybody gets who names none. The variant that was active stays stored. Gives {id, active}. Errors: PERSONA_NOT_FOUND, VARIANT_NOT_FOUND.",
		Params:      []Param{{"id", String, true}, {"variant", String, true}}, run: variantActivate},
	{Name: "variant_delete", Title: "Delete a variant", Destructive: true, Idempotent: true,
		Description: "Remove one variant for good. The active one is refused (ACTIVE_VARIANT_DELETE_FORBIDDEN: activate another one first), the last one too (LAST_VARIANT_DELETE_FORBIDDEN: larva_delete removes the persona). Gives {id, variant, deleted}.",
		Params:      []Param{{"id", String, true}, {"variant", String, true}}, run: variantDelete},
	{Name: "delete", Title: "Delete a persona", Destructive: true, Idempotent: true,
		Description: "Remove a persona with all its variants for good. Only where the user wants that persona gone. Gives {id, deleted}. Error: PERSONA_NOT_FOUND.",
		Params:      []Param{{"id", String, true}}, run: remove},
	{Name: "clear", Title: "Clear the registry", Destructive: true, Idempotent: true,
		Description: "Remove every persona for good. Only where the user has asked for exactly that; confirm must be the words CLEAR REGISTRY, else INVALID_CONFIRMATION_TOKEN and nothing is removed. Gives {cleared, count}.",
		Params:      []Param{{"confirm", String, true}}, run: clearAll},
	{Name: "clone", Title: "Clone a persona", Idempotent: true,
		Description: "Copy a persona to a new id, as a start for another one: the active variant only, as the copy's default. Gives the copy. " +
			"Errors: PERSONA_NOT_FOUND, BASE_CONTRACT_MISMATCH where new_id is taken, PERSONA_INVALID where it is no id.",
		Params: []Param{{"source_id", String, true}, {"new_id", String, true}}, run: clone},
	{Name: "export", Title: "Export personas", ReadOnly: true, Idempotent: true, List: true,
		Description: "Read many personas at once, whole, each one's active variant. Give either all: true or ids. Can be long: larva_list is enough to find a persona. One that is missing or broken fails the whole call.",
		Params:      []Param{{"all", Boolean, false}, {"ids", Strings, false}}, run: export},
	{Name: "update", Title: "Update a persona", Destructive: true, Idempotent: true,
		Description: "Change some fields of one persona. description, capabilities and can_spawn are for all variants; prompt, model, model_params and compaction_prompt are for the active variant or the one you name; one call changes either kind (else MIXED_SCOPE_PATCH). " +
			"capabilities and model_params merge key by key, dotted keys such as model_params.temperature too; other fields are replaced. Gives the whole new PersonaSpec. " +
			"Errors: PERSONA_NOT_FOUND, VARIANT_NOT_FOUND, FIELD_SCOPE_VIOLATION, FORBIDDEN_PATCH_FIELD, PERSONA_INVALID; then nothing is changed.",
		Params: []Param{{"id", String, true}, {"patches", Object, true}, {"variant", String, false}}, run: update},
	{Name: "update_batch", Title: "Update many personas", Destructive: true, Idempotent: true,
		Description: "Change the same fields of every persona whose active variant has the wanted values, all of them or none: where {\"model\": \"a\"}, patches {\"model\": \"b\"}. patches is as in larva_update. " +
			"Call it with dry_run: true first and look at who matches; where {} takes every persona. Gives {items: [{id, updated}], matched, updated}. Errors: INVALID_INPUT for a selector that is no field, and those of larva_update.",
		Params: []Param{{"where", Object, true}, {"patches", Object, true}, {dryRun, Boolean, false}}, run: updateBatch},
}

func validate(_ context.Context, s *Service, p params) (any, error) {
	return spec.Validate(p.value("spec"), s.known()), nil
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

func list(ctx context.Context, s *Service, _ params) (any, error) {
	all := []registry.Summary{}
	err := s.Registry.EachSummary(func(one registry.Summary) error {
		all = append(all, one)
		return interrupted(ctx, "list")
	})
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

func export(ctx context.Context, s *Service, p params) (any, error) {
	if p.flag("all") == p.o.Has("ids") {
		return nil, diag.New(diag.InvalidInput, "export wants either all: true or ids").With("field", "params")
	}
	out := []*spec.Object{}
	err := s.Registry.Export(p.list("ids"), func(o *spec.Object) error {
		out = append(out, o)
		return interrupted(ctx, "export")
	})
	return out, err
}

func update(_ context.Context, s *Service, p params) (any, error) {
	return s.Registry.Update(p.str("id"), p.object("patches"), p.str("variant"))
}

func updateBatch(_ context.Context, s *Service, p params) (any, error) {
	return s.Registry.UpdateWhere(p.object("where"), p.object("patches"), p.flag(dryRun))
}
