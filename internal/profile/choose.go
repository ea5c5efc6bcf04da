package profile

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"
)

// Inherit is the label of an agent that names no model of its own.
const Inherit = "inherit"

// alias is a short name of a model of Anthropic. peer is the role of the same
// rank: where there is no parent it says which service is in use.
type alias struct{ model, peer string }

// aliases are the short names that agent files of Claude Code's kind use. The
// models are Anthropic's current ones, which a test holds to the shipped
// prices.
var aliases = map[string]alias{
	"opus":   {"claude-opus-5-5", "smart"},
	"sonnet": {"claude-sonnet-5-5", "worker"},
	"haiku":  {"claude-haiku-5-5", "explore"},
}

// Aliases gives each short name with the model that it means at Anthropic.
func Aliases() map[string]string {
	out := map[string]string{}
	for name, a := range aliases {
		out[name] = a.model
	}
	return out
}

// Wanted is what is said of the model that an agent runs on. The first field
// that is not empty decides: Task, Label, Role, and at last the parent.
type Wanted struct {
	Task  string // the task's own input
	Label string // of the persona or definition
	// Named says that a person named Label for this run (--model): a
	// provider/model form is meant as it stands, as it is for Task.
	Named bool
	Role  string
	// Parent is what the parent runs on; nil for a run that has none.
	Parent *Route
}

// Choose says what an agent runs on. A label that roles or models map leads
// there. Beyond that opus, sonnet and haiku (and claude-…) are Anthropic's
// where the service in use is Anthropic's: the parent's, or for a run without
// one that of the role of the same rank. What leads nowhere else is the
// parent's model, and notice says so; "" where nothing has to be said. Without
// a parent it is a RouteError, but for inherit, which is the role worker's.
// A role of the shipped profile counts for a child only where it leads to the
// parent's own service: who chose a model on their own machine has not said
// that the conversation may go elsewhere. Role, MaxTurns, Effort, Context and
// Isolation are those of the role that was named, whatever model it came to.
func (e *Effective) Choose(w Wanted) (r Route, notice string, err error) {
	label := cmp.Or(w.Task, w.Label, w.Role)
	if w.Parent == nil {
		return e.chooseAlone(label, w.Named)
	}
	p := *w.Parent
	if label == "" || label == Inherit && !e.maps(label) {
		return e.inherited(p, ""), "", nil
	}
	_, isRole := e.Profile.Roles[label]
	if !isRole && !e.maps(label) && e.Profile.Models["*"] == "" {
		if r, ok := atAnthropic(label, p); ok {
			return r, "", nil
		}
		if isAlias(label) {
			return e.inherited(p, ""), fmt.Sprintf("model %s is Anthropic's, and %s is in use: the task runs on that", label, p.Name()), nil
		}
	}
	if isRole && e.Profile.Roles[label].Model == "" && e.Profile.Models[label] == "" && e.Profile.Models["*"] == "" {
		return e.inherited(p, label), "", nil
	}
	r, err = e.route(label, w.Task == "" && !w.Named)
	if isRole && e.Shipped("roles."+label+".model") && (err != nil || r.ProviderName != p.ProviderName) {
		return e.inherited(p, label), "", nil
	}
	if err != nil {
		return e.inherited(p, r.Role), fmt.Sprintf("%v: the task runs on %s", err, p.Name()), nil
	}
	return r, "", nil
}

// chooseAlone is Choose for a run without a parent.
func (e *Effective) chooseAlone(label string, named bool) (r Route, notice string, err error) {
	r, err = e.route(label, !named)
	if err == nil {
		return r, "", nil
	}
	if label == Inherit {
		r, werr := e.route("worker", true)
		if werr != nil {
			return r, "", err
		}
		return r, "model inherit: a run has nobody to inherit from, so the role worker's model is taken", nil
	}
	if !isAlias(label) {
		return r, "", err
	}
	peer := cmp.Or(aliases[strings.ToLower(label)].peer, "worker")
	p, perr := e.route(peer, true)
	if perr == nil {
		if at, ok := atAnthropic(label, p); ok {
			return at, "", nil
		}
	}
	lost := &RouteError{Label: label, Known: e.labels(), Alias: true}
	lost.Message = "it is a model of Anthropic, and the role " + peer + " leads nowhere"
	if perr == nil {
		lost.Message = fmt.Sprintf("it is a model of Anthropic, and the role %s leads to %s", peer, p.Name())
	}
	return r, "", lost
}

// inherited is the parent's model under the child's own role, "" for none.
func (e *Effective) inherited(p Route, role string) Route {
	r := Route{Label: cmp.Or(role, Inherit), ProviderName: p.ProviderName, Provider: p.Provider, Model: p.Model,
		Fallbacks: p.Fallbacks, Effort: p.Effort, Inherited: true}
	if role != "" {
		own := e.Profile.Roles[role]
		r.of(role, own)
		r.Effort = cmp.Or(own.Effort, p.Effort)
	}
	return r
}

// maps says that roles or models hold the label itself.
func (e *Effective) maps(label string) bool {
	return e.Profile.Roles[label].Model != "" || e.Profile.Models[label] != ""
}

// isAlias says that a label names a model of Anthropic without its provider.
func isAlias(label string) bool {
	_, ok := aliases[strings.ToLower(label)]
	return ok || strings.HasPrefix(label, "claude-") && !strings.Contains(label, "/")
}

// atAnthropic is the model that such a label means at in's provider, false
// where that is not Anthropic or the label means none.
func atAnthropic(label string, in Route) (Route, bool) {
	if !isAlias(label) || !isAnthropic(in) {
		return Route{}, false
	}
	model := label
	if a, ok := aliases[strings.ToLower(label)]; ok {
		model = a.model
	}
	return Route{Label: label, ProviderName: in.ProviderName, Provider: in.Provider, Model: model}, true
}

// isAnthropic says that a provider is Anthropic, not a service that speaks its
// protocol: the provider of that name, wherever its gateway stands, or one at
// Anthropic's own address.
func isAnthropic(r Route) bool {
	if r.Provider.API != "anthropic" {
		return false
	}
	if r.ProviderName == "anthropic" || r.Provider.BaseURL == "" {
		return true
	}
	u, err := url.Parse(r.Provider.BaseURL)
	return err == nil && u.Hostname() == "api.anthropic.com"
}

// Shipped says that an effective field comes with the binary. A file of a
// project that has the same name reads the same here, which only narrows.
func (e *Effective) Shipped(field string) bool {
	o := e.Origins[field]
	return o == "shipped" || strings.HasPrefix(o, "profiles/default.cue")
}
