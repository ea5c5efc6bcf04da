package ops

import (
	"slices"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/spec"
)

// params are an operation's parameters after check: known names, right types.
type params struct{ o *spec.Object }

func (p params) str(name string) string { return p.o.String(name) }

func (p params) flag(name string) bool {
	v, _ := p.o.Get(name)
	b, _ := v.(bool)
	return b
}

func (p params) object(name string) *spec.Object {
	v, _ := p.o.Get(name)
	o, _ := v.(*spec.Object)
	return o
}

func (p params) list(name string) []string {
	v, ok := p.o.Get(name)
	if !ok {
		return nil
	}
	items, _ := v.([]any)
	out := make([]string, len(items))
	for i, item := range items {
		out[i], _ = item.(string)
	}
	return out
}

// check judges the parameters before the operation sees them. A null stands
// for a parameter that was not given: clients send one for each optional
// parameter they leave out.
func check(op Operation, o *spec.Object) (params, error) {
	given := &spec.Object{}
	if o != nil {
		for _, m := range o.Members {
			if m.Value != nil {
				given.Members = append(given.Members, m)
			}
		}
	}
	var unknown []string
	for _, m := range given.Members {
		if !slices.ContainsFunc(op.Params, func(p Param) bool { return p.Name == m.Key }) {
			unknown = append(unknown, m.Key)
		}
	}
	if len(unknown) > 0 {
		slices.Sort(unknown)
		return params{}, malformed(op, "unknown parameters").With("field", "params").With("unknown", unknown)
	}
	for _, p := range op.Params {
		v, ok := given.Get(p.Name)
		switch {
		case !ok && p.Required:
			return params{}, malformed(op, "the parameter "+p.Name+" is missing").With("field", p.Name)
		case ok && !p.Type.holds(v):
			return params{}, malformed(op, "the parameter "+p.Name+" is of the wrong type").With("field", p.Name).
				With("expected_type", string(p.Type)).With("received_type", TypeOf(v))
		}
	}
	return params{given}, nil
}

func malformed(op Operation, reason string) *diag.Error {
	return diag.New(diag.InvalidInput, "%s: %s", op.Name, reason).With("operation", op.Name).With("reason", reason)
}

func (t Type) holds(v any) bool {
	switch t {
	case Strings:
		items, ok := v.([]any)
		return ok && !slices.ContainsFunc(items, func(v any) bool { _, ok := v.(string); return !ok })
	default:
		return TypeOf(v) == string(t)
	}
}

// TypeOf names the type of a JSON value as errors do: object, list, string,
// number, boolean, null.
func TypeOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case []any:
		return "list"
	case *spec.Object:
		return "object"
	}
	return "number"
}
