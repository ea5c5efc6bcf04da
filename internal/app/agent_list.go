package app

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"larva.dev/larva/internal/definition"
	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/nearest"
	"larva.dev/larva/internal/spec"
)

// AgentRow is a definition as `agent list` shows it.
type AgentRow struct {
	ID          string `json:"id"`
	Name        string `json:"name"` // as written
	Description string `json:"description"`
	Origin      string `json:"origin"` // built-in | personal | project
	Source      string `json:"source"` // file:line
	Model       string `json:"model"`  // "" where none was written
	// Tools are larva's names of what it may use; null where the file has no
	// list, ["*"] for all. Disallowed are taken away from those.
	Tools      []string `json:"tools"`
	Disallowed []string `json:"disallowed"`
	State      string   `json:"state"` // built-in | own | trusted | changed | untrusted
	// ShadowedBy is what has the id instead: registry, shipped or a file; ""
	// where this definition is what the id means, as far as it is trusted.
	ShadowedBy string   `json:"shadowed_by,omitempty"`
	Notices    []string `json:"notices"` // file:line: what was healed or dropped
}

// AgentShown is a definition with the persona that it becomes.
type AgentShown struct {
	AgentRow
	// Persona is the PersonaSpec with its digest.
	Persona    *spec.Object `json:"persona"`
	Mode       string       `json:"mode,omitempty"`
	MaxTurns   int          `json:"max_turns,omitempty"`
	Skills     []string     `json:"skills,omitempty"`
	Isolation  string       `json:"isolation,omitempty"`
	Background bool         `json:"background,omitempty"`
	Effort     string       `json:"effort,omitempty"`
	Color      string       `json:"color,omitempty"`
	Hooks      []string     `json:"hooks,omitempty"` // event and what it runs
	// Extra are keys without effect, as written; of servers the names.
	Extra *spec.Object `json:"extra,omitempty"`
	Hash  string       `json:"hash,omitempty"` // what trust would be given to
}

// AgentListed is the answer of `agent list`.
type AgentListed struct {
	Agents []AgentRow `json:"agents"`
	// Problems are files that give no definition, and why.
	Problems []definition.Problem `json:"problems"`
}

// AgentList lists the definitions by id, of one id the highest first, and the
// files that give none.
func (a *App) AgentList(ctx context.Context) (AgentListed, error) {
	v, err := a.viewAgents(ctx)
	if err != nil {
		return AgentListed{}, err
	}
	out := AgentListed{Agents: []AgentRow{}, Problems: []definition.Problem{}}
	out.Problems = append(out.Problems, v.problems...)
	for _, f := range slices.Backward(v.list) {
		out.Agents = append(out.Agents, v.row(f))
	}
	slices.SortStableFunc(out.Agents, func(x, y AgentRow) int { return slices.Compare([]byte(x.ID), []byte(y.ID)) })
	return out, nil
}

// AgentShow shows one: by id the one that it means, else the highest that is
// not trusted; by file that one.
func (a *App) AgentShow(ctx context.Context, ref string) (AgentShown, error) {
	v, err := a.viewAgents(ctx)
	if err != nil {
		return AgentShown{}, err
	}
	f, waiting := v.best(ref)
	if f == nil || waiting != nil && f.Origin == definition.BuiltIn {
		f = waiting
	}
	for i := range v.list {
		if v.list[i].Shown == ref && v.list[i].Origin != definition.BuiltIn {
			f = &v.list[i]
		}
	}
	if f == nil {
		return AgentShown{}, v.lost(ref)
	}
	return a.shownAgent(v, *f)
}

func (a *App) shownAgent(v agentView, f agentFile) (AgentShown, error) {
	out := AgentShown{AgentRow: v.row(f), Mode: f.Mode, MaxTurns: f.MaxTurns, Skills: f.Skills, Isolation: f.Isolation,
		Background: f.Background, Effort: f.Effort, Color: f.Color}
	c, err := f.take("", nil)
	if err != nil {
		return out, err
	}
	out.Persona = spec.Normalize(c.spec)
	out.Extra = shownExtra(f.Extra)
	if f.Item != nil {
		out.Hash = f.Item.Hash
	}
	hooks, err := a.agentHooks(f.Definition)
	if err != nil {
		out.Notices = append(out.Notices, diag.As(err).Message)
	}
	for _, h := range hooks {
		out.Hooks = append(out.Hooks, h.Event+" "+hookRuns(h))
	}
	return out, nil
}

// shownExtra are the keys without effect; of servers the names alone, since
// their headers and variables may hold keys. nil for none.
func shownExtra(extra *spec.Object) *spec.Object {
	if len(extra.Members) == 0 {
		return nil
	}
	out := &spec.Object{}
	for _, m := range extra.Members {
		servers, ok := m.Value.(*spec.Object)
		if ok && strings.HasPrefix(strings.ToLower(m.Key), "mcp") {
			list := []any{}
			for _, s := range servers.Members {
				list = append(list, s.Key)
			}
			m.Value = list
		}
		out.Members = append(out.Members, m)
	}
	return out
}

// agentView is the definitions with what else may have their ids.
type agentView struct {
	agents
	stored  []string
	shipped []string
	sources []sourceItem
}

func (a *App) viewAgents(ctx context.Context) (agentView, error) {
	var v agentView
	p, err := a.locate()
	if err != nil {
		return v, err
	}
	store, err := a.trustStore(p)
	if err != nil {
		return v, err
	}
	if v.agents, err = a.agents(p, store); err != nil {
		return v, err
	}
	if v.stored, err = a.PersonaIDs(); err != nil {
		return v, err
	}
	if v.sources, _, err = a.projectSources(ctx, p, store); err != nil {
		return v, err
	}
	all, err := shippedPersonas()
	for _, s := range all {
		v.shipped = append(v.shipped, s.ID)
	}
	return v, err
}

// winner is what an id means in the place of a definition; "" for nothing else.
func (v agentView) winner(f agentFile) string {
	if slices.Contains(v.stored, f.ID) {
		return "registry"
	}
	for _, s := range v.sources {
		if s.Name == f.ID && s.Status == "trusted" {
			return s.File
		}
	}
	best, _ := v.best(f.ID)
	switch {
	case best != nil && best.Definition != f.Definition && (f.counts() || best.Level > f.Level):
		if best.Origin != definition.BuiltIn {
			return best.Shown
		}
		return ""
	case f.Origin == definition.BuiltIn && slices.Contains(v.shipped, f.ID):
		return "shipped"
	}
	return ""
}

func (v agentView) row(f agentFile) AgentRow {
	r := AgentRow{ID: f.ID, Name: f.Name, Description: f.Description, Origin: string(f.Origin), Source: fmt.Sprintf("%s:%d", f.Shown, f.Line),
		Model: f.Model, Tools: names(f.Tools), Disallowed: names(f.Disallowed), ShadowedBy: v.winner(f), Notices: []string{}}
	switch {
	case f.Origin == definition.BuiltIn:
		r.State, r.Source = "built-in", "built-in"
	case f.Item == nil:
		r.State = "own"
	default:
		r.State = f.Item.Status
	}
	for _, n := range f.Notices {
		r.Notices = append(r.Notices, n.String())
	}
	return r
}

// names are a set's tools, nil for a set that was not written.
func names(t *definition.Tools) []string {
	switch {
	case t == nil:
		return nil
	case t.All:
		return []string{"*"}
	}
	return append([]string{}, t.Names...)
}

// lost says what is near an id that no definition has.
func (v agentView) lost(ref string) error {
	if err := v.broken(ref); err != nil {
		return err
	}
	var ids []string
	for _, f := range v.list {
		ids = append(ids, f.ID)
	}
	e := diag.New(diag.PersonaNotFound, "there is no definition %s", ref).With("persona_id", ref)
	switch near := nearest.Name(ref, ids); {
	case slices.Contains(v.stored, ref):
		return e.WithHint("it is a persona of the registry: larva resolve %s", diag.Word(ref))
	case near != "":
		return e.WithHint("did you mean %s? all: larva agent list", near)
	}
	return e.WithHint("see: larva agent list")
}

// AgentIDs lists the ids of definitions, for completion.
func (a *App) AgentIDs() ([]string, error) { return a.agentIDs(func(agentFile) bool { return true }) }

func (a *App) agentIDs(which func(agentFile) bool) ([]string, error) {
	p, err := a.locate()
	if err != nil {
		return nil, err
	}
	store, err := a.trustStore(p)
	if err != nil {
		return nil, err
	}
	all, err := a.agents(p, store)
	var ids []string
	for _, f := range all.list {
		if which(f) {
			ids = append(ids, f.ID)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids), err
}
