package app

import (
	"context"
	"time"

	"larva.dev/larva/internal/agent"
	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/session"
)

// guard hangs undo into the loop: what a call may change is kept before it
// runs.
func (st *sitting) guard(ctx context.Context, a *App, l *agent.Loop, s *stand) error {
	var err error
	st.checks, err = st.store.Checkpoints(ctx, st.id, session.CheckOptions{Project: s.at.project, Environ: a.environ, Notice: l.Notice})
	if err != nil {
		return err
	}
	l.Points.BeforeRun = append(l.Points.BeforeRun, st.checks.BeforeRun)
	return nil
}

// UndoInput is everything `session undo` was told.
type UndoInput struct {
	ID     string // "" for the project's latest session
	Turns  int    // how many that changed something; 0 all
	DryRun bool
	Force  bool // also where somebody else has changed a file since
}

// Undone is what `session undo` did, or with DryRun would do.
type Undone struct {
	SessionID string        `json:"session_id"`
	Turns     []int         `json:"turns"`
	Files     []session.Put `json:"files"`
	Done      bool          `json:"done"`
}

// SessionUndo puts files back as they were before a session's last turns.
func (a *App) SessionUndo(ctx context.Context, in UndoInput) (Undone, error) {
	if err := a.refuseNested("session undo"); err != nil {
		return Undone{}, err
	}
	store, err := a.sessions()
	if err != nil {
		return Undone{}, err
	}
	id, err := latestOr(store, in.ID)
	if err != nil {
		return Undone{}, err
	}
	log, _, err := store.Open(id, time.Now())
	if err != nil {
		return Undone{}, err
	}
	defer log.Close()
	checks, err := store.Checkpoints(ctx, id, session.CheckOptions{Project: store.Project(), Environ: a.environ})
	if err != nil {
		return Undone{}, err
	}
	plan, err := checks.PlanUndo(in.Turns)
	if err != nil {
		return Undone{}, err
	}
	out := Undone{SessionID: id, Turns: plan.Turns, Files: plan.Files}
	if in.DryRun || len(plan.Turns) == 0 {
		return out, nil
	}
	if err := plan.Do(in.Force, time.Now()); err != nil {
		return out, withSession(err, id)
	}
	out.Done = true
	return out, log.Add(time.Now(), plan.Entry())
}

func withSession(err error, id string) error { return diag.As(err).With("session_id", id) }
