package load

import (
	"larva.dev/larva/internal/profile"
	"larva.dev/larva/internal/spec"
)

// Hooks reads the hooks of an agent file, written as in Claude Code's settings,
// as a layer that holds nothing else; the rest is as in ClaudeHooks.
func (f *Front) Hooks(events []string) (profile.Layer, error) {
	c := claude{doc: f.doc, layer: profile.Layer{File: f.File, Origins: map[string]string{}}}
	if v, ok := f.Root.Get("hooks"); ok && v != nil {
		if _, isObject := v.(*spec.Object); !isObject {
			c.wrong([]string{"hooks"}, "must be an object of hooks by event, got "+shown(v), "")
		} else {
			c.read(events)
		}
	}
	if len(c.bad) > 0 {
		return profile.Layer{}, invalid(tidy(c.bad))
	}
	return c.layer, nil
}
