package app

import (
	"context"
	"errors"
	"strings"
	"time"

	"larva.dev/larva/internal/agent"
	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/model"
	"larva.dev/larva/internal/profile"
	"larva.dev/larva/internal/session"
	"larva.dev/larva/internal/tool"
)

func joined(list []string) string { return strings.Join(list, ", ") }

// persona seats another persona. Its ceiling is its own; the rules that the
// chat was begun with stay. On an error everybody stays where they are.
func (t *chatTalk) persona(ctx context.Context, id, variant string) error {
	in := t.in
	in.Persona, in.Variant, in.Override, in.Mode = id, variant, nil, t.host.CurrentMode()
	s, err := t.app.stand(ctx, in.about(t.temp, nil))
	if err != nil {
		return err
	}
	if s.apart != "" {
		return diag.New(diag.Unsupported, "%s, and this chat works in place", s.apart).With("persona_id", id).
			WithHint("begin a chat with it: larva chat %s", diag.Word(id))
	}
	if err := t.serve(ctx, s); err != nil {
		s.rest()
		return err
	}
	l, err := t.app.loop(ctx, s, in, t.sit)
	if err == nil {
		err = t.record(s, in)
	}
	if err != nil {
		s.rest()
		return err
	}
	old := t.s
	l.History, l.Source = t.l.History, t.l.Source
	t.chat.set(func() { t.in = in })
	t.seat(s, l)
	old.rest()
	return nil
}

// serve gives another persona the chat's servers, starting them for the first
// that may use any.
func (t *chatTalk) serve(ctx context.Context, s *stand) error {
	if t.servers != nil {
		if !s.wantsServers() {
			return nil
		}
		return t.app.hireServers(s, t.servers)
	}
	c, err := t.app.connectServers(ctx, s)
	t.servers = c
	return err
}

// scripted keeps one model for each scenario of the chat: its turns are used
// once, whoever asks.
func (t *chatTalk) scripted(s *stand, l *agent.Loop) {
	if s.route.ProviderName != profile.ScriptProvider {
		return
	}
	if t.scripts == nil {
		t.scripts = map[string]model.Model{}
	}
	if m, ok := t.scripts[l.Model.Name()]; ok {
		l.Model = m
	}
	t.scripts[l.Model.Name()] = l.Model
	if s.family != nil {
		s.family.knows(l.Model)
	}
}

// knows lets children that run on a scenario have the turns of this model.
func (f *family) knows(m model.Model) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.scripts[m.Name()] = m
}

// record writes into the session's file who is talked to from now on.
func (t *chatTalk) record(s *stand, in RunInput) error {
	if t.sit.log == nil {
		return nil
	}
	m := s.meta(in)
	if s == t.s {
		m.Mode = t.host.CurrentMode()
	}
	return t.sit.log.Add(time.Now(), m.Change())
}

// model lets the present agent run on another model; label "" is its own.
func (t *chatTalk) model(ctx context.Context, label string) error {
	s, in := t.s, t.in
	in.Model = label
	wanted := profile.Wanted{Label: s.persona.Model}
	if label != "" {
		wanted = profile.Wanted{Label: label, Named: true}
	}
	route, notice, err := s.eff.Choose(wanted)
	var lost *profile.RouteError
	if errors.As(err, &lost) {
		return t.app.noModel(lost, s.persona.ID)
	}
	if err != nil {
		return err
	}
	was := s.route
	s.route = route
	s.agentEffort()
	if in.Effort != "" {
		s.route.Effort = in.Effort
	}
	told := len(s.notices)
	m, err := t.app.model(ctx, s, t.l.Notice)
	if err == nil {
		err = t.record(s, in)
	}
	if err != nil {
		s.route = was
		return err
	}
	if known, ok := t.scripts[m.Name()]; ok {
		m = known
	}
	var opening []string
	if notice != "" {
		opening = append(opening, notice)
	}
	opening = append(opening, s.notices[told:]...)
	if s.family != nil {
		s.family.knows(m)
	}
	t.l.TakeUp(m, func(l *agent.Loop) {
		l.ContextWindow = 0
		if p := s.eff.PriceOf(s.route.Name()); p != nil {
			l.ContextWindow = p.Window
		}
		l.NoSalvage = s.route.Provider.API == "anthropic" || s.route.Provider.API == "responses"
		l.Opening = opening
	})
	t.chat.set(func() { t.in = in })
	return nil
}

// clear begins the conversation anew; background tasks go on.
func (t *chatTalk) clear(ctx context.Context) error {
	if t.sit.log != nil {
		if err := t.sit.log.Add(time.Now(), session.Cleared{}); err != nil {
			return err
		}
	}
	if err := t.app.shelveAgain(t.s); err != nil {
		return err
	}
	if err := t.refresh(ctx); err != nil {
		return err
	}
	t.s.forget()
	t.l.History = nil
	t.l.System = t.s.system(time.Now())
	t.l.Restart("clear")
	return nil
}

// refresh gives the agent what its servers have now.
func (t *chatTalk) refresh(ctx context.Context) error {
	if t.s.servers == nil || !t.s.servers.Refresh(ctx) {
		return nil
	}
	if err := t.app.pin(ctx, t.s, t.s.servers); err != nil {
		return err
	}
	tools := &tool.Registry{}
	for _, one := range t.s.tools.All() {
		if !isServerTool(one.Spec().Name) {
			if err := tools.Add(one); err != nil {
				return err
			}
		}
	}
	t.s.tools = tools
	told := t.s.notices
	if err := t.app.hireServers(t.s, t.s.servers); err != nil {
		return err
	}
	t.s.notices = told
	t.l.TakeUp(t.l.Model, func(l *agent.Loop) { l.Tools = tools })
	return nil
}

// undo puts files back as they were before the last turns that changed any.
func (t *chatTalk) undo(turns int, force bool) (Undone, error) {
	if t.sit.checks == nil {
		return Undone{}, diag.New(diag.Unsupported, "nothing is kept for undo here: the chat works on a branch of its own").
			WithHint("git log and git diff show what it did; its branch is told when the chat ends")
	}
	t.sit.checks.NextTurn()
	plan, err := t.sit.checks.PlanUndo(turns)
	if err != nil {
		return Undone{}, err
	}
	out := Undone{SessionID: t.sit.id, Turns: plan.Turns, Files: plan.Files}
	if len(plan.Turns) == 0 {
		return out, nil
	}
	if err := plan.Do(force, time.Now()); err != nil {
		return out, err
	}
	out.Done = true
	e := plan.Entry()
	t.l.Note(e.Note)
	t.s.forget()
	return out, t.sit.log.Add(time.Now(), e)
}
