package spec

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// rule is what the table's rows ask of the values at one path.
type rule struct {
	types    []Constraint // Type and Enum rows: all have to hold
	strings  []stringRow
	numbers  []Constraint // Min and Max rows
	maxItems []intRow
	unique   []Constraint
	closed   []Constraint
	required []Constraint
	blank    string // issue code of a blank string, "" where there is none

	fields []field // of an object, by name
	values *rule   // of an object, each value
	items  *rule   // of a list, each item
}

type field struct {
	name string
	rule *rule
}

type stringRow struct {
	Constraint
	holds func(string) bool
}

type intRow struct {
	Constraint
	n int
}

// compile turns rows into the tree that check walks.
func compile(rows []Constraint) *rule {
	root := &rule{}
	for _, c := range rows {
		root.at(c.Path).add(c)
	}
	return root
}

// at gives the rule at path, made where there is none yet.
func (r *rule) at(path string) *rule {
	if path == "" {
		return r
	}
	head, rest := path, ""
	if i := strings.IndexAny(path[1:], ".["); i >= 0 {
		head, rest = path[:i+1], strings.TrimPrefix(path[i+1:], ".")
	}
	switch head {
	case "*":
		if r.values == nil {
			r.values = &rule{}
		}
		return r.values.at(rest)
	case "[]":
		if r.items == nil {
			r.items = &rule{}
		}
		return r.items.at(rest)
	}
	if f := r.field(head); f != nil {
		return f.at(rest)
	}
	f := &rule{}
	r.fields = append(r.fields, field{head, f})
	return f.at(rest)
}

func (r *rule) field(name string) *rule {
	for i := range r.fields {
		if r.fields[i].name == name {
			return r.fields[i].rule
		}
	}
	return nil
}

func (r *rule) add(c Constraint) {
	if c.Blank != "" {
		r.blank = c.Blank
	}
	switch c.Kind {
	case Type, Enum:
		r.types = append(r.types, c)
	case Pattern:
		r.strings = append(r.strings, stringRow{c, matcher(c.Arg)})
	case MaxRunes:
		n := atoi(c.Arg)
		r.strings = append(r.strings, stringRow{c, func(s string) bool {
			return len(s) <= n || utf8.RuneCountInString(s) <= n
		}})
	case Min, Max:
		r.numbers = append(r.numbers, c)
	case MaxItems:
		r.maxItems = append(r.maxItems, intRow{c, atoi(c.Arg)})
	case Unique:
		r.unique = append(r.unique, c)
	case Closed:
		r.closed = append(r.closed, c)
	case Required:
		r.required = append(r.required, c)
	}
}

func atoi(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		panic("constraint table: " + err.Error()) // the generator wrote it
	}
	return n
}

// broken gives the first row that the value itself breaks, not what it holds;
// nil when none.
func (r *rule) broken(v any) *Constraint {
	for i := range r.types {
		if !r.types[i].holdsType(v) {
			return &r.types[i]
		}
	}
	switch v := v.(type) {
	case string:
		for i := range r.strings {
			if !r.strings[i].holds(v) {
				return &r.strings[i].Constraint
			}
		}
	case Number:
		for i := range r.numbers {
			c := &r.numbers[i]
			order := compareDecimal(string(v), c.Arg)
			if c.Kind == Min && order < 0 || c.Kind == Max && order > 0 {
				return c
			}
		}
	}
	return nil
}

func (c *Constraint) holdsType(v any) bool {
	if c.Kind == Enum {
		s, ok := v.(string)
		return ok && contains(c.Values, s)
	}
	for _, t := range c.Values {
		if isType(v, t) {
			return true
		}
	}
	return false
}

func isType(v any, t string) bool {
	switch v := v.(type) {
	case string:
		return t == "string"
	case bool:
		return t == "bool"
	case Number:
		return t == "number" || t == "int" && integral(v)
	case []any:
		return t == "list"
	case *Object:
		return t == "object" && v != nil
	}
	return false
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}
