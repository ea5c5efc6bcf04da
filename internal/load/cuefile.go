package load

import (
	"os"
	"path"
	"path/filepath"
	"strings"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/parser"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/spec"
)

// cueFile takes a CUE file that was named itself. With a package clause its
// whole package is evaluated, and the personas written in this file are taken.
func (b *batch) cueFile(shown, name string) {
	u, p := b.trees.fileUnit(shown, name, "personas")
	if p != nil {
		b.fail(shown, *p)
		return
	}
	b.unit(u, false)
}

func (b *batch) unit(u *unit, listed bool) {
	b.inputs = append(b.inputs, &input{unit: u, listed: listed})
}

// fileUnit is the unit of one file.
func (ms *modules) fileUnit(shown, name, want string) (*unit, *diag.Problem) {
	abs, err := realPath(name)
	if err != nil {
		return nil, &diag.Problem{File: shown, Message: diag.Reason(err)}
	}
	if fi, err := os.Stat(abs); err == nil && fi.IsDir() {
		return nil, &diag.Problem{File: shown, Message: "is a directory"}
	}
	dir := filepath.Dir(abs)
	m, p := ms.of(dir, dir, dir, filepath.Dir(shown))
	if p != nil {
		p.File = shown
		return nil, p
	}
	rel := m.rel(abs)
	data, p := m.read(rel, maxCUE)
	if p != nil {
		p.File = shown
		return nil, p
	}
	u := m.gather(shown, path.Dir(rel), packageOf(data), []string{rel}, want)
	u.Names[rel] = shown
	return u, nil
}

// packageOf is the name in a file's package clause, "" without one.
func packageOf(data []byte) string {
	f, err := parser.ParseFile("-", data, parser.PackageClauseOnly)
	if err != nil || f == nil {
		return ""
	}
	return f.PackageName()
}

func realPath(name string) (string, error) {
	abs, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

// cueText takes CUE that has no file: stdin, in the module of dir.
func (b *batch) cueText(shown, dir string, data []byte) {
	u, p := b.trees.textUnit(shown, dir, data, "personas")
	if p != nil {
		b.fail(shown, *p)
		return
	}
	b.unit(u, false)
}

func (ms *modules) textUnit(shown, dir string, data []byte, want string) (*unit, *diag.Problem) {
	abs, err := realPath(dir)
	if err != nil {
		return nil, &diag.Problem{File: shown, Message: diag.Reason(err)}
	}
	if len(data) > maxCUE {
		return nil, &diag.Problem{File: shown, Message: "larger than 4 MiB"}
	}
	m, p := ms.of(abs, abs, abs, "")
	if p != nil {
		return nil, p
	}
	rel := path.Join(m.rel(abs), "stdin-.cue")
	u := &unit{Shown: shown, Files: map[string][]byte{}, Names: map[string]string{rel: shown}, Module: m.path, Language: m.lang,
		Schema: vendored, Dir: path.Dir(rel), File: rel, Want: want}
	if rest, ok := cutPrefix(schemaPath, m.path); ok && m.path != "" {
		u.Schema = rest
	}
	c := &collector{m: m, u: u, dirs: map[string]bool{}}
	if m.mod != nil {
		u.faults = append(u.faults, *m.mod)
		return u, nil
	}
	c.parsed(rel, data)
	return u, nil
}

// cueDirectory takes the CUE files of one directory below a named one: each
// package is a unit, each file without a package too. Those that cannot hold a
// persona are left out without being evaluated.
func (b *batch) cueDirectory(shown, name, dir string, names []string) {
	top, err := realPath(name)
	if err != nil {
		b.fail(shown, diag.Problem{File: shown, Message: diag.Reason(err)})
		return
	}
	abs := filepath.Join(top, filepath.FromSlash(dir))
	m, p := b.trees.of(abs, top, top, shown)
	if p != nil {
		b.fail(shown, *p)
		return
	}
	groups := map[string][]string{}
	var order []string
	worth := map[string]bool{}
	for _, n := range names {
		rel := path.Join(m.rel(abs), n)
		data, p := m.read(rel, maxCUE)
		if p != nil {
			b.fail(p.File, *p)
			continue
		}
		key := packageOf(data)
		if key == "" {
			key = "\x00" + rel // on its own
		}
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], rel)
		worth[key] = worth[key] || maybePersona(data)
	}
	for _, key := range order {
		if !worth[key] {
			continue
		}
		pkg, files := key, groups[key]
		at := filepath.Join(shown, filepath.FromSlash(dir))
		if strings.HasPrefix(key, "\x00") {
			pkg, at = "", m.name(files[0])
		}
		b.unit(m.gather(at, m.rel(abs), pkg, files, "personas"), true)
	}
}

// maybePersona says whether a CUE file can define a persona: it names the
// fields at the top of one, or it cannot be read at all and speaks of them.
func maybePersona(data []byte) bool {
	f, err := parser.ParseFile("-", data)
	if err != nil {
		return mentions(data, "personas:", "variants:", "spec_version:")
	}
	labels := map[string]bool{}
	topLabels(f.Decls, labels)
	if labels["personas"] || labels["variants"] || labels["spec_version"] {
		return true
	}
	n := 0
	for _, field := range spec.Fields() {
		if labels[field] {
			n++
		}
	}
	return n >= 3
}

// topLabels collects the names of the fields that stand at the top, also in
// comprehensions, embedded structs and conjunctions.
func topLabels(decls []ast.Decl, labels map[string]bool) {
	for _, d := range decls {
		switch d := d.(type) {
		case *ast.Field:
			if name, _, err := ast.LabelName(d.Label); err == nil {
				labels[name] = true
			}
		case *ast.EmbedDecl:
			topExpr(d.Expr, labels)
		case *ast.Comprehension:
			topExpr(d.Value, labels)
		}
	}
}

func topExpr(e ast.Expr, labels map[string]bool) {
	switch e := e.(type) {
	case *ast.StructLit:
		topLabels(e.Elts, labels)
	case *ast.BinaryExpr:
		topExpr(e.X, labels)
		topExpr(e.Y, labels)
	case *ast.ParenExpr:
		topExpr(e.X, labels)
	case *ast.SelectorExpr:
		if name, _, err := ast.LabelName(e.Sel); err == nil && (name == "#Persona" || name == "#PersonaSpec") {
			labels["spec_version"] = true
		}
	}
}
