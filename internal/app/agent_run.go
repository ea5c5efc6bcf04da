package app

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"larva.dev/larva/internal/definition"
	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/hook"
	"larva.dev/larva/internal/permission"
	"larva.dev/larva/internal/profile"
	"larva.dev/larva/internal/tool"
	"larva.dev/larva/internal/trust"
)

// bindAgent puts onto a run what a definition says beside its persona: its
// hooks run too, and its mode, where it is the lower one, is the run's.
func (a *App) bindAgent(s *stand, c chosen) error {
	s.agents = nil
	for _, d := range []*definition.Definition{c.agent, c.keptAgent} {
		if d != nil {
			s.agents = append(s.agents, d)
			s.lowerTo(d)
		}
	}
	d := c.agent
	if d == nil {
		return nil
	}
	hooks, err := a.agentHooks(d)
	if err != nil {
		return err
	}
	var own []foundHook
	for _, h := range hooks {
		f := foundHook{Hook: h}
		if d.Origin == definition.Project {
			// The definition's yes covers its hooks as they are now.
			f.Hook = a.watched(s.at, h, a.hookItem(s.at, &trust.Store{}, h, s.at.dirs[len(s.at.dirs)-1]))
		}
		own = append(own, f)
	}
	s.hooks = append(s.hooks, own...)
	return checkHooks(own)
}

// agentHooks reads a definition's hooks. One that cannot run here is an error:
// it may be what keeps the agent back.
func (a *App) agentHooks(d *definition.Definition) ([]hook.Hook, error) {
	l, err := d.Hooks(hook.Events())
	if err != nil {
		return nil, err
	}
	if len(l.Notices) > 0 {
		return nil, diag.New(diag.ProfileInvalid, "the definition %s names a hook that cannot run: %s", d.ID, l.Notices[0]).
			With("path", d.Shown).WithHint("take it out of the file, or write it as a hook that larva knows: larva hook test --help")
	}
	return a.hooksOf(l), nil
}

// hookRuns is what a hook runs: its command, prompt or URL.
func hookRuns(h hook.Hook) string {
	switch {
	case h.Prompt != "":
		return h.Prompt
	case h.URL != "":
		return h.URL
	}
	return strings.Join(append([]string{h.Command}, h.Args...), " ")
}

// lowerTo lowers the run's mode to a definition's.
func (s *stand) lowerTo(d *definition.Definition) {
	if d.Mode != "" && profile.ModeRank(d.Mode) < profile.ModeRank(s.eff.Profile.Mode) {
		s.notices = append(s.notices, fmt.Sprintf("mode %s: %s lowers it from %s", d.Mode, d.Shown, s.mode()))
		s.eff.Profile.Mode = d.Mode
	}
}

// allows says whether the definition that the run is of has the tool.
func (s *stand) allows(name string) bool { return s.without(name) == nil }

// without is the definition that does not have the tool, nil where all do.
func (s *stand) without(name string) *definition.Definition {
	for _, d := range s.agents {
		if !d.Allows(name) {
			return d
		}
	}
	return nil
}

// known states the effects of a call by name, of a tool that the run could have.
func (s *stand) known(name string, input json.RawMessage) (tool.Effects, bool) {
	if !s.allows(name) {
		return tool.Effects{}, false
	}
	return permission.KnownEffects(name, input)
}

// having leaves out the tools that the definition does not have.
func (s *stand) having(tools []tool.Tool) []tool.Tool {
	if len(s.agents) == 0 {
		return tools
	}
	var out []tool.Tool
	for _, t := range tools {
		if s.allows(t.Spec().Name) {
			out = append(out, t)
		}
	}
	return out
}

// agentTurns lowers a run's turns to the definition's.
func (s *stand) agentTurns(n int) int {
	for _, d := range s.agents {
		if d.MaxTurns > 0 {
			n = min(n, d.MaxTurns)
		}
	}
	return n
}

// efforts are the words of a definition that say how hard to think; any other
// one is left to the role.
var efforts = []string{"minimal", "low", "medium", "high", "xhigh", "max"}

// agentEffort puts a definition's word before the role's.
func (s *stand) agentEffort() {
	for _, d := range s.agents {
		if slices.Contains(efforts, d.Effort) {
			s.route.Effort = d.Effort
			return
		}
	}
}

// agentBefore gives the definition that a session began with, nil where it was
// none.
func (k *kept) agentBefore() (*definition.Definition, error) {
	if k.meta.Definition == "" {
		return nil, nil
	}
	d, p := definition.Read([]byte(k.meta.Definition), definition.Source{Shown: "the session's definition"})
	if p != nil {
		return nil, diag.New(diag.SessionCorrupt, "session %s: %s", k.meta.SessionID, p).With("session_id", k.meta.SessionID)
	}
	return d, nil
}
