package app

import (
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"larva.dev/larva/internal/load"
	"larva.dev/larva/profiles"
)

// EvalChild is the hidden verb: it evaluates one CUE program from in under
// the limits that its parent set, and gives the exit code.
func EvalChild(in io.Reader, out io.Writer) int { return load.EvalChild(in, out) }

// Started is what init wrote.
type Started struct {
	Dir   string   // absolute
	Files []string // relative to Dir, in the order written
	Next  []string // command lines to type next, from inside Dir
}

// Init writes the starter repository into dir.
func (a *App) Init(dir string) (Started, error) {
	at := a.abs(dir)
	files, err := load.Init(at)
	if err != nil {
		return Started{}, err
	}
	for i, f := range files {
		if rel, err := filepath.Rel(at, f); err == nil && filepath.IsAbs(f) {
			files[i] = rel
		}
	}
	return Started{Dir: at, Files: files, Next: []string{
		"larva validate personas",
		"larva register personas",
		"larva resolve repo-guide",
		"larva trust grant profiles/demo.cue",
		"larva run repo-guide 'Where is what?' --profile demo",
	}}, nil
}

// SchemaNames lists the schemas.
func (a *App) SchemaNames() []string { return load.SchemaNames() }

// Schema gives one schema's text; format is cue or jsonschema.
func (a *App) Schema(name, format string) ([]byte, error) {
	if format == "cue" {
		return load.SchemaCUE(name)
	}
	return load.SchemaJSON(name)
}

// ProfileNames lists the profiles that --profile takes by name: shipped ones,
// the person's and the project's, by their files' names.
func (a *App) ProfileNames() ([]string, error) {
	p, err := a.locate()
	if err != nil {
		return nil, err
	}
	out := profilesIn(append(p.dirs, p.config)...)
	out = append(out, cueFiles(profiles.FS, "*.cue")...)
	slices.Sort(out)
	return slices.Compact(out), nil
}

// profilesIn are the names of the profiles in the directories' profiles/,
// sorted.
func profilesIn(dirs ...string) []string {
	var out []string
	for _, dir := range dirs {
		out = append(out, cueFiles(os.DirFS(dir), "profiles/*.cue")...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// cueFiles are the names of files without their ending. A directory that
// cannot be read holds none.
func cueFiles(fsys fs.FS, pattern string) []string {
	names, _ := fs.Glob(fsys, pattern) // the only error is a bad pattern
	for i, n := range names {
		names[i] = strings.TrimSuffix(path.Base(n), ".cue")
	}
	return names
}
