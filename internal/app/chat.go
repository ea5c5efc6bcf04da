package app

import (
	"context"
	"slices"
	"sync"
	"time"

	"larva.dev/larva/internal/agent"
	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/dialog"
	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/model"
	"larva.dev/larva/internal/sandbox"
	"larva.dev/larva/internal/session"
	"larva.dev/larva/internal/tool/task"
)

// chatPersona is who one talks to where nobody is named.
const chatPersona = "worker"

// Chat is a conversation of many turns: a dialog.Engine. One session file has
// all of it. Run's goroutine owns what a turn works with; between turns, and
// only then, it changes who is talked to. What mu guards is read by all.
type Chat struct {
	app     *App
	first   RunInput
	changed func()
	poke    chan struct{} // there may be something to do

	mu    sync.Mutex
	queue []chatJob
	stop  context.CancelFunc // of the turn that is on, nil: none is
	quit  bool
	next  *RunInput // the session to go on with in place of this one
	talk  *chatTalk // nil before the session has begun
}

// chatJob is a prompt, or something that is done between turns.
type chatJob struct {
	prompt string
	do     func(ctx context.Context, t *chatTalk) // nil: send prompt
	over   func()                                 // told once do is over and nothing is on; nil: nobody
}

// chatTalk is one session of a chat.
type chatTalk struct {
	chat  *Chat
	app   *App // of the place where it works
	in    RunInput
	sit   *sitting
	temp  string
	apart *apartRun
	host  *agent.Loop
	hub   *task.Hub

	// Run's goroutine writes what follows under chat.mu.
	s       *stand
	l       *agent.Loop // who is talked to
	desks   []*task.Desk
	past    []*family // of all who were, the present one's last
	bills   *chatBills
	last    event.Result
	servers *crew // of MCP, nil: none was started
	// scripts are the scenarios of the chat.
	scripts map[string]model.Model
}

// Chat gives a chat that Run begins. in is a run's, without a prompt of its
// own being needed; one that there is becomes the first turn. changed is
// called, from any goroutine, when State may be another; nil: nobody looks.
func (a *App) Chat(in RunInput, changed func()) *Chat {
	if changed == nil {
		changed = func() {}
	}
	return &Chat{app: a, first: in, changed: changed, poke: make(chan struct{}, 1)}
}

var _ dialog.Engine = (*Chat)(nil)

// Run holds the conversation until ctx ends or the person quits. It returns
// once all that it has begun has ended.
func (c *Chat) Run(ctx context.Context) error {
	if err := c.app.refuseNested("chat"); err != nil {
		return err
	}
	in := c.first
	if in.Persona == "" && !in.Continue && in.Resume == "" && in.Fork == "" {
		in.Persona = chatPersona
	}
	for before := ""; ; {
		next, id, err := c.hold(ctx, in)
		if err != nil && before != "" && ctx.Err() == nil {
			c.tell(diag.As(err))
			in, before = c.again(before), ""
			continue
		}
		if err != nil || next == nil {
			return err
		}
		in, before = *next, id
	}
}

// again is the input that takes up a session of this chat.
func (c *Chat) again(id string) RunInput {
	in := c.first
	in.Persona, in.Variant, in.Override, in.Model, in.Mode, in.Prompt = "", "", nil, "", "", ""
	in.Continue, in.Fork, in.Resume = false, "", id
	return in
}

// tell says an error where no session does.
func (c *Chat) tell(e *diag.Error) {
	if c.first.Emit == nil {
		return
	}
	c.first.Emit(event.Event{Time: time.Now(), Body: event.Fault{Code: string(e.Code), Message: e.Message}})
}

// hold holds one session; next is the one to go on with, nil for none.
func (c *Chat) hold(ctx context.Context, in RunInput) (next *RunInput, id string, err error) {
	sit, in, err := c.app.sit(in, true)
	if err != nil {
		return nil, "", err
	}
	defer sit.close()
	temp, remove, err := sandbox.RunDir()
	if err != nil {
		return nil, "", diag.New(diag.Internal, "the chat's temp directory cannot be made: %v", err).
			WithHint("set TMPDIR to a directory that can be written")
	}
	defer remove()
	var sweeping sync.WaitGroup
	sweeping.Go(func() { sandbox.SweepTemp(time.Now()) })
	defer sweeping.Wait()
	t := &chatTalk{chat: c, in: in, sit: sit, temp: temp, hub: &task.Hub{Ended: c.nudge}, bills: &chatBills{}}
	t.in.hub = t.hub
	defer func() { t.servers.end() }()
	if ctx, err = t.begin(ctx); err != nil {
		t.apart.finish(ctx)
		return nil, sit.id, err
	}
	c.set(func() { c.talk, c.next = t, nil })
	defer c.set(func() { c.talk = nil })
	defer t.end(ctx)
	t.replay()
	if in.Prompt != "" {
		c.Say(in.Prompt)
	}
	next = c.loop(ctx, t)
	if lost := sit.failed(); lost != nil {
		return nil, sit.id, lost
	}
	return next, sit.id, nil
}

// set changes what mu guards, and says so.
func (c *Chat) set(f func()) {
	c.mu.Lock()
	f()
	c.mu.Unlock()
	c.changed()
}

// begin seats the first agent and opens the session's file.
func (t *chatTalk) begin(ctx context.Context) (context.Context, error) {
	a, s, apart, err := t.chat.app.standApart(ctx, t.in, t.temp, t.sit)
	t.app, t.apart = a, apart
	if err != nil {
		return ctx, err
	}
	if t.servers, err = a.connectServers(ctx, s); err != nil {
		return ctx, withNotices(err, s.notices)
	}
	l, err := a.loop(ctx, s, t.in, t.sit)
	if err != nil {
		return ctx, withNotices(err, s.notices)
	}
	t.host = &agent.Loop{Session: t.sit.id, Mode: l.Mode, Cwd: l.Cwd, BudgetUSD: l.BudgetUSD, BudgetTokens: l.BudgetTokens,
		Ask: l.Ask, Remember: l.Remember, Emit: t.emit}
	if ctx, err = t.sit.begin(ctx, a, t.host, s, t.in); err != nil {
		s.rest()
		return ctx, withNotices(err, s.notices)
	}
	t.seat(s, l)
	return ctx, nil
}

// emit passes an event on and keeps its bill.
func (t *chatTalk) emit(e event.Event) {
	t.bills.add(e)
	if t.chat.first.Emit != nil {
		t.chat.first.Emit(e)
	}
	switch e.Body.(type) {
	case event.TextDelta, event.ThinkingDelta:
	default:
		t.chat.changed()
	}
}

// seat makes l the agent that the person talks to.
func (t *chatTalk) seat(s *stand, l *agent.Loop) {
	l.Mode = ""
	if s.mode() != t.host.CurrentMode() { // a definition that asks for less
		l.Mode = s.mode()
	}
	if t.sit.checks != nil {
		l.Points.BeforeRun = append(l.Points.BeforeRun, t.sit.checks.BeforeRun)
	}
	if t.sit.log != nil {
		l.KeepRaw, s.line.Raw = t.sit.log.KeepRaw, t.sit.log.Raw
	}
	l.Points.Idle, l.Points.Arrived = nil, []func() string{t.arrived}
	t.scripted(s, l)
	t.host.Seat(l)
	t.chat.set(func() {
		t.s, t.l = s, l
		if s.desk != nil {
			t.desks = append(t.desks, s.desk)
		}
		if s.family != nil {
			t.past = append(t.past, s.family)
		}
	})
}

// rest ends what a stand has started.
func (s *stand) rest() {
	_ = s.shell.Close()
	_ = s.wall.Close()
}

// arrived are the results of background tasks that have come in, whoever of
// those who were talked to began them.
func (t *chatTalk) arrived() string {
	var out string
	for _, d := range t.desks {
		if text := d.Arrived(); text != "" {
			if out != "" {
				out += "\n\n"
			}
			out += text
		}
	}
	return out
}

// end stops what the session has begun and closes it.
func (t *chatTalk) end(ctx context.Context) {
	if len(t.hub.StopAll(lastTasks)) > 0 {
		// What their worktrees hold is kept before the chat ends.
		if left := t.hub.StopAll(treeTime); len(left) > 0 {
			t.host.Notice("tasks_left", "these background tasks were told to stop and have not ended yet: "+joined(left))
		}
	}
	t.l.End(ctx, t.last)
	for _, f := range t.past {
		f.close()
	}
	t.s.rest()
	if t.apart != nil {
		text, err := t.apart.finish(context.WithoutCancel(ctx))
		code := "worktree"
		if err != nil {
			code = string(diag.As(err).Code)
		}
		t.host.Notice(code, text)
	}
}

// replayed is how many prompts of a session that goes on are shown again.
const replayed = 2

// replay shows the end of the conversation that the session goes on with.
func (t *chatTalk) replay() {
	if t.sit.from == nil || t.chat.first.Emit == nil {
		return
	}
	from := t.sit.from
	if t.sit.fork {
		from = from.Before(t.sit.before)
	}
	typed := from.Prompts()
	if len(typed) == 0 {
		return
	}
	since := typed[max(0, len(typed)-replayed)].Entry
	at := slices.IndexFunc(from.Entries, func(e session.Entry) bool { return e.ID == since })
	for _, e := range from.Entries[at:] {
		if _, cleared := e.Event.Body.(session.Cleared); cleared || e.Event.Agent != "" {
			continue
		}
		switch e.Event.Body.(type) {
		case event.User, event.Assistant, event.ToolStart, event.ToolEnd, event.Compacted:
			t.chat.first.Emit(e.Event)
		}
	}
}
