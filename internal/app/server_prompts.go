package app

import (
	"context"
	"fmt"
	"strings"

	"larva.dev/larva/internal/agent"
	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/mcpclient"
	"larva.dev/larva/internal/nearest"
	"larva.dev/larva/internal/tool/mcp"
)

// expandServerPrompt gives the text of "/mcp__server__prompt args": arguments
// in order, the last takes the rest.
func (s *stand) expandServerPrompt(ctx context.Context, _ *agent.Loop, name, args string) (string, bool, error) {
	var known []string
	for _, st := range s.servers.Status() {
		for _, p := range st.Prompts {
			full := mcp.Name(st.Name, p.Name)
			known = append(known, full)
			if full != name {
				continue
			}
			values, err := promptArguments(p, args)
			if err != nil {
				return "", true, diag.Usage("/%s: %v", name, err).WithHint("/%s %s", name, promptHint(p))
			}
			list, err := s.servers.Expand(ctx, st.Name, p.Name, values)
			if err != nil {
				return "", true, diag.New(diag.Unsupported, "/%s: the server %s failed: %v", name, st.Name, err).With("server", st.Name).
					WithHint("larva server tools %s says how it is", diag.Word(st.Name))
			}
			return strings.Join(mcp.Texts(list, nil), "\n\n"), true, nil
		}
	}
	e := diag.Usage("there is no command /%s", name).With("command", name)
	if near := nearest.Name(name, known); near != "" {
		return "", true, e.WithHint("did you mean /%s?", near)
	}
	return "", true, e.WithHint("prompts of MCP servers that are connected: %s", joined(append(known, "none else")))
}

func promptHint(p mcpclient.Prompt) string {
	var out []string
	for _, a := range p.Arguments {
		n := strings.ToUpper(a.Name)
		if !a.Required {
			n = "[" + n + "]"
		}
		out = append(out, n)
	}
	return strings.Join(out, " ")
}

func promptArguments(p mcpclient.Prompt, args string) (map[string]string, error) {
	out := map[string]string{}
	rest := strings.TrimSpace(args)
	for i, a := range p.Arguments {
		word := rest
		if i < len(p.Arguments)-1 {
			word, rest, _ = strings.Cut(rest, " ")
			rest = strings.TrimSpace(rest)
		}
		if word == "" {
			if a.Required {
				return nil, fmt.Errorf("%s is missing", a.Name)
			}
			continue
		}
		out[a.Name] = word
	}
	if len(p.Arguments) == 0 && rest != "" {
		return nil, fmt.Errorf("it takes no arguments")
	}
	return out, nil
}
