package spec

import "strings"

// Segments are the parts of a dotted key; empty parts do not count, so that
// ".id" has the root id and not an empty one. There is always one.
func Segments(key string) []string {
	parts := strings.FieldsFunc(key, func(r rune) bool { return r == '.' })
	if len(parts) == 0 {
		return []string{""}
	}
	return parts
}

// Nest gives an object whose dotted keys are expanded: a.b: 1 becomes
// a: {b: 1}. Keys count in their order: where two reach the same place,
// objects merge and anything else is replaced by the later. o is not changed.
func Nest(o *Object) *Object {
	out := &Object{}
	for _, m := range o.Members {
		parts := Segments(m.Key)
		value := m.Value
		for i := len(parts) - 1; i > 0; i-- {
			value = &Object{Members: []Member{{parts[i], value}}}
		}
		if old, ok := out.Get(parts[0]); ok {
			value = Merge(old, value)
		}
		out.Set(parts[0], value)
	}
	return out
}

// Merge lays value over old: objects key by key, anything else as a whole.
// Neither is changed.
func Merge(old, value any) any {
	a, ok := old.(*Object)
	b, okB := value.(*Object)
	if !ok || !okB || a == nil || b == nil {
		return value
	}
	o := a.Clone()
	for _, m := range b.Members {
		if was, ok := o.Get(m.Key); ok {
			o.Set(m.Key, Merge(was, m.Value))
		} else {
			o.Members = append(o.Members, m)
		}
	}
	return o
}
