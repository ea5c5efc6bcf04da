package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/format"
	"cuelang.org/go/cue/parser"
	"cuelang.org/go/cue/token"

	"larva.dev/larva/internal/spec"
)

// judged is a mutant with both verdicts.
type judged struct {
	tree *spec.Object
	text []byte
	ok   bool
}

// corpus is mutants of one mutation each, so that each breaks one constraint
// or few; both verdicts agree on all (TestDifferential).
func corpus(t *testing.T, n int) []judged {
	m := newMutants(mutantSeed(t) + 99)
	out := make([]judged, n)
	for i := range out {
		o, _ := m.next(1)
		out[i] = judged{o, encode(o), len(spec.Check(o)) == 0}
	}
	return out
}

const corpusSize = 20_000

// Taking any one row out of Check's table makes it disagree with CUE.
func TestDeleteFromTable(t *testing.T) {
	t.Parallel()
	mutants := corpus(t, corpusSize)
	rows := spec.Constraints()
	var names []string
	for i, gone := range rows {
		rest := append(append([]spec.Constraint{}, rows[:i]...), rows[i+1:]...)
		c := spec.NewChecker(rest)
		name := strings.TrimSpace(fmt.Sprintf("%s %s %s", gone.Path, gone.Kind, gone.Arg))
		names = append(names, name)
		if !disagrees(mutants, func(m judged) bool { return len(c.Check(m.tree)) == 0 }) {
			t.Errorf("without %s Check still agrees with CUE on %d mutants", name, len(mutants))
		}
	}
	// a list that lost one of its values, too
	for i, row := range rows {
		for v := range row.Values {
			lesser := append([]spec.Constraint{}, rows...)
			lesser[i].Values = append(append([]string{}, row.Values[:v]...), row.Values[v+1:]...)
			c := spec.NewChecker(lesser)
			name := fmt.Sprintf("%s %s %q", row.Path, row.Kind, row.Values[v])
			names = append(names, name)
			if !disagrees(mutants, func(m judged) bool { return len(c.Check(m.tree)) == 0 }) {
				t.Errorf("without %s Check still agrees with CUE on %d mutants", name, len(mutants))
			}
		}
	}
	t.Logf("COUNT %d deletions from the table, each seen:\n%s", len(names), strings.Join(names, "\n"))
	if len(names) < 60 {
		t.Errorf("got %d deletions, want 60 at least", len(names))
	}
}

// Taking any one constraint out of persona.cue makes CUE disagree with Check.
func TestDeleteFromCUE(t *testing.T) {
	t.Parallel()
	mutants := corpus(t, corpusSize)
	deletions := cueDeletions(t)
	var names []string
	for _, d := range deletions {
		names = append(names, d.name)
		j := newJudge(t, "#PersonaSpec", d.text)
		seen := disagrees(mutants, func(m judged) bool {
			ok, err := j.accepts(m.text)
			if err != nil {
				t.Errorf("CUE cannot read %s: %v", m.text, err)
			}
			return ok
		})
		if !seen {
			t.Errorf("without %s CUE still agrees with Check on %d mutants", d.name, len(mutants))
		}
	}
	t.Logf("COUNT %d deletions from persona.cue, each seen:\n%s", len(names), strings.Join(names, "\n"))
	if len(names) < 40 {
		t.Errorf("got %d deletions, want 40 at least", len(names))
	}
}

func disagrees(mutants []judged, verdict func(judged) bool) bool {
	for _, m := range mutants {
		if verdict(m) != m.ok {
			return true
		}
	}
	return false
}

// deletion is persona.cue with one thing less.
type deletion struct {
	name string
	text []byte
}

// cueDeletions takes away, one at a time: each required mark, each operand of
// & and |, each field's whole value, each item and value type, closedness,
// and the one openness.
func cueDeletions(t *testing.T) []deletion {
	t.Helper()
	path := filepath.Join(root, "schema", "persona.cue")
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := parser.ParseFile(path, src, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	d := deleter{t: t, file: f}
	for _, decl := range f.Decls {
		field, ok := decl.(*ast.Field)
		if !ok {
			continue
		}
		name, _, err := ast.LabelName(field.Label)
		if err != nil {
			t.Fatal(err)
		}
		if name == "#Family" {
			continue // no part of the PersonaSpec
		}
		d.expr(name, &field.Value)
	}
	return d.out
}

type deleter struct {
	t    *testing.T
	file *ast.File
	out  []deletion
}

// try records the file as it is with *at replaced.
func (d *deleter) try(name string, at *ast.Expr, by ast.Expr) {
	old := *at
	*at = by
	d.record(name)
	*at = old
}

func (d *deleter) record(name string) {
	text, err := format.Node(d.file)
	if err != nil {
		d.t.Fatalf("%s: %v", name, err)
	}
	// an import that nothing uses is an error
	text = append(text, "\n_uses: {a: strings.MinRunes(0), b: list.MinItems(0)}\n"...)
	d.out = append(d.out, deletion{name, text})
}

func (d *deleter) expr(path string, at *ast.Expr) {
	switch e := (*at).(type) {
	case *ast.ParenExpr:
		d.expr(path, &e.X)
	case *ast.BinaryExpr:
		if e.Op != token.AND && e.Op != token.OR {
			d.t.Fatalf("%s: no deletion for %v", path, e.Op)
		}
		left, right := d.show(e.X), d.show(e.Y)
		d.try(path+": "+left, at, e.Y)
		d.try(path+": "+right, at, e.X)
		// an operand that is one thing is gone already
		for _, operand := range []*ast.Expr{&e.X, &e.Y} {
			switch (*operand).(type) {
			case *ast.UnaryExpr, *ast.Ident, *ast.CallExpr, *ast.BasicLit:
			default:
				d.expr(path, operand)
			}
		}
	case *ast.StructLit:
		d.object(path, e)
	case *ast.ListLit:
		if el, ok := e.Elts[0].(*ast.Ellipsis); ok {
			d.try(path+"[]: "+d.show(el.Type), &el.Type, ast.NewIdent("_"))
		}
	case *ast.UnaryExpr, *ast.Ident, *ast.CallExpr, *ast.BasicLit:
		d.try(path+": "+d.show(e), at, ast.NewIdent("_"))
	default:
		d.t.Fatalf("%s: no deletion for %T", path, e)
	}
}

func (d *deleter) object(path string, s *ast.StructLit) {
	old := s.Elts
	if n := len(old); n > 0 {
		if _, open := old[n-1].(*ast.Ellipsis); open {
			s.Elts = old[:n-1]
			d.record(path + ": ...")
			s.Elts = old
		} else if !isMap(s) {
			s.Elts = append(append([]ast.Decl{}, old...), &ast.Ellipsis{})
			d.record(path + ": closedness")
			s.Elts = old
		}
	}
	for _, decl := range s.Elts {
		field, ok := decl.(*ast.Field)
		if !ok {
			continue
		}
		name, _, err := ast.LabelName(field.Label)
		if err != nil {
			name = "*"
		}
		at := path + "." + name
		if field.Constraint == token.NOT {
			field.Constraint = token.OPTION
			d.record(at + ": required")
			field.Constraint = token.NOT
		}
		d.expr(at, &field.Value)
	}
}

func isMap(s *ast.StructLit) bool {
	field, ok := s.Elts[0].(*ast.Field)
	if !ok {
		return false
	}
	_, pattern := field.Label.(*ast.ListLit)
	return pattern
}

func (d *deleter) show(e ast.Expr) string {
	text, err := format.Node(e)
	if err != nil {
		d.t.Fatal(err)
	}
	return string(text)
}
