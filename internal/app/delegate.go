package app

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"larva.dev/larva/internal/agent"
	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/hook"
	"larva.dev/larva/internal/model"
	"larva.dev/larva/internal/profile"
	"larva.dev/larva/internal/session"
	"larva.dev/larva/internal/tool"
	"larva.dev/larva/internal/tool/task"
)

const (
	// childTurns bounds a subagent whose role does not: nobody watches it.
	childTurns = 100
	// defaultDepth is how deep agents hand work on where no profile says.
	defaultDepth = 3
	// lastTasks is what background tasks have to end in when their run does.
	lastTasks = 3 * time.Second
)

// family is what the agents of one run have in common.
type family struct {
	app      *App
	in       RunInput
	sit      *sitting
	root     *agent.Loop
	hooks    *hook.Runner // of the run, nil: none
	hub      *task.Hub
	mu       sync.Mutex
	found    map[string]chosen      // personas by id: a run's children of one id are alike
	scripts  map[string]model.Model // a scenario's turns are used once in a run, whoever asks
	children map[string]*child      // by the task's id
}

// child is a subagent with what it runs on. Its spawn owns it until it ends;
// then it waits for task_send.
type child struct {
	s   *stand
	l   *agent.Loop
	log *session.Log // nil: the run is not recorded
	id  string
}

// family begins a run's: its root hands work on through s.
func (a *App) family(s *stand, in RunInput, sit *sitting, l *agent.Loop, hooks *hook.Runner) *family {
	f := &family{app: a, in: in, sit: sit, root: l, hooks: hooks, hub: s.hub, found: map[string]chosen{},
		scripts: map[string]model.Model{l.Model.Name(): l.Model}, children: map[string]*child{}}
	f.connect(s, l)
	l.Points.SessionEnd = slices.Insert(l.Points.SessionEnd, 0, func(context.Context, event.Result) { f.end() })
	return f
}

// connect lets an agent's task tools reach its loop.
func (f *family) connect(s *stand, l *agent.Loop) {
	if s.desk == nil {
		return
	}
	s.spawn = func(ctx context.Context, r task.Request) (task.Report, error) { return f.spawn(ctx, s, l, r) }
	l.Points.Arrived = append(l.Points.Arrived, s.desk.Arrived)
	l.Points.Idle = append(l.Points.Idle, s.desk.Idle)
}

// end stops what still runs in the background, while the run can still say so.
func (f *family) end() {
	if len(f.hub.StopAll(lastTasks)) == 0 {
		return
	}
	// What their worktrees hold is kept before the run ends.
	if left := f.hub.StopAll(treeTime); len(left) > 0 {
		f.root.Notice("tasks_left", "these background tasks were told to stop and have not ended yet: "+strings.Join(left, ", "))
	}
}

// close gives back what the children hold. Nothing may run any more.
func (f *family) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.children {
		c.rest()
		if c.log != nil {
			_ = c.log.Close() // what could not be written has been told
		}
	}
}

// spawn is task.Spawn for an agent: it builds the child, or takes it up again,
// runs it and says how it ended.
func (f *family) spawn(ctx context.Context, parent *stand, above *agent.Loop, r task.Request) (task.Report, error) {
	c, err := f.child(ctx, parent, above, r)
	if err != nil {
		return task.Report{Failed: told(err), Refused: true}, nil
	}
	defer c.rest()
	ref := event.TaskStart{ID: r.ID, Persona: c.s.ref.ID, Model: c.l.Model.Name(), Status: "running", Branch: c.s.branch()}
	c.l.Tell(ref)
	res, err := c.l.Run(ctx, r.Prompt)
	if c.s.desk != nil {
		c.s.desk.Close()
	}
	if c.log != nil && c.log.Err() != nil {
		c.l.Notice("agent_not_recorded", "what it did is not kept whole: "+diag.As(c.log.Err()).Message)
	}
	rep := report(res, err, c.l)
	c.rest()
	note, branch := c.s.finishTree(ctx)
	rep.Note = note
	end := event.TaskEnd{ID: r.ID, Persona: ref.Persona, Model: ref.Model, Status: "done", Branch: branch}
	switch {
	case ctx.Err() != nil:
		end.Status = "stopped"
	case rep.Failed != "":
		end.Status = "failed"
	}
	c.l.Tell(end)
	return rep, nil
}

// told is an error for the parent's model, with its hint.
func told(err error) string {
	e := diag.As(err)
	if e.Hint == "" {
		return e.Message
	}
	return e.Message + " (" + e.Hint + ")"
}

func (f *family) child(ctx context.Context, parent *stand, above *agent.Loop, r task.Request) (*child, error) {
	if !r.Again {
		c, err := f.newChild(ctx, parent, above, r)
		if err == nil {
			f.mu.Lock()
			f.children[r.ID] = c
			f.mu.Unlock()
		}
		return c, err
	}
	f.mu.Lock()
	c := f.children[r.ID]
	f.mu.Unlock()
	if c == nil {
		return nil, diag.New(diag.Unsupported, "task %s was never begun, so it has no conversation to go on with", r.ID)
	}
	if err := c.s.backToTree(ctx, above); err != nil {
		return nil, err
	}
	if err := c.s.own.equipChild(c.s, parent); err != nil {
		c.s.finishTree(ctx)
		return nil, err
	}
	c.l.Opening = nil
	c.l.Tools, c.l.History, c.l.Source = c.s.tools, c.l.Conversation(), "resume"
	c.line(f)
	f.connectAgain(c)
	return c, nil
}

// newChild builds a child's stand and loop.
func (f *family) newChild(ctx context.Context, parent *stand, above *agent.Loop, r task.Request) (_ *child, err error) {
	if len(r.Schema) > 0 {
		if err := agent.CheckSchema(r.Schema); err != nil {
			return nil, diag.New(diag.Unsupported, "output_schema: %v", err)
		}
	}
	s, err := f.childStand(ctx, parent, above, r)
	if err != nil {
		return nil, err
	}
	c := &child{s: s, id: r.ID, l: &agent.Loop{}}
	defer func() {
		if err != nil {
			c.rest()
			s.finishTree(ctx)
		}
	}()
	m, err := f.childModel(ctx, parent, s, c.l, above)
	if err != nil {
		return nil, err
	}
	params, err := paramsOf(s.persona)
	if err != nil {
		return nil, err
	}
	*c.l = agent.Loop{Parent: above, Agent: f.label(above, r), Persona: s.ref, System: s.childSystem(time.Now()), Model: m, Params: params,
		Tools: s.tools, Policy: s.policy, Session: f.root.Session, Mode: s.ownMode, Cwd: s.roots.Cwd, Sandbox: s.wall.Kind(), Opening: s.notices,
		AnswerSchema: r.Schema, MaxTurns: s.childTurns(), MaxParallel: above.MaxParallel, PriceOf: s.eff.PriceOf,
		NoSalvage: s.route.Provider.API == "anthropic" || s.route.Provider.API == "responses"}
	if p := s.eff.PriceOf(s.route.Name()); p != nil {
		c.l.ContextWindow = p.Window
	}
	c.l.Auto = s.own.auto(s, c.l)
	if err := f.record(c, r); err != nil {
		return nil, err
	}
	if err := s.own.compaction(ctx, s, c.l, c.transcript()); err != nil {
		return nil, err
	}
	c.l.Opening = slices.DeleteFunc(c.l.Opening, func(n string) bool { return slices.Contains(f.root.Opening, n) }) // told already
	c.line(f)
	f.connect(s, c.l)
	return c, f.points(c)
}

// connectAgain is connect for a child whose tools were made anew.
func (f *family) connectAgain(c *child) {
	if c.s.desk == nil {
		return
	}
	s, l := c.s, c.l
	s.spawn = func(ctx context.Context, r task.Request) (task.Report, error) { return f.spawn(ctx, s, l, r) }
	l.Points.Arrived, l.Points.Idle = []func() string{s.desk.Arrived}, []func(context.Context) string{s.desk.Idle}
}

// label is what a child is called, its parents' labels before it; no two of a
// run have the same.
func (f *family) label(above *agent.Loop, r task.Request) string {
	l := task.Label(r.Agent, r.Description)
	if above.Agent != "" {
		l = above.Agent + " > " + l
	}
	return f.hub.Label(l)
}

// record begins the child's own record beside the session's.
func (f *family) record(c *child, r task.Request) error {
	if f.sit == nil || f.sit.log == nil {
		return nil
	}
	s := c.s
	m := session.Meta{Cwd: s.roots.Cwd, Project: s.at.project, Persona: s.ref, Named: r.Agent, Spec: s.specJSON(),
		Mode: c.l.CurrentMode(), Model: s.route.Name(), Label: r.Model, Profile: f.in.Profile}
	log, err := f.sit.log.Agent(r.ID, m, time.Now())
	if err != nil {
		return err
	}
	c.log = log
	c.l.Emit = log.Event
	c.l.KeepRaw = log.KeepRaw
	return nil
}

func (c *child) transcript() string {
	if c.log == nil {
		return ""
	}
	return c.log.Path()
}

// line lets the child's tools reach the person and its record.
func (c *child) line(f *family) {
	l := c.l
	c.s.connect(l, f.in)
	if c.log != nil {
		c.s.line.Raw = c.log.Raw
	}
}

// rest ends what the child has started: its shell's programs, its wall.
func (c *child) rest() {
	_ = c.s.shell.Close()
	_ = c.s.wall.Close()
}

// points puts the run's hooks and undo on the child's loop.
func (f *family) points(c *child) error {
	if f.hooks != nil {
		f.hang(c, f.hooks)
	}
	if len(c.s.ownHooks) > 0 {
		own, err := c.s.own.ownRunner(c.s, c.l, c.transcript())
		if err != nil {
			return err
		}
		f.hang(c, own)
	}
	if f.sit == nil || f.sit.checks == nil || c.s.tree != nil {
		return nil // a worktree's changes are on its branch
	}
	checks, name := f.sit.checks, c.id
	c.l.Points.BeforeRun = append(c.l.Points.BeforeRun, func(ctx context.Context, call tool.Call, eff tool.Effects) (func(context.Context, tool.Result), error) {
		call.ID = name + "." + call.ID // the ids of two agents' calls may be the same
		return checks.BeforeRun(ctx, call, eff)
	})
	return nil
}

// hang puts a runner's hooks on a child's points, told of the child.
func (f *family) hang(c *child, r *hook.Runner) {
	h := r.For(hook.Agent{ID: c.id, Type: c.s.ref.ID, Cwd: c.s.roots.Cwd, Tell: c.l.Tell, Notice: c.l.Notice, Effects: c.s.effects})
	c.l.Points.Prompt = append(c.l.Points.Prompt, func(ctx context.Context, _ string) agent.Said { return h.SubagentStart(ctx) })
	h.AttachChild(&c.l.Points)
}

// report words how a child's run ended.
func report(res event.Result, err error, l *agent.Loop) task.Report {
	rep := task.Report{Text: cmp.Or(res.Result, l.Answer())}
	if err != nil {
		rep.Failed = told(err)
		return rep
	}
	switch res.StopReason {
	case event.StopEndTurn:
		if len(res.Structured) > 0 {
			rep.Text = string(res.Structured)
		}
		if strings.TrimSpace(res.Result) == "" {
			rep.Failed = "it ended without a final message"
		}
	case event.StopMaxTokens:
		rep.Text += "\n\n[the report was cut off at the model's token limit]"
	case event.StopBlocked:
		rep.Failed, rep.Refused = cmp.Or(last(res.Notices), "a hook kept it from starting"), true
	default:
		rep.Failed = cmp.Or(ends[res.StopReason], string(res.StopReason))
		if why := last(res.Notices); why != "" {
			rep.Failed += ": " + why
		}
	}
	return rep
}

// ends says why a subagent did not finish; the notice behind it has the detail.
var ends = map[event.StopReason]string{
	event.StopMaxTurns:    "it reached its limit of turns",
	event.StopLoop:        "it went in circles",
	event.StopBudget:      "the budget of the run is spent",
	event.StopHookStopped: "a hook ended it",
	event.StopSchema:      "its report does not satisfy output_schema",
	event.StopInterrupted: "it was interrupted",
	event.StopTimeLimit:   "the time of the run is over",
}

func last(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[len(list)-1]
}

// depth is how deep agents may hand work on.
func maxDepth(p profile.Profile) int {
	if d := p.Limits.MaxDepth; d != nil {
		return *d
	}
	return defaultDepth
}
