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
	b, _ := p.value(name).(bool)
	return b
}

func (p params) object(name string) *spec.Object {
	o, _ := p.value(name).(*spec.Object)
	return o
}

// list gives nil where the parameter was not given.
func (p params) list(name string) []string {
	if !p.o.Has(name) {
		return nil
	}
	items, _ := p.value(name).([]any)
	out := make([]string, len(items))
	for i, item := range items {
		out[i], _ = item.(string)
	}
	return out
}

func (p params) value(name string) any {
	v, _ := p.o.Get(name)
	return v
}

// check judges the parameters before the operation sees them. A null stands
// for an optional parameter that was not given: clients send one for each
// that they leave out.
func check(op Operation, o *spec.Object) (params, error) {
	given := &spec.Object{}
	var unknown []string
	if o == nil {
		o = &spec.Object{}
	}
	for _, m := range o.Members {
		i := slices.IndexFunc(op.Params, func(p Param) bool { return p.Name == m.Key })
		switch {
		case i < 0:
			unknown = append(unknown, m.Key)
		case m.Value != nil || op.Params[i].Required:
			given.Members = append(given.Members, m)
		}
	}
	if len(unknown) > 0 {
		slices.Sort(unknown)
		return params{}, malformed(op, "unknown parameters").With("field", "params").With("unknown", unknown)
	}
	for _, p := range op.Params {
		v, ok := given.Get(p.Name)
		if !ok && p.Required {
			return params{}, malformed(op, "the parameter "+p.Name+" is missing").With("field", p.Name)
		}
		if !ok {
			continue
		}
		if err := p.check(op, v); err != nil {
			return params{}, err
		}
		if p.Name == "variant" && v == "" {
			return params{}, emptyVariant()
		}
	}
	return params{given}, nil
}

// emptyVariant refuses the empty name: a variable that somebody forgot to set
// must not mean the active variant, or default.
func emptyVariant() *diag.Error {
	return diag.New(diag.InvalidVariantName, "\"\" is not a variant name").With("variant", "").
		WithHint("leave variant out for the active variant")
}

// check judges one parameter's type.
func (p Param) check(op Operation, v any) error {
	if got := TypeOf(v); p.Type != Any && got != string(p.Type) {
		return malformed(op, "the parameter "+p.Name+" is of the wrong type").With("field", p.Name).
			With("expected_type", string(p.Type)).With("received_type", got)
	}
	if p.Type != Strings {
		return nil
	}
	items, _ := v.([]any)
	for i, item := range items {
		if got := TypeOf(item); got != string(String) {
			return malformed(op, "the parameter "+p.Name+" must hold strings only").With("field", p.Name).With("index", i).
				With("expected_type", string(String)).With("received_type", got)
		}
	}
	return nil
}

func malformed(op Operation, reason string) *diag.Error {
	return diag.New(diag.InvalidInput, "%s: %s", op.Name, reason).With("operation", op.Name).With("reason", reason)
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
