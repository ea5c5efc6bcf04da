package main

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"cuelang.org/go/cue"

	"larva.dev/larva/internal/profile"
)

// Each field of a profile's definitions has a Go field with its name as JSON
// tag, and the reverse, all the way down.
func TestGoTypesMatch(t *testing.T) {
	t.Parallel()
	s := load1(t)
	m := matcher{t: t, seen: map[string]bool{}}
	for name, typ := range map[string]reflect.Type{
		"#Profile":  reflect.TypeFor[profile.Profile](),
		"#Scenario": reflect.TypeFor[profile.Scenario](),

		"#PermissionTest": reflect.TypeFor[profile.PermissionTest](),
	} {
		def, err := s.def(name)
		if err != nil {
			t.Fatal(err)
		}
		m.match(name, def, typ)
	}
	if len(m.seen) < 60 {
		t.Errorf("got %d fields matched, want 60 at least", len(m.seen))
	}
}

type matcher struct {
	t    *testing.T
	seen map[string]bool
}

func (m matcher) match(path string, v cue.Value, typ reflect.Type) {
	for typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	if typ == reflect.TypeFor[json.RawMessage]() {
		return // kept as written
	}
	switch typ.Kind() {
	case reflect.Struct:
		m.object(path, v, typ)
	case reflect.Map:
		m.keys(path, v, typ)
	case reflect.Slice:
		m.match(path+"[]", v.LookupPath(cue.MakePath(cue.AnyIndex)), typ.Elem())
	default:
		m.scalar(path, v, typ)
	}
}

func (m matcher) object(path string, v cue.Value, typ reflect.Type) {
	tags := map[string]reflect.StructField{}
	for i := range typ.NumField() {
		f := typ.Field(i)
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if tag == "" {
			m.t.Errorf("%s: Go field %s.%s has no JSON tag", path, typ, f.Name)
			continue
		}
		tags[tag] = f
	}
	it, err := v.Fields(cue.Optional(true))
	if err != nil {
		m.t.Fatalf("%s: %v", path, err)
	}
	for it.Next() {
		name := it.Selector().Unquoted()
		m.seen[path+"."+name] = true
		f, ok := tags[name]
		if !ok {
			m.t.Errorf("%s.%s: %s has no field with that tag", path, name, typ)
			continue
		}
		delete(tags, name)
		m.match(path+"."+name, it.Value(), f.Type)
	}
	for tag := range tags {
		m.t.Errorf("%s: the schema has no %s, %s has", path, tag, typ)
	}
}

// keys is a Go map: one of the schema, or a struct all of whose fields are of
// one type.
func (m matcher) keys(path string, v cue.Value, typ reflect.Type) {
	it, err := v.Fields(cue.Optional(true), cue.Patterns(true))
	if err != nil {
		m.t.Fatalf("%s: %v", path, err)
	}
	n := 0
	for it.Next() {
		n++
		m.match(path+"."+it.Selector().String(), it.Value(), typ.Elem())
	}
	if n == 0 {
		m.t.Errorf("%s: the schema has no keys there, %s has", path, typ)
	}
}

func (m matcher) scalar(path string, v cue.Value, typ reflect.Type) {
	want := map[cue.Kind][]reflect.Kind{
		cue.StringKind: {reflect.String},
		cue.BoolKind:   {reflect.Bool},
		cue.IntKind:    {reflect.Int, reflect.Int64},
		cue.NumberKind: {reflect.Float64},
	}[v.IncompleteKind()]
	if !slices.Contains(want, typ.Kind()) {
		m.t.Errorf("%s: got Go type %s, want one of %v", path, typ, want)
	}
}
