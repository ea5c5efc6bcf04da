package spec

import (
	"fmt"
	"strconv"
	"strings"

	"larva.dev/larva/internal/nearest"
)

// faulty says in words that the value of field breaks c.
func faulty(field string, v any, c *Constraint) string {
	field = plain(field)
	switch c.Kind {
	case Type:
		return fmt.Sprintf("%s must be %s, got %s", field, alternatives(c.Values), show(v))
	case Enum:
		s := fmt.Sprintf("%s must be %s, got %s", field, quoted(c.Values), show(v))
		if text, ok := v.(string); ok {
			return s + didYouMean(text, c.Values)
		}
		return s
	}
	if c.Rule != "" {
		return fmt.Sprintf("%s %s, got %s", field, c.Rule, show(v))
	}
	return fmt.Sprintf("%s breaks %s %s, got %s", field, c.Kind, c.Arg, show(v))
}

func tooLong(field string, n, most int) string {
	return fmt.Sprintf("%s has %d entries, at most %d are allowed", field, n, most)
}

func badMembers(field string, invalid, twice []any, c *Constraint) string {
	var parts []string
	if len(invalid) > 0 {
		parts = append(parts, fmt.Sprintf("%s %s: %s", plural(len(invalid), "entry", "entries"), c.Rule, showAll(invalid)))
	}
	if len(twice) > 0 {
		parts = append(parts, "named more than once: "+showAll(twice))
	}
	return field + ": " + strings.Join(parts, "; ")
}

func notAField(name string, c *Constraint) string {
	if contains(c.Forbidden, name) {
		return fmt.Sprintf("%s is not part of a PersonaSpec", name)
	}
	return fmt.Sprintf("unknown field %s%s", quote(name), didYouMean(name, c.Values))
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// typeNames are the table's types as people say them.
func typeName(t string) string {
	switch t {
	case "object", "int":
		return map[string]string{"object": "an object", "int": "an integer"}[t]
	case "bool":
		return "true or false"
	}
	return "a " + t
}

func alternatives(types []string) string {
	names := make([]string, len(types))
	for i, t := range types {
		names[i] = typeName(t)
	}
	return strings.Join(names, " or ")
}

func quoted(values []string) string {
	q := make([]string, len(values))
	for i, v := range values {
		q[i] = quote(v)
	}
	if len(q) == 1 {
		return q[0]
	}
	return "one of " + strings.Join(q, ", ")
}

// show gives a value in a few words: scalars as written, the rest by type.
func show(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(v)
	case Number:
		return cut(string(v))
	case string:
		return quote(v)
	case []any:
		return "a list"
	}
	return "an object"
}

func showAll(list []any) string {
	const most = 5
	var parts []string
	for i, v := range list {
		if i == most {
			parts = append(parts, fmt.Sprintf("and %d more", len(list)-most))
			break
		}
		parts = append(parts, show(v))
	}
	return strings.Join(parts, ", ")
}

// quote makes s fit for a line of text, whatever it holds.
func quote(s string) string { return strconv.QuoteToGraphic(cut(s)) }

// plain is s as it is where it is fit for a line of text, else quoted.
func plain(s string) string {
	if q := quote(s); q != `"`+s+`"` {
		return q
	}
	return s
}

func cut(s string) string {
	const most = 60
	n := 0
	for i := range s {
		if n == most {
			return s[:i] + "…"
		}
		n++
	}
	return s
}

// count is n as a tree value.
func count(n int) Number { return Number(strconv.Itoa(n)) }

// didYouMean gives ` (did you mean "x"?)` for the nearest of names, "" where
// none is near.
func didYouMean(s string, names []string) string {
	near := nearest.Name(s, names)
	if near == "" || near == s {
		return ""
	}
	return fmt.Sprintf(" (did you mean %q?)", near)
}
