package app

import (
	"context"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/event"
)

// Run runs a persona until it ends. The result is valid once the run has
// begun, also beside an error.
func (a *App) Run(ctx context.Context, in RunInput) (event.Result, error) {
	return event.Result{}, pending("run")
}

// Plan is Run without the run.
func (a *App) Plan(ctx context.Context, in RunInput) (Plan, error) { return Plan{}, pending("run") }

// Explain judges one call, or one a line, and gives each decision to each.
func (a *App) Explain(ctx context.Context, in ExplainInput, each func(event.Decision) error) error {
	return pending("permission explain")
}

// TrustList lists the project's items with their hashes.
func (a *App) TrustList(ctx context.Context) ([]TrustItem, error) { return nil, pending("trust list") }

// TrustGrant records a yes to the exact content of each item.
func (a *App) TrustGrant(ctx context.Context, in TrustInput) ([]TrustItem, error) {
	if err := a.refuseNested("trust grant"); err != nil {
		return nil, err
	}
	return nil, pending("trust grant")
}

// TrustRevoke takes the yes back.
func (a *App) TrustRevoke(ctx context.Context, in TrustInput) ([]TrustItem, error) {
	if err := a.refuseNested("trust revoke"); err != nil {
		return nil, err
	}
	return nil, pending("trust revoke")
}

func pending(verb string) error {
	return diag.New(diag.Unsupported, "%s is not part of this build", verb)
}
