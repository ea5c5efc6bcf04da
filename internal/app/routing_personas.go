package app

import (
	"context"
	"slices"
	"strings"

	"larva.dev/larva/internal/definition"
	"larva.dev/larva/internal/diag"
)

// personaRows are the personas that run takes by id here, each as it would be
// found: in the registry, then among the project's trusted sources, then among
// definitions, then among the shipped ones.
func (a *App) personaRows(ctx context.Context, s *stand) ([]RoutingRow, error) {
	store, err := a.trustStore(s.at)
	if err != nil {
		return nil, err
	}
	f := personaFinder{app: a, stand: s, rows: map[string]RoutingRow{}}
	if f.sources, _, err = a.projectSources(ctx, s.at, store); err != nil {
		return nil, err
	}
	if err := f.stored(); err != nil {
		return nil, err
	}
	if err := f.fromSources(); err != nil {
		return nil, err
	}
	defs, err := a.agents(s.at, store)
	if err != nil {
		return nil, err
	}
	f.definitions(defs, false)
	if err := f.shipped(); err != nil {
		return nil, err
	}
	f.definitions(defs, true)
	out := make([]RoutingRow, 0, len(f.rows))
	for _, r := range f.rows {
		out = append(out, r)
	}
	slices.SortFunc(out, func(x, y RoutingRow) int { return strings.Compare(x.Name, y.Name) })
	return out, ctx.Err()
}

// personaFinder gathers rows; the first that has an id keeps it.
type personaFinder struct {
	app     *App
	stand   *stand
	sources []sourceItem
	rows    map[string]RoutingRow
}

func (f personaFinder) take(id, source string, c chosen) {
	if _, taken := f.rows[id]; !taken {
		f.rows[id] = f.app.routed(f.stand, RoutingRow{Name: id, Source: source, Variant: c.variant, Label: c.spec.String("model")}, c.agent)
	}
}

// lost is a row of one that cannot be run as it is.
func (f personaFinder) lost(id, source string, err error) {
	f.rows[id] = RoutingRow{Name: id, Source: source, Fallbacks: []string{}, Unreachable: []string{diag.As(err).Message}}
}

func (f personaFinder) stored() error {
	ids, err := f.app.PersonaIDs()
	if err != nil {
		return err
	}
	for _, id := range ids {
		c, err := f.app.registered(id, "")
		if err == nil {
			var o ofProject
			if o, err = projectChoice(f.sources, id, ""); err == nil && o.trusted {
				err = f.app.agree(&c, o, id)
			}
		}
		if err != nil {
			f.lost(id, "registry", err)
			continue
		}
		f.take(id, "registry", c)
	}
	return nil
}

func (f personaFinder) fromSources() error {
	for _, src := range f.sources {
		o, err := projectChoice(f.sources, src.Name, "")
		if err == nil && o.spec != nil && o.trusted {
			f.take(src.Name, src.Source, o.chosen)
		}
	}
	return nil
}

func (f personaFinder) definitions(defs agents, builtIn bool) {
	for _, d := range defs.list {
		best, _ := defs.best(d.ID)
		if best == nil || (best.Origin == definition.BuiltIn) != builtIn {
			continue
		}
		source := best.Shown
		if builtIn {
			source = "built-in"
		}
		c, err := best.take("", nil)
		if err != nil {
			if _, taken := f.rows[d.ID]; !taken {
				f.lost(d.ID, source, err)
			}
			continue
		}
		f.take(d.ID, source, c)
	}
}

func (f personaFinder) shipped() error {
	all, err := shippedPersonas()
	if err != nil {
		return err
	}
	for _, p := range all {
		o, name, err := variantOf(p.ID, p, nil, "")
		if err != nil {
			return err
		}
		f.take(p.ID, "shipped", chosen{spec: o, variant: name})
	}
	return nil
}
