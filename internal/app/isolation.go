package app

import (
	"context"
	"path/filepath"
)

// isolated says what holds the run to a worktree of its own: its definition,
// else the role that its label named; "" for nothing. A run that stands in one
// of ours has what is asked for. Outside of git there is none, and that is
// told.
func (a *App) isolated(s *stand) error {
	s.apart = ""
	wants, why := s.route.Isolation, "the role "+s.route.Role
	for _, d := range s.agents {
		if d.Isolation != "" {
			wants, why = d.Isolation, "the definition "+d.Shown
		}
		if wants == "worktree" {
			break // of two the stricter one: what a session began with, and what it is now
		}
	}
	if wants != "worktree" {
		return nil
	}
	if !exists(filepath.Join(s.at.project, ".git")) {
		s.notices = append(s.notices, why+" has isolation worktree: this is no git repository, so it works in place")
		return nil
	}
	data, err := a.DataDir()
	if err != nil || within(real(filepath.Join(data, "worktrees")), s.at.project) {
		return err
	}
	s.apart = why + " has isolation worktree"
	return nil
}

// standApart builds a run's stand where the run works: in a worktree of its own
// where the command line asks for one or the persona is held to one. That it is
// held to one is known only once it has been found here.
func (a *App) standApart(ctx context.Context, in RunInput, temp string, sit *sitting) (*App, *stand, *apartRun, error) {
	b, w, told, err := a.setApart(ctx, in)
	if err != nil {
		return a, nil, w, err
	}
	s, err := b.stand(ctx, in.about(temp, sit))
	if err == nil && s.apart != "" {
		told = append(told, s.apart)
		in.Worktree = true
		var more []string
		if b, w, more, err = a.setApart(ctx, in); err != nil {
			return a, nil, w, withNotices(err, told)
		}
		told = append(told, more...)
		s, err = b.stand(ctx, in.about(temp, sit))
	}
	if err == nil && w != nil && onlyReads(s.mode(), s.at) { // its definition has said so
		err = errOnlyReads()
	}
	if err != nil {
		return b, nil, w, err
	}
	s.notices = append(told, s.notices...)
	return b, s, w, nil
}
