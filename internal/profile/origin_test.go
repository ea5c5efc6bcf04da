package profile

import "testing"

func TestOrigins(t *testing.T) {
	t.Parallel()
	e, err := Merge([]Layer{
		{Name: "shipped", Origins: map[string]string{"roles.smart.model": "d.cue:1", "roles.smart.effort": "d.cue:2", "prices.x/a-5.4.input": "d.cue:3", "prices.x/a-5.input": "d.cue:4",
			"prices.x/a-5.output": "d.cue:5", "limits.max_turns": "d.cue:6", "models.old": "d.cue:7", "providers.x.api": "d.cue:8", "providers.x.base_url": "d.cue:9"},
			Profile: Profile{Roles: map[string]Role{"smart": {Model: "x/1", Effort: "low"}}, Prices: map[string]Price{"x/a-5.4": {}, "x/a-5": {}},
				Limits: Limits{MaxTurns: ptr(9)}, Models: map[string]string{"old": "x/1"}, Providers: map[string]Provider{"x": {API: "openai"}}}},
		{Name: "personal", File: "c.cue", Origins: map[string]string{"roles.smart.max_turns": "c.cue:2", "roles.smart.effort": "c.cue:3", "skills.paths.0": "c.cue:4", "servers.s.args.0": "c.cue:5", "servers.s.command": "c.cue:6", "models.*": "c.cue:7"},
			Profile: Profile{Roles: map[string]Role{"smart": {MaxTurns: 3, Effort: "high"}}, Skills: Skills{Paths: []string{"a"}}, Servers: map[string]Server{"s": {Command: "x", Args: []string{"y"}}},
				Models: map[string]string{"*": "x/2"}}},
		{Name: "project", File: "p.cue", Project: true, Trusted: true, Origins: map[string]string{"limits.max_turns": "p.cue:1", "limits.time": "p.cue:2", "skills.paths.0": "p.cue:3", "mode": "p.cue:4"},
			Profile: Profile{Limits: Limits{MaxTurns: ptr(4), Time: "1m"}, Skills: Skills{Paths: []string{"b"}}, Mode: "plan"}},
		{Name: "flags", Origins: map[string]string{"mode": "--mode"}, Profile: Profile{Mode: "auto", Limits: Limits{USD: ptr(1.0)}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"roles.smart.max_turns": "c.cue:2", "roles.smart.effort": "c.cue:3", "roles.smart.model": "c.cue:2", // the star took the shipped one
		"prices.x/a-5": "d.cue:4", "prices.x/a-5.output": "d.cue:5", "prices.x/a-5.4": "d.cue:3", "prices.x/a-5.4.input": "d.cue:3",
		"limits.max_turns": "p.cue:1", "limits.time": "p.cue:2", "limits.usd": "flags", "mode": "p.cue:4",
		"skills.paths.0": "c.cue:4", "skills.paths.1": "p.cue:3", "servers.s": "c.cue:6", "servers.s.args.0": "c.cue:5", "servers.s.env.X": "c.cue:6",
		"models.*": "c.cue:7", "models.old": "", "providers.x.base_url": "d.cue:9", "undeclared": "",
	} {
		if got := e.OriginOf(path); got != want {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
}
