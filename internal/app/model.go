package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/load"
	"larva.dev/larva/internal/model"
	"larva.dev/larva/internal/model/anthropic"
	"larva.dev/larva/internal/model/openai"
	"larva.dev/larva/internal/model/responses"
	"larva.dev/larva/internal/model/script"
	"larva.dev/larva/internal/profile"
	"larva.dev/larva/internal/spec"
)

// What a model with another one behind it is given before that one is asked:
// waiting long for a service is for those that nothing can stand in for.
const (
	hurriedAttempts = 2
	hurriedWait     = 5 * time.Second
)

// model builds the client of the stand's route, with those of its fallbacks
// behind it. One without a key is left out and that is told at the run's
// start; where none has one, nothing can be asked. tell takes what happens
// later: waits, changes of the model, what a service does not take; nil: nobody
// is told. Keys come from the environment only and go nowhere but into the
// request.
func (a *App) model(ctx context.Context, s *stand, tell func(code, text string)) (model.Model, error) {
	if tell == nil {
		tell = func(string, string) {}
	}
	routes, err := s.routes()
	if err != nil {
		return nil, err
	}
	var models []model.Model
	var used []profile.Route
	var missing error
	for i, r := range routes {
		m, err := a.client(ctx, s, r, retrying(i == len(routes)-1, tell), tell)
		var lacks *diag.Error
		if errors.As(err, &lacks) && lacks.Code == diag.KeyMissing && len(routes) > 1 {
			if missing == nil {
				missing = err
			}
			s.notices = append(s.notices, fmt.Sprintf("%s is left out of role %s: %s is not set", r.Name(), s.route.Role, r.Provider.KeyEnv))
			continue
		}
		if err != nil {
			return nil, err
		}
		models, used = append(models, m), append(used, r)
	}
	if len(models) == 0 {
		return nil, missing
	}
	s.route = used[0]
	if len(models) == 1 {
		return models[0], nil
	}
	return model.WithFallbacks(models, model.FallbackPolicy{Cooldown: a.cooldown, Notice: func(from, to string, why *model.Error) {
		tell("fallback", model.Switched(from, to, why))
	}}), nil
}

// routes is the stand's own and its fallbacks', each model once.
func (s *stand) routes() ([]profile.Route, error) {
	out := []profile.Route{s.route}
	for _, name := range s.route.Fallbacks {
		r, err := s.eff.RouteNamed(name)
		if err != nil {
			e := diag.New(diag.ModelUnknown, "fallback of role %s: %v", s.route.Role, err).With("model", name)
			if o := s.eff.Origins["roles."+s.route.Role]; o != "" {
				e.With("origin", o)
			}
			return nil, e.WithHint("fallbacks are provider/model of providers that the profile knows")
		}
		if slices.ContainsFunc(out, func(o profile.Route) bool { return o.Name() == r.Name() }) {
			continue
		}
		r.Role, r.MaxTurns, r.Effort, r.Fallbacks = s.route.Role, s.route.MaxTurns, s.route.Effort, nil
		r.Context, r.Isolation = s.route.Context, s.route.Isolation
		out = append(out, r)
	}
	return out, nil
}

func retrying(last bool, tell func(code, text string)) model.RetryPolicy {
	p := model.RetryPolicy{Notice: func(attempt int, wait time.Duration, err *model.Error) {
		tell("retry", fmt.Sprintf("attempt %d failed (%v); again in %s", attempt, err, wait.Round(100*time.Millisecond)))
	}}
	if !last {
		p.Attempts, p.Max = hurriedAttempts, hurriedWait
	}
	return p
}

// client is one route's model.
func (a *App) client(ctx context.Context, s *stand, r profile.Route, retry model.RetryPolicy, tell func(code, text string)) (model.Model, error) {
	if r.ProviderName == profile.ScriptProvider {
		return a.script(ctx, s, r, retry)
	}
	key := ""
	if r.Provider.KeyEnv != "" {
		if key = strings.TrimSpace(a.Getenv(r.Provider.KeyEnv)); key == "" {
			return nil, diag.New(diag.KeyMissing, "%s needs a key, and %s is not set", r.Name(), r.Provider.KeyEnv).
				With("model", r.Name()).With("env", r.Provider.KeyEnv).
				WithHint("export %s=…; or without a key: --profile offline (a script), --profile local (Ollama)", r.Provider.KeyEnv)
		}
	}
	stall, err := s.stall()
	if err != nil {
		return nil, err
	}
	told := func(text string) { tell("model_option", r.Name()+" "+text) }
	var m model.Model
	switch r.Provider.API {
	case "anthropic":
		m = anthropic.New(anthropic.Options{Name: r.ProviderName, Model: r.Model, BaseURL: r.Provider.BaseURL, Key: key, Effort: r.Effort, Told: told, Stall: stall})
	case "openai":
		m = openai.New(openai.Options{Name: r.ProviderName, Model: r.Model, BaseURL: r.Provider.BaseURL, Key: key, Effort: r.Effort, Told: told, Stall: stall})
	case "responses":
		m = responses.New(responses.Options{Name: r.ProviderName, Model: r.Model, BaseURL: r.Provider.BaseURL, Key: key, Effort: r.Effort, Told: told, Stall: stall})
	default:
		return nil, diag.New(diag.Unsupported, "provider %s speaks %q, which this version does not", r.ProviderName, r.Provider.API).
			With("provider", r.ProviderName).WithHint("anthropic, openai and responses are spoken")
	}
	return model.WithRetry(m, retry), nil
}

// stall is how long a silent service is waited for; 0 is the house's own.
func (s *stand) stall() (time.Duration, error) {
	text := s.eff.Profile.Limits.Stall
	if text == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, diag.New(diag.ProfileInvalid, "limits.stall: %v", err).With("origin", s.eff.Origins["limits.stall"])
	}
	return max(d, time.Millisecond), nil
}

// script is a model that answers from a scenario: an entry of the profile's
// scripts, or a file.
func (a *App) script(ctx context.Context, s *stand, r profile.Route, retry model.RetryPolicy) (model.Model, error) {
	name := r.Model
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
			return nil, diag.New(diag.ModelUnknown, "the profile has no script %q", name).With("model", r.Name()).
				WithHint("%s; a scenario file is named by its path: script/./FILE.cue", has)
		}
		var err error
		if sc, err = load.Scenario(ctx, a.abs(name), a.loadOptions()); err != nil {
			return nil, err
		}
	}
	m, err := script.New(r.Name(), sc)
	if err != nil {
		return nil, diag.New(diag.ProfileInvalid, "%v", err).With("model", r.Name()).
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
