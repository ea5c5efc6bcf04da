package app

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"larva.dev/larva/internal/agent"
	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/model"
	"larva.dev/larva/internal/profile"
)

// childRoute is where a child's requests go: to what the task names, else to
// where its persona's label leads, else to its parent's model.
func (f *family) childRoute(parent, s *stand, named string) error {
	r, notice, err := s.eff.Choose(profile.Wanted{Task: named, Label: s.persona.Model, Parent: &parent.route})
	if err != nil {
		return err
	}
	s.route = r
	s.agentEffort()
	if notice != "" {
		s.notices = append(s.notices, s.persona.ID+": "+notice)
	}
	return nil
}

// takeRoute gives a child its parent's model; its own role's limits stay.
func (s *stand) takeRoute(parent *stand) {
	r := parent.route
	r.Role, r.MaxTurns, r.Context, r.Isolation = s.route.Role, s.route.MaxTurns, s.route.Context, s.route.Isolation
	s.route = r
}

// childModel is the client of a child's route. One that needs a key which is
// not there gives way to the parent's model, with a notice.
func (f *family) childModel(ctx context.Context, parent, s *stand, l, above *agent.Loop) (model.Model, error) {
	if s.route.Name() == parent.route.Name() && s.route.Effort == parent.route.Effort && slices.Equal(s.route.Fallbacks, parent.route.Fallbacks) {
		return above.Model, nil
	}
	if s.route.ProviderName == profile.ScriptProvider {
		return f.script(ctx, s)
	}
	m, err := f.app.model(ctx, s, l.Notice)
	var lacks *diag.Error
	if errors.As(err, &lacks) && lacks.Code == diag.KeyMissing {
		s.notices = append(s.notices, fmt.Sprintf("%s; %s runs on %s, as its parent does", lacks.Message, s.persona.ID, parent.route.Name()))
		s.takeRoute(parent)
		return above.Model, nil
	}
	return m, err
}

// script is a scenario that the agents of a run share: a turn of it is used
// once, whoever asks.
func (f *family) script(ctx context.Context, s *stand) (model.Model, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	name := s.route.Name()
	if m, ok := f.scripts[name]; ok {
		return m, nil
	}
	m, err := f.app.model(ctx, s, nil)
	if err == nil {
		f.scripts[name] = m
	}
	return m, err
}
