package app

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"larva.dev/larva/internal/definition"
	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/nearest"
	"larva.dev/larva/internal/profile"
	"larva.dev/larva/internal/spec"
	"larva.dev/larva/internal/tool/task"
)

// delegates gives a stand its task tools, where its persona may spawn anybody.
func (a *App) delegates(ctx context.Context, s *stand) error {
	if !s.maySpawn() {
		return nil
	}
	var err error
	if s.spawnable, err = a.spawnAll(ctx, s); err != nil {
		return err
	}
	if s.hub == nil {
		s.hub = &task.Hub{}
	}
	return s.hire()
}

// maySpawn says that a persona may hand work to somebody, at this depth.
func (s *stand) maySpawn() bool {
	if s.persona == nil || s.depth >= maxDepth(s.eff.Profile) {
		return false
	}
	c := s.persona.CanSpawn
	return c != nil && (c.All || len(c.IDs) > 0)
}

// hire puts the task tools among a stand's.
func (s *stand) hire() error {
	s.desk = nil
	if !s.maySpawn() {
		return nil
	}
	agents := s.team()
	if len(agents) == 0 {
		return nil
	}
	s.desk = s.hub.Desk(task.Options{Agents: agents, Models: s.roleLines(), Worktrees: true,
		Spawn: func(ctx context.Context, r task.Request) (task.Report, error) {
			if s.spawn == nil {
				return task.Report{Failed: "nothing runs here", Refused: true}, nil
			}
			return s.spawn(ctx, r)
		}})
	return s.tools.Add(s.having(s.desk.Tools())...)
}

// team are those that everybody on the way up allows.
func (s *stand) team() []task.Agent {
	var out []task.Agent
	for _, t := range s.spawnable {
		ok := mayBe(s.persona.CanSpawn, t.ID)
		for _, b := range s.policy.Above {
			ok = ok && mayBe(b.CanSpawn, t.ID)
		}
		if ok {
			out = append(out, t)
		}
	}
	return out
}

func mayBe(c *spec.CanSpawn, id string) bool {
	return c != nil && (c.All || slices.Contains(c.IDs, id))
}

// spawnAll lists who could be a subagent here, by id: what `run` would find
// under it.
func (a *App) spawnAll(ctx context.Context, s *stand) ([]task.Agent, error) {
	byID, back := map[string]string{}, map[string]bool{}
	add := func(id, description string) {
		if _, has := byID[id]; !has {
			byID[id] = description
		}
	}
	stored, err := a.List()
	if err != nil {
		return nil, err
	}
	for _, p := range stored {
		add(p.ID, p.Description)
	}
	store, err := a.trustStore(s.at)
	if err != nil {
		return nil, err
	}
	sources, _, err := a.projectSources(ctx, s.at, store)
	if err != nil {
		return nil, err
	}
	for _, src := range sources {
		if src.Status != "trusted" {
			continue
		}
		if o, _, err := variantOf(src.Name, src.source, src.flat, ""); err == nil {
			add(src.Name, o.String("description"))
		}
	}
	defs, err := a.agents(s.at, store)
	if err != nil {
		return nil, err
	}
	for _, f := range defs.list {
		if best, _ := defs.best(f.ID); best != nil && best.Origin != definition.BuiltIn {
			if _, taken := byID[f.ID]; !taken {
				back[f.ID] = best.Background
			}
			add(f.ID, best.Description)
		}
	}
	all, err := shippedPersonas()
	if err != nil {
		return nil, err
	}
	for _, src := range all {
		if o, ok := src.Spec(src.Active); ok {
			add(src.ID, o.String("description"))
		}
	}
	for _, f := range defs.list {
		if f.Origin == definition.BuiltIn {
			add(f.ID, f.Description)
		}
	}
	var out []task.Agent
	for id, description := range byID {
		out = append(out, task.Agent{ID: id, Description: description, Background: back[id]})
	}
	slices.SortFunc(out, func(a, b task.Agent) int { return strings.Compare(a.ID, b.ID) })
	return out, nil
}

// nearest adds to an error about an id what may have been meant, among those
// that may be spawned.
func (s *stand) nearest(err error, id string) error {
	e := *diag.As(err)
	var ids []string
	for _, t := range s.team() {
		ids = append(ids, t.ID)
	}
	e.Hint = "there are: " + strings.Join(ids, ", ")
	if near := nearest.Name(id, ids); near != "" {
		e.Hint = "did you mean " + near + "?"
	}
	return &e
}

// roleLines say where a task may run and what that costs, a role a line.
func (s *stand) roleLines() []string {
	var out []string
	for name, role := range s.eff.Profile.Roles {
		if role.Model == "" || name == compactRole {
			continue
		}
		r, _, err := s.eff.Choose(profile.Wanted{Task: name, Parent: &s.route})
		if err != nil || r.Inherited {
			continue // it would be this agent's own model
		}
		line := name + ": " + r.Name()
		if p := s.eff.PriceOf(r.Name()); p != nil {
			line += fmt.Sprintf(", %g USD in and %g out a million tokens", p.Input, p.Output)
		}
		out = append(out, line)
	}
	slices.Sort(out)
	return out
}
