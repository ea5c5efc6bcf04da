package agent

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"larva.dev/larva/internal/nearest"
)

// problems gives every mistake of the arguments, one line each, with the path
// of the value. The library decides; the walk below only words it better,
// since the library stops at the first fault and names the schema's path.
func (c *check) problems(args map[string]any) []string {
	plain, err := floats(args)
	if err != nil {
		return []string{err.Error()}
	}
	fault := c.resolved.Validate(plain)
	if fault == nil {
		return nil
	}
	if found := walk(nil, "", plain, c.schema); len(found) > 0 {
		return found
	}
	text := fault.Error()
	return []string{strings.TrimPrefix(text, "validating root: ")}
}

// floats is the same tree with numbers as float64, which is what the library
// knows as numbers.
func floats(args map[string]any) (map[string]any, error) {
	b, err := json.Marshal(args)
	if err != nil {
		return nil, err
	}
	var out map[string]any
	return out, json.Unmarshal(b, &out)
}

func walk(found []string, path string, v any, s *jsonschema.Schema) []string {
	say := func(format string, args ...any) []string {
		at := path
		if at != "" {
			at += ": "
		}
		return append(found, at+fmt.Sprintf(format, args...))
	}
	if s.Type != "" && !jsonType(v, s.Type) {
		return say("want %s, got %s", s.Type, show(v))
	}
	if len(s.Enum) > 0 && !slices.ContainsFunc(s.Enum, func(e any) bool { return fmt.Sprint(e) == fmt.Sprint(v) }) {
		return say("want one of %v, got %s", s.Enum, show(v))
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range s.Required {
			if _, ok := v[name]; !ok {
				found = append(found, join(path, name)+": missing")
			}
		}
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			if value, ok := v[name]; ok {
				found = walk(found, join(path, name), value, s.Properties[name])
			}
		}
	case []any:
		if s.MinItems != nil && len(v) < *s.MinItems || s.MaxItems != nil && len(v) > *s.MaxItems {
			found = say("%d items are too few or too many", len(v))
		}
		if s.Items != nil {
			for i := range v {
				found = walk(found, fmt.Sprintf("%s[%d]", path, i), v[i], s.Items)
			}
		}
	case float64:
		if s.Minimum != nil && v < *s.Minimum {
			found = say("%v is below %v", v, *s.Minimum)
		}
		if s.Maximum != nil && v > *s.Maximum {
			found = say("%v is above %v", v, *s.Maximum)
		}
	}
	return found
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// jsonType says whether v is of a JSON Schema type.
func jsonType(v any, kind string) bool {
	switch v := v.(type) {
	case nil:
		return kind == "null"
	case bool:
		return kind == "boolean"
	case string:
		return kind == "string"
	case json.Number:
		f, err := v.Float64()
		return err == nil && (kind == "number" || kind == "integer" && f == math.Trunc(f))
	case float64:
		return kind == "number" || kind == "integer" && v == math.Trunc(v)
	case []any:
		return kind == "array"
	case map[string]any:
		return kind == "object"
	}
	return false
}

// show gives a value short enough for a sentence.
func show(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return "a value"
	}
	text := string(b)
	if len(text) > 80 {
		text = strings.ToValidUTF8(text[:80], "") + "…"
	}
	return text
}

// meant finds the name that was probably meant: the nearest, else one that the
// other begins with.
func meant(name string, names []string) string {
	if n := nearest.Name(name, names); n != "" {
		return n
	}
	flat := func(s string) string { return strings.ToLower(strings.ReplaceAll(s, "_", "")) }
	for _, n := range names {
		if strings.HasPrefix(flat(name), flat(n)) || strings.HasPrefix(flat(n), flat(name)) && len(name) > 2 {
			return n
		}
	}
	return ""
}
