package command

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// evaluators are builtins that evaluate subscripts or expressions in the text
// of their arguments, so that even a quoted a[$(cmd)] runs cmd.
var evaluators = map[string]bool{"test": true, "[": true, "let": true, "unset": true, "read": true, "declare": true,
	"typeset": true, "local": true, "export": true, "readonly": true, "mapfile": true, "readarray": true, "getopts": true,
	"wait": true, "printf": true}

// evil says why expanding a node may run text as code, "" where it cannot:
// prompt and indirect expansion, arithmetic on what is no number, subscripts
// in quoted text. What is nested in substitutions is judged as its own.
func (w *walker) evil(n syntax.Node) string {
	why := ""
	note := func(s string) {
		if why == "" {
			why = s
		}
	}
	if c, ok := n.(*syntax.CallExpr); ok && len(c.Args) > 0 && w.subscripts(c.Args) {
		note("evaluates a subscript with a command in it")
	}
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst:
			return false
		case *syntax.ParamExp:
			if n.Excl && n.Names == 0 {
				note("expands a variable whose name is in another one")
			}
			if n.Exp != nil && n.Exp.Op == syntax.OtherParamOps && n.Exp.Word != nil && w.slice(n.Exp.Word) == "P" {
				note("expands a variable as a prompt, which runs what is in it")
			}
			if n.Index != nil && !w.numeric(n.Index) {
				note("evaluates a subscript that is no number")
			}
			if n.Slice != nil && (!w.numeric(n.Slice.Offset) || !w.numeric(n.Slice.Length)) {
				note("evaluates an expression that is no number")
			}
		case *syntax.ArithmExp:
			if !w.numeric(n.X) {
				note("evaluates an expression whose variables may hold code")
			}
		case *syntax.ArithmCmd:
			if !w.numeric(n.X) {
				note("evaluates an expression whose variables may hold code")
			}
		case *syntax.LetClause:
			for _, x := range n.Exprs {
				if !w.numeric(x) {
					note("evaluates an expression whose variables may hold code")
				}
			}
		case *syntax.CStyleLoop:
			if !w.numeric(n.Init) || !w.numeric(n.Cond) || !w.numeric(n.Post) {
				note("evaluates an expression whose variables may hold code")
			}
		case *syntax.BinaryTest:
			switch n.Op {
			case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
				if !w.numericTest(n.X) || !w.numericTest(n.Y) {
					note("compares as numbers what may hold code")
				}
			}
		case *syntax.UnaryTest:
			if n.Op == syntax.TsVarSet || n.Op == syntax.TsRefVar {
				if !w.numericTest(n.X) && strings.ContainsAny(w.slice(n.X), "[$`") {
					note("evaluates a subscript that is no number")
				}
			}
		case *syntax.Assign:
			if n.Index != nil && !w.numeric(n.Index) {
				note("evaluates a subscript that is no number")
			}
		}
		return true
	})
	return why
}

func (w *walker) numericTest(t syntax.TestExpr) bool {
	sw, ok := t.(*syntax.Word)
	return ok && w.numericWord(sw)
}

// numeric says that an arithmetic expression names only numbers and variables
// that surely hold numbers. nil is the missing part of a for.
func (w *walker) numeric(x syntax.ArithmExpr) bool {
	switch x := x.(type) {
	case nil:
		return true
	case *syntax.Word:
		return x == nil || w.numericWord(x)
	case *syntax.ParenArithm:
		return w.numeric(x.X)
	case *syntax.UnaryArithm:
		return w.numeric(x.X)
	case *syntax.BinaryArithm:
		return w.numeric(x.X) && w.numeric(x.Y)
	}
	return false
}

func (w *walker) numericWord(sw *syntax.Word) bool {
	parts := sw.Parts
	if len(parts) == 1 {
		if q, ok := parts[0].(*syntax.DblQuoted); ok {
			parts = q.Parts
		}
	}
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			if !w.numericText(p.Value) {
				return false
			}
		case *syntax.SglQuoted:
			if p.Dollar || !w.numericText(p.Value) {
				return false
			}
		case *syntax.ParamExp:
			if p.Length && p.Index == nil || p.Length && w.numeric(p.Index) {
				continue
			}
			if !plain(p) || !w.vars.number(p.Param.Value) {
				return false
			}
			if c := p.Param.Value[0]; c >= '0' && c <= '9' || c == '@' || c == '*' {
				return false // positional: anything
			}
		case *syntax.ArithmExp:
			if !w.numeric(p.X) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// numericText is a number, the name of a number, @ or *.
func (w *walker) numericText(s string) bool {
	if s == "@" || s == "*" {
		return true
	}
	if syntax.ValidName(s) {
		return w.vars.number(s)
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		if (c < '0' || c > '9') && (c|32 < 'a' || c|32 > 'f') && c != 'x' && c != '#' && c != '-' && c != '+' {
			return false
		}
	}
	return true
}

// subscripts says that an evaluating builtin gets text with a command inside
// a subscript.
func (w *walker) subscripts(args []*syntax.Word) bool {
	hit := false
	for i, a := range args {
		if i >= 3 && !hit {
			return false
		}
		word := w.word(a)
		if i < 3 && evaluators[word.Value] {
			hit = true
		}
		if hit && strings.Contains(word.Value, "[") && i > 0 && (strings.Contains(word.Value, "$(") || strings.Contains(word.Value, "`")) {
			return true
		}
		if id, subscript, ok := strings.Cut(word.Value, "["); hit && ok && i > 1 && syntax.ValidName(id) && !plainSubscript(subscript) {
			if before := w.word(args[i-1]).Value; before == "-v" || before == "-R" {
				return true
			}
		}
	}
	return false
}
