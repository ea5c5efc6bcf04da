package main

import (
	"fmt"

	"cuelang.org/go/cue"

	"larva.dev/larva/internal/spec"
)

// parts is a value of the schema taken apart: conjunctions flattened,
// references followed, the arms of a disjunction of kinds told apart.
type parts struct {
	rule   string // the nearest @rule on the way
	enum   []string
	rows   []spec.Constraint // Kind, Arg only
	items  cue.Value         // what each item of a list is
	object cue.Value         // the struct that the value is
}

func (p *parts) take(v cue.Value) error {
	if target, _, ok := deref(v); ok {
		if r := attr(target, "rule"); r != "" && p.rule == "" {
			p.rule = r
		}
		return p.take(target)
	}
	op, args := v.Expr()
	switch op {
	case cue.AndOp:
		return p.takeAll(args)
	case cue.OrOp:
		return p.disjunction(args)
	case cue.RegexMatchOp:
		return p.row(spec.Pattern, args[0])
	case cue.GreaterThanEqualOp:
		return p.row(spec.Min, args[0])
	case cue.LessThanEqualOp:
		return p.row(spec.Max, args[0])
	case cue.CallOp:
		return p.call(args)
	case cue.NoOp, cue.SelectorOp:
		return p.plain(v)
	}
	return fmt.Errorf("no row for %v (%v)", v, op)
}

func (p *parts) takeAll(args []cue.Value) error {
	for _, a := range args {
		if err := p.take(a); err != nil {
			return err
		}
	}
	return nil
}

// disjunction is a list of strings, or of arms of different kinds.
func (p *parts) disjunction(arms []cue.Value) error {
	var seen cue.Kind
	for _, a := range arms {
		if s, err := a.String(); err == nil {
			p.enum = append(p.enum, s)
			continue
		}
		k := a.IncompleteKind()
		if len(p.enum) > 0 || seen&k != 0 {
			return fmt.Errorf("no row for the disjunction %v", arms)
		}
		seen |= k
		if err := p.take(a); err != nil {
			return err
		}
	}
	return nil
}

func (p *parts) row(kind spec.Kind, arg cue.Value) error {
	text, err := arg.String()
	if err != nil {
		b, err := arg.MarshalJSON()
		if err != nil {
			return err
		}
		text = string(b)
	}
	p.rows = append(p.rows, spec.Constraint{Kind: kind, Arg: text})
	return nil
}

func (p *parts) call(args []cue.Value) error {
	switch name := fmt.Sprint(args[0]); name {
	case "strings.MaxRunes":
		return p.row(spec.MaxRunes, args[1])
	case "list.MaxItems":
		return p.row(spec.MaxItems, args[1])
	case "list.UniqueItems", "list.UniqueItems()":
		p.rows = append(p.rows, spec.Constraint{Kind: spec.Unique})
		return nil
	default:
		return fmt.Errorf("no row for %s", name)
	}
}

// plain is a value without an operator: a string, a basic type, a list or a
// struct.
func (p *parts) plain(v cue.Value) error {
	if s, err := v.String(); err == nil {
		p.enum = append(p.enum, s)
		return nil
	}
	switch v.IncompleteKind() {
	case cue.StructKind:
		p.object = v
		return nil
	case cue.ListKind:
		p.items = v.LookupPath(cue.MakePath(cue.AnyIndex))
		return nil
	}
	if isPlain(v) {
		return nil // its kind says all
	}
	return fmt.Errorf("no row for %v", v)
}

// isPlain says whether v is a basic type and nothing more: string, bool,
// number or int.
func isPlain(v cue.Value) bool {
	switch fmt.Sprint(v) {
	case "string", "bool", "number", "int", "_":
		return true
	}
	return false
}
