package app

import (
	"context"
	"slices"
	"strings"
	"time"

	"larva.dev/larva/internal/agent"
	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/model"
	"larva.dev/larva/internal/session"
	"larva.dev/larva/internal/spec"
)

// sitting is a run's session: a new one, one that goes on, or a copy.
type sitting struct {
	store *session.Store
	id    string // of the session that this run writes
	// from is the session that the run goes on behind, nil for a new one; before
	// is the typed prompt that a fork ends in front of, 0 for none.
	from   *session.Session
	fork   bool
	before int
	log    *session.Log // nil until the run begins, but for a resumed one
	checks *session.Checkpoints
}

// sit finds or names the run's session, and gives the input with what the
// session keeps: its persona, profile, mode, rules. write takes the lock of a
// session that goes on; without it nothing on disk changes.
func (a *App) sit(in RunInput, write bool) (*sitting, RunInput, error) {
	at, err := a.locate()
	if err != nil {
		return nil, in, err
	}
	data, err := a.DataDir()
	if err != nil {
		return nil, in, err
	}
	now := time.Now()
	st := &sitting{store: session.At(real(data), at.project), id: event.NewSessionID(now)}
	if write {
		st.store.Sweep(now)
	}
	old, err := st.named(in)
	if err != nil || old == "" {
		return st, in, err
	}
	switch {
	case st.fork || !write:
		st.from, err = session.Load(st.store.Path(old))
	default:
		st.log, st.from, err = st.store.Open(old, now)
	}
	if err != nil {
		return nil, in, err
	}
	if !st.fork {
		st.id = old
	}
	if st.fork {
		st.from.Meta = st.from.Before(st.before).Meta
	}
	if in, err = in.behind(st.from.Meta); err != nil {
		st.close()
	}
	return st, in, err
}

// named is the session that the flags mean, "" for a new one.
func (st *sitting) named(in RunInput) (string, error) {
	switch {
	case in.Resume != "":
		return st.store.Find(in.Resume)
	case in.Fork != "":
		st.fork = true
		id, before, err := session.ParseCut(in.Fork)
		if err != nil {
			return "", err
		}
		st.before = before
		return st.store.Find(id)
	case !in.Continue:
		if in.Persona == "" {
			return "", diag.Usage("no persona is named").WithHint("larva run PERSONA PROMPT; larva list shows the stored ones")
		}
		return "", nil
	}
	for _, persona := range []string{in.Persona, ""} {
		id, err := st.store.Latest(persona)
		if err != nil || id != "" {
			return id, err
		}
	}
	return "", diag.New(diag.SessionNotFound, "this project has no session to continue").
		WithHint("begin one: larva run PERSONA PROMPT")
}

// behind gives the input of a run that goes on with a session.
func (in RunInput) behind(m session.Meta) (RunInput, error) {
	switch {
	case in.Persona == "" || in.Persona == m.Persona.ID || in.Persona == m.Named:
	case in.Prompt == "" || strings.ContainsAny(in.Persona, " \t\n") || !spec.ValidID(in.Persona) && !isPath(in.Persona), isCommand(in.Persona):
		in.Prompt = strings.TrimSpace(in.Persona + " " + in.Prompt) // it is the prompt's first word
	default:
		return in, diag.Usage("session %s is one of %s, not of %s", m.SessionID, m.Persona.ID, in.Persona).
			With("session_id", m.SessionID).WithHint("leave the persona out, or begin anew: larva run %s PROMPT", diag.Word(in.Persona))
	}
	if in.Override != nil || in.Variant != "" && in.Variant != m.Persona.Variant {
		return in, diag.Usage("a session keeps its persona: --variant and --override are for a new one").
			With("session_id", m.SessionID).WithHint("larva run %s PROMPT", diag.Word(m.Named))
	}
	in.Persona, in.Variant = m.Named, m.Persona.Variant
	if in.Profile == "" {
		in.Profile = m.Profile
	}
	if in.Mode == "" {
		in.Mode = m.Mode
	}
	if in.Model == "" {
		in.Model = m.Label
	}
	in.Ask = append(slices.Clone(m.Ask), in.Ask...)
	in.Deny = append(slices.Clone(m.Deny), in.Deny...)
	return in, nil
}

// transcript is the file that the run's events are written to.
func (st *sitting) transcript() string { return st.store.Path(st.id) }

// history is the conversation that the run goes on behind, and how it began.
func (st *sitting) history() ([]model.Message, string) {
	if st.from == nil {
		return nil, ""
	}
	if st.fork {
		return st.from.Before(st.before).History(), "fork"
	}
	return st.from.History(), "resume"
}

// begin opens the log and hangs it into the loop. The ctx that it gives is
// cancelled where an entry cannot be written: a run does not go on unrecorded.
func (st *sitting) begin(ctx context.Context, a *App, l *agent.Loop, s *stand, in RunInput) (context.Context, error) {
	if err := st.open(s, in); err != nil {
		if a.Getenv("LARVA_DEPTH") == "" {
			return ctx, err
		}
		l.Opening = append(l.Opening, "this run is not recorded: "+diag.As(err).Message)
		return ctx, nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	st.log.OnFail(func(err error) { cancel(err) })
	show := l.Emit
	l.Emit = func(e event.Event) {
		st.log.Event(e)
		if show != nil {
			show(e)
		}
	}
	l.KeepRaw, s.line.Raw = st.log.KeepRaw, st.log.Raw
	if a.work != "" {
		return ctx, nil // a worktree's branch is what takes its changes back
	}
	return ctx, st.guard(ctx, a, l, s)
}

func (st *sitting) open(s *stand, in RunInput) error {
	if st.log != nil {
		return nil
	}
	m := s.meta(in)
	m.SessionID = st.id
	if st.from != nil {
		m.Overridden, m.Definition = st.from.Meta.Overridden, st.from.Meta.Definition
	}
	var err error
	if st.from == nil {
		st.log, err = st.store.Create(m, time.Now())
		return err
	}
	st.log, _, err = st.store.Fork(st.from, m, st.before, time.Now())
	return err
}

// meta is what a session keeps of a stand.
func (s *stand) meta(in RunInput) session.Meta {
	m := session.Meta{Cwd: s.roots.Cwd, Project: s.at.project, Persona: s.ref, Named: in.Persona,
		Spec: spec.AppendCanonical(nil, s.whole), Mode: s.mode(), Model: s.route.Name(), Label: in.Model, Profile: in.Profile,
		Ask: in.Ask, Deny: in.Deny, Overridden: in.Override != nil}
	if n := len(s.agents); n > 0 {
		m.Definition = string(s.agents[n-1].Raw)
	}
	return m
}

// failed is why the log could not be written, nil where it could.
func (st *sitting) failed() error {
	if st.log == nil {
		return nil
	}
	return st.log.Err()
}

func (st *sitting) close() {
	if st != nil && st.log != nil {
		_ = st.log.Close() // every entry has been written, or its failure told
	}
}
