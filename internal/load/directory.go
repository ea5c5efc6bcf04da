package load

import (
	"bytes"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/spec"
)

// maxFiles bounds a directory: more files than any set of personas has, few
// enough that naming a home directory by mistake ends soon.
const maxFiles = 50_000

// directory takes the personas below a directory: hidden entries, symbolic
// links, node_modules and cue.mod are left out, files that hold no persona
// too. Files come sorted by name, a directory's before those below it.
func (b *batch) directory(shown, name string) {
	before := len(b.inputs)
	root, err := os.OpenRoot(name)
	if err != nil {
		b.fail(shown, diag.Problem{File: shown, Message: diag.Reason(err)})
		return
	}
	defer root.Close()
	var definitions []string
	cue := map[string][]string{} // directory → CUE files
	var files []string
	err = fs.WalkDir(root.FS(), ".", func(rel string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			at := filepath.Join(shown, filepath.FromSlash(rel))
			b.fail(at, diag.Problem{File: at, Message: diag.Reason(err)})
			return fs.SkipDir
		case e.IsDir():
			if rel != "." && (hidden(e.Name()) || e.Name() == "node_modules" || e.Name() == "cue.mod") {
				return fs.SkipDir
			}
		case !e.Type().IsRegular() || hidden(e.Name()):
		case formatOf(e.Name()) == asCUE:
			if dir := path.Dir(rel); e.Name()[0] != '_' && !strings.HasSuffix(rel, "_tool.cue") && !strings.HasSuffix(rel, "_test.cue") {
				if cue[dir] == nil {
					files = append(files, rel)
				}
				cue[dir] = append(cue[dir], e.Name())
			}
		case formatOf(e.Name()) != unknown:
			files = append(files, rel)
		}
		if len(files) > maxFiles {
			return errTooMany
		}
		return nil
	})
	if err != nil {
		b.fail(shown, diag.Problem{File: shown, Message: diag.Reason(err)})
		return
	}
	sortTree(files)
	for _, rel := range files {
		at := filepath.Join(shown, filepath.FromSlash(rel))
		if formatOf(rel) == asCUE {
			b.cueDirectory(shown, name, path.Dir(rel), cue[path.Dir(rel)])
			continue
		}
		if b.listedFile(root, rel, at) {
			definitions = append(definitions, at)
		}
	}
	if len(b.inputs) == before {
		p := diag.Problem{File: shown, Message: "holds no persona"}
		if len(definitions) > 0 {
			p.Hint = definitions[0] + " is an agent definition of Claude Code's kind, and no persona; see: larva agent list"
		}
		b.fail(shown, p)
	}
}

type tooMany struct{}

func (tooMany) Error() string {
	return "more files than a set of personas has; name a smaller directory"
}

var errTooMany = tooMany{}

func hidden(name string) bool { return strings.HasPrefix(name, ".") }

// sortTree sorts by name, the files of a directory before its directories.
func sortTree(files []string) {
	slices.SortFunc(files, func(a, b string) int {
		as, bs := strings.Split(a, "/"), strings.Split(b, "/")
		for i := 0; i < len(as) && i < len(bs); i++ {
			lastA, lastB := i == len(as)-1, i == len(bs)-1
			if lastA != lastB {
				if lastA {
					return -1
				}
				return 1
			}
			if c := strings.Compare(as[i], bs[i]); c != 0 {
				return c
			}
		}
		return len(as) - len(bs)
	})
}

// listedFile takes a data file of a directory if it holds a persona. It
// answers whether it is an agent definition that had to be left out.
func (b *batch) listedFile(root *os.Root, rel, shown string) (definition bool) {
	f, err := root.OpenFile(filepath.FromSlash(rel), os.O_RDONLY|noWait, 0)
	if err != nil {
		b.fail(shown, diag.Problem{File: shown, Message: diag.Reason(err)})
		return false
	}
	defer f.Close()
	data, p := readAll(f, shown, spec.MaxBytes)
	if p != nil {
		if fi, err := f.Stat(); err == nil && fi.Size() > spec.MaxBytes {
			return false // too large for a persona, so it is none
		}
		b.fail(shown, *p)
		return false
	}
	kind := formatOf(rel)
	if kind == asMarkdown {
		front, _, _, p := fences(data, shown)
		if p != nil {
			return false
		}
		if !mentions(front, "spec_version", "capabilities") {
			return mentions(front, claudeKeys...)
		}
		b.data(shown, data, kind)
		return false
	}
	d, p := parse(data, kind, shown)
	switch {
	case p != nil:
		// What cannot be read is reported where it would be a persona.
		if mentions(data, "spec_version", "personas", "variants", "capabilities", "prompt") {
			b.fail(shown, *p)
		}
	case looksLikePersona(d.root):
		b.finish(d.items()...)
	}
	return false
}

func mentions(data []byte, words ...string) bool {
	for _, w := range words {
		if bytes.Contains(data, []byte(w)) {
			return true
		}
	}
	return false
}

// looksLikePersona tells a persona, right or wrong, from the other JSON, YAML
// and TOML files of a directory.
func looksLikePersona(v any) bool {
	o, ok := v.(*spec.Object)
	if !ok {
		return false
	}
	for _, set := range []string{"personas", "variants"} {
		if m, ok := o.Get(set); ok {
			_, isObject := m.(*spec.Object)
			return isObject
		}
	}
	if o.Has("spec_version") || o.Has("prompt") && !o.Has("hooks") {
		return true
	}
	n := 0
	for _, f := range spec.Fields() {
		if o.Has(f) {
			n++
		}
	}
	return n >= 3
}
