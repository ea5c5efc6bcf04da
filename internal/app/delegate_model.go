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
// where its persona's label leads, else to its parent's model. What leads
// nowhere is the parent's, with a notice.
func (f *family) childRoute(parent, s *stand, named string) error {
	for _, label := range []string{named, s.persona.Model} {
		if label == "" || label == "inherit" {
			continue
		}
		r, err := s.eff.Route(label)
		if label == named {
			r, err = s.eff.RouteNamed(label)
		}
		var lost *profile.RouteError
		switch {
		case errors.As(err, &lost):
			s.notices = append(s.notices, fmt.Sprintf("%v; %s runs on %s, as its parent does", lost, s.persona.ID, parent.route.Name()))
			s.takeRoute(parent, "")
		case err != nil:
			return err
		case r.Role != "" && (s.eff.Profile.Roles[r.Role].Model == "" || s.shipped("roles."+r.Role) && r.ProviderName != parent.route.ProviderName):
			// The role is nobody's choice of a service: only its limits count.
			s.takeRoute(parent, r.Role)
		default:
			s.route = r
		}
		return nil
	}
	s.takeRoute(parent, "")
	return nil
}

// takeRoute gives a stand its parent's model, under a role of its own.
func (s *stand) takeRoute(parent *stand, role string) {
	s.route = parent.route
	s.route.Role, s.route.MaxTurns = role, 0
	if r, ok := s.eff.Profile.Roles[role]; ok {
		s.route.MaxTurns = r.MaxTurns
	}
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
		s.takeRoute(parent, s.route.Role)
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
