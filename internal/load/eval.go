package load

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/build"
	"cuelang.org/go/cue/cuecontext"
	cueload "cuelang.org/go/cue/load"
	"cuelang.org/go/cue/token"
	"cuelang.org/go/mod/modconfig"
	"cuelang.org/go/mod/modfile"
	cuemodule "cuelang.org/go/mod/module"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/spec"
)

// outcome is what one evaluation gave: plain data with places, and what CUE
// says is wrong with it. It crosses the border to the parent process as JSON.
type outcome struct {
	Tree   json.RawMessage  `json:",omitempty"` // an object; absent where nothing could be evaluated
	Pos    map[string]place `json:",omitempty"` // by spec.PathKey, keys too
	Faults []cueFault       `json:",omitempty"`
	Open   map[string]bool  `json:",omitempty"` // paths (spec.PathKey) that have no concrete value
	Broken bool             `json:",omitempty"` // Faults concern the file as such
	Limit  string           `json:",omitempty"` // the limit that stopped it: time, memory or output
}

// place is a position in a file of the unit.
type place struct {
	F    string
	L, C int
}

// cueFault is a mistake that CUE found.
type cueFault struct {
	Path []string `json:",omitempty"`
	diag.Problem
}

// evaluation is one unit in CUE's hands.
type evaluation struct {
	u       *unit
	ctx     *cue.Context
	virtual string // the root that all of the unit's files seem to lie under
	schema  cue.Value
	// others are the names of the profiles where none of them was asked for.
	others *spec.Object
}

// evaluate runs a unit. It reads nothing but the unit: the virtual root does
// not exist, and every file the evaluation could ask for is in its overlay.
// A package of which one file is broken is evaluated file by file.
func evaluate(u *unit) (outs []outcome) {
	defer func() {
		if r := recover(); r != nil {
			outs = []outcome{{Broken: true, Faults: []cueFault{{Problem: diag.Problem{File: u.Shown, Message: "the CUE evaluator broke on this file"}}}}}
		}
	}()
	out := evaluateAs(u)
	if !out.Broken || u.File != "" || len(u.Only) == 0 {
		return []outcome{out}
	}
	guilty := map[string]bool{}
	for _, f := range out.Faults {
		guilty[f.File] = true
	}
	if len(u.Only) == 1 && guilty[u.Names[u.Only[0]]] {
		return []outcome{out}
	}
	for _, rel := range u.Only {
		alone := *u
		alone.File, alone.Only = rel, nil
		o := evaluateAs(&alone)
		if o.Broken && !guilty[u.Names[rel]] {
			o.Faults = []cueFault{{Problem: diag.Problem{File: u.Names[rel], Message: "could not be judged: another file of its package is broken", Hint: out.Faults[0].Problem.String()}}}
		}
		outs = append(outs, o)
	}
	return outs
}

func evaluateAs(u *unit) outcome {
	e := &evaluation{u: u, ctx: cuecontext.New(), virtual: virtualRoot()}
	v, faults := e.build(schemaFor(u.Files))
	if len(faults) > 0 {
		return outcome{Broken: true, Faults: faults}
	}
	parts, faults := e.parts(v)
	if len(faults) > 0 {
		return outcome{Broken: true, Faults: faults}
	}
	return e.judge(parts)
}

// virtualRoot is a directory that does not exist: what lay in one that does
// would be read from disk.
func virtualRoot() string {
	var b [12]byte
	_, _ = rand.Read(b[:]) // crypto/rand.Read never fails
	return filepath.Join(filepath.VolumeName(os.TempDir())+string(filepath.Separator), "larva-"+hex.EncodeToString(b[:]))
}

// offline is a registry without modules: larva never downloads.
type offline struct{}

var errOffline = errors.New("larva never downloads a module; put the package under cue.mod/pkg")

func (offline) ModFile(context.Context, cuemodule.Version) (*modfile.File, error) {
	return nil, errOffline
}

func (offline) Fetch(context.Context, cuemodule.Version) (cuemodule.SourceLoc, error) {
	return cuemodule.SourceLoc{}, errOffline
}

func (offline) ModuleVersions(context.Context, string) ([]string, error) { return nil, nil }

var _ modconfig.Registry = offline{}

// build loads the unit with the given files as the schema.
func (e *evaluation) build(schema map[string]string) (cue.Value, []cueFault) {
	overlay := map[string]cueload.Source{}
	put := func(rel string, src cueload.Source) {
		overlay[filepath.Join(e.virtual, filepath.FromSlash(rel))] = src
	}
	for rel, data := range e.u.Files {
		if path.Dir(rel) != e.u.Schema {
			put(rel, cueload.FromBytes(data))
		}
	}
	for name, text := range schema {
		put(path.Join(e.u.Schema, name), cueload.FromString(text))
	}
	mod := e.u.Module
	if mod == "" {
		mod = "larva.local"
	}
	lang := e.u.Language
	if lang == "" {
		lang = "v0.17.0"
	}
	put("cue.mod/module.cue", cueload.FromString(fmt.Sprintf("module: %q\nlanguage: version: %q\n", mod, lang)))
	c := &cueload.Config{
		Dir:        filepath.Join(e.virtual, filepath.FromSlash(e.u.Dir)),
		ModuleRoot: e.virtual, Overlay: overlay, Registry: offline{}, Env: []string{},
	}
	what := ".:" + e.u.Package
	if e.u.File != "" {
		what = "./" + path.Base(e.u.File)
	}
	insts := cueload.Instances([]string{what}, c)
	if len(insts) != 1 {
		return cue.Value{}, []cueFault{{Problem: diag.Problem{File: e.u.Shown, Message: "could not be loaded as one package"}}}
	}
	if err := insts[0].Err; err != nil {
		return cue.Value{}, e.faults(err, nil)
	}
	v := e.ctx.BuildInstance(insts[0])
	// The schema that the file imports is used again where it does: the same
	// instance is compiled once.
	own := imported(insts[0], map[*build.Instance]bool{})
	if own == nil {
		own = cueload.Instances([]string{schemaPath}, c)[0]
	}
	if own.Err != nil {
		return cue.Value{}, e.faults(own.Err, nil)
	}
	e.schema = e.ctx.BuildInstance(own)
	return v, nil
}

// imported finds the schema among what an instance imports.
func imported(in *build.Instance, seen map[*build.Instance]bool) *build.Instance {
	for _, i := range in.Imports {
		if p, _, _ := strings.Cut(i.ImportPath, ":"); p == schemaPath {
			return i
		}
		if !seen[i] {
			seen[i] = true
			if found := imported(i, seen); found != nil {
				return found
			}
		}
	}
	return nil
}

// part is a value of the unit that has to fit a definition.
type part struct {
	path  []string
	value cue.Value
	def   string
}

// parts are the values that the unit is asked for.
func (e *evaluation) parts(v cue.Value) ([]part, []cueFault) {
	switch e.u.Want {
	case "profile":
		return e.profiles(v)
	case "scenario":
		return e.whole(v, "#Scenario")
	case "permission-test":
		return e.whole(v, "#PermissionTest")
	}
	set := v.LookupPath(cue.MakePath(cue.Str("personas")))
	switch {
	case set.Exists():
		return e.members(set, "personas", "#Persona")
	case v.LookupPath(cue.MakePath(cue.Str("variants"))).Exists():
		return e.whole(v, "#Persona")
	}
	return e.whole(v, "#PersonaSpec")
}

// whole is the file itself. Where it is not even an object, CUE's own errors
// say why.
func (e *evaluation) whole(v cue.Value, def string) ([]part, []cueFault) {
	if it, err := v.Fields(); v.Err() != nil && (err != nil || !it.Next()) {
		return nil, e.faults(v.Err(), nil)
	}
	if k := v.IncompleteKind(); k&cue.StructKind == 0 && v.Err() == nil {
		return nil, []cueFault{{Problem: diag.Problem{File: e.shown(e.first()), Line: 1, Col: 1, Message: "holds no object, but only a value of the kind " + k.String()}}}
	}
	return []part{{nil, v, def}}, nil
}

func (e *evaluation) members(set cue.Value, name, def string) ([]part, []cueFault) {
	it, err := set.Fields()
	if err != nil {
		return nil, e.faults(err, nil)
	}
	var parts []part
	n := 0
	for it.Next() {
		n++
		id := it.Selector().Unquoted()
		if !e.wanted(id, it.Value()) {
			continue
		}
		parts = append(parts, part{[]string{name, id}, it.Value(), def})
	}
	if n == 0 && set.Err() != nil {
		return nil, e.faults(set.Err(), nil)
	}
	return parts, nil
}

// profiles are those under profiles, or the file itself.
func (e *evaluation) profiles(v cue.Value) ([]part, []cueFault) {
	set := v.LookupPath(cue.MakePath(cue.Str("profiles")))
	if !set.Exists() {
		return e.whole(v, "#Profile")
	}
	parts, faults := e.members(set, "profiles", "#Profile")
	if len(parts) > 0 || len(faults) > 0 {
		return parts, faults
	}
	e.others = &spec.Object{}
	if it, err := set.Fields(); err == nil {
		for it.Next() {
			e.others.Set(it.Selector().Unquoted(), &spec.Object{})
		}
	}
	return nil, nil
}

// first is the file that the unit as a whole is blamed on.
func (e *evaluation) first() string {
	switch {
	case e.u.File != "":
		return e.u.File
	case len(e.u.Only) > 0:
		return e.u.Only[0]
	}
	return ""
}

// wanted says whether an entry is the one picked, or is written, in part, in
// one of the files that were asked for.
func (e *evaluation) wanted(id string, v cue.Value) bool {
	if e.u.Pick != "" {
		return id == e.u.Pick
	}
	if len(e.u.Only) == 0 {
		return true
	}
	for _, s := range sources(v) {
		if slices.Contains(e.u.Only, e.rel(s.Pos())) {
			return true
		}
	}
	return false
}

// rel is the unit's file that a position lies in, "" for the schema's and
// CUE's own.
func (e *evaluation) rel(p token.Pos) string {
	if !p.IsValid() {
		return ""
	}
	rel, err := filepath.Rel(e.virtual, p.Filename())
	if err != nil {
		return ""
	}
	rel = filepath.ToSlash(rel)
	if _, ours := e.u.Files[rel]; !ours || path.Dir(rel) == e.u.Schema {
		return ""
	}
	return rel
}

// judge checks each part against its definition. What fits is exported as it
// is, with defaults; of what does not, the data as written is exported, by an
// evaluation without constraints, so that every mistake can be told.
func (e *evaluation) judge(parts []part) outcome {
	out := outcome{Pos: map[string]place{}, Open: map[string]bool{}}
	root := &spec.Object{}
	var bad []part
	for _, p := range parts {
		def := e.schema.LookupPath(cue.ParsePath(p.def))
		u := p.value.Unify(def)
		if err := u.Validate(cue.Concrete(true), cue.Final()); err != nil {
			out.Faults = append(out.Faults, e.faults(err, p.path)...)
			bad = append(bad, p)
			continue
		}
		tree, err := exportJSON(u)
		if err != nil {
			out.Faults = append(out.Faults, cueFault{p.path, diag.Problem{File: e.u.Shown, Path: dotted(p.path), Message: err.Error()}})
			continue
		}
		graft(root, p.path, tree)
		w := &walk{e: e, out: &out}
		w.places(p.value, p.path)
	}
	if len(bad) > 0 {
		e.lenient(bad, root, &out)
	}
	if e.others != nil {
		root.Set("profiles", e.others)
	}
	if len(root.Members) > 0 || len(parts) == 0 || len(parts[0].path) == 0 {
		out.Tree, _ = json.Marshal(root) // a tree value always encodes
	}
	return out
}

func exportJSON(v cue.Value) (any, error) {
	data, err := v.MarshalJSON()
	if err != nil {
		return nil, errors.New(oneLine(err.Error()))
	}
	tree, err := spec.Parse(data)
	var se *spec.SyntaxError
	if errors.As(err, &se) {
		return nil, errors.New(se.Message)
	}
	return tree, err
}

// graft puts a value at a path of at most two parts; the empty path is the
// root itself.
func graft(root *spec.Object, path []string, v any) {
	if len(path) == 0 {
		if o, ok := v.(*spec.Object); ok {
			*root = *o
		}
		return
	}
	v2, _ := root.Get(path[0])
	set, ok := v2.(*spec.Object)
	if !ok {
		set = &spec.Object{}
		root.Set(path[0], set)
	}
	set.Set(path[1], v)
}

// lenient exports the data of the parts that do not fit, from a second
// evaluation against a schema in which every definition allows anything.
func (e *evaluation) lenient(bad []part, root *spec.Object, out *outcome) {
	free := &evaluation{u: e.u, ctx: cuecontext.New(), virtual: e.virtual}
	v, faults := free.build(lenientSchema())
	if len(faults) > 0 {
		return
	}
	for _, p := range bad {
		w := &walk{e: free, out: out}
		at := v
		for _, name := range p.path {
			at = at.LookupPath(cue.MakePath(cue.Str(name)))
		}
		tree, ok := w.export(at, p.path)
		if !ok {
			continue
		}
		graft(root, p.path, tree)
		if e.u.Want != "personas" {
			explained := explain(e.schema.LookupPath(cue.ParsePath(p.def)), tree, p.path)
			out.Faults = combine(explained, out.Faults, p.path)
		}
	}
}

// shown is what one of the unit's files is called outside.
func (e *evaluation) shown(rel string) string {
	if rel == "" {
		return e.u.Shown
	}
	if n := e.u.Names[rel]; n != "" {
		return n
	}
	return strings.TrimPrefix(rel, "./")
}
