package main

import (
	"fmt"
	"strings"

	"cuelang.org/go/cue"
)

const textMatching = "text matching "

// words says in Markdown what a value is: a link to its definition, a list, a
// map, a choice, a basic type.
func (r referrer) words(v cue.Value) (string, error) {
	if _, name, ok := deref(v); ok {
		page := r.home[name]
		if page == r.page {
			page = ""
		}
		return fmt.Sprintf("[%s](%s#%s)", strings.TrimPrefix(name, "#"), page, anchor(name)), nil
	}
	op, args := v.Expr()
	switch op {
	case cue.OrOp:
		return r.choice(args)
	case cue.AndOp:
		return r.both(args)
	case cue.RegexMatchOp:
		s, err := args[0].String()
		return textMatching + "`" + strings.ReplaceAll(s, "|", `\|`) + "`", err
	case cue.GreaterThanEqualOp:
		return fmt.Sprintf("≥ %v", args[0]), nil
	case cue.LessThanEqualOp:
		return fmt.Sprintf("≤ %v", args[0]), nil
	case cue.GreaterThanOp:
		return fmt.Sprintf("> %v", args[0]), nil
	case cue.CallOp:
		return callWords(args)
	}
	return r.plainWords(v)
}

func (r referrer) choice(arms []cue.Value) (string, error) {
	var parts []string
	for _, a := range arms {
		w, err := r.words(a)
		if err != nil {
			return "", err
		}
		parts = append(parts, w)
	}
	return strings.Join(parts, ` \| `), nil
}

func (r referrer) both(args []cue.Value) (string, error) {
	var parts []string
	for _, a := range args {
		w, err := r.words(a)
		if err != nil {
			return "", err
		}
		parts = append(parts, w)
	}
	return strings.Join(parts, ", "), nil
}

func callWords(args []cue.Value) (string, error) {
	switch name := fmt.Sprint(args[0]); name {
	case "strings.MaxRunes":
		return fmt.Sprintf("at most %v characters", args[1]), nil
	case "list.MaxItems":
		return fmt.Sprintf("at most %v", args[1]), nil
	case "list.MinItems", "struct.MinFields":
		return fmt.Sprintf("at least %v", args[1]), nil
	case "list.UniqueItems", "list.UniqueItems()":
		return "none twice", nil
	default:
		return "", fmt.Errorf("no words for %s", name)
	}
}

// sides are the fields of a struct without a name of its own, where each is
// some definition; any other struct is an object.
func (r referrer) sides(v cue.Value) (string, error) {
	it, err := v.Fields(cue.Optional(true))
	if err != nil {
		return "", err
	}
	var parts []string
	for it.Next() {
		if _, _, ok := deref(it.Value()); !ok {
			return "object", nil
		}
		w, err := r.words(it.Value())
		if err != nil {
			return "", err
		}
		parts = append(parts, it.Selector().Unquoted()+" "+w)
	}
	if len(parts) == 0 {
		return "object", nil
	}
	return strings.Join(parts, ", "), nil
}

func (r referrer) plainWords(v cue.Value) (string, error) {
	if v.IsConcrete() && v.Kind()&(cue.StructKind|cue.ListKind) == 0 {
		return fmt.Sprintf("`%v`", v), nil
	}
	switch v.IncompleteKind() {
	case cue.BoolKind:
		return "bool", nil // with or without a default
	case cue.ListKind:
		items := v.LookupPath(cue.MakePath(cue.AnyIndex))
		if !items.Exists() {
			return "list", nil
		}
		w, err := r.words(items)
		return "list of " + w, err
	case cue.StructKind:
		it, err := v.Fields(cue.Optional(true), cue.Patterns(true))
		if err != nil {
			return "", err
		}
		for it.Next() {
			if it.Selector().ConstraintType() == cue.PatternConstraint {
				w, err := r.words(it.Value())
				return "map of " + w, err
			}
		}
		return r.sides(v)
	}
	switch s := fmt.Sprint(v); s {
	case "_":
		return "anything", nil
	case "bool", "string", "number", "int":
		return s, nil
	default:
		return "", fmt.Errorf("no words for %s", s)
	}
}
