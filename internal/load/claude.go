package load

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/profile"
	"larva.dev/larva/internal/spec"
)

// maxSettings bounds a file of another tool that a run reads on the way.
const maxSettings = 4 << 20

// hookKeys are the fields of a hook that mean the same here as in Claude Code.
var hookKeys = []string{"type", "command", "args", "prompt", "model", "url", "headers", "allowedEnvVars", "if", "timeout", "once", "async",
	"statusMessage", "on_error"}

// ClaudeHooks reads the hooks of Claude Code's settings.json as a layer that
// holds nothing else; the file's other keys are not larva's. events are those
// that hooks may have here. What larva does not do (an event, a type, a field
// it does not know) is a notice of the layer; what cannot be understood is
// PROFILE_INVALID with its place: a hook is never dropped in silence.
func ClaudeHooks(path string, events []string, o Options) (profile.Layer, error) {
	d, p := o.settings(path)
	if p != nil {
		return profile.Layer{}, invalid([]diag.Problem{*p})
	}
	c := claude{doc: d, layer: profile.Layer{File: d.file, Origins: map[string]string{}}}
	if off, ok := d.get("disableAllHooks"); ok && off == true {
		c.notice([]string{"disableAllHooks"}, "disableAllHooks is set, so the file's hooks are left out")
		return c.layer, nil
	}
	c.read(events)
	if len(c.bad) > 0 {
		return profile.Layer{}, invalid(tidy(c.bad))
	}
	return c.layer, nil
}

// settings reads a JSON file whose root is an object.
func (o Options) settings(path string) (*doc, *diag.Problem) {
	data, p := openAndRead(o.name(path), path, maxSettings)
	if p == nil {
		p = text(data, path)
	}
	if p != nil {
		return nil, p
	}
	d, p := parseJSON(data, path)
	if p != nil {
		return nil, p
	}
	if _, ok := d.root.(*spec.Object); !ok {
		p := d.problem(nil, "must be an object, got "+shown(d.root), "")
		return nil, &p
	}
	return d, nil
}

// claude reads one settings file.
type claude struct {
	doc   *doc
	layer profile.Layer
	bad   []diag.Problem
}

func (c *claude) notice(path []string, format string, args ...any) {
	c.layer.Notices = append(c.layer.Notices, c.place(path)+": "+fmt.Sprintf(format, args...))
}

func (c *claude) place(path []string) string {
	file, line, _ := c.doc.at(path...)
	if line == 0 {
		return file
	}
	return fmt.Sprintf("%s:%d", file, line)
}

func (c *claude) wrong(path []string, message, hint string) {
	c.bad = append(c.bad, c.doc.problem(path, message, hint))
}

func (c *claude) read(events []string) {
	v, ok := c.doc.get("hooks")
	if !ok || v == nil {
		return
	}
	byEvent, ok := v.(*spec.Object)
	if !ok {
		c.wrong([]string{"hooks"}, "must be an object of hooks by event, got "+shown(v), "")
		return
	}
	for _, m := range byEvent.Members {
		path := []string{"hooks", m.Key}
		groups, ok := m.Value.([]any)
		switch {
		case !slices.Contains(events, m.Key):
			hint := didYouMean(m.Key, events)
			if hint != "" {
				hint = " (" + hint + ")"
			}
			c.notice(path, "larva has no event %s, so its hooks are left out%s", quoted(m.Key), hint)
		case !ok:
			c.wrong(path, "must be a list, got "+shown(m.Value), "")
		default:
			for i, g := range groups {
				c.group(m.Key, sub(path, strconv.Itoa(i)), g)
			}
		}
	}
}

func (c *claude) group(event string, path []string, v any) {
	o, ok := v.(*spec.Object)
	if !ok {
		c.wrong(path, "must be an object with a matcher and hooks, got "+shown(v), "")
		return
	}
	var out profile.Hooks
	var list []any
	for _, m := range o.Members {
		at := sub(path, m.Key)
		switch m.Key {
		case "matcher":
			if out.Matcher, ok = m.Value.(string); !ok && m.Value != nil {
				c.wrong(at, "must be a string, got "+shown(m.Value), "")
			}
		case "hooks":
			if list, ok = m.Value.([]any); !ok {
				c.wrong(at, "must be a list, got "+shown(m.Value), "")
			}
		default:
			// It may narrow what the hooks are for, so they are not run as if it
			// were not there.
			c.wrong(at, "unknown field of a group of hooks", didYouMean(m.Key, []string{"matcher", "hooks"}))
		}
	}
	n := len(c.layer.Profile.Hooks[event])
	for j, h := range list {
		at := sub(path, "hooks", strconv.Itoa(j))
		if one, ok := c.hook(at, h); ok {
			c.layer.Origins[fmt.Sprintf("hooks.%s.%d.hooks.%d", event, n, len(out.Hooks))] = c.place(at)
			out.Hooks = append(out.Hooks, one)
		}
	}
	if len(out.Hooks) == 0 {
		return
	}
	if c.layer.Profile.Hooks == nil {
		c.layer.Profile.Hooks = map[string][]profile.Hooks{}
	}
	c.layer.Profile.Hooks[event] = append(c.layer.Profile.Hooks[event], out)
}

// hook reads one; ok is false where it is left out.
func (c *claude) hook(path []string, v any) (h profile.Hook, ok bool) {
	o, isObject := v.(*spec.Object)
	if !isObject {
		c.wrong(path, "must be an object, got "+shown(v), "")
		return h, false
	}
	switch t, _ := o.Get("type"); t {
	case "command", "prompt", "http":
	case "agent", "mcp_tool":
		c.notice(path, "larva does not run hooks of type %s, so this one is left out", quoted(t))
		return h, false
	default:
		c.notice(path, "a hook of type %s is not known here and is left out (types: command, prompt, http)", quoted(t))
		return h, false
	}
	kept := &spec.Object{}
	for _, m := range o.Members {
		at := sub(path, m.Key)
		switch {
		case slices.Contains(hookKeys, m.Key):
			kept.Set(m.Key, m.Value)
		case m.Key == "shell" && m.Value != "bash":
			c.notice(at, "larva runs hooks in bash only, so this one is left out")
			return h, false
		case m.Key == "shell":
		default:
			c.notice(at, "%s of a hook has no effect in larva", quoted(m.Key))
		}
	}
	whole, faults := judgeData("#Hook", kept, path)
	if len(faults) > 0 {
		c.bad = append(c.bad, settle(c.doc.placed(faults))...)
		return h, false
	}
	if err := json.Unmarshal(spec.AppendCanonical(nil, whole), &h); err != nil {
		c.wrong(path, oneLine(err.Error()), "")
		return h, false
	}
	return h, true
}

// MCPServer is one entry of a .mcp.json, as written.
type MCPServer struct {
	Name string
	Line int
	// Raw is its canonical JSON, before any variable is filled in.
	Raw    []byte
	Server profile.Server // what of it has the right type
	Fault  error          // why it cannot be connected, nil where it can
}

// MCPServers reads the mcpServers of a .mcp.json.
func MCPServers(path string, o Options) ([]MCPServer, error) {
	d, p := o.settings(path)
	if p != nil {
		return nil, invalid([]diag.Problem{*p})
	}
	v, ok := d.get("mcpServers")
	if !ok {
		return nil, nil
	}
	set, ok := v.(*spec.Object)
	if !ok {
		return nil, invalid([]diag.Problem{d.problem([]string{"mcpServers"}, "must be an object of servers by name, got "+shown(v), "")})
	}
	var out []MCPServer
	for _, m := range set.Members {
		s := MCPServer{Name: m.Key, Raw: spec.AppendCanonical(nil, m.Value)}
		_, s.Line, _ = d.keyAt("mcpServers", m.Key)
		if s.Server, s.Fault = serverOf(s.Raw); s.Fault != nil { // who connects it complains; what it names is shown before the yes
			_ = json.Unmarshal(s.Raw, &s.Server)
		}
		out = append(out, s)
	}
	return out, nil
}
