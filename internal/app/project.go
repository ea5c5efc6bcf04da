package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/load"
	"larva.dev/larva/internal/profile"
	"larva.dev/larva/internal/spec"
	"larva.dev/larva/internal/trust"
)

// The kinds of project item that trust knows.
const (
	kindProfile    = "profile"
	kindPersona    = "persona"
	kindHook       = "hook"
	kindServer     = "server"
	kindDefinition = "definition"
)

// configItem is a project's config or profile file and how it stands.
type configItem struct {
	TrustItem
	layer profile.Layer
	raw   []byte // the file
}

// sourceItem is a persona source of the project and how it stands.
type sourceItem struct {
	TrustItem
	source *spec.Source
	flat   *spec.Object
}

// projectConfigs reads .larva/config.* from the project's root down.
func (a *App) projectConfigs(ctx context.Context, p where, store *trust.Store) ([]configItem, error) {
	var out []configItem
	for _, dir := range p.dirs {
		here := filepath.Join(dir, ".larva")
		if home, err := a.LarvaHome(); err == nil && home == here {
			continue // the registry's own directory, in a home that is also the project
		}
		found := 0
		for _, name := range configNames {
			path := filepath.Join(here, name)
			if !exists(path) {
				continue
			}
			if found++; found > 1 {
				return nil, diag.New(diag.ProfileInvalid, "%s holds both %s and %s", p.rel(here), configNames[0], configNames[1]).
					With("path", here).WithHint("keep one of the two")
			}
			it, err := a.projectConfig(ctx, p, store, path, "")
			if err != nil {
				return nil, err
			}
			out = append(out, it)
		}
	}
	return out, nil
}

// projectConfig reads one profile that lies in the project. Its hash covers
// the file's bytes and what they evaluate to.
func (a *App) projectConfig(ctx context.Context, p where, store *trust.Store, path, name string) (configItem, error) {
	var l profile.Layer
	var err error
	if name == "" {
		l, err = load.Profile(ctx, path, a.loadOptions())
	} else {
		l, err = load.ProfileNamed(ctx, path, name, a.loadOptions())
	}
	if err != nil {
		return configItem{}, err
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return configItem{}, diag.Usage("%s cannot be read: %v", p.rel(path), err).With("path", path)
	}
	it := configItem{layer: l}
	it.TrustItem = standing(p, store, kindProfile, p.rel(path), path, 1, []trust.Part{
		{Name: "file", Bytes: raw},
		{Name: "value", Bytes: spec.AppendCanonical(nil, l.Profile)},
	})
	it.Content, it.Raises = lines(raw), raises(l.Profile)
	it.raw = raw
	it.layer.Name, it.layer.Project, it.layer.File = "project", true, p.rel(path)
	it.layer.Trusted = it.Status == string(trust.Trusted)
	return it, nil
}

// projectProfile is projectConfig for --profile.
func (a *App) projectProfile(ctx context.Context, p where, store *trust.Store, path, name string) (profile.Layer, error) {
	it, err := a.projectConfig(ctx, p, store, path, name)
	return it.layer, err
}

// projectSources reads personas/ from the project's root down; of one id the
// one nearest to the working directory counts. A source that does not load
// is told in notices and never takes its id.
func (a *App) projectSources(ctx context.Context, p where, store *trust.Store) (out []sourceItem, notices []string, err error) {
	byID := map[string]sourceItem{}
	for _, dir := range p.dirs {
		path := filepath.Join(dir, "personas")
		if info, err := os.Stat(path); err != nil || !info.IsDir() {
			continue
		}
		items, err := load.Specs(ctx, []string{path}, a.loadOptions())
		if err != nil {
			if ctx.Err() != nil {
				return nil, nil, err
			}
			notices = append(notices, p.rel(path)+" does not load: "+diag.As(err).Message)
			continue
		}
		for _, it := range items {
			if len(it.Problems) > 0 || it.Source == nil && it.Flat == nil {
				notices = append(notices, "a persona source does not load: "+firstProblem(p, it)+" (see: larva validate "+p.rel(it.File)+")")
				continue
			}
			s, err := sourceOf(p, store, it)
			if err != nil {
				notices = append(notices, diag.As(err).Message)
				continue
			}
			byID[it.ID] = s
		}
	}
	for _, s := range byID {
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b sourceItem) int { return slices.Compare([]byte(a.Name), []byte(b.Name)) })
	return out, notices, nil
}

func firstProblem(p where, it load.Item) string {
	if len(it.Problems) == 0 {
		return p.rel(it.File)
	}
	return it.Problems[0].String()
}

func sourceOf(p where, store *trust.Store, it load.Item) (sourceItem, error) {
	s := sourceItem{source: it.Source, flat: it.Flat}
	raw, err := os.ReadFile(it.File)
	if err != nil {
		return s, diag.Usage("%s cannot be read: %v", p.rel(it.File), err).With("path", it.File)
	}
	parts := []trust.Part{{Name: "file", Bytes: raw}}
	if it.Flat != nil {
		parts = append(parts, trust.Part{Name: "value", Bytes: spec.AppendCanonical(nil, it.Flat)})
	} else {
		parts = append(parts,
			trust.Part{Name: "contract", Bytes: spec.AppendCanonical(nil, it.Source.Contract)},
			trust.Part{Name: "active", Bytes: []byte(it.Source.Active)})
		for _, v := range it.Source.Variants {
			parts = append(parts, trust.Part{Name: "variant " + v.Name, Bytes: spec.AppendCanonical(nil, v.Implementation)})
		}
	}
	_, line, _ := it.At()
	s.TrustItem = standing(p, store, kindPersona, it.ID, it.File, line, parts)
	s.Content = lines(raw)
	s.Raises = []string{"it takes the id " + it.ID + " for runs in this project"}
	return s, nil
}

// standing builds the item as `trust list` shows it.
func standing(p where, store *trust.Store, kind, name, file string, line int, parts []trust.Part) TrustItem {
	hash := trust.Hash(kind, name, parts)
	return TrustItem{Kind: kind, Name: name, File: p.rel(file), Source: fmt.Sprintf("%s:%d", p.rel(file), max(line, 1)), Hash: hash,
		Status: string(store.Status(p.common, kind, name, hash))}
}

// raises names what a yes to a profile gives. Its hooks and servers are items
// of their own and are not among it.
func raises(q profile.Profile) []string {
	fields := slices.DeleteFunc(profile.Raises(q), func(f string) bool { return f == "hooks" || f == "servers" })
	if len(fields) == 0 {
		return []string{"nothing by itself; hooks and servers are items of their own"}
	}
	return fields
}
