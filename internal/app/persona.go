package app

import (
	"context"
	"errors"
	"os"
	"strings"

	"larva.dev/larva/internal/definition"
	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/load"
	"larva.dev/larva/internal/spec"
)

// chosen is the persona that a run uses and how it was found.
type chosen struct {
	spec    *spec.Object // materialised, with its digest
	variant string
	notices []string
	// agent is the definition that the persona was read of, nil for none;
	// keptAgent is the one that a session which goes on began with.
	agent, keptAgent *definition.Definition
}

// persona finds PERSONA: a path, or an id in the registry, then among the
// project's trusted sources, then among definitions, those of the project only
// where they are trusted, then among the shipped ones. Overrides are
// applied and the result is checked.
func (a *App) persona(ctx context.Context, p where, ref, variant string, overrides *spec.Object) (chosen, error) {
	var c chosen
	var err error
	if d := a.agentAt(p, ref); d != nil {
		c, err = a.agentByPath(p, d, ref, variant)
	} else if isPath(ref) {
		c, err = a.personaFile(ctx, p, ref, variant)
	} else {
		c, err = a.personaID(ctx, p, ref, variant)
	}
	if err != nil {
		return c, err
	}
	if overrides != nil && len(overrides.Members) > 0 {
		if c.spec, err = override(c.spec, overrides); err != nil {
			return c, err
		}
	}
	c.spec = spec.Normalize(c.spec)
	return c, nil
}

func (a *App) personaFile(ctx context.Context, p where, ref, variant string) (chosen, error) {
	items, err := load.Specs(ctx, []string{ref}, a.loadOptions())
	if err != nil {
		return chosen{}, err
	}
	if len(items) != 1 {
		ids := make([]string, len(items))
		for i, it := range items {
			ids[i] = it.ID
		}
		return chosen{}, diag.Usage("%s holds %d personas, a run takes one", ref, len(items)).
			With("path", ref).WithHint("name one by id, after larva register %s: %s", diag.Word(ref), strings.Join(ids, ", "))
	}
	it := items[0]
	if len(it.Problems) > 0 {
		code, exit := diag.PersonaInvalid, diag.ExitFailed
		if it.Unreadable {
			code, exit = diag.InvalidInput, diag.ExitUsage
		}
		hint := "see: larva validate " + diag.Word(ref)
		if _, err := os.Stat(a.abs(ref)); err != nil {
			hint = "" // validate would say the same
		}
		return chosen{}, &diag.Error{Code: code, Exit: exit, Message: it.Problems[0].Message, Problems: it.Problems,
			Details: map[string]any{"path": ref}, Hint: hint}
	}
	s, name, err := variantOf(it.ID, it.Source, it.Flat, variant)
	if err != nil {
		return chosen{}, err
	}
	return chosen{spec: s, variant: name, notices: []string{
		"running " + p.rel(it.File) + " by path: it is not taken from the registry"}}, nil
}

func (a *App) personaID(ctx context.Context, p where, id, variant string) (chosen, error) {
	if !spec.ValidID(id) {
		return chosen{}, noID(id)
	}
	store, err := a.trustStore(p)
	if err != nil {
		return chosen{}, err
	}
	sources, notices, err := a.projectSources(ctx, p, store)
	if err != nil {
		return chosen{}, err
	}
	project, err := projectChoice(sources, id, variant)
	if err != nil {
		return chosen{}, err
	}
	c, err := a.registered(id, variant)
	var missing *diag.Error
	switch {
	case err == nil:
		c.notices = notices
		return c, a.agree(&c, project, id)
	case !errors.As(err, &missing) || missing.Code != diag.PersonaNotFound:
		return chosen{}, err
	}
	if project.trusted {
		project.notices = notices
		return project.chosen, nil
	}
	defs, err := a.agents(p, store)
	if err != nil {
		return chosen{}, err
	}
	file, waiting := defs.best(id)
	if project.spec != nil {
		notices = append(notices, project.untrusted(id))
	}
	if waiting != nil {
		notices = append(notices, waiting.untrusted())
	}
	if file != nil && file.Origin != definition.BuiltIn {
		return file.take(variant, notices)
	}
	c, err = shipped(id, variant)
	if err == nil {
		c.notices = notices
		return c, nil
	}
	if file != nil {
		return file.take(variant, notices)
	}
	if project.spec != nil {
		return chosen{}, diag.New(diag.NotTrusted, "persona %s is only a source of this project (%s), which is not trusted", id, project.file).
			With("persona_id", id).With("path", project.file).With("hash", project.hash).
			WithHint("read it, then: larva trust grant %s; or register it: larva register %s", id, diag.Word(project.file))
	}
	if waiting != nil {
		return chosen{}, waiting.noTrust()
	}
	if errors.As(err, &missing) && missing.Code == diag.PersonaNotFound {
		if broken := defs.broken(id); broken != nil {
			return chosen{}, broken
		}
		return chosen{}, a.noPersona(id, sources, defs)
	}
	return chosen{}, err
}

// ofProject is the project's source of an id, spec nil where there is none.
type ofProject struct {
	chosen
	trusted    bool
	file, hash string
}

func (o ofProject) untrusted(id string) string {
	return "the project's source of " + id + " (" + o.file + ") is not trusted and does not count (see: larva trust list)"
}

func projectChoice(sources []sourceItem, id, variant string) (ofProject, error) {
	for _, s := range sources {
		if s.Name != id {
			continue
		}
		o := ofProject{trusted: s.Status == "trusted", file: s.File, hash: s.Hash}
		spec, name, err := variantOf(id, s.source, s.flat, variant)
		if err != nil {
			if o.trusted {
				return o, err
			}
			return ofProject{}, nil
		}
		o.spec, o.variant = spec, name
		return o, nil
	}
	return ofProject{}, nil
}

// agree compares the registry's persona with the project's source of the
// same id: a trusted one that differs stops the run, an untrusted one is a
// notice.
func (a *App) agree(c *chosen, o ofProject, id string) error {
	if o.spec == nil {
		return nil
	}
	ours, theirs := spec.Digest(c.spec), spec.Digest(o.spec)
	if ours == theirs {
		return nil
	}
	if !o.trusted {
		c.notices = append(c.notices, o.untrusted(id))
		return nil
	}
	return diag.New(diag.SourceDiffers, "persona %s differs: the registry has %s, the project's source %s has %s", id, ours, o.file, theirs).
		With("persona_id", id).With("registry_digest", ours).With("source_digest", theirs).With("path", o.file).
		WithHint("take the project's: larva register %s --update; keep the registry's: larva trust revoke %s", diag.Word(o.file), id)
}

// registered takes the persona from the registry.
func (a *App) registered(id, variant string) (chosen, error) {
	r, err := a.registry()
	if err != nil {
		return chosen{}, err
	}
	name := variant
	if name == "" {
		info, err := r.VariantList(id)
		if err != nil {
			return chosen{}, err
		}
		name = info.Active
	}
	s, err := r.Resolve(id, variant, nil)
	return chosen{spec: s, variant: name}, err
}

// shipped takes a persona that comes with the binary.
func shipped(id, variant string) (chosen, error) {
	all, err := shippedPersonas()
	if err != nil {
		return chosen{}, err
	}
	for _, one := range all {
		if one.ID == id {
			s, name, err := variantOf(id, one, nil, variant)
			return chosen{spec: s, variant: name}, err
		}
	}
	return chosen{}, diag.New(diag.PersonaNotFound, "there is no persona %s", id).With("persona_id", id)
}

// variantOf materialises a source's variant, "" meaning the active one. A
// flat spec has one variant, default.
func variantOf(id string, s *spec.Source, flat *spec.Object, variant string) (*spec.Object, string, error) {
	if variant != "" && !spec.ValidVariant(variant) {
		return nil, "", diag.New(diag.InvalidVariantName, "%q is no variant name", variant).With("variant", variant)
	}
	if s == nil {
		if variant == "" || variant == "default" {
			return flat, "default", nil
		}
		return nil, "", noVariant(id, variant, "default")
	}
	name := variant
	if name == "" {
		name = s.Active
	}
	if o, ok := s.Spec(name); ok {
		return o, name, nil
	}
	names := make([]string, len(s.Variants))
	for i, v := range s.Variants {
		names[i] = v.Name
	}
	return nil, "", noVariant(id, name, names...)
}

func noVariant(id, variant string, have ...string) error {
	return diag.New(diag.VariantNotFound, "persona %s has no variant %s", id, variant).
		With("persona_id", id).With("variant", variant).WithHint("it has: %s", strings.Join(have, ", "))
}

// override replaces implementation fields of a spec, as resolve does.
func override(o, with *spec.Object) (*spec.Object, error) {
	out := o.Clone()
	for _, m := range with.Members {
		if !implementation(m.Key) {
			return nil, diag.New(diag.ForbiddenOverrideField, "field %s cannot be overridden", m.Key).With("field", m.Key).
				WithHint("only prompt, model, model_params and compaction_prompt can")
		}
		out.Set(m.Key, m.Value)
	}
	if r := spec.Validate(out, nil); !r.Valid {
		return nil, diag.New(diag.PersonaInvalid, "%s", r.Errors[0].Message).With("report", r)
	}
	return out, nil
}

func implementation(key string) bool {
	for _, f := range spec.ImplementationFields {
		if f == key {
			return true
		}
	}
	return false
}
