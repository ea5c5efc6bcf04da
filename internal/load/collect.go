package load

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/inject/embed"
	"cuelang.org/go/cue/parser"
	"cuelang.org/go/cue/token"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/spec"
)

const (
	schemaPath = "larva.dev/schema"
	vendored   = "cue.mod/pkg/" + schemaPath
	// maxTree bounds what one evaluation takes from disk, embedded texts
	// included.
	maxTree = 128 << 20
)

// unit is one CUE package, or one file without a package, with everything it
// reaches: what the evaluation may see, and all that it can see.
type unit struct {
	Shown string            // what a person named, for messages about the whole
	Files map[string][]byte // by slashed path in the module
	Names map[string]string // the same files as a person would name them
	// Module and Language are what module.cue says.
	Module, Language string
	// Schema is where larva.dev/schema lies in the module; the evaluation puts
	// its own copy there.
	Schema  string
	Dir     string // the package's directory
	Package string // its name; "" where File is set
	File    string // the one file to evaluate; "" is the package
	// Only are the files whose personas are asked for; empty means all.
	Only []string
	Want string // personas, profile or scenario
	Pick string // the profile asked for, of a file with several

	faults  []diag.Problem
	notices []diag.Problem
}

// collector gathers a unit's files.
type collector struct {
	m    *module
	u    *unit
	size int
	dirs map[string]bool
}

// gather makes the unit of the files of dir, whose package is pkg ("" for none:
// then files is one file).
func (m *module) gather(shown, dir, pkg string, files []string, want string) *unit {
	u := &unit{Shown: shown, Files: map[string][]byte{}, Names: map[string]string{}, Module: m.path, Language: m.lang,
		Schema: vendored, Dir: dir, Want: want, Only: files}
	if rest, ok := cutPrefix(schemaPath, m.path); ok && m.path != "" {
		u.Schema = rest // the schema's own module
	}
	c := &collector{m: m, u: u, dirs: map[string]bool{}}
	if m.mod != nil {
		u.faults = append(u.faults, *m.mod)
		return u
	}
	if pkg == "" {
		u.File = files[0]
		c.file(files[0])
	} else {
		u.Package = pkg
		c.pack(dir, pkg)
	}
	c.compareSchema()
	return u
}

// cutPrefix cuts an import path's prefix at a slash.
func cutPrefix(p, prefix string) (string, bool) {
	if p == prefix {
		return ".", true
	}
	return strings.CutPrefix(p, prefix+"/")
}

// pack takes a package: its files in dir and, as CUE has it, in the
// directories above dir up to the module's root.
func (c *collector) pack(dir, pkg string) {
	for {
		for _, rel := range c.m.cueFiles(dir) {
			if _, have := c.u.Files[rel]; have {
				continue
			}
			data, p := c.m.read(rel, maxCUE)
			if p != nil {
				if slices.Contains(c.u.Only, rel) {
					c.fault(*p)
				}
				continue
			}
			if f, _ := parser.ParseFile(rel, data, parser.PackageClauseOnly); f != nil && f.PackageName() == pkg {
				c.parsed(rel, data)
			}
		}
		if dir == "." || dir == "/" {
			return
		}
		dir = path.Dir(dir)
	}
}

func (c *collector) fault(p diag.Problem) { c.u.faults = append(c.u.faults, p) }

func (c *collector) file(rel string) {
	data, p := c.m.read(rel, maxCUE)
	if p != nil {
		c.fault(*p)
		return
	}
	c.parsed(rel, data)
}

// take puts a file into the unit.
func (c *collector) take(rel string, data []byte) bool {
	if c.size += len(data); c.size > maxTree {
		c.fault(diag.Problem{File: c.u.Shown, Message: fmt.Sprintf("needs more than %d MiB of files", maxTree>>20)})
		return false
	}
	c.u.Files[rel] = data
	if c.u.Names[rel] == "" {
		c.u.Names[rel] = c.m.name(rel)
	}
	return true
}

// parsed takes a CUE file and what it imports and embeds. A file that is not
// CUE is taken all the same: the evaluation says what is wrong with it.
func (c *collector) parsed(rel string, data []byte) {
	if p := text(data, c.m.name(rel)); p != nil {
		c.fault(*p)
		return
	}
	if !c.take(rel, data) {
		return
	}
	f, err := parser.ParseFile(rel, data, parser.ParseComments)
	if err != nil || f == nil {
		return
	}
	for spec := range f.ImportSpecs() {
		c.imported(rel, spec)
	}
	if bytes.Contains(data, []byte("@embed")) {
		c.embedded(rel, f)
	}
}

// imported takes the package that an import names from where CUE would find it
// without a download.
func (c *collector) imported(rel string, is *ast.ImportSpec) {
	name := strings.Trim(is.Path.Value, `"`)
	name, _, _ = strings.Cut(name, ":")
	name, _, _ = strings.Cut(name, "@")
	first, _, _ := strings.Cut(name, "/")
	if !strings.Contains(first, ".") || name == schemaPath {
		return // CUE's own packages, and the schema, which larva brings
	}
	found := false
	if dir, ok := cutPrefix(name, c.m.path); ok && c.m.path != "" {
		found = c.importDir(dir)
	}
	for _, kind := range []string{"pkg", "gen", "usr"} {
		if c.importDir(path.Join("cue.mod", kind, name)) {
			found = true
		}
	}
	if !found {
		p := c.at(rel, is.Path.Pos())
		p.Message = fmt.Sprintf("the package %q is not here, and larva never downloads", name)
		p.Hint = "put it under cue.mod/pkg/" + name
		c.fault(p)
	}
}

func (c *collector) importDir(dir string) bool {
	if c.dirs[dir] {
		return true
	}
	files := c.m.cueFiles(dir)
	if len(files) == 0 {
		return false
	}
	c.dirs[dir] = true
	for _, rel := range files {
		if _, have := c.u.Files[rel]; !have {
			c.file(rel)
		}
	}
	return true
}

// at is a place in one of the unit's files.
func (c *collector) at(rel string, pos token.Pos) diag.Problem {
	return diag.Problem{File: c.m.name(rel), Line: pos.Line(), Col: pos.Column()}
}

// embedded takes the texts that @embed names: *.md and *.txt, at or below the
// file's directory, inside the module also after links are followed.
func (c *collector) embedded(rel string, f *ast.File) {
	embeds, err := embed.EmbeddedPaths(rel, f)
	for _, e := range errors.Errors(err) {
		p := c.at(rel, e.Position())
		p.Message = "@embed: " + embedWords(oneLine(e.Error()))
		c.fault(p)
	}
	for _, e := range embeds {
		p := c.at(rel, e.Attribute.Pos)
		if e.Type != "" && e.Type != "text" {
			p.Message = fmt.Sprintf("@embed: only texts can be embedded, not type=%s", clip(e.Type))
			c.fault(p)
			continue
		}
		found, err := e.FindAll(c.m.root.FS())
		if err != nil {
			p.Message = "@embed: " + c.notFound(err)
			c.fault(p)
			continue
		}
		for _, name := range found {
			if why := c.embedText(name); why != "" {
				p.Message = "@embed: " + c.m.name(name) + ": " + why
				c.fault(p)
			}
		}
	}
}

// notFound says why an embedded file is not there.
func (c *collector) notFound(err error) string {
	s := oneLine(err.Error())
	if strings.Contains(s, "escapes") {
		return "the file leads out of the module through a symbolic link"
	}
	if strings.HasPrefix(s, "failed to stat ") {
		name, _, _ := strings.Cut(strings.TrimPrefix(s, "failed to stat "), ":")
		return c.m.name(name) + ": no such file"
	}
	return s
}

// embedText takes one embedded file; the answer is why not.
func (c *collector) embedText(rel string) string {
	const rule = "only *.md and *.txt can be embedded"
	if !isText(rel) {
		return rule
	}
	if _, have := c.u.Files[rel]; have {
		return ""
	}
	// The link's target has to be a text too: a link named prompt.md must not
	// make a prompt of .env. Where the target leads is checked by os.Root.
	if real, err := filepath.EvalSymlinks(filepath.Join(c.m.abs, filepath.FromSlash(rel))); err == nil && !isText(real) {
		return "is a link to a file of another kind; " + rule
	}
	data, p := c.m.read(rel, spec.MaxBytes)
	if p != nil {
		return p.Message
	}
	if p := text(data, rel); p != nil {
		return fmt.Sprintf("line %d: %s", p.Line, p.Message)
	}
	c.take(rel, data)
	return ""
}

func isText(name string) bool {
	e := strings.ToLower(path.Ext(filepath.ToSlash(name)))
	return e == ".md" || e == ".txt"
}

// embedWords says what CUE forbids in our words.
func embedWords(s string) string {
	if strings.Contains(s, "cannot refer to parent directory") {
		return "a file above the directory of the CUE file cannot be embedded"
	}
	return s
}

// compareSchema notes that the tree's own copy of the schema is another one.
func (c *collector) compareSchema() {
	spoken := false
	for _, data := range c.u.Files {
		spoken = spoken || bytes.Contains(data, []byte(schemaPath))
	}
	if c.u.Schema != vendored || !spoken {
		return
	}
	files := c.m.cueFiles(vendored)
	if len(files) == 0 {
		return
	}
	have := map[string]string{}
	for _, rel := range files {
		data, p := c.m.read(rel, maxCUE)
		if p != nil {
			return
		}
		have[path.Base(rel)] = string(data)
	}
	if !maps.Equal(have, schemaFiles()) {
		c.u.notices = append(c.u.notices, diag.Problem{File: c.m.name(vendored),
			Message: "is not the schema of this larva, which is used in its place",
			Hint:    "plain cue vet may judge otherwise; larva schema prints this one"})
	}
}

// oneLine makes a library's message one line.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func parsesAsCUE(data []byte) bool {
	_, err := parser.ParseFile("-", data)
	return err == nil
}
