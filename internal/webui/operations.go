package webui

import (
	"errors"
	"net/http"
	"slices"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/registry"
	"larva.dev/larva/internal/spec"
)

// do carries out an operation with the request's condition.
func (c *call) do(name string, p *spec.Object) (any, error) {
	return c.ops.Do(c.r.Context(), name, p)
}

// object builds parameters from pairs of name and value.
func object(pairs ...any) *spec.Object {
	o := &spec.Object{}
	for i := 0; i < len(pairs); i += 2 {
		o.Set(pairs[i].(string), pairs[i+1])
	}
	return o
}

func list(_ *server, c *call) (any, error) { return c.do("list", nil) }

// register takes a spec, or {"spec": …} and no more.
func register(_ *server, c *call) (any, error) {
	if !c.body.Has("spec") {
		return c.do("register", object("spec", c.body))
	}
	if err := c.only("spec"); err != nil {
		return nil, err
	}
	return c.do("register", c.body)
}

func active(_ *server, c *call) (any, error) {
	return c.do("resolve", object("id", c.params["id"]))
}

func update(_ *server, c *call) (any, error) {
	return c.do("update", object("id", c.params["id"], "patches", c.body))
}

func remove(_ *server, c *call) (any, error) {
	return c.do("delete", object("id", c.params["id"]))
}

// clearAll takes a missing token for an empty one, which is wrong.
func clearAll(_ *server, c *call) (any, error) {
	p := c.body
	if v, _ := p.Get("confirm"); v == nil {
		p = p.Clone()
		p.Set("confirm", "")
	}
	return c.do("clear", p)
}

func validate(_ *server, c *call) (any, error) { return c.do("validate", object("spec", c.body)) }

func export(_ *server, c *call) (any, error) { return c.do("export", c.body) }

func updateBatch(_ *server, c *call) (any, error) { return c.do("update_batch", c.body) }

// serveAssemble tells who still asks for what was an operation once; the body
// is not read.
func serveAssemble(_ *server, w http.ResponseWriter, r *http.Request) {
	writeError(w, http.StatusNotFound, diag.New(diag.InvalidInput, "personas are no longer assembled from components").With("path", r.URL.Path))
}

// variants lists all personas with their variants. One that goes while the
// list is made is left out.
func variants(_ *server, c *call) (any, error) {
	v, err := c.do("list", nil)
	if err != nil {
		return nil, err
	}
	rows := []any{}
	for _, p := range v.([]registry.Summary) {
		v, err := c.do("variant_list", object("id", p.ID))
		if isCode(err, diag.PersonaNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		info := v.(registry.VariantInfo)
		rows = append(rows, map[string]any{"id": p.ID, "description": p.Description, "model": p.Model, "active": info.Active, "variants": info.Variants})
	}
	return rows, nil
}

func isCode(err error, code diag.Code) bool {
	var e *diag.Error
	return errors.As(err, &e) && e.Code == code
}

func variantList(_ *server, c *call) (any, error) {
	return c.do("variant_list", object("id", c.params["id"]))
}

// variantSpec gives one variant. Its spec does not depend on the manifest, so
// a broken one leaves is_active null.
func variantSpec(_ *server, c *call) (any, error) {
	v, err := c.do("resolve", c.named())
	if err != nil {
		return nil, err
	}
	var isActive any
	if info, err := c.do("variant_list", object("id", c.params["id"])); err == nil {
		isActive = info.(registry.VariantInfo).Active == c.params["variant"]
	}
	o := v.(*spec.Object)
	c.etag = o.String(spec.DigestField)
	return map[string]any{"_registry": map[string]any{"variant": c.params["variant"], "is_active": isActive}, "spec": o}, nil
}

// named is the parameters of a route with id and variant.
func (c *call) named(more ...any) *spec.Object {
	return object(append([]any{"id", c.params["id"], "variant", c.params["variant"]}, more...)...)
}

// variantSpecs gives all variants, for a comparison. One that goes while they
// are read is left out.
func variantSpecs(_ *server, c *call) (any, error) {
	id := c.params["id"]
	v, err := c.do("variant_list", object("id", id))
	if err != nil {
		return nil, err
	}
	info := v.(registry.VariantInfo)
	specs := &spec.Object{}
	for _, name := range info.Variants {
		v, err := c.do("resolve", object("id", id, "variant", name))
		if isCode(err, diag.VariantNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		specs.Set(name, v)
	}
	return map[string]any{"id": info.ID, "active": info.Active, "specs": specs}, nil
}

// variantPut stores a spec. Which persona is meant stands in the path and in
// the spec; the two must agree.
func variantPut(_ *server, c *call) (any, error) {
	id := c.params["id"]
	if got, _ := c.body.Get("id"); got != any(id) {
		return nil, diag.New(diag.PersonaIDMismatch, "the spec is of another persona than the path names").
			With("field", "id").With("expected", id).With("got", got)
	}
	return c.do("register", object("spec", c.body, "variant", c.params["variant"]))
}

func variantUpdate(_ *server, c *call) (any, error) {
	return c.do("update", c.named("patches", c.body))
}

func variantActivate(_ *server, c *call) (any, error) { return c.do("variant_activate", c.named()) }

func variantDelete(_ *server, c *call) (any, error) { return c.do("variant_delete", c.named()) }

// resolve takes {overrides?, variant?}.
func resolve(_ *server, c *call) (any, error) {
	if err := c.only("overrides", "variant"); err != nil {
		return nil, err
	}
	p := c.body.Clone()
	p.Set("id", c.params["id"])
	return c.do("resolve", p)
}

// clone takes {new_id}.
func clone(_ *server, c *call) (any, error) {
	if err := c.only("new_id"); err != nil {
		return nil, err
	}
	p := c.body.Clone()
	p.Set("source_id", c.params["id"])
	return c.do("clone", p)
}

// only refuses keys of the body beside names.
func (c *call) only(names ...string) error {
	unknown := []string{}
	for _, m := range c.body.Members {
		if !slices.Contains(names, m.Key) {
			unknown = append(unknown, m.Key)
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	slices.Sort(unknown)
	return diag.New(diag.InvalidInput, "the body has keys that do not belong here").With("field", "params").With("unknown", unknown)
}
