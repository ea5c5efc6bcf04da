package command

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// vars are the variables and functions that a line sets, wherever it does so.
type vars struct {
	byName map[string]*variable
	funcs  map[string]bool
	chdir  bool // there is a cd somewhere
}

type variable struct {
	values  []string // the static ones
	unknown bool     // it also gets a value that cannot be known
	numbers bool     // every value is surely a number
}

func (v *vars) set(name string) bool { return v.byName[name] != nil }

// value is the only value that a variable can have.
func (v *vars) value(name string) (string, bool) {
	x := v.byName[name]
	if x == nil || x.unknown || len(x.values) != 1 {
		return "", false
	}
	return x.values[0], true
}

// number says that a variable cannot hold an expression: arithmetic on text
// such as a[$(cmd)] runs it. One that the line does not set comes from the
// environment, which is ours.
func (v *vars) number(name string) bool {
	x := v.byName[name]
	return x == nil || x.numbers
}

func (v *vars) add(name string, value string, known, number bool) {
	x := v.byName[name]
	if x == nil {
		x = &variable{numbers: true}
		v.byName[name] = x
	}
	if known {
		x.values = append(x.values, value)
		if _, err := strconv.Atoi(value); err != nil {
			number = false
		} else {
			number = true
		}
	} else {
		x.unknown = true
	}
	x.numbers = x.numbers && number
}

// setters are commands that give values to the variables they name.
var setters = map[string]bool{"read": true, "mapfile": true, "readarray": true, "printf": true, "getopts": true,
	"unset": true, "let": true, "wait": true}

// scan lists what a file sets.
func scan(f *syntax.File) *vars {
	v := &vars{byName: map[string]*variable{}, funcs: map[string]bool{}}
	syntax.Walk(f, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.FuncDecl:
			if n.Name != nil {
				v.funcs[n.Name.Value] = true
			}
		case *syntax.Assign:
			v.assign(n)
		case *syntax.ForClause:
			v.loop(n)
		case *syntax.Stmt:
			for _, name := range hidden(n.Redirs) {
				v.add(name, "", false, true)
			}
		case *syntax.CoprocClause:
			if n.Name != nil {
				v.add(n.Name.Lit(), "", false, true)
			}
		case *syntax.ParamExp:
			if n.Param != nil && n.Exp != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull) {
				v.add(n.Param.Value, "", false, false)
			}
		case *syntax.BinaryArithm:
			if name := arithmName(n.X); name != "" && assigns(n.Op) {
				v.add(name, "", false, true)
			}
		case *syntax.UnaryArithm:
			if name := arithmName(n.X); name != "" && (n.Op == syntax.Inc || n.Op == syntax.Dec) {
				v.add(name, "", false, true)
			}
		case *syntax.CallExpr:
			v.call(n)
		}
		return true
	})
	return v
}

func (v *vars) assign(a *syntax.Assign) {
	switch {
	case a.Name == nil: // declare "$x"
	case a.Naked:
		v.add(a.Name.Value, "", false, false)
	case a.Array != nil || a.Index != nil || a.Append:
		v.add(a.Name.Value, "", false, false)
	case a.Value == nil:
		v.add(a.Name.Value, "", true, false)
	default:
		s, ok := literalWord(a.Value)
		v.add(a.Name.Value, s, ok, onlyArithm(a.Value))
	}
}

func (v *vars) loop(n *syntax.ForClause) {
	it, ok := n.Loop.(*syntax.WordIter)
	if !ok || it.Name == nil {
		return
	}
	if len(it.Items) == 0 {
		v.add(it.Name.Value, "", false, false)
	}
	for _, item := range it.Items {
		s, ok := literalWord(item)
		if ok && strings.ContainsAny(s, "{*?[~") {
			ok = false
		}
		v.add(it.Name.Value, s, ok, false)
	}
}

func (v *vars) call(n *syntax.CallExpr) {
	for i, a := range n.Args {
		name, ok := literalWord(a)
		if !ok {
			continue
		}
		if name == "cd" || name == "pushd" || name == "popd" {
			v.chdir = true
		}
		if i < 3 && setters[name] { // behind command or builtin too
			w := &walker{vars: &vars{}}
			var argv []Word
			for _, arg := range n.Args[i:] {
				argv = append(argv, w.word(arg))
			}
			names, _ := sets(argv)
			for _, s := range names {
				v.add(s, "", false, false)
			}
		}
	}
}

// literalWord is the value of a word without expansions.
func literalWord(sw *syntax.Word) (string, bool) {
	w := &walker{vars: &vars{}}
	word := w.word(sw)
	return word.Value, word.Static
}

func onlyArithm(sw *syntax.Word) bool {
	parts := sw.Parts
	if len(parts) == 1 {
		if q, ok := parts[0].(*syntax.DblQuoted); ok {
			parts = q.Parts
		}
	}
	if len(parts) != 1 {
		return false
	}
	_, ok := parts[0].(*syntax.ArithmExp)
	return ok
}

// assigns says that an operator of arithmetic sets its left side.
func assigns(op syntax.BinAritOperator) bool {
	switch op {
	case syntax.Eql, syntax.Neq, syntax.Leq, syntax.Geq:
		return false
	}
	return strings.HasSuffix(op.String(), "=")
}

func arithmName(x syntax.ArithmExpr) string {
	if sw, ok := x.(*syntax.Word); ok {
		if s := sw.Lit(); syntax.ValidName(s) {
			return s
		}
	}
	return ""
}
