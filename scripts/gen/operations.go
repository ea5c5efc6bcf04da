package main

import (
	"fmt"
	"strings"

	"cuelang.org/go/cue"

	"larva.dev/larva/schema"
)

// genOperations writes the JSON Schemas of each operation's parameters and
// result. They stand alone and are read by MCP clients of many languages.
func genOperations(s *schemas) ([]file, error) {
	all, err := s.def("#Operations")
	if err != nil {
		return nil, err
	}
	it, err := all.Fields(cue.Optional(true))
	if err != nil {
		return nil, err
	}
	var files []file
	for it.Next() {
		operation := it.Selector().Unquoted()
		for _, side := range []string{schema.Input, schema.Output} {
			content, err := operationSchema(s, it.Value().LookupPath(cue.ParsePath(side)))
			if err != nil {
				return nil, fmt.Errorf("%s of %s: %w", side, operation, err)
			}
			files = append(files, file{"schema/" + schema.OperationFile(operation, side), content})
		}
	}
	return files, nil
}

// operationSchema is v's JSON Schema without what clients stumble over or pay
// for in every conversation.
func operationSchema(s *schemas, v cue.Value) ([]byte, error) {
	_, name, ok := deref(v)
	if !ok {
		return nil, fmt.Errorf("%v is no definition", v)
	}
	if err := (lostWalk{seen: map[string]bool{}}).value(name, v); err != nil {
		return nil, err
	}
	if !hasFields(v) {
		return pretty(object{"type": "object", "additionalProperties": false}) // the generator says nothing of it
	}
	doc, err := jsonSchema(s, name)
	if err != nil {
		return nil, err
	}
	for _, key := range []string{"$schema", "title", "description"} {
		delete(doc, key)
	}
	if doc["type"] != "object" {
		return nil, fmt.Errorf("%s is no object", name)
	}
	if err := portable(doc); err != nil {
		return nil, err
	}
	return pretty(doc)
}

// portable keeps expressions to what RE2, ECMAScript and Python's re have in
// common. A text that is not blank needs Unicode's classes to be said exactly;
// to clients it is said nearly.
func portable(v any) error {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			if err := portable(e); err != nil {
				return err
			}
		}
	case object:
		for key, e := range v {
			pattern, isText := e.(string)
			if key != "pattern" || !isText {
				if err := portable(e); err != nil {
					return err
				}
				continue
			}
			if pattern == `[^\s\v\x85\p{Z}]` {
				v[key] = `\S`
			} else if strings.Contains(pattern, `\`) {
				return fmt.Errorf("the expression %s is not known to mean the same everywhere", pattern)
			}
		}
	}
	return nil
}
