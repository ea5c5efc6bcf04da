// Package mcp offers what MCP servers have to an agent: their tools under names
// of ours, resources, and, where there are many tools, a search over them.
package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"larva.dev/larva/internal/capability"
	"larva.dev/larva/internal/mcpclient"
	"larva.dev/larva/internal/tool"
)

// Client is what calls reach the servers through: a *mcpclient.Manager.
type Client interface {
	Call(ctx context.Context, server, tool string, args json.RawMessage, readOnly bool) (mcpclient.Result, error)
	Resources(ctx context.Context, server string) ([]mcpclient.Resource, error)
	Read(ctx context.Context, server, uri string) ([]mcpclient.Content, error)
}

const (
	// maxName is how long a tool's name may be: services refuse longer ones, and
	// with them every other tool.
	maxName = 64
	// Where there are more tools than many, or their definitions take more than
	// large bytes (some 6,000 tokens), a search stands in their place.
	many  = 30
	large = 24_000

	maxDescription = 4000 // characters of a tool's description
)

// Prefix begins the names of all of a server's tools, prompts and rules.
func Prefix(server string) string { return "mcp__" + part(strings.ReplaceAll(part(server), "__", "_")) }

// Name is what a tool of a server is called here: mcp__server__tool, of
// letters, digits, _ and - only, at most 64 of them. A name that had to be cut
// ends with a hash of the whole.
func Name(server, name string) string {
	full := Prefix(server) + "__" + part(name)
	if len(full) <= maxName {
		return full
	}
	return cut(full, server, name)
}

func cut(full, server, name string) string {
	end := "_" + hash(server, name)
	return full[:min(len(full), maxName-len(end))] + end
}

func hash(server, name string) string {
	sum := sha256.Sum256([]byte(server + "\x00" + name))
	return hex.EncodeToString(sum[:4])
}

// part leaves what a name may hold.
func part(s string) string {
	out := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, s)
	if out == "" {
		return "_"
	}
	return out
}

// Tools are those of all connected servers, each under a name that no other
// has, with list_mcp_resources and read_mcp_resource where a server has
// resources. Where there are many, they are reached through tool_search and
// call_tool.
func Tools(c Client, servers []mcpclient.Status) []tool.Tool {
	var own []tool.Tool
	taken := map[string]bool{}
	size := 0
	var withResources []string
	for _, s := range servers {
		if s.State != mcpclient.Connected {
			continue
		}
		if s.Resources {
			withResources = append(withResources, s.Name)
		}
		for _, t := range s.Tools {
			name := Name(s.Name, t.Name)
			if taken[name] {
				name = cut(name, s.Name, t.Name)
			}
			if taken[name] {
				continue // the same tool twice
			}
			taken[name] = true
			one := &serverTool{client: c, server: s.Name, tool: t, name: name}
			own = append(own, one)
			size += len(name) + len(one.description()) + len(t.Schema)
		}
	}
	var out []tool.Tool
	if len(own) > many || size > large {
		index := newIndex(own)
		for _, t := range own {
			t.(*serverTool).hidden = true
		}
		out = append(out, searchTool{index}, callTool{index})
	}
	out = append(out, own...)
	if len(withResources) > 0 {
		out = append(out, listTool{c, withResources}, readTool{c, withResources})
	}
	return out
}

// serverTool is one tool of a server.
type serverTool struct {
	client Client
	server string
	tool   mcpclient.Tool
	name   string
	hidden bool
}

func (t *serverTool) description() string {
	text := strings.ToValidUTF8(t.tool.Description, "\uFFFD")
	if text == "" {
		text = t.tool.Title
	}
	if r := []rune(text); len(r) > maxDescription {
		text = string(r[:maxDescription]) + "…"
	}
	return text
}

func (t *serverTool) Spec() tool.Spec {
	return tool.Spec{Name: t.name, Description: t.description(), Schema: t.tool.Schema, Parallel: t.tool.ReadOnly, Endless: true, Hidden: t.hidden}
}

func (t *serverTool) Effects(tool.Call) tool.Effects {
	p := capability.ReadWrite
	switch {
	case t.tool.ReadOnly:
		p = capability.ReadOnly
	case t.tool.Destructive:
		p = capability.Destructive
	}
	return tool.Effects{Needs: []capability.Need{{Family: "mcp", Posture: p}}, ReadOnly: t.tool.ReadOnly, Touches: true}
}

func (t *serverTool) Run(ctx context.Context, c tool.Call) (tool.Result, error) {
	r, err := t.client.Call(ctx, t.server, t.tool.Name, c.Input, t.tool.ReadOnly)
	if err != nil {
		return tool.Fail("%s: the server %s failed: %v", t.name, t.server, err), nil
	}
	return shown(r), nil
}
