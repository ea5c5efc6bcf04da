package app

import (
	"context"
	"fmt"
	"path/filepath"

	"larva.dev/larva/internal/agent"
	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/launch/opencode"
	"larva.dev/larva/internal/permission"
	"larva.dev/larva/internal/spec"
	"larva.dev/larva/internal/tool"
)

// verdict is an answer about a call inside another host.
type verdict struct {
	Behavior event.Verdict `json:"behavior"`
	Reason   string        `json:"reason,omitempty"`
	Stage    event.Stage   `json:"stage,omitempty"`
	// Dialog says that the host itself is sure to put a question to its person.
	Dialog bool `json:"dialog,omitempty"`
}

func denied(format string, args ...any) verdict {
	return verdict{Behavior: event.Deny, Reason: fmt.Sprintf(format, args...)}
}

// judgement is a call inside OpenCode, of one persona or of a subagent of it.
type judgement struct {
	asked    opencode.Asked
	personas []string // those at work, the caller first
	servers  []string
}

// judgeInside judges a call as `permission explain` would in mode yolo without
// a sandbox, by all personas together. Whatever fails is a refusal.
func (a *App) judgeInside(ctx context.Context, s *opencodeSide, j judgement) (verdict, opencode.Meant) {
	meant, err := opencode.Translate(j.asked, j.servers)
	if err != nil {
		return denied("%v", err), meant
	}
	if !filepath.IsAbs(j.asked.Cwd) {
		return denied("%q is no absolute directory", j.asked.Cwd), meant
	}
	bounds, err := s.bounds(j.personas)
	if err != nil {
		return denied("%v", err), meant
	}
	l, err := a.inside(ctx, j.asked.Cwd, meant.Workdir, bounds)
	if err != nil {
		return denied("%v", err), meant
	}
	out := verdict{Behavior: event.Allow}
	for _, w := range meant.Calls {
		d, fault := judgeWord(ctx, l, w)
		if fault != "" {
			return denied("%s", fault), meant
		}
		if d.Verdict != event.Allow && (out.Behavior == event.Allow || d.Verdict == event.Deny) {
			out = verdict{Behavior: d.Verdict, Reason: d.Reason, Stage: d.Stage}
		}
	}
	return out, meant
}

// inside is a loop that stands where OpenCode does.
func (a *App) inside(ctx context.Context, cwd, workdir string, bounds []permission.Bound) (*agent.Loop, error) {
	at := func(dir string) (*stand, error) {
		there := New(Options{Home: a.home, Dir: dir, Environ: a.environ, Self: a.self})
		s, err := there.stand(ctx, about{unasked: true, portable: true, flags: flags{mode: permission.Yolo}})
		if err != nil {
			return nil, err
		}
		return s, nil
	}
	s, err := at(cwd)
	if err != nil {
		return nil, err
	}
	if workdir != "" {
		elsewhere, err := at(workdir)
		if err != nil {
			return nil, err
		}
		if elsewhere.roots.Project != s.roots.Project {
			return nil, fmt.Errorf("%s lies outside the project", workdir)
		}
		s = elsewhere
	}
	p := *s.policy
	p.Mode, p.Sandboxed = permission.Yolo, false
	p.Ceiling, p.CanSpawn, p.Above = bounds[0].Ceiling, bounds[0].CanSpawn, bounds[1:]
	return &agent.Loop{Tools: s.tools, Policy: &p, Known: s.known}, nil
}

// judgeWord asks a tool for its facts where it has any: links are followed
// there. The others are known by name.
func judgeWord(ctx context.Context, l *agent.Loop, w opencode.Word) (event.Decision, string) {
	call := tool.Call{ID: "inside", Tool: w.Tool, Input: w.Input}
	switch w.Tool {
	case "bash", "read", "write", "edit", "glob", "grep":
		j := l.Judge(ctx, call)
		if j.Fault != nil {
			return event.Decision{}, forPerson(j.Fault.Output)
		}
		return j.Decision, ""
	}
	eff, ok := permission.KnownEffects(w.Tool, w.Input)
	if !ok {
		return event.Decision{}, fmt.Sprintf("%q is no tool that larva knows", w.Tool)
	}
	return l.Policy.Judge(call, eff, permission.HookSays{}), ""
}

// bounds are what personas may do, now. One that is not there any more may do
// nothing, and neither may who works for it.
func (s *opencodeSide) bounds(ids []string) ([]permission.Bound, error) {
	if len(ids) == 0 {
		return nil, fmt.Errorf("it is not said whose call it is")
	}
	out := make([]permission.Bound, 0, len(ids))
	for _, id := range ids {
		o, err := s.registry.Resolve(id, "", nil)
		if err != nil {
			return nil, fmt.Errorf("persona %s: %w", id, err)
		}
		p := spec.FromObject(o)
		out = append(out, permission.Bound{Ceiling: ceilingOf(p), CanSpawn: p.CanSpawn})
	}
	return out, nil
}

// dialog says whether OpenCode itself asks, by the rules that an agent has.
func (s *opencodeSide) dialog(id string, m opencode.Meant, x opencode.Context) bool {
	p, err := s.persona(id)
	if err != nil {
		return false
	}
	return m.Asks(opencode.Project(p.Spec, x).Table.Rules())
}
