package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"larva.dev/larva/internal/capability"
	"larva.dev/larva/internal/tool"
)

var reads = tool.Effects{Needs: []capability.Need{{Family: "mcp", Posture: capability.ReadOnly}}, ReadOnly: true, Touches: true}

// listTool lists what servers have to read.
type listTool struct {
	client  Client
	servers []string
}

func (t listTool) Spec() tool.Spec {
	return tool.Spec{Name: "list_mcp_resources", Parallel: true, Endless: true,
		Description: "Lists the resources of the MCP servers (" + strings.Join(t.servers, ", ") + "): what read_mcp_resource can read. An address with {braces} is a template: fill them in.",
		Schema:      json.RawMessage(`{"type":"object","properties":{"server":{"type":"string","description":"Only this server's"}},"additionalProperties":false}`)}
}

func (listTool) Effects(tool.Call) tool.Effects { return reads }

func (t listTool) Run(ctx context.Context, c tool.Call) (tool.Result, error) {
	var in struct{ Server string }
	if err := json.Unmarshal(c.Input, &in); err != nil {
		return tool.Fail("list_mcp_resources: arguments: %v", err), nil
	}
	if in.Server != "" && !slices.Contains(t.servers, in.Server) {
		return t.unknown(in.Server), nil
	}
	var b strings.Builder
	failed := 0
	for _, s := range t.servers {
		if in.Server != "" && s != in.Server {
			continue
		}
		list, err := t.client.Resources(ctx, s)
		if err != nil {
			failed++
			fmt.Fprintf(&b, "%s: cannot be listed: %v\n", s, err)
			continue
		}
		for _, r := range list {
			fmt.Fprintf(&b, "%s\t%s\t%s\n", s, line(r.URI), line(strings.TrimSpace(r.Name+" "+r.Description)))
		}
	}
	if b.Len() == 0 {
		return tool.Result{Output: "(no resources)"}, nil
	}
	return tool.Result{Output: b.String(), IsError: failed > 0 && failed == strings.Count(b.String(), "\n")}, nil
}

func (t listTool) unknown(server string) tool.Result {
	return tool.Fail("no connected server %q has resources; those that have: %s", server, strings.Join(t.servers, ", "))
}

// readTool reads one.
type readTool struct {
	client  Client
	servers []string
}

func (readTool) Spec() tool.Spec {
	return tool.Spec{Name: "read_mcp_resource", Parallel: true, Endless: true,
		Description: "Reads a resource of an MCP server.",
		Schema:      json.RawMessage(`{"type":"object","properties":{"server":{"type":"string","minLength":1},"uri":{"type":"string","minLength":1}},"required":["server","uri"],"additionalProperties":false}`)}
}

func (readTool) Effects(tool.Call) tool.Effects { return reads }

func (t readTool) Run(ctx context.Context, c tool.Call) (tool.Result, error) {
	var in struct{ Server, URI string }
	if err := json.Unmarshal(c.Input, &in); err != nil {
		return tool.Fail("read_mcp_resource: arguments: %v", err), nil
	}
	if !slices.Contains(t.servers, in.Server) {
		return listTool(t).unknown(in.Server), nil
	}
	list, err := t.client.Read(ctx, in.Server, in.URI)
	if err != nil {
		return tool.Fail("read_mcp_resource: %s: %v", in.Server, err), nil
	}
	var out tool.Result
	out.Output = strings.Join(Texts(list, &out.Images), "\n")
	if out.Output == "" && len(out.Images) == 0 {
		out.Output = "(empty)"
	}
	return out, nil
}
