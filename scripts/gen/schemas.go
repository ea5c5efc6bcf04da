package main

import (
	"fmt"
	"path/filepath"
	"sort"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/build"
	"cuelang.org/go/cue/cuecontext"
	"cuelang.org/go/cue/load"
)

// schemas is the package larva.dev/schema, built.
type schemas struct {
	root  string // the repository's root
	ctx   *cue.Context
	value cue.Value
	files []*ast.File // in the package's order, comments kept
}

func loadSchemas(root string) (*schemas, error) {
	insts := load.Instances([]string{"./schema"}, &load.Config{Dir: root})
	return buildSchemas(root, insts[0])
}

func buildSchemas(root string, inst *build.Instance) (*schemas, error) {
	if inst.Err != nil {
		return nil, fmt.Errorf("load schema: %w", inst.Err)
	}
	ctx := cuecontext.New()
	v := ctx.BuildInstance(inst)
	if err := v.Err(); err != nil {
		return nil, fmt.Errorf("build schema: %w", err)
	}
	return &schemas{root: root, ctx: ctx, value: v, files: inst.Files}, nil
}

// def gives a definition by its CUE name, "#ID".
func (s *schemas) def(name string) (cue.Value, error) {
	v := s.value.LookupPath(cue.ParsePath(name))
	if !v.Exists() {
		return v, fmt.Errorf("schema has no %s", name)
	}
	return v, nil
}

// deref follows a reference to the value it names; ok is false where v is
// no reference. The value's own attributes and comments are those of the
// place it is defined at.
func deref(v cue.Value) (target cue.Value, name string, ok bool) {
	op, _ := v.Expr()
	if op != cue.NoOp && op != cue.SelectorOp {
		return v, "", false
	}
	pkg, path := v.ReferencePath()
	if !pkg.Exists() || !strings.HasPrefix(path.String(), "#") {
		return v, "", false
	}
	return pkg.LookupPath(path), path.String(), true
}

// attr gives the first argument of @name(…), "" where there is none.
func attr(v cue.Value, name string) string {
	a := v.Attribute(name)
	if a.Err() != nil {
		return ""
	}
	s, err := a.String(0)
	if err != nil {
		return ""
	}
	return s
}

func hasAttr(v cue.Value, name string) bool {
	a := v.Attribute(name)
	return a.Err() == nil
}

// doc gives a value's comment as one paragraph a line.
func doc(v cue.Value) string {
	var parts []string
	for _, c := range v.Doc() {
		parts = append(parts, strings.TrimSpace(c.Text()))
	}
	return strings.Join(parts, "\n\n")
}

// definition is one #Name of the schema and the file it stands in.
type definition struct {
	name string // #PersonaSpec
	file string // persona.cue
}

// defs lists all definitions, by file name and then in the file's order.
func (s *schemas) defs() []definition {
	var out []definition
	for _, f := range s.files {
		for _, d := range f.Decls {
			field, ok := d.(*ast.Field)
			if !ok {
				continue
			}
			if name, _, err := ast.LabelName(field.Label); err == nil && strings.HasPrefix(name, "#") {
				out = append(out, definition{name, filepath.Base(f.Filename)})
			}
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].file < out[j].file })
	return out
}
