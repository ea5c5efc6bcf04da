// Package opencode makes agents of the real OpenCode out of personas: a pure
// plan of configuration, environment, arguments and private files, OpenCode's
// own rules as a list that can be compared, and the words of its tool calls in
// larva's. Its folder plugin runs inside OpenCode. What OpenCode 1.18.33 does
// with all this is measured in the tests of cmd/larva.
package opencode

import (
	"strings"

	"larva.dev/larva/internal/spec"
)

// Native are the agents of OpenCode's own: a persona of such an id would take
// its place, and title and compaction requests would carry the persona.
var Native = []string{"build", "plan", "general", "explore", "scout", "title", "summary", "compaction"}

// Primary are those of Native that a person can choose.
var Primary = []string{"build", "plan"}

// guardModel is the model of an agent that must not work: its provider does
// not exist.
const guardModel = "larva-guard/blocked"

// refusal is the prompt of an agent whose plugin is not there.
const refusal = "This persona could not be loaded. Do nothing, and say that larva's plugin is not running."

// Persona is one persona to be an agent.
type Persona struct {
	Spec  *spec.Persona
	Model string // provider/model as OpenCode knows it
}

// Token stands in an agent's prompt for the persona's.
func Token(id string) string { return "[larva:" + id + "]" }

// Entry is the persona as OpenCode's agent, each field set that an agent of the
// same name in a project could otherwise fill. The prompt is the token.
func (p Persona) Entry(rules *Table) *spec.Object {
	s := p.Spec
	description := s.Description
	if description == "" {
		description = s.ID
	}
	out := &spec.Object{}
	out.Set("description", Neutral("[larva] "+description))
	out.Set("mode", "all")
	out.Set("model", Neutral(p.Model))
	out.Set("prompt", Token(s.ID))
	if s.ModelParams != nil {
		for _, name := range []string{"temperature", "top_p"} {
			if v, ok := s.ModelParams.Get(name); ok {
				if n, ok := v.(spec.Number); ok {
					out.Set(name, n)
				}
			}
		}
	}
	out.Set("options", &spec.Object{})
	out.Set("disable", false)
	out.Set("hidden", false)
	out.Set("permission", rules.Object())
	return out
}

// params is what the plugin puts on the wire.
func (p Persona) params() any {
	if p.Spec.ModelParams == nil {
		return &spec.Object{}
	}
	return neutralTree(p.Spec.ModelParams)
}

// inert is an agent that can do nothing: it stands in the configuration until
// the plugin has put the persona in. It names every permission, since an agent
// of the same name in a project is merged below it key by key.
func inert() *spec.Object {
	permission := &spec.Object{}
	permission.Set("*", string(Deny))
	for _, name := range permissions {
		permission.Set(name, string(Deny))
	}
	out := &spec.Object{}
	out.Set("description", refusal)
	out.Set("mode", "all")
	out.Set("model", guardModel)
	out.Set("prompt", refusal)
	out.Set("disable", false)
	out.Set("hidden", false)
	out.Set("permission", permission)
	return out
}

// permissions are the names by which OpenCode 1.18 asks.
var permissions = []string{"bash", "read", "edit", "glob", "grep", "list", "lsp", "external_directory", "webfetch", "websearch", "codesearch",
	"task", "skill", "todowrite", "todoread", "question", "plan_enter", "plan_exit", "doom_loop"}

// Neutral breaks what OpenCode would replace in a string of its configuration:
// {env:NAME} and {file:PATH}.
func Neutral(s string) string {
	for _, word := range []string{"{env:", "{file:"} {
		s = strings.ReplaceAll(s, word, "{ "+word[1:])
	}
	return s
}

// replaced says that OpenCode would put something else into s.
func replaced(s string) bool { return Neutral(s) != s }

func neutralTree(v any) any {
	switch v := v.(type) {
	case string:
		return Neutral(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = neutralTree(v[i])
		}
		return out
	case *spec.Object:
		out := &spec.Object{}
		for _, m := range v.Members {
			out.Members = append(out.Members, spec.Member{Key: Neutral(m.Key), Value: neutralTree(m.Value)})
		}
		return out
	}
	return v
}
