package app

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"larva.dev/larva/internal/definition"
	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/profile"
	"larva.dev/larva/internal/spec"
	"larva.dev/larva/internal/trust"
)

// agents are the definitions that can be seen from here.
type agents struct {
	list     []agentFile // the lowest precedence first
	problems []definition.Problem
}

// agentFile is one definition and how it stands. Item is nil for what needs no
// trust: the user's own files and what comes with the binary.
type agentFile struct {
	*definition.Definition
	Item *TrustItem
}

// counts says that it may be a persona of a run.
func (f agentFile) counts() bool { return f.Item == nil || f.Item.Status == string(trust.Trusted) }

// agentDirs are the directories of definitions, the lowest precedence first:
// ~/.claude/agents, the personal ones of larva, then from the project's root
// down to the working directory .claude/agents, .larik/agents, .larva/agents.
// In one directory larva's own folder is the last word: it was written for
// larva, the others for other programs too.
func (a *App) agentDirs(p where) []definition.Dir {
	var out []definition.Dir
	seen := map[string]bool{}
	add := func(path, shown, root string, o definition.Origin) {
		if at := real(path); !seen[at] {
			seen[at] = true
			out = append(out, definition.Dir{Path: path, Shown: shown, Root: root, Origin: o})
		}
	}
	if a.home != "" {
		add(filepath.Join(a.home, ".claude", "agents"), "~/.claude/agents", "", definition.Personal)
	}
	config := filepath.Join(p.config, "agents")
	add(config, a.shortened(profile.Layer{File: config}), "", definition.Personal)
	larvaHome, _ := a.LarvaHome()
	for _, dir := range p.dirs {
		for _, sub := range []string{".claude", ".larik", ".larva"} {
			if at := filepath.Join(dir, sub); at != larvaHome {
				path := filepath.Join(at, "agents")
				add(path, p.rel(path), p.project, definition.Project)
			}
		}
	}
	return out
}

// agents reads every definition, built-ins first.
func (a *App) agents(p where, store *trust.Store) (agents, error) {
	own, err := definition.BuiltIns()
	if err != nil {
		return agents{}, err
	}
	found, problems := definition.Find(a.agentDirs(p))
	out := agents{problems: problems}
	taken := map[string]bool{}
	for _, list := range [][]definition.Definition{own, found} {
		for i := range list {
			f := agentFile{Definition: &list[i]}
			if f.Origin == definition.Project {
				it := a.agentItem(p, store, f.Definition, taken)
				f.Item = &it
			}
			out.list = append(out.list, f)
		}
	}
	return out, nil
}

// agentItem is the trust item of a project's definition. Its hash covers the
// file and each file of the project that a hook of it names.
func (a *App) agentItem(p where, store *trust.Store, d *definition.Definition, taken map[string]bool) TrustItem {
	name := strings.TrimSuffix(filepath.Base(d.Path), filepath.Ext(d.Path))
	if taken[name] {
		name = d.Shown
	}
	taken[name] = true
	parts := []trust.Part{{Name: "file", Bytes: d.Raw}}
	raises := []string{"it becomes the persona " + d.ID + " of this project, with " + toolsLine(d)}
	var files, vars []string
	if d.HasHooks() {
		hooks, err := a.agentHooks(d)
		if err != nil {
			raises = append(raises, "its hooks cannot be read, so it does not run")
		}
		n := newNaming(p.project, p.dirs[len(p.dirs)-1], a.home)
		for _, h := range hooks {
			if h.Args != nil {
				n.argv(append([]string{h.Command}, h.Args...))
			} else {
				n.shell(h.Command)
			}
			vars = append(vars, hookVars(h)...)
			raises = append(raises, "it runs at "+h.Event+", with your rights and outside the sandbox: "+hookRuns(h))
		}
		var named []trust.Part
		named, files = n.parts()
		parts = append(parts, named...)
	}
	it := standing(p, store, kindDefinition, name, d.Path, 1, parts)
	slices.Sort(vars)
	it.Content, it.Raises, it.Files, it.Vars = lines(d.Raw), raises, files, slices.Compact(vars)
	return it
}

// best is the definition that an id means: the highest one that counts, and the
// highest of a project that does not for want of trust.
func (g agents) best(id string) (counts, untrusted *agentFile) {
	for i := range g.list {
		f := &g.list[i]
		if f.ID != id {
			continue
		}
		to := &counts
		if !f.counts() {
			to = &untrusted
		}
		if *to == nil || f.Level > (*to).Level {
			*to = f
		}
	}
	return counts, untrusted
}

// broken says of an id which file would have given it, nil where none would.
func (g agents) broken(id string) error {
	for _, p := range g.problems {
		name := strings.TrimSuffix(filepath.Base(filepath.FromSlash(p.File)), ".md")
		if p.Kind == definition.Error && definition.Slug(name) == id {
			return diag.New(diag.PersonaNotFound, "there is no persona %s: its file is no agent: %s", id, p).With("persona_id", id).With("path", p.File)
		}
	}
	return nil
}

// take is the definition as a run takes it. It has one variant, default.
func (f agentFile) take(variant string, notices []string) (chosen, error) {
	if variant != "" && variant != "default" {
		return chosen{}, noVariant(f.ID, variant, "default")
	}
	o := f.Persona()
	if r := spec.Validate(o, nil); !r.Valid {
		return chosen{}, diag.New(diag.PersonaInvalid, "the definition %s is no persona: %s", f.Shown, r.Errors[0].Message).
			With("path", f.Shown).With("report", r)
	}
	c := chosen{spec: o, variant: "default", agent: f.Definition, notices: notices}
	more := 0
	for _, n := range f.Notices {
		if !n.Denies && (n.Class == "S5" || n.Class == "S8") { // a name and keys without effect, each time the same
			more++
			continue
		}
		c.notices = append(c.notices, n.String())
	}
	if more > 0 {
		what := "1 field has no effect, or is read otherwise than it is written"
		if more > 1 {
			what = fmt.Sprintf("%d fields have no effect, or are read otherwise than they are written", more)
		}
		c.notices = append(c.notices, f.Shown+": "+what+" (see: larva agent show "+f.ID+")")
	}
	return c, nil
}

func (f agentFile) untrusted() string {
	why := "not trusted"
	if f.Item.Status == string(trust.Changed) {
		why = "changed since it was trusted"
	}
	return "the project's definition of " + f.ID + " (" + f.Shown + ") is " + why + " and does not count (see: larva trust list)"
}

func (f agentFile) noTrust() error {
	what := "not trusted"
	if f.Item.Status == string(trust.Changed) {
		what = "changed since it was trusted"
	}
	return diag.New(diag.NotTrusted, "persona %s is only a definition of this project (%s), which is %s", f.ID, f.Shown, what).
		With("persona_id", f.ID).With("path", f.Shown).With("hash", f.Item.Hash).
		WithHint("read it, then: larva trust grant %s", diag.Word(f.Item.Name))
}

// toolsLine is what a definition may use, in words.
func toolsLine(d *definition.Definition) string {
	var s string
	switch {
	case d.Tools == nil:
		s = "no list of tools"
	case d.Tools.All:
		s = "every tool"
	case len(d.Tools.Names) == 0:
		return "no tools"
	default:
		s = "the tools " + strings.Join(d.Tools.Names, ", ")
	}
	if d.Disallowed != nil {
		s += " without " + strings.Join(d.Disallowed.Names, ", ")
	}
	return s
}
