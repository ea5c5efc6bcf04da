package load

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/spec"
)

// sourceFields are the fields of a persona source, in the schema's order.
var sourceFields = []string{"id", "description", "capabilities", "can_spawn", "spec_version", "active", "variants"}

const variantRule = "must be kebab-case: a-z, 0-9 and single hyphens, at most 64 characters"

// reading is one persona source on its way to a spec.Source.
type reading struct {
	d        *doc
	path     []string
	object   *spec.Object
	key      string // the id by which it stands in personas; "" for a file that is one source
	problems []diag.Problem
	issues   []spec.Issue
}

// source judges a persona source: its own shape, then each variant with the
// shared contract as a whole flat spec.
func (d *doc) source(path []string, o *spec.Object, key string) Item {
	r := &reading{d: d, path: path, object: o, key: key}
	s := &spec.Source{Contract: &spec.Object{}}
	s.ID = r.id(s.Contract)
	r.contract(s.Contract)
	s.Variants = r.variants()
	s.Active = r.active(s.Variants)
	r.specs(s)
	it := d.item(path, s.ID)
	if it.ID == "" {
		it.ID = key
	}
	it.Problems = settle(d.merge(path, r.problems))
	if len(it.Problems) > 0 {
		it.Code, it.Issues = diag.PersonaInvalid, r.issues
		return it
	}
	it.Source = s
	return it
}

// add notes a mistake in the source's own shape, as a problem and as an issue,
// whose field is named from the source, not from the file.
func (r *reading) add(code string, p diag.Problem, details ...spec.Member) {
	p.IssueCode = code
	r.problems = append(r.problems, p)
	field := p.Path
	if base := dotted(r.path); base != "" {
		field = strings.TrimPrefix(strings.TrimPrefix(field, base), ".")
	}
	r.issues = append(r.issues, spec.Issue{Code: code, Message: strings.TrimSpace(field + " " + p.Message),
		Details: &spec.Object{Members: append([]spec.Member{{Key: "field", Value: field}}, details...)}})
}

// id is the source's own id, or its key; both must be the same.
func (r *reading) id(contract *spec.Object) string {
	v, there := r.object.Get("id")
	if !there {
		if r.key == "" {
			return ""
		}
		v = r.key
	}
	contract.Set("id", v)
	s, _ := v.(string)
	if there && r.key != "" && s != r.key && s != "" {
		r.add("INVALID_ID_FORMAT", r.d.problem(sub(r.path, "id"), fmt.Sprintf("is %s, but the persona stands under %q", quoted(v), r.key), "leave id out"),
			spec.Member{Key: "value", Value: v})
	}
	return s
}

// contract copies the shared fields and refuses what does not belong here.
func (r *reading) contract(contract *spec.Object) {
	for _, m := range r.object.Members {
		switch {
		case m.Key == "id" || m.Key == "active" || m.Key == "variants":
		case slices.Contains(sourceFields, m.Key):
			contract.Set(m.Key, m.Value)
		case slices.Contains(spec.ImplementationFields, m.Key):
			r.unknown(r.path, m, "belongs to a variant", "write it under variants."+r.anyVariant())
		default:
			hint := didYouMean(m.Key, append(sourceFields, spec.ImplementationFields...))
			r.unknown(r.path, m, "unknown field", hint)
		}
	}
	if !contract.Has("spec_version") {
		contract.Set("spec_version", spec.Version)
	}
}

func (r *reading) unknown(path []string, m spec.Member, message, hint string) {
	r.add("EXTRA_FIELD_NOT_ALLOWED", r.d.keyProblem(sub(path, m.Key), message, hint), spec.Member{Key: "value", Value: m.Value})
}

// anyVariant names a variant for a hint.
func (r *reading) anyVariant() string {
	v, _ := r.object.Get("variants")
	if o, ok := v.(*spec.Object); ok && len(o.Members) > 0 && !o.Has("default") {
		return dotted([]string{o.Members[0].Key})
	}
	return "default"
}

// variants reads the implementations, sorted by name.
func (r *reading) variants() []spec.Variant {
	path := sub(r.path, "variants")
	v, there := r.object.Get("variants")
	o, ok := v.(*spec.Object)
	switch {
	case !there:
		p := r.d.problem(r.path, missing, "")
		p.Path = dotted(path)
		r.add("MISSING_REQUIRED_FIELD", p)
		return nil
	case !ok:
		r.add("INVALID_FIELD_TYPE", r.d.problem(path, "must be an object of variants by name, got "+shown(v), ""), spec.Member{Key: "value", Value: v})
		return nil
	case len(o.Members) == 0:
		r.add("MISSING_REQUIRED_FIELD", r.d.problem(path, "holds no variant", `write at least "default"`))
		return nil
	}
	var list []spec.Variant
	for _, m := range o.Members {
		at := sub(path, m.Key)
		if !spec.ValidVariant(m.Key) {
			r.add(string(diag.InvalidVariantName), r.d.keyProblem(at, "the name of a variant "+variantRule, ""))
		}
		impl, ok := m.Value.(*spec.Object)
		if !ok {
			r.add("INVALID_FIELD_TYPE", r.d.problem(at, "must be an object, got "+shown(m.Value), ""), spec.Member{Key: "value", Value: m.Value})
			continue
		}
		list = append(list, spec.Variant{Name: m.Key, Implementation: r.implementation(at, impl)})
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Name < list[j].Name })
	return list
}

// implementation copies a variant's fields and refuses the rest.
func (r *reading) implementation(path []string, o *spec.Object) *spec.Object {
	impl := &spec.Object{}
	for _, m := range o.Members {
		switch {
		case slices.Contains(spec.ImplementationFields, m.Key):
			impl.Set(m.Key, m.Value)
		case slices.Contains(spec.ContractFields, m.Key):
			r.unknown(path, m, "is the same for all variants of a persona", "write it beside variants")
		default:
			r.unknown(path, m, "unknown field", didYouMean(m.Key, spec.ImplementationFields))
		}
	}
	return impl
}

// active is the name of the active variant, which must be there.
func (r *reading) active(variants []spec.Variant) string {
	names := make([]string, len(variants))
	for i, v := range variants {
		names[i] = v.Name
	}
	path := sub(r.path, "active")
	v, there := r.object.Get("active")
	if !there {
		v = "default"
	}
	s, ok := v.(string)
	switch {
	case !ok:
		r.add("INVALID_FIELD_TYPE", r.d.problem(path, "must be the name of a variant, got "+shown(v), ""), spec.Member{Key: "value", Value: v})
	case len(names) == 0 || slices.Contains(names, s):
	case !there:
		r.add(string(diag.VariantNotFound), r.d.problem(r.path, `no variant is called "default", and active names no other`, fmt.Sprintf("write active: %q", names[0])))
	default:
		hint := didYouMean(s, names)
		if hint == "" {
			hint = "there is " + oneOf(names)
		}
		r.add(string(diag.VariantNotFound), r.d.problem(path, fmt.Sprintf("%s is not one of the variants", quoted(s)), hint), spec.Member{Key: "value", Value: v})
	}
	return s
}

// specs judges the contract with each variant. Where no variant could be read,
// a stand-in lets the contract be judged all the same.
func (r *reading) specs(s *spec.Source) {
	list := s.Variants
	if len(list) == 0 {
		list = []spec.Variant{{Implementation: &spec.Object{Members: []spec.Member{{Key: "prompt", Value: "-"}, {Key: "model", Value: "-"}}}}}
	}
	seen := map[string]bool{}
	for _, v := range list {
		o := s.Contract.Clone()
		o.Members = append(o.Members, v.Implementation.Members...)
		w := where{d: r.d, base: r.path, variant: v.Name}
		issues := spec.Check(o)
		r.problems = append(r.problems, r.d.problems(issues, o, w)...)
		for _, is := range issues {
			field := is.Details.String("field")
			is = r.scoped(is, field, v.Name)
			if key := is.Code + "\x00" + is.Message; !seen[key] {
				seen[key] = true
				r.issues = append(r.issues, is)
			}
		}
	}
}

// scoped names the variant in an issue of its own fields.
func (r *reading) scoped(is spec.Issue, field, variant string) spec.Issue {
	if variant == "" || !slices.Contains(spec.ImplementationFields, fieldPath(field)[0]) {
		return is
	}
	is.Details = is.Details.Clone()
	is.Details.Set("field", "variants."+variant+"."+field)
	is.Message = "variants." + variant + "." + is.Message
	return is
}
