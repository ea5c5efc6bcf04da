package app

import (
	"strings"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/profile"
)

// noModel is the answer where a run's label leads nowhere.
func (a *App) noModel(lost *profile.RouteError, id string) error {
	e := diag.New(diag.ModelUnknown, "%v", lost).With("model", lost.Label).With("persona_id", id)
	if scenario := a.scenarioAt(lost.Label); scenario != "" {
		return e.WithHint("a scenario is a model by its path: --model %s", diag.Word(scenario))
	}
	if lost.Alias {
		return e.WithHint("name a model for this run: --model PROVIDER/MODEL, or a role: --model worker; or for all runs, in your config: models: %s: \"PROVIDER/MODEL\"", lost.Label)
	}
	if len(lost.Known) > 0 {
		e.WithHint("known: %s; or name one for this run: --model PROVIDER/MODEL", strings.Join(lost.Known, ", "))
	}
	return e
}
