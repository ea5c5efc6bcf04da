package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"larva.dev/larva/internal/agent"
	"larva.dev/larva/internal/capability"
	"larva.dev/larva/internal/definition"
	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/permission"
	"larva.dev/larva/internal/profile"
	"larva.dev/larva/internal/root"
	"larva.dev/larva/internal/sandbox"
	"larva.dev/larva/internal/spec"
	"larva.dev/larva/internal/tool"
	"larva.dev/larva/internal/tool/shell"
	shelf "larva.dev/larva/internal/tool/skill"
	"larva.dev/larva/internal/tool/talk"
	"larva.dev/larva/internal/tool/task"
	"larva.dev/larva/internal/worktree"
)

// stand is everything that a run, its plan and an explanation have in
// common: where, by which profile, with which persona, tools and policy.
type stand struct {
	at      where
	eff     profile.Effective
	persona *spec.Persona // nil: none was named
	ref     event.PersonaRef
	roots   *root.Set
	tools   *tool.Registry
	policy  *permission.Policy
	shell   *shell.Shell
	wall    *sandbox.Wall // around the shell's commands
	line    *talk.Line    // how tools reach the run and its person
	route   profile.Route
	notices []string
	hooks   []foundHook // of all files, those without trust too
	forget  func()      // what the file tools know of files that were read
	// whole is the persona as it is stored in the session.
	whole *spec.Object
	// agents are the definitions whose lists of tools bind the run; none for a
	// persona of another kind.
	agents []*definition.Definition
	layers []profile.Layer // as they were read, the lowest first
	// apart says why the run has to work in a worktree of its own; "": it need not.
	apart string
	// instructions stand in the system prompt.
	instructions []agent.Instruction
	above        []permission.Bound // what binds beside the persona's own ceiling
	found        sandbox.Found      // what walls are made of here
	shelf        *shelf.Shelf       // skills and commands
	inlined      int                // calls that texts of commands have made
	servers      *crew              // of MCP, nil: none
	// serverPrompt expands the prompts of MCP servers; nil: there are none.
	serverPrompt func(ctx context.Context, l *agent.Loop, name, args string) (text string, handled bool, err error)

	// Of agents that hand work on, see delegate.go; desk is nil where this one
	// does not.
	family    *family // of the person's own agent
	hub       *task.Hub
	desk      *task.Desk
	spawn     task.Spawn
	spawnable []task.Agent // everybody who could be a subagent here
	depth     int          // 0: the person's own agent
	ownMode   string       // a child's, where it is below its parent's
	ownHooks  []foundHook  // of a child's definition
	own       *App         // of a child: the place where it works
	tree      *worktree.Tree
	settled   bool // tree is finished
}

// about is what a stand is built from.
type about struct {
	persona, variant string
	overrides        *spec.Object
	flags            flags
	kept             *kept // the persona of a session that goes on, nil for a new one
	addDirs          []string
	temp             string // the private temp directory, "" for none
	modelFlag        string
	unasked          bool // no model is asked: a label that leads nowhere is no error
	effort           string
	extra            []profile.Layer // further user layers, above the flags
	hub              *task.Hub       // of a chat, nil: the stand has its own
	portable         bool            // judge alike on every machine: do not look for a sandbox
}

// stand builds one. Nothing is sent and nothing is written.
func (a *App) stand(ctx context.Context, in about) (*stand, error) {
	s := &stand{hub: in.hub}
	var err error
	if s.at, err = a.locate(); err != nil {
		return nil, err
	}
	store, err := a.trustStore(s.at)
	if err != nil {
		return nil, err
	}
	if in.flags.mode != "" && profile.ModeRank(in.flags.mode) < 0 {
		return nil, diag.Usage("there is no mode %q", in.flags.mode).WithHint("modes: default, accept-edits, plan, auto, yolo")
	}
	stack, err := a.layers(ctx, s.at, store, in.flags)
	if err != nil {
		return nil, err
	}
	stack = append(stack, in.extra...)
	s.layers = stack
	stack, s.hooks, s.notices = a.perItem(s.at, store, stack)
	if err := checkHooks(s.hooks); err != nil {
		return nil, err
	}
	if s.eff, err = profile.Merge(stack); err != nil {
		return nil, diag.New(diag.ProfileInvalid, "%v", err)
	}
	s.notices = append(s.notices, s.eff.Notices...)
	var trying *probing
	if !in.portable {
		trying = a.probe(ctx, s.eff.Profile.Sandbox.Kind)
		defer trying.end()
	}
	if in.persona != "" {
		if err := a.choose(ctx, s, in); err != nil {
			return nil, withNotices(err, s.notices)
		}
	}
	if s.roots, err = root.New(a.workDir(), a.absAll(in.addDirs), a.home, in.temp); err != nil {
		return nil, diag.Usage("%v", err).WithHint("--add-dir takes directories that exist")
	}
	if s.policy, err = a.policy(s); err != nil {
		return nil, err
	}
	if err := a.wallIn(s, trying, in.portable); err != nil {
		return nil, err
	}
	s.instruct()
	a.shelve(s)
	if err := a.equip(s); err != nil {
		return nil, err
	}
	s.lostSkills()
	return s, a.delegates(ctx, s)
}

// keyNames are the variables that hold keys by what the profile says; no
// child sees them, whatever they are called.
func (s *stand) keyNames() []string {
	var out []string
	for _, p := range s.eff.Profile.Providers {
		if p.KeyEnv != "" {
			out = append(out, p.KeyEnv)
		}
	}
	return out
}

// choose finds the persona and where its model label leads.
func (a *App) choose(ctx context.Context, s *stand, in about) error {
	c, err := a.persona(ctx, s.at, in.persona, in.variant, in.overrides)
	if in.kept != nil {
		c, err = in.kept.keep(ctx, c, err)
	}
	if err != nil {
		return err
	}
	s.persona, s.whole = spec.FromObject(c.spec), c.spec
	if in.kept != nil {
		in.kept.bind(s)
	}
	s.ref = event.PersonaRef{ID: s.persona.ID, Variant: c.variant, Digest: s.persona.Digest}
	s.notices = append(s.notices, c.notices...)
	if err := a.bindAgent(s, c); err != nil {
		return err
	}
	wanted := profile.Wanted{Label: s.persona.Model}
	if in.modelFlag != "" {
		wanted = profile.Wanted{Label: in.modelFlag, Named: true}
	}
	var notice string
	s.route, notice, err = s.eff.Choose(wanted)
	if notice != "" {
		s.notices = append(s.notices, notice)
	}
	var lost *profile.RouteError
	if errors.As(err, &lost) {
		if in.unasked {
			return nil
		}
		return a.noModel(lost, s.persona.ID)
	}
	if err != nil {
		return err
	}
	s.agentEffort()
	if in.effort != "" {
		s.route.Effort = in.effort
	}
	return a.isolated(s)
}

// policy gives what calls are judged by. Without a persona there is no
// ceiling.
func (a *App) policy(s *stand) (*permission.Policy, error) {
	larvaHome, err := a.LarvaHome()
	if err != nil {
		return nil, err
	}
	data, err := a.DataDir()
	if err != nil {
		return nil, err
	}
	p := &permission.Policy{
		Mode:       s.eff.Profile.Mode,
		Undeclared: s.eff.Profile.Undeclared,
		Places: permission.Places{Project: s.roots.Project, Cwd: s.roots.Cwd, Home: real(s.roots.Home), Config: real(s.at.config),
			LarvaHome: real(larvaHome), Data: real(data), Temp: s.roots.Temp, Roots: s.roots.Roots, Others: a.others},
	}
	if s.persona != nil {
		p.Ceiling = capability.Ceiling{}
		for family, posture := range s.persona.Capabilities {
			level, ok := capability.Parse(posture)
			if !ok {
				return nil, fmt.Errorf("capability %s: posture %q", family, posture)
			}
			p.Ceiling[family] = level
		}
		p.CanSpawn, p.Above = s.persona.CanSpawn, s.above
	}
	rules, bad := permission.ParseRules(s.eff.Allow, s.eff.Ask, s.eff.Deny, p.Places)
	if len(bad) > 0 {
		return nil, badRules(bad)
	}
	p.Rules = rules
	return p, nil
}

func badRules(bad []permission.RuleError) error {
	e := diag.New(diag.ProfileInvalid, "%v", bad[0])
	for _, b := range bad {
		e.Problems = append(e.Problems, diag.Problem{File: b.Rule.Origin, Path: "permissions." + b.List,
			Message: fmt.Sprintf("%s: %s", b.Rule.Text, b.Message), Hint: b.Hint})
	}
	if slices.ContainsFunc(bad, func(b permission.RuleError) bool { return len(b.Rule.Origin) > 2 && b.Rule.Origin[:2] == "--" }) {
		e.Code, e.Exit = diag.InvalidInput, diag.ExitUsage
	}
	return e
}

// real follows links where the path exists, since paths are judged so.
func real(path string) string {
	if path == "" {
		return ""
	}
	if r, err := filepath.EvalSymlinks(path); err == nil {
		return r
	}
	return filepath.Clean(path)
}

// system is the whole system prompt.
func (s *stand) system(now time.Time) string {
	return agent.System(s.persona.Prompt, agent.Surroundings{Cwd: s.roots.Cwd, GitRoot: s.gitRoot(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH, Instructions: s.instructions,
		Sandbox: s.walledIn(), Skills: s.skillTexts(), Date: now})
}

func (s *stand) gitRoot() string {
	if _, err := os.Lstat(filepath.Join(s.roots.Project, ".git")); err != nil {
		return ""
	}
	return s.roots.Project
}
