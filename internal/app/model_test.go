package app

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/model"
	"larva.dev/larva/internal/model/modeltest"
	"larva.dev/larva/internal/profile"
)

// completion is a whole answer of the chat protocol.
const completion = `data: {"choices":[{"index":0,"delta":{"content":"ok"},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"

// staged is a stand whose role smart has a model and fallbacks.
func staged(p profile.Profile, target string, fallbacks ...string) *stand {
	p.Roles = map[string]profile.Role{"smart": {Model: target, Fallbacks: fallbacks, Effort: "low"}}
	s := &stand{eff: profile.Effective{Profile: p}}
	s.route, _ = s.eff.Route("smart")
	return s
}

func asks(t *testing.T, m model.Model) (*model.Answer, error) {
	t.Helper()
	return m.Ask(t.Context(), model.Request{Messages: []model.Message{{Role: model.User, Blocks: []model.Block{{Text: "hi"}}}}}, nil)
}

func TestFallbacksOfARole(t *testing.T) {
	t.Parallel()
	first := modeltest.Serve(t, modeltest.Reply{Status: 401, Body: `{"error":{"message":"no"}}`})
	second := modeltest.Serve(t, modeltest.Reply{Body: completion})
	p := profile.Profile{Providers: map[string]profile.Provider{
		"one": {API: "anthropic", BaseURL: first.URL, KeyEnv: "ONE_KEY"},
		"two": {API: "openai", BaseURL: second.URL + "/v1"},
		"off": {API: "openai", BaseURL: second.URL + "/v1", KeyEnv: "OFF_KEY"},
	}}
	a := New(Options{Environ: []string{"ONE_KEY=sk-one"}})
	var told []string
	tell := func(code, text string) { told = append(told, code+": "+text) }
	for range 2 {
		s := staged(p, "one/claude-opus-5", "off/x", "one/claude-opus-5", "two/gpt")
		m, err := a.model(t.Context(), s, tell)
		if err != nil {
			t.Fatal(err)
		}
		got, err := asks(t, m)
		if err != nil || got.Served != "two/gpt" || m.Name() != "one/claude-opus-5" {
			t.Fatalf("%s: answer %+v, error %v; want one of two/gpt", m.Name(), got, err)
		}
		if want := "off/x is left out of role smart: OFF_KEY is not set"; strings.Join(s.notices, "|") != want {
			t.Errorf("notices %q, want %q", s.notices, want)
		}
	}
	// The second run of the process leaves the one that failed in peace.
	if first.Count() != 1 || second.Count() != 2 {
		t.Errorf("%d and %d requests, want 1 and 2", first.Count(), second.Count())
	}
	want := []string{"fallback: two/gpt is asked instead of one/claude-opus-5: one/claude-opus-5: HTTP 401: no",
		"fallback: two/gpt is asked instead of one/claude-opus-5, which failed a short while ago"}
	if strings.Join(told, "\n") != strings.Join(want, "\n") {
		t.Errorf("told %q, want %q", told, want)
	}
	if got := second.Body(t, 0)["reasoning_effort"]; got != "low" {
		t.Errorf("the fallback was told the effort %v, want the role's", got)
	}
}

func TestTheFirstModelHasNoKey(t *testing.T) {
	t.Parallel()
	second := modeltest.Serve(t, modeltest.Reply{Body: completion})
	p := profile.Profile{Providers: map[string]profile.Provider{
		"one": {API: "anthropic", KeyEnv: "ONE_KEY"}, "two": {API: "openai", BaseURL: second.URL},
	}}
	a := New(Options{})
	s := staged(p, "one/m", "two/m")
	m, err := a.model(t.Context(), s, nil)
	if err != nil || m.Name() != "two/m" || s.route.Name() != "two/m" || s.route.Role != "smart" || len(s.notices) != 1 {
		t.Fatalf("model %v, route %+v, notices %q, error %v; want two/m, and that one/m is left out", m, s.route, s.notices, err)
	}
	if _, err := asks(t, m); err != nil {
		t.Error(err)
	}
	for _, fallbacks := range [][]string{nil, {"one/other"}} {
		var lacks *diag.Error
		if _, err := a.model(t.Context(), staged(p, "one/m", fallbacks...), nil); !errors.As(err, &lacks) || lacks.Code != diag.KeyMissing || lacks.Details["model"] != "one/m" {
			t.Errorf("fallbacks %v: error %v, want KEY_MISSING of one/m", fallbacks, err)
		}
	}
	var lost *diag.Error
	if _, err := a.model(t.Context(), staged(p, "two/m", "nobody/m"), nil); !errors.As(err, &lost) || lost.Code != diag.ModelUnknown {
		t.Errorf("error %v, want MODEL_UNKNOWN", err)
	}
}

// Each protocol of the schema is spoken, and is told the effort in its way.
func TestProtocols(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ api, model, path, field, want string }{
		{"openai", "m", "/chat/completions", "reasoning_effort", `"low"`},
		{"responses", "m", "/responses", "reasoning", `{"effort":"low","summary":"auto"}`},
		{"anthropic", "claude-opus-4-5", "/v1/messages", "thinking", `{"budget_tokens":4096,"type":"enabled"}`},
	} {
		s := modeltest.Serve(t, modeltest.Reply{Status: 400, Body: `{"error":{"message":"stop here"}}`})
		p := profile.Profile{Providers: map[string]profile.Provider{"x": {API: c.api, BaseURL: s.URL}}}
		m, err := New(Options{}).model(t.Context(), staged(p, "x/"+c.model), nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := asks(t, m); err == nil {
			t.Fatalf("%s: an answer, want the refusal", c.api)
		}
		got, _ := json.Marshal(s.Body(t, 0)[c.field])
		if s.Path(0) != c.path || string(got) != c.want {
			t.Errorf("%s: path %s, %s is %s; want %s and %s", c.api, s.Path(0), c.field, got, c.path, c.want)
		}
	}
	p := profile.Profile{Providers: map[string]profile.Provider{"x": {API: "smoke"}}}
	if _, err := New(Options{}).model(t.Context(), staged(p, "x/m"), nil); err == nil || !strings.Contains(err.Error(), "smoke") {
		t.Errorf("error %v, want that smoke is not spoken", err)
	}
}

func TestStallOfTheProfile(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{"": 0, "90s": 90 * time.Second, "0s": time.Millisecond} {
		s := staged(profile.Profile{Limits: profile.Limits{Stall: text}}, "x/y")
		if got, err := s.stall(); err != nil || got != want {
			t.Errorf("%q: got %v, %v; want %v", text, got, err, want)
		}
	}
	if _, err := staged(profile.Profile{Limits: profile.Limits{Stall: "soon"}}, "x/y").stall(); err == nil {
		t.Error("soon is no time, want an error")
	}
}

// Prices that ship are of providers that ship, and name a window.
func TestShippedPrices(t *testing.T) {
	t.Parallel()
	layers, err := shippedProfiles()
	if err != nil {
		t.Fatal(err)
	}
	p := layers["default"].Profile
	if len(p.Prices) < 40 {
		t.Errorf("%d prices, want the well-known models", len(p.Prices))
	}
	for name, price := range p.Prices {
		provider, _, _ := strings.Cut(name, "/")
		if _, ok := p.Providers[provider]; !ok || price.Window < 100_000 || price.Input <= 0 || price.Output <= price.Input || price.Cached > price.Input || price.Written > 2*price.Input {
			t.Errorf("%s: %+v of provider %s is odd", name, price, provider)
		}
		if l := price.Long; l != nil && (l.Above >= price.Window || l.Input < price.Input || l.Output < price.Output) {
			t.Errorf("%s: the price of a long prompt %+v is odd", name, l)
		}
	}
	e := profile.Effective{Profile: p}
	for role, r := range p.Roles {
		if e.PriceOf(r.Model) == nil {
			t.Errorf("role %s: %s has no price", role, r.Model)
		}
	}
	if got := e.PriceOf("openai-responses/gpt-5"); got == nil || got.Input != 1.25 {
		t.Errorf("openai-responses/gpt-5: %+v, want openai's price", got)
	}
}
