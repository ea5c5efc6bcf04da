package load

import (
	"slices"
	"strconv"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/token"

	"larva.dev/larva/internal/spec"
)

// walk goes through a CUE value for its places, and for its data where it is
// not valid as a whole.
type walk struct {
	e     *evaluation
	out   *outcome
	nodes int
}

// sources are the syntax that a value is made of: one field, or all that were
// unified.
func sources(v cue.Value) []ast.Node {
	src := v.Source()
	if f, ok := src.(*ast.Field); ok {
		return []ast.Node{f}
	}
	var list []ast.Node
	if op, parts := v.Expr(); op == cue.AndOp {
		for _, p := range parts {
			if s := p.Source(); s != nil {
				list = append(list, s)
			}
		}
	}
	if _, file := src.(*ast.File); src != nil && !file {
		list = append(list, src)
	}
	return list
}

// note keeps the place of a value and of its key. Of several sources the
// user's own counts, and of those the first that gives a value rather than
// a constraint.
func (w *walk) note(v cue.Value, path []string) {
	var best ast.Node
	for _, s := range sources(v) {
		if w.e.rel(s.Pos()) == "" {
			continue
		}
		if best == nil || gives(best) < gives(s) {
			best = s
		}
	}
	key := spec.PathKey(path...)
	if best == nil {
		if file := w.e.first(); len(path) == 0 && file != "" {
			w.out.Pos[key] = place{file, 1, 1}
		}
		return
	}
	at := best.Pos()
	if f, ok := best.(*ast.Field); ok {
		l := f.Label.Pos()
		w.out.Pos[key+keyMark] = place{w.e.rel(l), l.Line(), l.Column()}
		if f.Value != nil && f.Value.Pos().IsValid() {
			at = f.Value.Pos()
		}
	}
	w.out.Pos[key] = place{w.e.rel(at), at.Line(), at.Column()}
}

// gives says how much a source is more than a constraint: 2 for data, 1
// for what may be data, 0 for a kind, a bound or a pattern.
func gives(n ast.Node) int {
	if f, ok := n.(*ast.Field); ok {
		n = f.Value
	}
	switch x := n.(type) {
	case *ast.BasicLit, *ast.Interpolation, *ast.StructLit, *ast.ListLit:
		return 2
	case *ast.UnaryExpr:
		if x.Op == token.SUB || x.Op == token.ADD {
			return 2
		}
		return 0
	case *ast.Ident:
		switch x.Name {
		case "string", "_", "bool", "int", "number", "float":
			return 0
		}
	}
	return 1
}

func (w *walk) tooMany(path []string) bool {
	w.nodes++
	return w.nodes > maxNodes || len(path) > spec.MaxDepth
}

// places notes the places of a value and all below it.
func (w *walk) places(v cue.Value, path []string) {
	if w.tooMany(path) {
		return
	}
	w.note(v, path)
	switch v.IncompleteKind() {
	case cue.StructKind:
		if it, err := v.Fields(); err == nil {
			for it.Next() {
				w.places(it.Value(), sub(path, it.Selector().Unquoted()))
			}
		}
	case cue.ListKind:
		if it, err := v.List(); err == nil {
			for i := 0; it.Next(); i++ {
				w.places(it.Value(), sub(path, strconv.Itoa(i)))
			}
		}
	}
}

// export gives the data below v as far as it is concrete. What is not is noted
// with CUE's reason. ok is false where nothing is left.
func (w *walk) export(v cue.Value, path []string) (tree any, ok bool) {
	if !v.Exists() || w.tooMany(path) {
		return nil, false
	}
	w.note(v, path)
	if d, has := v.Default(); has {
		v = d
	}
	switch it, err := v.Fields(); v.IncompleteKind() {
	case cue.StructKind:
		return w.object(it, err, v, path)
	case cue.BottomKind:
		// A struct of which a field is wrong is wrong itself; its other fields
		// are still there.
		if err == nil && it.Next() {
			it, _ = v.Fields()
			return w.object(it, nil, v, path)
		}
	}
	switch v.IncompleteKind() {
	case cue.ListKind:
		if v.IsConcrete() {
			return w.list(v, path)
		}
	case cue.BottomKind:
		return w.opened(v.Err(), path)
	}
	if !v.IsConcrete() {
		return w.opened(v.Validate(cue.Concrete(true)), path)
	}
	tree, err := exportJSON(v)
	if err != nil {
		return w.opened(err, path)
	}
	return tree, true
}

func (w *walk) object(it *cue.Iterator, err error, v cue.Value, path []string) (any, bool) {
	if err != nil {
		return w.opened(v.Err(), path)
	}
	o := &spec.Object{}
	for it.Next() && len(o.Members) < spec.MaxEntries {
		name := it.Selector().Unquoted()
		if child, ok := w.export(it.Value(), sub(path, name)); ok {
			o.Members = append(o.Members, spec.Member{Key: name, Value: child})
		}
	}
	return o, true
}

func (w *walk) list(v cue.Value, path []string) (any, bool) {
	it, err := v.List()
	if err != nil {
		return w.opened(err, path)
	}
	list := []any{}
	for i := 0; it.Next() && i < spec.MaxEntries; i++ {
		child, ok := w.export(it.Value(), sub(path, strconv.Itoa(i)))
		if !ok {
			return nil, false
		}
		list = append(list, child)
	}
	return list, true
}

// opened notes a value that is not there yet, or not at all.
func (w *walk) opened(err error, path []string) (any, bool) {
	w.out.Open[spec.PathKey(path...)] = true
	if err == nil {
		return nil, false
	}
	for _, f := range w.e.faults(err, path) {
		// Without the schema's constraints, what is not there yet reads better.
		i := slices.IndexFunc(w.out.Faults, func(g cueFault) bool {
			return slices.Equal(f.Path, g.Path) && strings.HasPrefix(g.Message, noValue)
		})
		if i >= 0 {
			w.out.Faults[i] = f
		} else {
			w.out.Faults = append(w.out.Faults, f)
		}
	}
	return nil, false
}
