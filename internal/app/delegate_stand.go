package app

import (
	"context"
	"runtime"
	"slices"
	"time"

	"larva.dev/larva/internal/agent"
	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/hook"
	"larva.dev/larva/internal/permission"
	"larva.dev/larva/internal/spec"
	"larva.dev/larva/internal/tool"
	"larva.dev/larva/internal/tool/file"
	"larva.dev/larva/internal/tool/shell"
	"larva.dev/larva/internal/tool/talk"
	"larva.dev/larva/internal/tool/task"
)

// notForChildren are tools of the one agent that the person talks to.
var notForChildren = []string{"todo_write", "exit_plan_mode", "memory", "task", "task_wait", "task_stop", "task_send"}

// childStand is a subagent's stand: the persona that was asked for, where its
// parent stands, with no more power than that.
func (f *family) childStand(ctx context.Context, parent *stand, above *agent.Loop, r task.Request) (*stand, error) {
	c, err := f.persona(ctx, parent, r.Agent)
	if err != nil {
		return nil, err
	}
	s := &stand{at: parent.at, eff: parent.eff, roots: parent.roots, found: parent.found, hub: parent.hub, depth: parent.depth + 1,
		spawnable: parent.spawnable, whole: c.spec, persona: spec.FromObject(c.spec)}
	s.ref = event.PersonaRef{ID: s.persona.ID, Variant: c.variant, Digest: s.persona.Digest}
	s.notices = slices.Clone(c.notices)
	s.eff.Profile.Mode = above.CurrentMode()
	s.own = f.appOf(parent)
	if err := s.own.bindAgent(s, c); err != nil {
		return nil, err
	}
	if s.mode() != above.CurrentMode() {
		s.ownMode = s.mode()
	}
	s.hooks, s.ownHooks = parent.hooks, s.hooks
	if err := f.childRoute(parent, s, r.Model); err != nil {
		return nil, err
	}
	if err := f.place(ctx, parent, above, s, r); err != nil {
		return nil, err
	}
	if err := f.arm(parent, s); err != nil {
		s.finishTree(ctx)
		return nil, err
	}
	return s, nil
}

// arm gives a child that stands somewhere its powers and its tools.
func (f *family) arm(parent, s *stand) error {
	s.policy = childPolicy(parent, s)
	if s.tree != nil {
		there, err := s.own.policy(s)
		if err != nil {
			return err
		}
		s.policy.Places, s.policy.Rules = there.Places, there.Rules
	}
	s.instructAs(parent)
	return s.own.equipChild(s, parent)
}

// persona finds a subagent's persona as a run would, once a run.
func (f *family) persona(ctx context.Context, parent *stand, id string) (chosen, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if c, ok := f.found[id]; ok {
		return c, nil
	}
	if !spec.ValidID(id) {
		return chosen{}, noID(id)
	}
	c, err := f.app.persona(ctx, parent.at, id, "", nil)
	if err != nil {
		return c, parent.nearest(err, id)
	}
	f.found[id] = c
	return c, nil
}

// childPolicy is the parent's with the child's own bound beside all above it.
func childPolicy(parent, s *stand) *permission.Policy {
	own := permission.Bound{Ceiling: ceilingOf(s.persona), CanSpawn: s.persona.CanSpawn}
	for _, d := range s.agents {
		if d.Tools == nil { // its file has no list: it may do what its parent may, but for what it gives up
			own.Ceiling = d.Under(parent.policy.Ceiling)
		}
	}
	p := parent.policy.Below(own)
	p.Mode = s.mode()
	return p
}

// instructAs gives the child the instruction files that its parent read; where
// one of the two has a minimal context and the other has not, its own.
func (s *stand) instructAs(parent *stand) {
	if (s.route.Context == "minimal") == (parent.route.Context == "minimal") {
		s.instructions = parent.instructions
		return
	}
	notices := s.notices
	s.instruct()
	s.notices = notices // the parent's run has nothing to do with them
}

// childSystem is a child's system prompt: its own, what is asked of a report,
// and the surroundings.
func (s *stand) childSystem(now time.Time) string {
	return agent.System(s.persona.Prompt+"\n\n"+task.Footer(), agent.Surroundings{Cwd: s.roots.Cwd, GitRoot: s.gitRoot(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH, Instructions: s.instructions, Sandbox: s.walledIn(), Skills: s.skillTexts(), Date: now})
}

// childTurns is the role's limit, or the common one for subagents; a
// definition, the profile and its run may lower it.
func (s *stand) childTurns() int {
	n := childTurns
	if r := s.route.MaxTurns; r > 0 {
		n = r
	}
	return s.agentTurns(n)
}

func (s *stand) specJSON() []byte { return spec.AppendCanonical(nil, s.whole) }

// equipChild gives a child its tools: the parent's, without those that are
// for the person's own agent, and task only where it may spawn in turn. Its
// shell, what it knows of files and its wall are its own.
func (a *App) equipChild(s, parent *stand) error {
	o, err := a.wallOptions(s)
	if err != nil {
		return err
	}
	s.wall = s.found.Wall(o)
	firm, _ := s.wall.Firm()
	s.policy.Sandboxed = firm
	files := file.New(s.roots, file.Options{Environ: a.environ, Denied: s.policy.ReadDenied})
	s.forget = files.Forget
	s.shell = shell.New(s.roots, a.environ, shell.Options{Secret: s.keyNames(), Denied: s.policy.ReadDenied, Ruled: s.policy.ReadRuled, Wall: s.wall})
	s.line = &talk.Line{}
	s.tools = &tool.Registry{}
	for _, tools := range [][]tool.Tool{files, s.shell.Tools(), talk.New(s.line)} {
		for _, t := range s.having(tools) {
			name := t.Spec().Name
			if _, has := parent.tools.Get(name); !has || slices.Contains(notForChildren, name) {
				continue
			}
			if err := s.tools.Add(t); err != nil {
				return err
			}
		}
	}
	if err := s.handDown(parent); err != nil {
		return err
	}
	if err := a.shelveChild(s, parent); err != nil {
		return err
	}
	return s.hire()
}

// ownRunner runs the hooks of a child's definition: they are its alone.
func (a *App) ownRunner(s *stand, l *agent.Loop, transcript string) (*hook.Runner, error) {
	only := *s
	only.hooks = nil
	for _, h := range s.ownHooks {
		if h.Event == hook.Stop {
			h.Event = hook.SubagentStop
		}
		only.hooks = append(only.hooks, h)
	}
	return a.hookRunner(&only, a.hookOptions(&only, l, transcript))
}
