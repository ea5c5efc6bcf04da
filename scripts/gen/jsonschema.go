package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/encoding/jsonschema"

	"larva.dev/larva/schema"
)

// genJSONSchemas writes one JSON Schema for each name that larva schema knows.
func genJSONSchemas(s *schemas) ([]file, error) {
	if err := lostPatterns(s); err != nil {
		return nil, err
	}
	var files []file
	for _, e := range schema.Entries() {
		doc, err := jsonSchema(s, e.Def)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.Def, err)
		}
		content, err := pretty(doc)
		if err != nil {
			return nil, err
		}
		files = append(files, file{"schema/" + e.JSONFile(), content})
	}
	return files, nil
}

// object is one JSON Schema, or a part of one.
type object = map[string]any

// jsonSchema gives def as JSON Schema, draft 2020-12: what CUE's own
// generator makes of it, then the things it leaves out.
func jsonSchema(s *schemas, def string) (object, error) {
	v, err := s.def(def)
	if err != nil {
		return nil, err
	}
	expr, err := jsonschema.Generate(v, &jsonschema.GenerateConfig{Version: jsonschema.VersionDraft2020_12})
	if err != nil {
		return nil, err
	}
	raw, err := s.ctx.BuildExpr(expr).MarshalJSON()
	if err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var doc object
	if err := dec.Decode(&doc); err != nil {
		return nil, err
	}
	doc["title"] = strings.TrimPrefix(def, "#")
	mergeNumbers(doc)
	plainNumbers(doc)
	return doc, complete(s, def, doc)
}

// complete adds defaults and maps with named keys to doc and its $defs.
func complete(s *schemas, def string, doc object) error {
	if err := completeOne(s, def, doc, doc); err != nil {
		return err
	}
	defs, _ := doc["$defs"].(object)
	for _, name := range slices.Sorted(maps.Keys(defs)) {
		if err := completeOne(s, "#"+name, defs[name].(object), doc); err != nil {
			return err
		}
	}
	return nil
}

func completeOne(s *schemas, def string, o, doc object) error {
	v, err := s.def(def)
	if err != nil {
		return err
	}
	if err := namedKeys(s, v, o, doc); err != nil {
		return err
	}
	props, ok := o["properties"].(object)
	if !ok {
		return nil
	}
	it, err := v.Fields(cue.Optional(true))
	if err != nil {
		return err
	}
	for it.Next() {
		prop, ok := props[it.Selector().Unquoted()].(object)
		if !ok {
			return fmt.Errorf("%s.%s: lost", def, it.Selector())
		}
		if d, ok := defaultOf(it.Value()); ok {
			prop["default"] = d
		}
		if err := namedKeys(s, it.Value(), prop, doc); err != nil {
			return err
		}
	}
	return nil
}

// defaultOf gives a field's default, which the generator drops.
func defaultOf(v cue.Value) (any, bool) {
	d, ok := v.Default()
	if !ok || v.IsConcrete() || d.Kind() == cue.ListKind || d.Kind() == cue.StructKind {
		return nil, false
	}
	var out any
	if err := d.Decode(&out); err != nil {
		return nil, false
	}
	return out, true
}

// namedKeys writes what @jsonschema(names=A,values=B,min=N) says of a map whose
// keys are A and whose values are B, N at least: the generator loses both.
func namedKeys(s *schemas, v cue.Value, prop, doc object) error {
	a := v.Attribute("jsonschema")
	if a.Err() != nil {
		return nil
	}
	names, _, err := a.Lookup(0, "names")
	if err != nil {
		return err
	}
	values, _, err := a.Lookup(0, "values")
	if err != nil {
		return err
	}
	if least, ok, err := a.Lookup(0, "min"); err == nil && ok {
		prop["minProperties"] = json.Number(least)
	}
	prop["propertyNames"] = object{"$ref": "#/$defs/" + names}
	prop["additionalProperties"] = object{"$ref": "#/$defs/" + values}
	defs, _ := doc["$defs"].(object)
	if defs == nil {
		defs = object{}
		doc["$defs"] = defs
	}
	for _, name := range []string{names, values} {
		sub, err := jsonSchema(s, "#"+name)
		if err != nil {
			return err
		}
		inner, _ := sub["$defs"].(object)
		maps.Copy(defs, inner)
		delete(sub, "$defs")
		delete(sub, "$schema")
		delete(sub, "title")
		defs[name] = sub
	}
	return nil
}

// mergeNumbers turns allOf [{type: number, …}, {type: integer, …}], the
// generator's form of int & >=1, into one object.
func mergeNumbers(v any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			mergeNumbers(e)
		}
	case object:
		for _, e := range v {
			mergeNumbers(e)
		}
		arms, ok := v["allOf"].([]any)
		if !ok {
			return
		}
		merged := object{}
		for _, a := range arms {
			arm, ok := a.(object)
			if !ok || arm["type"] != "number" && arm["type"] != "integer" {
				return
			}
			if merged["type"] == "integer" {
				arm["type"] = "integer"
			}
			maps.Copy(merged, arm)
		}
		delete(v, "allOf")
		maps.Copy(v, merged)
	}
}

// plainNumbers writes 1E+6 as 1000000, as the schema has it.
func plainNumbers(v any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			plainNumbers(e)
		}
	case object:
		for key, e := range v {
			n, ok := e.(json.Number)
			if !ok {
				plainNumbers(e)
				continue
			}
			if r, ok := new(big.Rat).SetString(n.String()); ok && r.IsInt() {
				v[key] = json.Number(r.Num().String())
			}
		}
	}
}

// lostPatterns refuses maps whose keys have a pattern that JSON Schema would
// lose in silence: one that is no plain regular expression, without
// @jsonschema. It looks at all that the entries reach.
func lostPatterns(s *schemas) error {
	w := lostWalk{seen: map[string]bool{}}
	for _, e := range schema.Entries() {
		v, err := s.def(e.Def)
		if err != nil {
			return err
		}
		if err := w.value(e.Def, v); err != nil {
			return err
		}
	}
	return nil
}

type lostWalk struct{ seen map[string]bool }

func (w lostWalk) value(path string, v cue.Value) error {
	told := hasAttr(v, "jsonschema")
	if target, name, ok := deref(v); ok {
		if w.seen[name] {
			return nil
		}
		w.seen[name] = true
		return w.value(name, target)
	}
	switch v.IncompleteKind() {
	case cue.ListKind:
		if items := v.LookupPath(cue.MakePath(cue.AnyIndex)); items.Exists() {
			return w.value(path+"[]", items)
		}
		return nil
	case cue.StructKind:
		return w.object(path, v, told)
	}
	return nil
}

func (w lostWalk) object(path string, v cue.Value, told bool) error {
	it, err := v.Fields(cue.Optional(true), cue.Patterns(true))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	for it.Next() {
		sel := it.Selector()
		at := path + "." + sel.String()
		if sel.ConstraintType() == cue.PatternConstraint {
			at = path + ".*"
			op, _ := sel.Pattern().Expr()
			if !isPlain(sel.Pattern()) && op != cue.RegexMatchOp && !told {
				return fmt.Errorf("%s: JSON Schema would lose the keys' pattern: write a plain regular expression or add @jsonschema(names=…,values=…)", path)
			}
		}
		if err := w.value(at, it.Value()); err != nil {
			return err
		}
	}
	return nil
}

func pretty(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
