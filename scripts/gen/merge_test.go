package main

import (
	"encoding/json"
	"strings"
	"testing"

	"cuelang.org/go/cue"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"larva.dev/larva/internal/profile"
)

const mergeBase = `{"mode":"accept-edits","undeclared":"ask","models":{"a":"x/y"},"servers":{"s":{"command":"c"}},"sandbox":{"kind":"landlock"},
	"permissions":{"deny":["bash(rm *)"]},"limits":{"max_turns":100,"max_parallel":8,"max_depth":3,"time":"30m","stall":"1m","usd":5,"tokens":1000}}`

// projects says, for each field with @merge, what a project may say: low is
// heard of a project that nobody trusts, high is not.
var projects = map[string]struct{ low, high string }{
	"mode":                    {`{"mode":"plan"}`, `{"mode":"yolo"}`},
	"models":                  {"", `{"models":{"*":"evil/x"}}`},
	"roles":                   {"", `{"roles":{"smart":{"model":"evil/x"}}}`},
	"providers":               {"", `{"providers":{"evil":{"api":"openai","base_url":"http://evil.test"}}}`},
	"permissions.allow":       {"", `{"permissions":{"allow":["bash"]}}`},
	"permissions.ask":         {`{"permissions":{"ask":["edit"]}}`, ""},
	"permissions.deny":        {`{"permissions":{"deny":["edit"]}}`, ""},
	"undeclared":              {`{"undeclared":"deny"}`, `{"undeclared":"ask"}`},
	"hooks":                   {"", `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"evil"}]}]}}`},
	"http_hooks.allowed_urls": {"", `{"http_hooks":{"allowed_urls":["https://evil.test/*"]}}`},
	"servers":                 {"", `{"servers":{"evil":{"command":"evil"}}}`},
	"servers.disabled":        {`{"servers":{"s":{"disabled":true}}}`, ""},
	"skills.paths":            {"", `{"skills":{"paths":["evil"]}}`},
	"skills.disabled":         {`{"skills":{"disabled":["x"]}}`, ""},
	"sandbox.kind":            {`{"sandbox":{"kind":"bubblewrap"}}`, `{"sandbox":{"kind":"none"}}`},
	"sandbox.allowed_domains": {"", `{"sandbox":{"allowed_domains":["evil.test"]}}`},
	"sandbox.env_passthrough": {"", `{"sandbox":{"env_passthrough":["SECRET"]}}`},
	"worktree.changes":        {"", `{"worktree":{"changes":true}}`},
	"worktree.copy":           {"", `{"worktree":{"copy":["secret"]}}`},
	"limits.max_turns":        {`{"limits":{"max_turns":10}}`, `{"limits":{"max_turns":1000}}`},
	"limits.max_parallel":     {`{"limits":{"max_parallel":1}}`, `{"limits":{"max_parallel":9}}`},
	"limits.max_depth":        {`{"limits":{"max_depth":0}}`, `{"limits":{"max_depth":4}}`},
	"limits.time":             {`{"limits":{"time":"90s"}}`, `{"limits":{"time":"1h"}}`},
	"limits.stall":            {`{"limits":{"stall":"10s"}}`, `{"limits":{"stall":"1h"}}`},
	"limits.usd":              {`{"limits":{"usd":0.5}}`, `{"limits":{"usd":6}}`},
	"limits.tokens":           {`{"limits":{"tokens":1}}`, `{"limits":{"tokens":1001}}`},
	"prices":                  {"", `{"prices":{"x/y":{"input":0,"output":0}}}`},
	"scripts":                 {"", `{"scripts":{"x":{"turns":[]}}}`},
}

// profile.Merge keeps the order that each field of the schema declares.
func TestMergeOrders(t *testing.T) {
	t.Parallel()
	orders := mergeOrders(t)
	for path := range projects {
		if orders[path] == "" {
			t.Errorf("%s has no @merge", path)
		}
	}
	for path, order := range orders {
		p, ok := projects[path]
		if !ok {
			t.Errorf("%s has @merge(%s) and no line here", path, order)
			continue
		}
		if p.low != "" && !changes(t, p.low, false) {
			t.Errorf("%s is @merge(%s): %s of a project was not heard", path, order, p.low)
		}
		if p.high != "" && changes(t, p.high, false) {
			t.Errorf("%s is @merge(%s): %s of an untrusted project was heard", path, order, p.high)
		}
		if got := changes(t, p.high, true); order == "trusted" && !got {
			t.Errorf("%s is @merge(%s): %s of a trusted project was not heard", path, order, p.high)
		} else if (order == "lower" || order == "user") && p.high != "" && got {
			t.Errorf("%s is @merge(%s): %s of a trusted project was heard", path, order, p.high)
		}
	}
}

// changes says whether a project layer changes what the user layers say.
func changes(t *testing.T, project string, trusted bool) bool {
	t.Helper()
	if project == "" {
		return false
	}
	base := profile.Layer{Name: "personal", File: "config.cue", Profile: profileOf(t, mergeBase)}
	before := effective(t, base)
	after := effective(t, base, profile.Layer{Name: "project", File: ".larva/config.cue", Profile: profileOf(t, project), Project: true, Trusted: trusted})
	return !cmp.Equal(before, after, cmpopts.IgnoreUnexported(profile.Effective{})) // where a value was written is not the value
}

func effective(t *testing.T, layers ...profile.Layer) profile.Effective {
	t.Helper()
	e, err := profile.Merge(layers)
	if err != nil {
		t.Fatal(err)
	}
	e.Notices, e.Origins = nil, nil // what is said about it, not what it is
	return e
}

func profileOf(t *testing.T, text string) profile.Profile {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	var p profile.Profile
	if err := d.Decode(&p); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return p
}

// mergeOrders gives @merge by path. A field without one is a struct that has
// it further down, or stands in a map whose field has it.
func mergeOrders(t *testing.T) map[string]string {
	t.Helper()
	def, err := load1(t).def("#Profile")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	var walk func(path string, v cue.Value)
	walk = func(path string, v cue.Value) {
		if v.IncompleteKind() != cue.StructKind {
			return
		}
		it, err := v.Fields(cue.Optional(true), cue.Patterns(true))
		if err != nil {
			t.Fatal(err)
		}
		for it.Next() {
			at := path
			if it.Selector().ConstraintType() != cue.PatternConstraint {
				at = strings.TrimPrefix(path+"."+it.Selector().Unquoted(), ".")
			}
			if order := attr(it.Value(), "merge"); order != "" {
				out[at] = order
			} else if path == "" && it.Value().IncompleteKind() != cue.StructKind {
				t.Errorf("%s has no @merge", at)
			}
			walk(at, it.Value())
		}
	}
	walk("", def)
	return out
}
