package app

import (
	"context"

	"larva.dev/larva/internal/model"
	"larva.dev/larva/internal/profile"
)

// sideRoute is where a question beside the conversation goes: to the model of
// a role, else to the run's own. A role of the shipped profile counts only
// where it leads to the run's own provider: who has chosen a model on their
// own machine has not said that the conversation may go elsewhere.
func (s *stand) sideRoute(role string) (profile.Route, error) {
	r, ok := s.eff.Profile.Roles[role]
	if !ok || r.Model == "" {
		return s.route, nil
	}
	route, err := s.eff.RouteNamed(role)
	if s.shipped("roles."+role) && (err != nil || route.ProviderName != s.route.ProviderName) {
		return s.route, nil
	}
	return route, err
}

// shipped says that a field's value comes with the binary.
func (s *stand) shipped(field string) bool {
	return s.eff.Shipped(field) || s.eff.Shipped(field+".model")
}

// sideModel is the model of such a route.
func (a *App) sideModel(ctx context.Context, s *stand, role string) (model.Model, error) {
	route, err := s.sideRoute(role)
	if err != nil {
		return nil, err
	}
	return a.modelAt(ctx, s, route)
}

// modelAt is a model beside the run's own.
func (a *App) modelAt(ctx context.Context, s *stand, route profile.Route) (model.Model, error) {
	other := *s
	other.route, other.notices = route, nil
	return a.model(ctx, &other, nil)
}
