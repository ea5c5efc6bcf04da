package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"larva.dev/larva/internal/nearest"
	"larva.dev/larva/internal/tool"
)

const (
	defaultResults = 5
	maxResults     = 20
)

// index is the tools that are reached through a search.
type index struct {
	tools []tool.Tool
	specs []tool.Spec
	words [][]string // of name and description, in lower case
}

func newIndex(tools []tool.Tool) *index {
	x := &index{tools: tools}
	for _, t := range tools {
		s := t.Spec()
		x.specs = append(x.specs, s)
		x.words = append(x.words, wordsOf(s.Name+" "+s.Description))
	}
	return x
}

func wordsOf(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r > 127) })
}

// find gives the tools that fit a query, the best first: a word of the name
// counts more than one of the description, a whole word more than a part.
func (x *index) find(query string, most int) []tool.Spec {
	type hit struct{ i, score int }
	var hits []hit
	asked := wordsOf(query)
	for i, words := range x.words {
		inName := len(wordsOf(x.specs[i].Name))
		score := 0
		for _, q := range asked {
			best := 0
			for j, w := range words {
				one := 0
				switch {
				case w == q:
					one = 4
				case strings.HasPrefix(w, q) || strings.HasPrefix(q, w) && len(w) > 3:
					one = 2
				case len(q) > 3 && strings.Contains(w, q):
					one = 1
				}
				if j < inName {
					one *= 2
				}
				best = max(best, one)
			}
			score += best
		}
		if score > 0 {
			hits = append(hits, hit{i, score})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return b.score - a.score })
	var out []tool.Spec
	for _, h := range hits[:min(len(hits), most)] {
		out = append(out, x.specs[h.i])
	}
	return out
}

func (x *index) names() []string {
	out := make([]string, len(x.specs))
	for i, s := range x.specs {
		out[i] = s.Name
	}
	return out
}

type searchTool struct{ index *index }

func (t searchTool) Spec() tool.Spec {
	servers := map[string]int{}
	var order []string
	for _, s := range t.index.specs {
		server, _, _ := strings.Cut(strings.TrimPrefix(s.Name, "mcp__"), "__")
		if servers[server]++; servers[server] == 1 {
			order = append(order, server)
		}
	}
	var b strings.Builder
	b.WriteString("Finds tools of MCP servers by what they are for; call_tool calls one. There are:")
	for _, s := range order {
		fmt.Fprintf(&b, "\n- %s: %d tools", s, servers[s])
	}
	return tool.Spec{Name: "tool_search", Description: b.String(), Parallel: true, Schema: json.RawMessage(`{"type":"object","properties":{
"query":{"type":"string","minLength":1,"description":"Words of the name or of what it does"},
"max_results":{"type":"integer","minimum":1,"maximum":20}},"required":["query"],"additionalProperties":false}`)}
}

func (searchTool) Effects(tool.Call) tool.Effects { return tool.Effects{ReadOnly: true} }

func (t searchTool) Run(_ context.Context, c tool.Call) (tool.Result, error) {
	in := struct {
		Query string
		Most  int `json:"max_results"`
	}{Most: defaultResults}
	if err := json.Unmarshal(c.Input, &in); err != nil {
		return tool.Fail("tool_search: arguments: %v", err), nil
	}
	found := t.index.find(in.Query, min(in.Most, maxResults))
	if len(found) == 0 {
		return tool.Result{Output: "No tool fits. Use other words, or the name of a server."}, nil
	}
	var b strings.Builder
	for _, s := range found {
		line, _ := json.Marshal(map[string]any{"tool": s.Name, "description": s.Description, "arguments": s.Schema})
		b.Write(append(line, '\n'))
	}
	return tool.Result{Output: b.String()}, nil
}

// callTool stands for the tool that it names: rules, hooks and events see that
// one.
type callTool struct{ index *index }

func (callTool) Spec() tool.Spec {
	return tool.Spec{Name: "call_tool", Endless: true, Description: "Calls a tool that tool_search has found, with the arguments that it takes.",
		Schema: json.RawMessage(`{"type":"object","properties":{"tool":{"type":"string","minLength":1},"arguments":{"type":"object"}},"required":["tool"],"additionalProperties":false}`)}
}

// For gives the call that is meant.
func (t callTool) For(c tool.Call) (tool.Call, *tool.Result) {
	var in struct {
		Tool      string
		Arguments json.RawMessage
	}
	if err := json.Unmarshal(c.Input, &in); err != nil {
		r := tool.Fail("call_tool: arguments: %v", err)
		return c, &r
	}
	if len(in.Arguments) == 0 {
		in.Arguments = json.RawMessage(`{}`)
	}
	if names := t.index.names(); !slices.Contains(names, in.Tool) {
		r := tool.Fail("call_tool: there is no tool %q; tool_search finds them", in.Tool)
		if near := nearest.Name(in.Tool, names); near != "" {
			r = tool.Fail("call_tool: there is no tool %q; did you mean %s?", in.Tool, near)
		}
		r.Fault = "unknown_tool"
		return c, &r
	}
	return tool.Call{ID: c.ID, Tool: in.Tool, Input: in.Arguments}, nil
}

// Effects and Run are never asked: the call is another tool's.
func (callTool) Effects(tool.Call) tool.Effects { return tool.Effects{} }

func (callTool) Run(context.Context, tool.Call) (tool.Result, error) {
	return tool.Fail("call_tool calls nothing by itself"), nil
}
