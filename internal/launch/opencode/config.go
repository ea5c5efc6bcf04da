package opencode

import (
	"errors"
	"fmt"

	"larva.dev/larva/internal/spec"
)

// ConfigError says what is wrong with a variable of the user's.
type ConfigError struct {
	Name    string // of the variable
	Message string
}

func (e *ConfigError) Error() string { return e.Name + ": " + e.Message }

const (
	contentKey    = "OPENCODE_CONFIG_CONTENT"
	permissionKey = "OPENCODE_PERMISSION"
)

// readConfig reads a variable that holds a JSON object; "" is an empty one.
func readConfig(name, text string) (*spec.Object, error) {
	if text == "" {
		return &spec.Object{}, nil
	}
	o, err := spec.ParseObject([]byte(text))
	if err != nil {
		return nil, &ConfigError{name, fmt.Sprintf("it is no JSON object: %v", err)}
	}
	return o, nil
}

// userPermission is what a configuration and OPENCODE_PERMISSION say together:
// the second is merged into the first, key by key.
func userPermission(config, permission *spec.Object) (*Table, error) {
	v, _ := config.Get("permission")
	t, ok := readTable(v)
	if !ok {
		return nil, &ConfigError{contentKey, "permission is neither an action nor an object of actions"}
	}
	more, ok := readTable(permission)
	if !ok {
		return nil, &ConfigError{permissionKey, "it holds something that is no action"}
	}
	for _, k := range more.keys {
		t.put(k.name, append(t.get(k.name), k.rows...))
	}
	return t, nil
}

// servers are the names under mcp.
func servers(config *spec.Object) []string {
	v, _ := config.Get("mcp")
	o, ok := v.(*spec.Object)
	if !ok {
		return nil
	}
	var out []string
	for _, m := range o.Members {
		out = append(out, m.Key)
	}
	return out
}

// withAgents gives the user's configuration with the plugin and placeholders
// in it. Everything else stays as it is, in its order.
func withAgents(config *spec.Object, plugin []any, ids []string) (*spec.Object, error) {
	out := config.Clone()
	if !out.Has("$schema") {
		out.Members = append([]spec.Member{{Key: "$schema", Value: "https://opencode.ai/config.json"}}, out.Members...)
	}
	list, err := plugins(out)
	if err != nil {
		return nil, err
	}
	// Last: what other plugins make of the agents, ours sees.
	out.Set("plugin", append(list, any(plugin)))
	agents := &spec.Object{}
	switch v, _ := out.Get("agent"); v := v.(type) {
	case nil:
	case *spec.Object:
		agents = v.Clone()
	default:
		return nil, &ConfigError{contentKey, "agent is no object"}
	}
	for _, id := range ids {
		agents.Set(id, inert())
	}
	out.Set("agent", agents)
	return out, nil
}

func plugins(config *spec.Object) ([]any, error) {
	switch v, _ := config.Get("plugin"); v := v.(type) {
	case nil:
		return nil, nil
	case string:
		return []any{v}, nil
	case []any:
		return append([]any(nil), v...), nil
	}
	return nil, &ConfigError{contentKey, "plugin is neither a string nor a list"}
}

// ReadPermission reads a permission of a configuration as JSON; null is none.
func ReadPermission(text []byte) (*Table, error) {
	if len(text) == 0 || string(text) == "null" {
		return nil, nil
	}
	o, err := spec.ParseObject(append(append([]byte(`{"permission":`), text...), '}'))
	if err != nil {
		return nil, fmt.Errorf("permission: %w", err)
	}
	v, _ := o.Get("permission")
	t, ok := readTable(v)
	if !ok {
		return nil, errors.New("permission holds what is no action")
	}
	return t, nil
}
