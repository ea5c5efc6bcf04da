// Package foreign judges a call by the rules of a table as other agents would:
// by what their makers document and what was measured of them. It decides
// nothing for larva; it shows where the same words mean something else.
package foreign

import (
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/permission"
	"larva.dev/larva/internal/profile"
	"larva.dev/larva/internal/tool"
)

// Table is what is judged by.
type Table struct {
	Allow, Ask, Deny []profile.Rule
	Mode             string // ours: default, accept-edits, plan, yolo
	Places           permission.Places
}

// Names lists the agents that are known here.
func Names() []string { return []string{"claude", "opencode"} }

// New gives the judge of one agent. A rule that the agent could not read is an
// error. Decisions carry verdict, reason, rule, origin and segments; the stage
// is the nearest of ours.
func New(as string, t Table) (func(tool.Call) event.Decision, error) {
	switch as {
	case "claude":
		return newClaude(t)
	case "opencode":
		return newOpenCode(t)
	}
	return nil, fmt.Errorf("there is no agent %q; known: %s", as, strings.Join(Names(), ", "))
}

// written is a rule in two parts: our name of the tool, and its pattern.
type written struct {
	profile.Rule
	tool    string
	pattern string // "" for the whole tool
}

func read(r profile.Rule) (written, error) {
	name, pattern, has := strings.Cut(strings.TrimSpace(r.Text), "(")
	if has {
		var ok bool
		if pattern, ok = strings.CutSuffix(pattern, ")"); !ok {
			return written{}, fmt.Errorf("%s: rule %s: the pattern has no closing parenthesis", r.Origin, r.Text)
		}
	}
	tool, ok := permission.ToolName(name)
	if !ok {
		return written{}, fmt.Errorf("%s: rule %s: no tool is called %s", r.Origin, r.Text, name)
	}
	if pattern = strings.TrimSpace(pattern); pattern == "*" {
		pattern = ""
	}
	return written{r, tool, pattern}, nil
}

// facts are what a call names.
type facts struct {
	Command string `json:"command"`
	Path    string `json:"path"`
	URL     string `json:"url"`
	Agent   string `json:"subagent_type"`
	Name    string `json:"name"`
	Files   []struct {
		Path string `json:"path"`
	} `json:"files"`
}

func factsOf(c tool.Call) facts {
	var f facts
	var fields map[string]json.RawMessage
	if json.Unmarshal(c.Input, &fields) != nil {
		return f
	}
	for k, to := range map[string]any{"command": &f.Command, "path": &f.Path, "url": &f.URL, "subagent_type": &f.Agent, "name": &f.Name, "files": &f.Files} {
		if raw, ok := fields[k]; ok {
			_ = json.Unmarshal(raw, to) // of another type: it names nothing
		}
	}
	return f
}

// paths are the files that a call of a file tool names, absolute.
func (f facts) paths(at permission.Places) []string {
	var out []string
	if f.Path != "" || len(f.Files) == 0 {
		out = append(out, absolute(f.Path, at))
	}
	for _, one := range f.Files {
		out = append(out, absolute(one.Path, at))
	}
	return out
}

func absolute(p string, at permission.Places) string {
	switch {
	case p == "~" || strings.HasPrefix(p, "~/"):
		return filepath.Join(at.Home, p[1:])
	case filepath.IsAbs(p):
		return filepath.Clean(p)
	}
	return filepath.Join(at.Cwd, p)
}

func below(dir, p string) bool {
	return dir != "" && (p == dir || strings.HasPrefix(p, strings.TrimSuffix(dir, "/")+"/"))
}

func host(s string) string {
	u, err := url.Parse(s)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}

// wild matches s against a pattern in which only * is special; a last " *" may
// also match nothing.
func wild(pattern, s string) bool {
	if p, ok := strings.CutSuffix(pattern, " *"); ok && wild(p, s) {
		return true
	}
	at, rest, more := strings.Cut(pattern, "*")
	if !strings.HasPrefix(s, at) {
		return false
	}
	if s = s[len(at):]; !more {
		return s == ""
	}
	for {
		part, after, again := strings.Cut(rest, "*")
		if !again {
			return strings.HasSuffix(s, part)
		}
		i := strings.Index(s, part)
		if i < 0 {
			return false
		}
		s, rest = s[i+len(part):], after
	}
}

func isReader(t string) bool { return t == "read" || t == "glob" || t == "grep" || t == "lsp" }

func isWriter(t string) bool {
	return t == "write" || t == "edit" || t == "multi_edit" || t == "write_files" || t == "apply_code_action"
}

func decision(c tool.Call, v event.Verdict, s event.Stage, r *written, format string, args ...any) event.Decision {
	d := event.Decision{Tool: c.Tool, Input: c.Input, Verdict: v, Stage: s, Reason: fmt.Sprintf(format, args...), Segments: []event.Segment{}}
	if r != nil {
		d.Rule, d.Origin = r.Text, r.Origin
	}
	return d
}
