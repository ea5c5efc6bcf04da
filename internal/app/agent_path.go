package app

import (
	"os"
	"path/filepath"
	"strings"

	"larva.dev/larva/internal/definition"
	"larva.dev/larva/internal/diag"
)

// agentAt reads the file that a path names as a definition: Markdown with Claude
// Code's keys, or in a directory of agents. nil for everything else, and for a
// file that gives none: why, is for the reader of personas to say.
func (a *App) agentAt(p where, ref string) *definition.Definition {
	path := a.abs(ref)
	if !isPath(ref) || !strings.EqualFold(filepath.Ext(ref), ".md") {
		return nil
	}
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	o := definition.Personal
	if p.inside(path) {
		o = definition.Project
	}
	d, _ := definition.ReadFile(path, definition.Source{Shown: ref, Origin: o})
	if d == nil || d.Extra.Has("spec_version") || d.Extra.Has("capabilities") || !d.Marked() && filepath.Base(filepath.Dir(path)) != "agents" {
		return nil
	}
	return d
}

// agentByPath is a definition that a person named by its file: it runs with a
// notice, without trust, as a persona by path does. Its hooks run programs,
// which naming the file says nothing of, so that takes a yes in a project.
func (a *App) agentByPath(p where, d *definition.Definition, ref, variant string) (chosen, error) {
	f := agentFile{Definition: d}
	if d.Origin == definition.Project && d.HasHooks() {
		store, err := a.trustStore(p)
		if err != nil {
			return chosen{}, err
		}
		all, err := a.agents(p, store)
		if err != nil {
			return chosen{}, err
		}
		if !all.trusts(d.Path) {
			return chosen{}, diag.New(diag.NotTrusted, "%s names hooks and is not trusted", ref).With("path", ref).
				WithHint("read it; one in .larva/agents or .claude/agents can be trusted: larva trust list")
		}
	}
	return f.take(variant, []string{"running " + ref + " by path: it is not taken from the registry"})
}

// trusts says whether the file is a definition that has a yes.
func (g agents) trusts(path string) bool {
	for _, f := range g.list {
		if f.Item != nil && f.counts() && real(f.Path) == real(path) {
			return true
		}
	}
	return false
}
