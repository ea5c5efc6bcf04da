package app

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"larva.dev/larva/internal/agent"
	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/permission"
	"larva.dev/larva/internal/tool"
)

// maxCallLine bounds one line of calls to explain.
const maxCallLine = 1 << 20

// Explain judges one call, or one a line, and gives each decision to each.
// Hooks and asking are off: it is Loop.Judge and nothing more.
func (a *App) Explain(ctx context.Context, in ExplainInput, each func(event.Decision) error) error {
	s, err := a.stand(ctx, about{unasked: true, persona: in.Persona, variant: in.Variant, addDirs: in.AddDirs,
		flags: flags{profile: in.Profile, mode: in.Mode, allow: in.Allow, ask: in.Ask, deny: in.Deny}})
	if err != nil {
		return err
	}
	l := &agent.Loop{Tools: s.tools, Policy: s.policy, Known: s.known}
	each = withJudge(s.policy, each)
	if in.Calls == nil {
		return s.explainOne(ctx, l, in.Tool, inputOf(in.Tool, in.Input), each)
	}
	return s.explainLines(ctx, l, in.Calls, each)
}

// withJudge adds to a question of mode auto that a run would put it to a model
// first: to explain is to ask nobody.
func withJudge(p *permission.Policy, each func(event.Decision) error) func(event.Decision) error {
	return func(d event.Decision) error {
		if p.AutoMay(d) {
			d.Reason += "; in a run the judge of mode auto would be asked first"
		}
		return each(d)
	}
}

func (s *stand) explainLines(ctx context.Context, l *agent.Loop, calls io.Reader, each func(event.Decision) error) error {
	sc := bufio.NewScanner(calls)
	sc.Buffer(nil, maxCallLine)
	for n := 1; sc.Scan(); n++ {
		line := strings.TrimSpace(sc.Text())
		if line == "" {
			continue
		}
		var c struct {
			Tool  string          `json:"tool"`
			Input json.RawMessage `json:"input"`
		}
		if err := json.Unmarshal([]byte(line), &c); err != nil || c.Tool == "" {
			return diag.Usage(`line %d is no {"tool","input"} object`, n).With("line", n)
		}
		input := c.Input
		var bare string
		if json.Unmarshal(input, &bare) == nil {
			input = inputOf(c.Tool, bare)
		}
		if err := s.explainOne(ctx, l, c.Tool, input, each); err != nil {
			if e := diag.As(err); e.Code == diag.InvalidInput {
				e.Message = fmt.Sprintf("line %d: %s", n, e.Message)
				return e.With("line", n)
			}
			return err
		}
	}
	if errors.Is(sc.Err(), bufio.ErrTooLong) {
		return diag.Usage("a line is longer than %d bytes", maxCallLine)
	}
	return sc.Err()
}

func (s *stand) explainOne(ctx context.Context, l *agent.Loop, name string, input json.RawMessage, each func(event.Decision) error) error {
	if d := s.without(name); d != nil {
		if _, known := permission.KnownEffects(name, input); known {
			return each(event.Decision{Tool: name, Input: input, Verdict: event.Deny, Stage: event.StageCeiling,
				Reason: d.Shown + " does not give its agent " + name + ", so a run does not offer it"})
		}
	}
	j := l.Judge(ctx, tool.Call{ID: "explain", Tool: name, Input: input})
	if j.Fault != nil {
		return diag.Usage("%s", forPerson(j.Fault.Output)).With("tool", name).
			WithHint("larva permission explain --help shows how a call is written")
	}
	return each(j.Decision)
}

// forPerson takes from a fault's text what is meant for the model alone: its
// code and the schema.
func forPerson(text string) string {
	if code, rest, ok := strings.Cut(text, ": "); ok && code == strings.ToUpper(code) {
		text = rest
	}
	text, _, _ = strings.Cut(text, " The schema is ")
	return strings.TrimSuffix(strings.TrimSpace(text), ".")
}

// bare names the field that a bare word fills, and what else the tool's
// schema requires, where a person does not write JSON.
var bare = map[string]struct {
	field string
	rest  map[string]any
}{
	"bash":           {field: "command"},
	"read":           {field: "path"},
	"write":          {field: "path", rest: map[string]any{"content": ""}},
	"edit":           {field: "path", rest: map[string]any{"old_string": "a", "new_string": "b"}},
	"multi_edit":     {field: "path", rest: map[string]any{"edits": []any{map[string]any{"old_string": "a", "new_string": "b"}}}},
	"glob":           {field: "path", rest: map[string]any{"pattern": "**"}},
	"grep":           {field: "path", rest: map[string]any{"pattern": "."}},
	"web_fetch":      {field: "url"},
	"web_search":     {field: "query"},
	"skill":          {field: "name"},
	"task":           {field: "subagent_type", rest: map[string]any{"description": "", "prompt": ""}},
	"exit_plan_mode": {field: "plan"},
}

// inputOf reads INPUT: JSON, or for tools with one main field that field's
// value. For bash only an object with a command counts as JSON: `{ ls; }` is
// a shell line.
func inputOf(name, text string) json.RawMessage {
	var o map[string]json.RawMessage
	isObject := json.Unmarshal([]byte(text), &o) == nil && o != nil
	b, ok := bare[name]
	if isObject {
		if _, has := o["command"]; name != "bash" || has {
			return json.RawMessage(text)
		}
	}
	if !ok {
		return json.RawMessage(text)
	}
	m := map[string]any{b.field: text}
	for k, v := range b.rest {
		m[k] = v
	}
	data, err := json.Marshal(m)
	if err != nil { // a string and constants always marshal
		return json.RawMessage(text)
	}
	return data
}
