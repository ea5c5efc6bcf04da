package opencode

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"larva.dev/larva/internal/spec"
)

// persona is one for tests, as JSON without what all of them have.
func persona(t *testing.T, text string) Persona {
	t.Helper()
	o, err := spec.ParseObject([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	p := spec.FromObject(o)
	p.Digest = "sha256:" + strings.Repeat("0", 64)
	return Persona{Spec: p, Model: p.Model}
}

func input(personas ...Persona) Input {
	return Input{Program: "/bin/opencode", Args: []string{"run", "hi"}, Environ: []string{"HOME=/h"}, Personas: personas, Larva: "/bin/larva",
		Helper: []Env{{"HOME", "/h"}}, Plugin: "/h/plugin/index.mjs", PlanFile: "/h/run/plan.json", Policies: []string{"/h/policy.json"},
		Context: Context{ConfigDir: "/h/.config/larva", DataDir: "/h/.local/share/larva", HomeLarva: "/h/.larva", OpenCodeData: "/h/.local/share/opencode"}}
}

// TestPlanGolden compares whole plans with testdata/plan; LARVA_UPDATE=1
// writes them.
func TestPlanGolden(t *testing.T) {
	t.Parallel()
	reader := persona(t, `{"id":"reader","description":"Reads {env:HOME} and {file:/x}.","prompt":"P","model":"a/b","capabilities":{"filesystem":"read_only","shell":"none"},"can_spawn":["helper","7"]}`)
	writer := persona(t, `{"id":"writer","description":"","prompt":"P","model":"a/{env:M}","capabilities":{"filesystem":"read_write","shell":"none","mcp":"destructive","http":"read_only"},"can_spawn":true,"model_params":{"temperature":0.5,"top_p":0.25,"max_tokens":7}}`)
	native := persona(t, `{"id":"title","description":"T","prompt":"P","model":"a/b","capabilities":{}}`)
	for name, in := range map[string]func() Input{
		"plain": func() Input { return input(reader, writer, native) },
		"merged": func() Input {
			in := input(reader, writer)
			in.Environ = append(in.Environ, "LARVA_DEPTH=2", "NPM_CONFIG_AUDIT=true", "OPENCODE_PERMISSION={\"edit\":\"ask\"}",
				`OPENCODE_CONFIG_CONTENT={"z":1,"plugin":"file:///x.js","agent":{"mine":{"prompt":"M"},"reader":{"model":"evil/x","tools":{"bash":true}}},"permission":{"read":{"*.key":"deny"},"webfetch":"deny"},"mcp":{"lab":{"type":"local","command":["x"]},"plan":{"type":"remote","url":"u"}}}`)
			return in
		},
		"auto": func() Input {
			in := input(reader)
			in.Args = []string{"run", "--auto", "hi"}
			in.Call = ReadArgs(in.Args)
			return in
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan, err := Build(in())
			if err != nil {
				t.Fatal(err)
			}
			var private any
			if err := json.Unmarshal([]byte(plan.Files[0].Text), &private); err != nil {
				t.Fatal(err)
			}
			got, err := json.MarshalIndent(map[string]any{"plan": plan, "private": json.RawMessage(plan.Files[0].Text), "env": plan.Env(in().Environ)}, "", " ")
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, '\n')
			file := filepath.Join("testdata", "plan", name+".json")
			if os.Getenv("LARVA_UPDATE") != "" {
				if err := os.WriteFile(file, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s (-got +want):\n%s", file, cmp.Diff(string(got), string(want)))
			}
		})
	}
}

// TestReport18 is row 18 of the bug reports: the last match wins, so "*" comes
// first, in the plan's bytes and in every permission below.
func TestReport18(t *testing.T) {
	t.Parallel()
	p := persona(t, `{"id":"a","description":"d","prompt":"P","model":"a/b","capabilities":{"filesystem":"read_write","shell":"read_only","git":"read_only"}}`)
	rules := Project(p.Spec, Context{}).Table.Rules()
	if rules[0] != (Rule{"*", "*", Deny}) {
		t.Errorf("the first rule is %v", rules[0])
	}
	seen := map[string]bool{}
	for _, r := range rules {
		if !seen[r.Permission] && r.Pattern != "*" {
			t.Errorf("%s begins with %q", r.Permission, r.Pattern)
		}
		if seen[r.Permission] && r.Pattern == "*" {
			t.Errorf(`%s: "*" shadows what stands before it`, r.Permission)
		}
		seen[r.Permission] = true
	}
	if got := rules.Evaluate("bash", "git ls-files -o"); got != Allow {
		t.Errorf("git ls-files: got %s", got)
	}
	if got := rules.Evaluate("bash", "git push"); got != Deny {
		t.Errorf("git push: got %s", got)
	}
}

// TestReport26 is row 26: inline content is merged behind a project's agents,
// and nothing that matters is left for them to fill.
func TestReport26(t *testing.T) {
	t.Parallel()
	plan, err := Build(input(persona(t, `{"id":"a","description":"d","prompt":"P","model":"a/b","capabilities":{}}`)))
	if err != nil {
		t.Fatal(err)
	}
	if plan.Set[0].Name != "OPENCODE_CONFIG_CONTENT" {
		t.Errorf("the agents are in %s", plan.Set[0].Name)
	}
	agents, _ := plan.Config.Get("agent")
	one, _ := agents.(*spec.Object).Get("a")
	for _, field := range []string{"description", "mode", "model", "prompt", "disable", "hidden", "permission"} {
		if !one.(*spec.Object).Has(field) {
			t.Errorf("a project's agent of that name could fill %s", field)
		}
	}
	permission, _ := one.(*spec.Object).Get("permission")
	for _, m := range permission.(*spec.Object).Members {
		if m.Value != "deny" {
			t.Errorf("without its plugin %s is %v", m.Key, m.Value)
		}
	}
}

// TestManyPersonas do not fit a variable: only those that were chosen stand in
// it, and the rest waits for the plugin.
func TestManyPersonas(t *testing.T) {
	t.Parallel()
	var all []Persona
	for i := range 600 {
		all = append(all, persona(t, fmt.Sprintf(`{"id":"p-%d","description":"d","prompt":"P","model":"a/b","capabilities":{"shell":"none"}}`, i)))
	}
	in := input(all...)
	in.Args = []string{"--agent", "p-7"}
	in.Call = ReadArgs(in.Args)
	plan, err := Build(in)
	if err != nil {
		t.Fatal(err)
	}
	agents, _ := plan.Config.Get("agent")
	if plan.Carried != "plan" || len(agents.(*spec.Object).Members) != 1 || !agents.(*spec.Object).Has("p-7") {
		t.Errorf("carried by %s, with %d agents in the variable", plan.Carried, len(agents.(*spec.Object).Members))
	}
	for _, e := range plan.Set {
		if len(e.Name)+1+len(e.Value) > maxEnv {
			t.Errorf("%s has %d bytes", e.Name, len(e.Value))
		}
	}
	if n := strings.Count(plan.Files[0].Text, `"digest"`); n != 600 {
		t.Errorf("the private plan has %d personas", n)
	}
	in.Environ = []string{"OPENCODE_CONFIG_CONTENT={\"x\":\"" + strings.Repeat("y", maxEnv-100) + "\"}"}
	var bad *ConfigError
	if _, err := Build(in); !errors.As(err, &bad) {
		t.Errorf("a variable that is full already: got %v", err)
	}
}

// TestVeiled: what is shown of a plan holds none of the user's keys.
func TestVeiled(t *testing.T) {
	t.Parallel()
	in := input()
	in.Environ = []string{`OPENCODE_CONFIG_CONTENT={"provider":{"a":{"options":{"apiKey":"word-1","baseURL":"u"}}},"mcp":{"x":{"headers":{"X-Any":"word-2"},"environment":{"A":"word-3"}},"y":{"headers":{"Authorization":"{env:T}"}}},"secrets":{"deep":["a"],"password":"word-4"}}`}
	plan, err := Build(in)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(plan.Veiled())
	if err != nil || strings.Contains(string(text), "word-") || !strings.Contains(string(text), "{env:T}") || !strings.Contains(string(text), `"u"`) {
		t.Errorf("%v: %s", err, text)
	}
	if whole, err := json.Marshal(plan); err != nil || !strings.Contains(string(whole), "word-1") {
		t.Errorf("the plan itself has lost its keys: %v", err)
	}
}
