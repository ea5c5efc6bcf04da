package profile

import (
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"
)

// Merge stacks layers, lowest first. User layers merge so that the later one
// wins and lists of rules and hooks append. A project layer (Layer.Project)
// is met with the result whatever its place in the stack: its deny and ask
// rules count, its mode, limits and switches can only lower. What else it
// says counts only when Layer.Trusted, and then below every user layer that
// stands after it in the stack. The order of each field is declared in
// schema/profile.cue as @merge(…), and a test holds the two together.
func Merge(layers []Layer) (Effective, error) {
	e := Effective{Origins: map[string]string{}, from: map[string]place{}}
	for _, l := range layers {
		e.Notices = append(e.Notices, l.Notices...)
		if l.Project && !l.Trusted {
			e.Notices = append(e.Notices, unheard(l)...)
			continue
		}
		e.raise(l)
	}
	for _, l := range layers {
		if l.Project {
			if err := e.lower(l); err != nil {
				return Effective{}, err
			}
		}
	}
	return e, nil
}

// raise lays l over e. For a trusted project layer the fields that may only
// lower are left to lower.
func (e *Effective) raise(l Layer) {
	p, q := &e.Profile, l.Profile
	if q.Mode != "" && !l.Project {
		p.Mode = q.Mode
		e.note(l, "mode")
	}
	if _, all := q.Models["*"]; all {
		// "*" speaks for every label, so what lower layers said of single
		// labels and of roles' models is over: an offline profile stays offline.
		for label := range p.Models {
			e.forget("models." + label)
		}
		p.Models = nil
		roles := map[string]Role{}
		for name, r := range p.Roles {
			r.Model, r.Fallbacks = "", nil
			roles[name] = r
			e.forget("roles." + name + ".model")
			e.forget("roles." + name + ".fallbacks")
		}
		p.Roles = roles
	}
	overlay(e, l, "models", &p.Models, q.Models)
	for name, r := range q.Roles {
		if p.Roles == nil {
			p.Roles = map[string]Role{}
		}
		p.Roles[name] = overRole(p.Roles[name], r)
		e.noteRole(l, name, r)
	}
	overlay(e, l, "providers", &p.Providers, q.Providers)
	overlay(e, l, "servers", &p.Servers, q.Servers)
	overlay(e, l, "prices", &p.Prices, q.Prices)
	overlay(e, l, "scripts", &p.Scripts, q.Scripts)
	e.Allow = append(e.Allow, rules(l, "allow", q.Permissions.Allow)...)
	if !l.Project {
		e.Ask = append(e.Ask, rules(l, "ask", q.Permissions.Ask)...)
		e.Deny = append(e.Deny, rules(l, "deny", q.Permissions.Deny)...)
		if q.Undeclared != "" {
			p.Undeclared = q.Undeclared
			e.note(l, "undeclared")
		}
		p.Limits = overLimits(p.Limits, q.Limits)
		e.noteLimits(l, Limits{}, q.Limits)
		if q.Sandbox.Kind != "" {
			p.Sandbox.Kind = q.Sandbox.Kind
			e.note(l, "sandbox.kind")
		}
		if q.Worktree.Changes != nil {
			p.Worktree.Changes = q.Worktree.Changes
			e.note(l, "worktree.changes")
		}
		e.noteItems(l, "skills.disabled", len(p.Skills.Disabled), len(q.Skills.Disabled))
		p.Skills.Disabled = append(p.Skills.Disabled, q.Skills.Disabled...)
		e.noteItems(l, "http_hooks.allowed_urls", len(p.HTTPHooks.AllowedURLs), len(q.HTTPHooks.AllowedURLs))
		p.HTTPHooks.AllowedURLs = append(p.HTTPHooks.AllowedURLs, q.HTTPHooks.AllowedURLs...)
	}
	for event, hs := range q.Hooks {
		if p.Hooks == nil {
			p.Hooks = map[string][]Hooks{}
		}
		p.Hooks[event] = append(p.Hooks[event], hs...)
		e.note(l, "hooks."+event)
	}
	e.noteItems(l, "skills.paths", len(p.Skills.Paths), len(q.Skills.Paths))
	p.Skills.Paths = append(p.Skills.Paths, q.Skills.Paths...)
	e.noteItems(l, "sandbox.allowed_domains", len(p.Sandbox.AllowedDomains), len(q.Sandbox.AllowedDomains))
	p.Sandbox.AllowedDomains = append(p.Sandbox.AllowedDomains, q.Sandbox.AllowedDomains...)
	e.noteItems(l, "sandbox.env_passthrough", len(p.Sandbox.EnvPassthrough), len(q.Sandbox.EnvPassthrough))
	p.Sandbox.EnvPassthrough = append(p.Sandbox.EnvPassthrough, q.Sandbox.EnvPassthrough...)
	e.noteItems(l, "worktree.copy", len(p.Worktree.Copy), len(q.Worktree.Copy))
	p.Worktree.Copy = append(p.Worktree.Copy, q.Worktree.Copy...)
}

// lower meets e with a project layer.
func (e *Effective) lower(l Layer) error {
	p, q := &e.Profile, l.Profile
	switch {
	case q.Mode == "":
	case lowerMode(q.Mode, p.Mode):
		p.Mode = q.Mode
		e.note(l, "mode")
	case lowerMode(p.Mode, q.Mode):
		e.Notices = append(e.Notices, fmt.Sprintf("%s: mode %s is not taken: a project's file can lower the mode, never raise it", l.origin(), q.Mode))
	}
	e.Ask = append(e.Ask, rules(l, "ask", q.Permissions.Ask)...)
	e.Deny = append(e.Deny, rules(l, "deny", q.Permissions.Deny)...)
	if q.Undeclared == "deny" {
		p.Undeclared = "deny"
		e.note(l, "undeclared")
	}
	var err error
	was := p.Limits
	if p.Limits, err = meetLimits(p.Limits, q.Limits); err != nil {
		return fmt.Errorf("%s: %w", l.File, err)
	}
	e.noteLimits(l, was, p.Limits)
	switch kind := q.Sandbox.Kind; {
	case kind == "" || kind == "auto" && boxRank(p.Sandbox.Kind) > 0 || kind == p.Sandbox.Kind:
	case boxRank(kind) > boxRank(p.Sandbox.Kind):
		p.Sandbox.Kind = kind
		e.note(l, "sandbox.kind")
	default:
		e.Notices = append(e.Notices, fmt.Sprintf("%s: sandbox.kind %s is not taken: a project's file can make the sandbox stronger, never weaker", l.origin(), kind))
	}
	e.noteItems(l, "skills.disabled", len(p.Skills.Disabled), len(q.Skills.Disabled))
	p.Skills.Disabled = append(p.Skills.Disabled, q.Skills.Disabled...)
	for name, s := range q.Servers {
		if have, ok := p.Servers[name]; ok && s.Disabled {
			have.Disabled = true
			p.Servers[name] = have
			e.note(l, "servers."+name)
		}
	}
	return nil
}

// modes from the lowest to the highest. Plan changes nothing; default asks.
var modes = []string{"plan", "default", "accept-edits", "auto", "yolo"}

// ModeRank orders modes by power, plan lowest; -1 for an unknown one. ""
// counts as default.
func ModeRank(mode string) int {
	if mode == "" {
		mode = "default"
	}
	for i, m := range modes {
		if m == mode {
			return i
		}
	}
	return -1
}

func lowerMode(a, b string) bool { return ModeRank(a) >= 0 && ModeRank(a) < ModeRank(b) }

// boxRank orders sandboxes by strength. What auto finds and Landlock are not
// comparable: auto may find the stronger one, or none at all.
func boxRank(kind string) int {
	return map[string]int{"none": 0, "": 1, "auto": 1, "landlock": 1, "bubblewrap": 2}[kind]
}

func overlay[V any](e *Effective, l Layer, field string, dst *map[string]V, src map[string]V) {
	if len(src) == 0 {
		return
	}
	out := make(map[string]V, len(*dst)+len(src))
	maps.Copy(out, *dst)
	for k, v := range src {
		out[k] = v
		e.note(l, field+"."+k)
	}
	*dst = out
}

func overRole(a, b Role) Role {
	if b.Model != "" {
		a.Model, a.Fallbacks = b.Model, b.Fallbacks
	} else if b.Fallbacks != nil {
		a.Fallbacks = b.Fallbacks
	}
	if b.Context != "" {
		a.Context = b.Context
	}
	if b.Isolation != "" {
		a.Isolation = b.Isolation
	}
	if b.MaxTurns != 0 {
		a.MaxTurns = b.MaxTurns
	}
	if b.Effort != "" {
		a.Effort = b.Effort
	}
	return a
}

func overLimits(a, b Limits) Limits {
	if b.MaxTurns != nil {
		a.MaxTurns = b.MaxTurns
	}
	if b.MaxParallel != nil {
		a.MaxParallel = b.MaxParallel
	}
	if b.MaxDepth != nil {
		a.MaxDepth = b.MaxDepth
	}
	if b.Time != "" {
		a.Time = b.Time
	}
	if b.Stall != "" {
		a.Stall = b.Stall
	}
	if b.USD != nil {
		a.USD = b.USD
	}
	if b.Tokens != nil {
		a.Tokens = b.Tokens
	}
	return a
}

func meetLimits(a, b Limits) (Limits, error) {
	a.MaxTurns = lowest(a.MaxTurns, b.MaxTurns)
	a.MaxParallel = lowest(a.MaxParallel, b.MaxParallel)
	a.MaxDepth = lowest(a.MaxDepth, b.MaxDepth)
	a.USD = lowest(a.USD, b.USD)
	a.Tokens = lowest(a.Tokens, b.Tokens)
	var err error
	if a.Time, err = shortest(a.Time, b.Time); err != nil {
		return a, fmt.Errorf("limits.time: %w", err)
	}
	if a.Stall, err = shortest(a.Stall, b.Stall); err != nil {
		return a, fmt.Errorf("limits.stall: %w", err)
	}
	return a, nil
}

// shortest of two durations, "" being none.
func shortest(a, b string) (string, error) {
	if b == "" {
		return a, nil
	}
	tb, err := time.ParseDuration(b)
	if err != nil || a == "" {
		return b, err
	}
	ta, err := time.ParseDuration(a)
	if err != nil || tb >= ta {
		return a, err
	}
	return b, nil
}

func lowest[N int | int64 | float64](a, b *N) *N {
	switch {
	case b == nil:
		return a
	case a == nil || *b < *a:
		return b
	}
	return a
}

func rules(l Layer, list string, texts []string) []Rule {
	out := make([]Rule, 0, len(texts))
	for i, t := range texts {
		o := l.Origins["permissions."+list+"."+strconv.Itoa(i)]
		if o == "" {
			o = l.origin()
		}
		out = append(out, Rule{Text: t, Origin: o, User: !l.Project})
	}
	return out
}

func (l Layer) origin() string {
	if l.File != "" {
		return l.File
	}
	return l.Name
}

// unheard names what an untrusted project layer said and does not get.
func unheard(l Layer) []string {
	fields := Raises(l.Profile)
	if len(fields) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s is not trusted: its %s are left out (see: larva trust list)", l.origin(), strings.Join(fields, ", "))}
}

// Raises names the fields of a project's profile that count only once it is
// trusted.
func Raises(q Profile) []string {
	var fields []string
	add := func(name string, there bool) {
		if there {
			fields = append(fields, name)
		}
	}
	add("models", len(q.Models) > 0)
	add("roles", len(q.Roles) > 0)
	add("providers", len(q.Providers) > 0)
	add("permissions.allow", len(q.Permissions.Allow) > 0)
	add("hooks", len(q.Hooks) > 0)
	add("servers", len(q.Servers) > 0 && !allOff(q.Servers))
	add("skills.paths", len(q.Skills.Paths) > 0)
	add("sandbox.allowed_domains", len(q.Sandbox.AllowedDomains) > 0)
	add("sandbox.env_passthrough", len(q.Sandbox.EnvPassthrough) > 0)
	add("worktree.copy", len(q.Worktree.Copy) > 0)
	add("prices", len(q.Prices) > 0)
	add("scripts", len(q.Scripts) > 0)
	return fields
}

func allOff(servers map[string]Server) bool {
	for _, s := range servers {
		if !s.Disabled {
			return false
		}
	}
	return true
}
