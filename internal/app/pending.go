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

func pending(verb string) error {
	return diag.New(diag.Unsupported, "%s is not part of this build", verb)
}
