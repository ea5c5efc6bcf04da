package permission

import (
	"encoding/json"
	"net/url"
	"strings"

	"larva.dev/larva/internal/capability"
	"larva.dev/larva/internal/command"
	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/tool"
)

// KnownEffects states the effects of a call whose tool does not exist yet or
// whose server is not connected. ok is false for a name that nobody knows:
// see DidYouMean. Nothing is looked at; paths are placed when they are judged.
func KnownEffects(name string, input json.RawMessage) (eff tool.Effects, ok bool) {
	if !Known(name) {
		return tool.Effects{}, false
	}
	if strings.HasPrefix(name, "mcp__") {
		return tool.Effects{Needs: []capability.Need{{Family: "mcp", Posture: capability.ReadWrite}}, Touches: true}, true
	}
	row, _ := capability.Tool(name)
	eff = tool.Effects{Needs: row.Needs, Network: row.Network, Touches: row.Touches}
	var in struct {
		Path, Command, URL string
		SubagentType       string `json:"subagent_type"`
		Name               string
		Files              []struct{ Path string }
	}
	// Fields of another type than expected stay empty; the loop has validated
	// what it runs.
	var fields map[string]json.RawMessage
	if json.Unmarshal(input, &fields) == nil {
		for k, to := range map[string]any{"path": &in.Path, "command": &in.Command, "url": &in.URL, "subagent_type": &in.SubagentType, "name": &in.Name, "files": &in.Files} {
			if raw, ok := fields[k]; ok {
				_ = json.Unmarshal(raw, to)
			}
		}
	}
	switch name {
	case "bash":
		eff.Command = in.Command
	case "read", "glob", "grep":
		eff.ReadOnly = true
		eff.Paths = []tool.Path{{Given: in.Path}}
	case "task":
		eff.Subject = in.SubagentType
	case "skill":
		eff.Subject = in.Name
	case "web_fetch", "browser_navigate":
		if h := host(in.URL); h != "" {
			eff.Subject = "domain:" + h
		}
	default:
		write := writes(name)
		if in.Path != "" {
			eff.Paths = append(eff.Paths, tool.Path{Given: in.Path, Write: write})
		}
		for _, f := range in.Files {
			eff.Paths = append(eff.Paths, tool.Path{Given: f.Path, Write: write})
		}
	}
	return eff, true
}

// host is a URL's host in lower case, "" where it has none or more than one
// reading: a backslash or a space is a path to some clients and a host to
// others.
func host(s string) string {
	if strings.ContainsAny(s, "\\ \t\r\n") {
		return ""
	}
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
}

// optsOut says that a bash call asks to run outside the sandbox.
func optsOut(c tool.Call) bool {
	var in struct{ Sandbox *bool }
	return json.Unmarshal(c.Input, &in) == nil && in.Sandbox != nil && !*in.Sandbox
}

// AllowCould says whether an allow rule could answer this question, so that
// "always" makes sense: every open reason must be one that rules answer, and
// a shell line must be one that patterns can match.
func (p *Policy) AllowCould(d event.Decision) bool {
	if d.Verdict != event.Ask && !d.Unanswered {
		return false
	}
	reasons := d.Reasons
	if len(reasons) == 0 {
		reasons = []string{string(d.Stage) + ":"}
	}
	for _, r := range reasons {
		stage, _, _ := strings.Cut(r, ":")
		switch event.Stage(stage) {
		case event.StageUndeclared, event.StageOutside, event.StageSources, event.StageNetwork, event.StageDefault:
		default:
			return false
		}
	}
	if d.Tool != "bash" {
		return true
	}
	var in struct{ Command string }
	if json.Unmarshal(d.Input, &in) != nil {
		return false
	}
	line, err := command.Parse(in.Command)
	if err != nil {
		return false
	}
	for i, s := range line.Segments {
		if i < len(d.Segments) && d.Segments[i].Verdict == event.Ask && s.Dynamic != "" {
			return false
		}
	}
	return true
}
