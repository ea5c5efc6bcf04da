package load

import (
	"fmt"
	"strconv"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/spec"
)

// explain goes through data beside its definition and says every mistake in
// words: unknown and missing fields, kinds, enums, bounds. It is no judge; what
// it passes, CUE still has to accept.
func explain(def cue.Value, data any, base []string) []cueFault {
	x := &explainer{ctx: cuecontext.New()}
	x.value(data, def, base, "")
	return x.faults
}

type explainer struct {
	ctx    *cue.Context
	faults []cueFault
}

func (x *explainer) add(path []string, message, hint string) {
	x.faults = append(x.faults, cueFault{Path: path, Problem: diag.Problem{Path: dotted(path), Message: message, Hint: hint}})
}

// value checks v against s. rule is the rule of the list that v is an entry of.
func (x *explainer) value(v any, s cue.Value, path []string, rule string) {
	if s.IncompleteKind() == cue.TopKind { // anything at all, a call's input say
		return
	}
	if r := ruleOf(s); r != "" {
		rule = r
	}
	switch v := v.(type) {
	case *spec.Object:
		if arm, ok := armOf(s, cue.StructKind); ok {
			x.object(v, arm, path)
			return
		}
	case []any:
		if arm, ok := armOf(s, cue.ListKind); ok {
			x.list(v, arm, path, rule)
			return
		}
	default:
		x.scalar(v, s, path, rule)
		return
	}
	x.add(path, "must be "+kindsOf(s)+", got "+kindOf(v), "")
}

func (x *explainer) object(o *spec.Object, s cue.Value, path []string) {
	names, required := fieldsOf(s)
	for _, m := range o.Members {
		at := sub(path, m.Key)
		if !s.Allows(cue.Str(m.Key)) {
			x.add(at, "unknown field", didYouMean(m.Key, names))
			continue
		}
		if child, ok := childOf(s, m.Key); ok {
			x.value(m.Value, child, at, "")
		}
	}
	for _, name := range required {
		if !o.Has(name) {
			x.add(sub(path, name), missing, "")
		}
	}
}

func (x *explainer) list(list []any, s cue.Value, path []string, rule string) {
	item := s.LookupPath(cue.MakePath(cue.AnyIndex))
	if item.Exists() {
		for i, v := range list {
			x.value(v, item, sub(path, strconv.Itoa(i)), rule)
		}
	}
}

// scalar checks null, booleans, strings and numbers.
func (x *explainer) scalar(v any, s cue.Value, path []string, rule string) {
	if s.IncompleteKind()&cueKind(v) == 0 {
		hint := ""
		if t, ok := v.(string); ok && s.IncompleteKind()&cue.BoolKind != 0 {
			hint = truth(t)
		}
		if _, number := v.(spec.Number); number && s.IncompleteKind()&cue.StringKind != 0 {
			hint = "write it in quotes"
		}
		if t, ok := v.(string); ok && s.IncompleteKind()&cue.NumberKind != 0 {
			if _, err := strconv.ParseFloat(t, 64); err == nil {
				hint = "write it without quotes"
			}
		}
		x.add(path, "must be "+kindsOf(s)+", got "+quoted(v), hint)
		return
	}
	if text, ok := v.(string); ok {
		if words := enumOf(s); words != nil {
			for _, w := range words {
				if w == text {
					return
				}
			}
			x.add(path, "must be one of "+oneOf(words)+", got "+quoted(v), didYouMean(text, words))
			return
		}
	}
	lit, ok := x.literal(v)
	if !ok {
		return
	}
	if err := lit.Unify(s).Validate(cue.Concrete(true), cue.Final()); err != nil {
		if rule != "" {
			x.add(path, rule+", got "+quoted(v), "")
			return
		}
		x.add(path, fmt.Sprintf("%s does not satisfy %s", quoted(v), clipTo(oneLine(fmt.Sprint(s)), 80)), "")
	}
}

// literal is a scalar as a CUE value; numbers keep their form.
func (x *explainer) literal(v any) (cue.Value, bool) {
	var lit cue.Value
	if n, ok := v.(spec.Number); ok {
		lit = x.ctx.CompileString(string(n))
	} else {
		lit = x.ctx.Encode(v)
	}
	return lit, lit.Err() == nil
}

func cueKind(v any) cue.Kind {
	switch v := v.(type) {
	case nil:
		return cue.NullKind
	case bool:
		return cue.BoolKind
	case string:
		return cue.StringKind
	case spec.Number:
		if v.IsFloat() {
			return cue.FloatKind
		}
		return cue.IntKind
	case []any:
		return cue.ListKind
	}
	return cue.StructKind
}

// kindsOf names the kinds that s takes.
func kindsOf(s cue.Value) string {
	k := s.IncompleteKind()
	var names []string
	for _, n := range []struct {
		kind cue.Kind
		name string
	}{{cue.StructKind, "an object"}, {cue.ListKind, "a list"}, {cue.StringKind, "a string"}, {cue.BoolKind, "true or false"},
		{cue.NumberKind, "a number"}, {cue.IntKind, "an integer"}, {cue.FloatKind, "a decimal number"}, {cue.NullKind, "null"}} {
		if k&n.kind == n.kind {
			names = append(names, n.name)
			k &^= n.kind
		}
	}
	return strings.Join(names, " or ")
}

// arms are the alternatives of a disjunction, s itself where it is none.
func arms(s cue.Value) []cue.Value {
	op, parts := s.Expr()
	switch op {
	case cue.OrOp:
		var all []cue.Value
		for _, p := range parts {
			all = append(all, arms(p)...)
		}
		return all
	case cue.SelectorOp, cue.NoOp:
		if d := cue.Dereference(s); d != s {
			if op, _ := d.Expr(); op == cue.OrOp {
				return arms(d)
			}
		}
	}
	return []cue.Value{s}
}

// armOf is the alternative of the given kind.
func armOf(s cue.Value, k cue.Kind) (cue.Value, bool) {
	if s.IncompleteKind() == k {
		return s, true
	}
	for _, a := range arms(s) {
		if a.IncompleteKind() == k {
			return a, true
		}
	}
	return cue.Value{}, false
}

// enumOf are the strings of an enum, nil for anything else.
func enumOf(s cue.Value) []string {
	var words []string
	for _, a := range arms(s) {
		w, err := a.String()
		if err != nil {
			return nil
		}
		words = append(words, w)
	}
	return words
}

// fieldsOf are a definition's fields, and those that have to be written: the
// ones marked so, and those that have no value of their own.
func fieldsOf(s cue.Value) (names, required []string) {
	it, err := s.Fields(cue.Optional(true))
	if err != nil {
		return nil, nil
	}
	for it.Next() {
		name := it.Selector().Unquoted()
		names = append(names, name)
		switch {
		case it.FieldType()&cue.RequiredConstraint != 0:
			required = append(required, name)
		case it.FieldType()&cue.OptionalConstraint == 0 && it.Value().Validate(cue.Concrete(true), cue.Final()) != nil:
			required = append(required, name)
		}
	}
	return names, required
}

// childOf is the definition of a field, by name or by pattern.
func childOf(s cue.Value, name string) (cue.Value, bool) {
	for _, sel := range []cue.Selector{cue.Str(name), cue.Str(name).Optional(), cue.Str(name).Required(), cue.AnyString} {
		if c := s.LookupPath(cue.MakePath(sel)); c.Exists() {
			return c, true
		}
	}
	return cue.Value{}, false
}

// ruleOf is the rule in words of a field, or of the definition it names.
func ruleOf(s cue.Value) string {
	for range 4 {
		if a := s.Attribute("rule"); a.Err() == nil {
			if r, err := a.String(0); err == nil {
				return r
			}
		}
		root, path := s.ReferencePath()
		if len(path.Selectors()) == 0 {
			return ""
		}
		next := root.LookupPath(path)
		if !next.Exists() {
			return ""
		}
		s = next
	}
	return ""
}
