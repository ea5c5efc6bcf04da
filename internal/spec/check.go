package spec

import (
	"slices"
	"sort"
	"sync"
)

// Checker checks specs against a table of constraints.
type Checker struct{ root *rule }

// NewChecker compiles rows. Check uses Constraints(); other tables are for
// tests that take rows away.
func NewChecker(rows []Constraint) *Checker {
	c := &Checker{root: compile(rows)}
	// Every field of the order has a rule, if an empty one, so that a table
	// without its rows asks nothing of it.
	for _, name := range fieldOrder {
		c.root.at(name)
	}
	return c
}

var table = sync.OnceValue(func() *Checker { return NewChecker(constraints[:]) })

// Check gives every fault of a spec in the order of the registry contract
// (section 1.1), nil when there is none. Numbers are judged by their written
// form and exact value; null is never absent.
func Check(o *Object) []Issue { return table().Check(o) }

// fieldOrder are the fields that Check has an order for, as in the schema. A
// field that the schema gains needs a place here and in Check (TestFieldOrder).
var fieldOrder = []string{
	"id", "description", "prompt", "model", "capabilities", "spec_version",
	"model_params", "can_spawn", "compaction_prompt", "spec_digest",
}

// Check is the package's Check by this checker's table.
func (c *Checker) Check(o *Object) []Issue {
	k := checking{root: c.root, spec: o}
	k.identity()
	k.blanks()
	k.types("description", "model", "compaction_prompt", "spec_digest")
	k.params()
	k.types("prompt")
	k.capabilities()
	k.canSpawn()
	k.unknown()
	k.missing()
	return k.issues
}

// checking is one Check on its way.
type checking struct {
	root   *rule
	spec   *Object
	issues []Issue
}

func (k *checking) issue(c *Constraint, message string, details ...Member) {
	k.issues = append(k.issues, Issue{Code: c.Code, Message: message, Details: &Object{Members: details}})
}

// whole reports field's value where it breaks a row: {field, value}.
func (k *checking) whole(field string, v any, c *Constraint) {
	k.issue(c, faulty(field, v, c), Member{"field", field}, Member{"value", v})
}

// identity: the id's form, unless it is blank; the version.
func (k *checking) identity() {
	for _, name := range []string{"id", "spec_version"} {
		v, there := k.spec.Get(name)
		if !there {
			continue
		}
		if s, ok := v.(string); ok && name == "id" && blank(s) && k.root.field(name).blank != "" {
			continue // said by blanks
		}
		if c := k.root.field(name).broken(v); c != nil {
			k.whole(name, v, c)
		}
	}
}

// texts are the fields whose strings blanks judges, in its order.
var texts = []string{"id", "description", "prompt", "model", "spec_version"}

// blanks: strings of white space, and what else a string may break.
func (k *checking) blanks() {
	for _, name := range texts {
		v, _ := k.spec.Get(name)
		s, ok := v.(string)
		if !ok {
			continue
		}
		r := k.root.field(name)
		switch {
		case r.blank != "" && blank(s):
			k.issue(&Constraint{Code: r.blank}, name+" must not be blank", Member{"field", name}, Member{"value", v})
		case name != "id" && name != "spec_version":
			if c := r.broken(v); c != nil {
				k.whole(name, v, c)
			}
		}
	}
}

// types: values that are no strings. What strings may break is said by blanks.
func (k *checking) types(names ...string) {
	for _, name := range names {
		v, there := k.spec.Get(name)
		if !there {
			continue
		}
		if _, ok := v.(string); ok && contains(texts, name) {
			continue
		}
		if c := k.root.field(name).broken(v); c != nil {
			k.whole(name, v, c)
		}
	}
}

// params: model_params is an object; each key with a rule keeps it.
func (k *checking) params() {
	v, there := k.spec.Get("model_params")
	if !there {
		return
	}
	r := k.root.field("model_params")
	if c := r.broken(v); c != nil {
		k.whole("model_params", v, c)
		return
	}
	o, ok := v.(*Object)
	if !ok {
		return
	}
	for _, m := range o.Members {
		if f := r.field(m.Key); f != nil {
			if c := f.broken(m.Value); c != nil {
				k.whole("model_params."+m.Key, m.Value, c)
			}
		}
	}
}

// capabilities: an object; each value is a posture.
func (k *checking) capabilities() {
	v, there := k.spec.Get("capabilities")
	if !there {
		return
	}
	r := k.root.field("capabilities")
	if c := r.broken(v); c != nil {
		k.whole("capabilities", v, c)
		return
	}
	o, ok := v.(*Object)
	if !ok || r.values == nil {
		return
	}
	for _, m := range o.Members {
		if c := r.values.broken(m.Value); c != nil {
			k.issue(c, faulty("capabilities."+m.Key, m.Value, c),
				Member{"field", "capabilities"}, Member{"tool", m.Key}, Member{"value", m.Value})
		}
	}
}

// canSpawn: a bool, or a short list of different ids.
func (k *checking) canSpawn() {
	v, there := k.spec.Get("can_spawn")
	if !there {
		return
	}
	r := k.root.field("can_spawn")
	if c := r.broken(v); c != nil {
		k.whole("can_spawn", v, c)
		return
	}
	list, ok := v.([]any)
	if !ok {
		return
	}
	for i := range r.maxItems {
		if row := &r.maxItems[i]; len(list) > row.n {
			k.issue(&row.Constraint, tooLong("can_spawn", len(list), row.n),
				Member{"field", "can_spawn"}, Member{"count", count(len(list))})
		}
	}
	k.members(r, list)
}

func (k *checking) members(r *rule, list []any) {
	var first *Constraint
	invalid, twice := []any{}, []any{}
	for _, v := range list {
		if r.items == nil {
			break
		}
		if c := r.items.broken(v); c != nil {
			invalid = append(invalid, v)
			if first == nil {
				first = c
			}
		}
	}
	if len(r.unique) > 0 {
		twice = duplicates(list)
	}
	if len(twice) > 0 && first == nil {
		first = &r.unique[0]
	}
	if first != nil {
		k.issue(first, badMembers("can_spawn", invalid, twice, first),
			Member{"field", "can_spawn"}, Member{"invalid_targets", invalid}, Member{"duplicate_targets", twice})
	}
}

// duplicates gives the strings that stand in list more than once, sorted.
// Lists are short or were refused for their length by then.
func duplicates(list []any) []any {
	names := make([]string, 0, len(list))
	for _, v := range list {
		if s, ok := v.(string); ok {
			names = append(names, s)
		}
	}
	sort.Strings(names)
	out := []any{}
	for i := 1; i < len(names); i++ {
		if names[i] == names[i-1] && (len(out) == 0 || out[len(out)-1] != names[i]) {
			out = append(out, names[i])
		}
	}
	return out
}

// unknown: keys that the spec does not have, in input order.
func (k *checking) unknown() {
	for i := range k.root.closed {
		c := &k.root.closed[i]
		for _, m := range k.spec.Members {
			if !contains(c.Values, m.Key) {
				k.issue(c, notAField(m.Key, c), Member{"field", m.Key}, Member{"value", m.Value})
			}
		}
	}
}

// missing: fields that have to be there.
func (k *checking) missing() {
	for _, f := range k.root.fields {
		if len(f.rule.required) > 0 && !k.spec.Has(f.name) {
			k.issue(&f.rule.required[0], f.name+" is required", Member{"field", f.name})
		}
	}
}

// Fields gives the names of the PersonaSpec's fields, in the schema's order.
func Fields() []string { return slices.Clone(fieldOrder) }
