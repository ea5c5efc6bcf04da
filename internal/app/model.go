package app

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/load"
	"larva.dev/larva/internal/model"
	"larva.dev/larva/internal/model/anthropic"
	"larva.dev/larva/internal/model/openai"
	"larva.dev/larva/internal/model/script"
	"larva.dev/larva/internal/profile"
	"larva.dev/larva/internal/spec"
)

// model builds the client of the run's route. Keys come from the environment
// only and go nowhere but into the request.
func (a *App) model(ctx context.Context, s *stand, tell func(int, time.Duration, *model.Error)) (model.Model, error) {
	retry := model.RetryPolicy{Notice: tell}
	r := s.route
	if r.ProviderName == profile.ScriptProvider {
		return a.script(ctx, s, retry)
	}
	key := ""
	if r.Provider.KeyEnv != "" {
		if key = strings.TrimSpace(a.Getenv(r.Provider.KeyEnv)); key == "" {
			return nil, diag.New(diag.KeyMissing, "%s needs a key, and %s is not set", r.Name(), r.Provider.KeyEnv).
				With("model", r.Name()).With("env", r.Provider.KeyEnv).
				WithHint("export %s=…; or without a key: --profile offline (a script), --profile local (Ollama)", r.Provider.KeyEnv)
		}
	}
	switch r.Provider.API {
	case "anthropic":
		return model.WithRetry(anthropic.New(anthropic.Options{Name: r.ProviderName, Model: r.Model, BaseURL: r.Provider.BaseURL, Key: key}), retry), nil
	case "openai":
		return model.WithRetry(openai.New(openai.Options{Name: r.ProviderName, Model: r.Model, BaseURL: r.Provider.BaseURL, Key: key}), retry), nil
	}
	return nil, diag.New(diag.Unsupported, "provider %s speaks %q, which this version does not", r.ProviderName, r.Provider.API).
		With("provider", r.ProviderName).WithHint("anthropic and openai are spoken")
}

// script is a model that answers from a scenario: an entry of the profile's
// scripts, or a file.
func (a *App) script(ctx context.Context, s *stand, retry model.RetryPolicy) (model.Model, error) {
	name := s.route.Model
	sc, ok := s.eff.Profile.Scripts[name]
	if !ok {
		if !isPath(name) {
			names := make([]string, 0, len(s.eff.Profile.Scripts))
			for n := range s.eff.Profile.Scripts {
				names = append(names, n)
			}
			slices.Sort(names)
			has := "it has none"
			if len(names) > 0 {
				has = "it has " + strings.Join(names, ", ")
			}
			return nil, diag.New(diag.ModelUnknown, "the profile has no script %q", name).With("model", s.route.Name()).
				WithHint("%s; a scenario file is named by its path: script/./FILE.cue", has)
		}
		var err error
		if sc, err = load.Scenario(ctx, a.abs(name), a.loadOptions()); err != nil {
			return nil, err
		}
	}
	m, err := script.New(s.route.Name(), sc)
	if err != nil {
		return nil, diag.New(diag.ProfileInvalid, "%v", err).With("model", s.route.Name()).
			With("origin", s.eff.Origins["scripts."+name])
	}
	return model.WithRetry(m, retry), nil
}

// paramsOf gives model_params by literal key; names that the request itself
// owns are refused.
func paramsOf(p *spec.Persona) ([]model.Param, error) {
	if p.ModelParams == nil {
		return nil, nil
	}
	out := make([]model.Param, 0, len(p.ModelParams.Members))
	for _, m := range p.ModelParams.Members {
		if model.Reserved(m.Key) {
			return nil, diag.New(diag.ReservedParam, "model_params.%s is refused: the request itself says it", m.Key).
				With("persona_id", p.ID).With("field", "model_params."+m.Key).
				WithHint("%s", fmt.Sprintf("take it out: larva resolve %s", p.ID))
		}
		out = append(out, model.Param{Key: m.Key, Value: spec.AppendCanonical(nil, m.Value)})
	}
	return out, nil
}
