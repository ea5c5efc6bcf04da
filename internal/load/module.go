package load

import (
	"os"
	"path"
	"path/filepath"
	"strings"

	"cuelang.org/go/mod/modfile"

	"larva.dev/larva/internal/diag"
)

// module is a tree of CUE on disk: the directory that holds cue.mod, or the
// directory of the files where there is none above them. It is read through
// os.Root alone, so no link leads out of it.
type module struct {
	abs  string // real path
	root *os.Root
	path string // the module's import path, without a version; "" if it has none
	lang string // the language version it asks for
	// mod is a fault of cue.mod itself; it concerns every file of the module.
	mod *diag.Problem
	// base and shown are one directory, as it is and as the person named it:
	// every other file is named by its way from there.
	base, shown string
}

// modules keeps the opened modules of one batch.
type modules struct{ open map[string]*module }

func (ms *modules) close() {
	for _, m := range ms.open {
		if m.root != nil {
			m.root.Close()
		}
	}
}

// of gives the module that the directory dir (a real path) belongs to.
// Without a cue.mod above dir it is fallback.
func (ms *modules) of(dir, fallback, base, shown string) (*module, *diag.Problem) {
	abs := fallback
	for d := dir; ; d = filepath.Dir(d) {
		if isModule(d) {
			abs = d
			break
		}
		if filepath.Dir(d) == d {
			break
		}
	}
	if m := ms.open[abs+"\x00"+base]; m != nil {
		return m, nil
	}
	root, err := os.OpenRoot(abs)
	if err != nil {
		return nil, &diag.Problem{File: shown, Message: diag.Reason(err)}
	}
	m := &module{abs: abs, root: root, base: base, shown: shown}
	m.readModFile()
	if ms.open == nil {
		ms.open = map[string]*module{}
	}
	ms.open[abs+"\x00"+base] = m
	return m, nil
}

// isModule says that a directory holds a cue.mod. An empty one is none: the
// sandbox holds the name in place while a command runs, and after a run that
// was killed.
func isModule(dir string) bool {
	name := filepath.Join(dir, "cue.mod")
	if fi, err := os.Stat(name); err != nil || !fi.IsDir() {
		return false
	}
	entries, err := os.ReadDir(name)
	return err != nil || len(entries) > 0
}

// readModFile takes the module's path and language version. What it depends
// on is left out: larva never downloads, an import must lie in the tree.
func (m *module) readModFile() {
	const name = "cue.mod/module.cue"
	data, p := m.read(name, maxCUE)
	if p != nil {
		if _, err := m.root.Stat("cue.mod"); err == nil && isModule(m.abs) {
			m.mod = p
		}
		return
	}
	f, err := modfile.ParseNonStrict(data, name)
	if err != nil {
		f, err = modfile.FixLegacy(data, name)
	}
	if err != nil {
		m.mod = &diag.Problem{File: m.name(name), Message: oneLine(err.Error())}
		return
	}
	m.path, _, _ = strings.Cut(f.QualifiedModule(), "@")
	if f.Language != nil {
		m.lang = f.Language.Version
	}
}

// name is a file of the module as the person would name it.
func (m *module) name(rel string) string {
	way, err := filepath.Rel(m.base, filepath.Join(m.abs, filepath.FromSlash(rel)))
	if err != nil {
		return rel
	}
	return filepath.Join(m.shown, way)
}

// read reads a file of the module; a link that leads out of it is refused.
func (m *module) read(rel string, most int) ([]byte, *diag.Problem) {
	f, err := m.root.OpenFile(filepath.FromSlash(rel), os.O_RDONLY|noWait, 0)
	if err != nil {
		return nil, &diag.Problem{File: m.name(rel), Message: rootReason(err)}
	}
	defer f.Close()
	return readAll(f, m.name(rel), most)
}

func rootReason(err error) string {
	r := diag.Reason(err)
	if strings.Contains(r, "escapes") {
		return "leads out of the module through a symbolic link"
	}
	return r
}

// cueFiles lists the CUE files of a directory of the module, sorted, without
// links, tools and tests. None is no error.
func (m *module) cueFiles(dir string) []string {
	f, err := m.root.Open(filepath.FromSlash(dir))
	if err != nil {
		return nil
	}
	defer f.Close()
	entries, err := f.ReadDir(-1)
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		n := e.Name()
		if e.Type().IsRegular() && strings.HasSuffix(n, ".cue") && !hidden(n) && n[0] != '_' &&
			!strings.HasSuffix(n, "_tool.cue") && !strings.HasSuffix(n, "_test.cue") {
			names = append(names, path.Join(dir, n))
		}
	}
	sortTree(names)
	return names
}

// rel is a real path inside the module, slashed.
func (m *module) rel(abs string) string {
	r, err := filepath.Rel(m.abs, abs)
	if err != nil {
		return "."
	}
	return filepath.ToSlash(r)
}
