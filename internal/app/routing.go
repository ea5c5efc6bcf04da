package app

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"larva.dev/larva/internal/definition"
	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/profile"
)

// noModel is the answer where a run's label leads nowhere.
func (a *App) noModel(lost *profile.RouteError, id string) error {
	e := diag.New(diag.ModelUnknown, "%v", lost).With("model", lost.Label).With("persona_id", id)
	if scenario := a.scenarioAt(lost.Label); scenario != "" {
		return e.WithHint("a scenario is a model by its path: --model %s", diag.Word(scenario))
	}
	if lost.Alias {
		return e.WithHint("name a model for this run: --model PROVIDER/MODEL, or a role: --model worker; or for all runs, in your config: models: %s: \"PROVIDER/MODEL\"", lost.Label)
	}
	if len(lost.Known) > 0 {
		e.WithHint("known: %s; or name one for this run: --model PROVIDER/MODEL", strings.Join(lost.Known, ", "))
	}
	return e
}

// knownRoles are those that larva itself asks for.
var knownRoles = []string{"worker", "explore", "smart", "compact"}

// RoutingPrice is in US dollars a million tokens.
type RoutingPrice struct {
	Input  float64 `json:"input"`
	Output float64 `json:"output"`
}

// RoutingRow says what one role or persona runs on.
type RoutingRow struct {
	Name    string `json:"name"`
	Source  string `json:"source"` // of a role file:line; of a persona registry, shipped, built-in or its file
	Variant string `json:"variant,omitempty"`
	Label   string `json:"label"`
	Role    string `json:"role,omitempty"` // that the label names
	// Model is provider/model; "" where it is whatever the parent runs on.
	Model string `json:"model"`
	// Inherits says that a task of it runs on its parent's model. Where Model is
	// set beside it, that is what a run of its own takes.
	Inherits  bool     `json:"inherits"`
	Fallbacks []string `json:"fallbacks"`
	Context   string   `json:"context"`
	Isolation string   `json:"isolation"`
	MaxTurns  int      `json:"max_turns"` // of a run of its own
	Effort    string   `json:"effort,omitempty"`
	// Price is null where none is known.
	Price *RoutingPrice `json:"price"`
	// Reachable says that a request could be sent; Unreachable, what stands in
	// the way, of fallbacks too. Nothing was sent to find out.
	Reachable   bool     `json:"reachable"`
	Unreachable []string `json:"unreachable"`
}

// Routing is who runs on what, and what it costs.
type Routing struct {
	Name     string       `json:"name"` // of --profile, "" for none
	Roles    []RoutingRow `json:"roles"`
	Personas []RoutingRow `json:"personas"`
	Notices  []string     `json:"notices"`
}

// Routing says what each role and each persona that can be run here runs on.
// Nothing is sent, and of keys only the names are looked at.
func (a *App) Routing(ctx context.Context, name string) (Routing, error) {
	s, err := a.profileStand(ctx, name)
	if err != nil {
		return Routing{}, err
	}
	out := Routing{Name: name, Roles: []RoutingRow{}, Notices: s.notices}
	if out.Notices == nil {
		out.Notices = []string{}
	}
	names := slices.Clone(knownRoles)
	for _, r := range sortedKeys(s.eff.Profile.Roles) {
		if !slices.Contains(names, r) {
			names = append(names, r)
		}
	}
	for _, r := range names {
		row := RoutingRow{Name: r, Label: r, Source: a.shortOrigin(s.at, s.eff.OriginOf("roles."+r))}
		out.Roles = append(out.Roles, a.routed(s, row, nil))
	}
	out.Personas, err = a.personaRows(ctx, s)
	return out, err
}

// routed fills in where a row's label leads. d is the definition that it is of.
func (a *App) routed(s *stand, row RoutingRow, d *definition.Definition) RoutingRow {
	row.Fallbacks, row.Unreachable = []string{}, []string{}
	row.Inherits = row.Label == profile.Inherit || s.unset(row.Label)
	r, _, err := s.eff.Choose(profile.Wanted{Label: row.Label})
	if err != nil {
		r = profile.Route{}
		if role, ok := s.eff.Profile.Roles[row.Label]; ok {
			r = profile.Route{Role: row.Label, MaxTurns: role.MaxTurns, Effort: role.Effort, Context: role.Context, Isolation: role.Isolation}
		}
	}
	row.Role = r.Role
	row.Context, row.Isolation = cmp.Or(r.Context, "full"), cmp.Or(r.Isolation, "none")
	one := *s
	one.route = r
	if d != nil {
		one.agents = []*definition.Definition{d}
		one.agentEffort()
		row.Isolation = cmp.Or(d.Isolation, row.Isolation)
	}
	row.Effort = one.route.Effort
	row.MaxTurns = one.maxTurns(0)
	if err != nil {
		if row.Reachable = row.Inherits; !row.Inherits {
			row.Unreachable, row.Inherits = append(row.Unreachable, err.Error()), true
		}
		return row
	}
	row.Model = r.Name()
	if p := s.eff.PriceOf(row.Model); p != nil {
		row.Price = &RoutingPrice{p.Input, p.Output}
	}
	a.reach(s, &row, r)
	return row
}

// unset says that a label is a role that larva knows or the profile names, and
// that nothing gives it a model.
func (s *stand) unset(label string) bool {
	p := s.eff.Profile
	_, named := p.Roles[label]
	return (named || slices.Contains(knownRoles, label)) && p.Roles[label].Model == "" && p.Models[label] == "" && p.Models["*"] == ""
}

// reach finds what stands in the way of a route and its fallbacks.
func (a *App) reach(s *stand, row *RoutingRow, r profile.Route) {
	try := func(what string, r profile.Route, err error) {
		why := a.barred(s, r)
		if err != nil {
			why = err.Error()
		}
		if why == "" {
			row.Reachable = true
			return
		}
		row.Unreachable = append(row.Unreachable, what+why)
	}
	try("", r, nil)
	for _, name := range r.Fallbacks {
		f, err := s.eff.RouteNamed(name)
		row.Fallbacks = append(row.Fallbacks, name)
		if err == nil {
			row.Fallbacks[len(row.Fallbacks)-1] = f.Name()
		}
		try("fallback "+name+": ", f, err)
	}
}

// barred says why a route cannot be asked, "" where it can for all that is
// known without asking.
func (a *App) barred(s *stand, r profile.Route) string {
	if r.ProviderName != profile.ScriptProvider {
		if env := r.Provider.KeyEnv; env != "" && strings.TrimSpace(a.Getenv(env)) == "" {
			return env + " is not set"
		}
		return ""
	}
	if _, ok := s.eff.Profile.Scripts[r.Model]; ok {
		return ""
	}
	if !isPath(r.Model) {
		return "the profile has no script " + r.Model
	}
	if !exists(a.abs(r.Model)) {
		return "there is no file " + r.Model
	}
	return ""
}
