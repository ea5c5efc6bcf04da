package app

import (
	"context"
	"io"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/session"
)

// What the session verbs give, under names that cli may say.
type (
	SessionSummary = session.Summary
	Transcript     = session.Transcript
)

// sessions opens this project's store.
func (a *App) sessions() (*session.Store, error) {
	at, err := a.locate()
	if err != nil {
		return nil, err
	}
	data, err := a.DataDir()
	if err != nil {
		return nil, err
	}
	return session.At(real(data), at.project), nil
}

// latestOr finds the session that id names, or the project's latest.
func latestOr(store *session.Store, id string) (string, error) {
	if id != "" {
		return store.Find(id)
	}
	latest, err := store.Latest("")
	if err == nil && latest == "" {
		err = diag.New(diag.SessionNotFound, "this project has no sessions").WithHint("begin one: larva run PERSONA PROMPT")
	}
	return latest, err
}

// SessionIDs are those of this project, for completion.
func (a *App) SessionIDs() ([]string, error) {
	store, err := a.sessions()
	if err != nil {
		return nil, err
	}
	return store.IDs()
}

// SessionList lists this project's sessions, or with all those of every
// project, the newest first.
func (a *App) SessionList(all bool) ([]session.Summary, error) {
	store, err := a.sessions()
	if err != nil {
		return nil, err
	}
	if !all {
		return store.List()
	}
	stores, err := store.All()
	if err != nil {
		return nil, err
	}
	out := []session.Summary{}
	for _, s := range stores {
		list, err := s.List()
		if err != nil {
			return nil, err
		}
		out = append(out, list...)
	}
	session.NewestFirst(out)
	return out, nil
}

// session reads one: of this project, or of another by its id.
func (a *App) session(id string) (*session.Session, error) {
	store, err := a.sessions()
	if err != nil {
		return nil, err
	}
	found, err := latestOr(store, id)
	if err == nil {
		return session.Load(store.Path(found))
	}
	if id == "" || diag.As(err).Code != diag.SessionNotFound {
		return nil, err
	}
	stores, aerr := store.All()
	if aerr != nil {
		return nil, err
	}
	for _, s := range stores {
		if found, ferr := s.Find(id); ferr == nil {
			return session.Load(s.Path(found))
		}
	}
	return nil, err
}

// SessionShow gives a session as a person reads it; "" is the latest.
func (a *App) SessionShow(id string) (session.Transcript, error) {
	s, err := a.session(id)
	if err != nil {
		return session.Transcript{}, err
	}
	return s.Transcript(), nil
}

// SessionLines writes a session's own lines to w.
func (a *App) SessionLines(id string, w io.Writer) error {
	s, err := a.session(id)
	if err != nil {
		return err
	}
	return s.Lines(w)
}

// SessionDelete removes sessions of this project with what they keep. confirm
// is asked about each; nil asks nobody.
func (a *App) SessionDelete(ctx context.Context, ids []string, confirm func(context.Context, session.Summary) (bool, error)) ([]string, error) {
	if err := a.refuseNested("session delete"); err != nil {
		return nil, err
	}
	store, err := a.sessions()
	if err != nil {
		return nil, err
	}
	found := make([]string, len(ids))
	for i, id := range ids {
		if found[i], err = store.Find(id); err != nil {
			return nil, err
		}
	}
	deleted := []string{}
	for _, id := range found {
		if confirm != nil {
			sum := session.Summary{ID: id}
			if s, err := session.Load(store.Path(id)); err == nil {
				sum = s.Summary()
			}
			if yes, err := confirm(ctx, sum); err != nil || !yes {
				if err != nil {
					return deleted, err
				}
				continue
			}
		}
		if err := store.Delete(id); err != nil {
			return deleted, err
		}
		deleted = append(deleted, id)
	}
	return deleted, nil
}
