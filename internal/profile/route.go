package profile

import (
	"fmt"
	"sort"
	"strings"
)

// ScriptProvider is the provider name of script models.
const ScriptProvider = "script"

// Route is where a model label leads.
type Route struct {
	Label        string
	ProviderName string
	Provider     Provider // zero for ScriptProvider
	Model        string   // the provider's own name of it; for ScriptProvider a key of scripts or a path
	Role         string   // the role that the label named, "" for none
	Fallbacks    []string // provider/model, tried in order
	MaxTurns     int      // of the role; 0: not said
	Effort       string   // of the role: how hard to think; "": not said
	Context      string   // of the role: full or minimal; "": not said
	Isolation    string   // of the role: none or worktree; "": not said
	// Inherited says that it is the parent's model.
	Inherited bool
}

// of takes what a role says beside its model.
func (r *Route) of(name string, role Role) {
	r.Role, r.MaxTurns, r.Effort, r.Context, r.Isolation = name, role.MaxTurns, role.Effort, role.Context, role.Isolation
}

// Name is provider/model.
func (r Route) Name() string { return r.ProviderName + "/" + r.Model }

// RouteError says why a label leads nowhere.
type RouteError struct {
	Label   string
	Message string
	Known   []string // labels that would work
	// Alias says that the label is a short name that means nothing here.
	Alias bool
}

func (e *RouteError) Error() string { return fmt.Sprintf("model %q: %s", e.Label, e.Message) }

// Route resolves a persona's label: roles, then models (exact, then "*"),
// then provider/model.
func (e *Effective) Route(label string) (Route, error) {
	return e.route(label, true)
}

// RouteNamed resolves a label that a person named for this run (--model): a
// provider/model form is meant as it stands, so "*" is asked last.
func (e *Effective) RouteNamed(label string) (Route, error) {
	return e.route(label, false)
}

func (e *Effective) route(label string, starFirst bool) (Route, error) {
	r := Route{Label: label}
	target := ""
	if role, ok := e.Profile.Roles[label]; ok {
		r.of(label, role)
		if role.Model != "" {
			target, r.Fallbacks = role.Model, role.Fallbacks
			// a role may name a label of models in turn
			if m, ok := e.Profile.Models[target]; ok {
				target = m
			}
		}
	}
	if target == "" {
		target = e.Profile.Models[label]
	}
	star := e.Profile.Models["*"]
	if target == "" && star != "" && (starFirst || !strings.Contains(label, "/")) {
		target = star
	}
	if target == "" {
		target = label
	}
	name, model, ok := strings.Cut(target, "/")
	if !ok || name == "" || model == "" {
		return r, &RouteError{Label: label, Message: "no role, model or provider/model of this profile has that name", Known: e.labels()}
	}
	r.ProviderName, r.Model = name, model
	if name == ScriptProvider {
		return r, nil
	}
	p, ok := e.Profile.Providers[name]
	if !ok {
		return r, &RouteError{Label: label, Message: fmt.Sprintf("there is no provider %q", name), Known: e.providers()}
	}
	r.Provider = p
	return r, nil
}

func (e *Effective) labels() []string {
	var out []string
	for k, r := range e.Profile.Roles {
		if r.Model != "" {
			out = append(out, k)
		}
	}
	for k := range e.Profile.Models {
		if k != "*" {
			out = append(out, k)
		}
	}
	sort.Strings(out)
	return out
}

func (e *Effective) providers() []string {
	out := []string{ScriptProvider}
	for k := range e.Profile.Providers {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}
