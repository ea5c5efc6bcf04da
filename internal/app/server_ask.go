package app

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"larva.dev/larva/internal/agent"
	"larva.dev/larva/internal/event"
)

// hear lets the servers reach the run's person, and its model.
func (c *crew) hear(l *agent.Loop, ask func(context.Context, string, []string) (string, bool)) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tell, c.ask = l.Tell, ask
	if c.lend != nil {
		c.sampler = c.lend(l)
	}
}

// told passes on what a server says of its work, once a second at most.
func (c *crew) told(server, code, text string) {
	c.mu.Lock()
	tell := c.tell
	soon := code == "progress" && time.Since(c.last[server]) < time.Second
	if !soon {
		c.last[server] = time.Now()
	}
	c.mu.Unlock()
	if tell != nil && !soon {
		tell(event.Notice{Code: "mcp_" + code, Text: server + ": " + firstLine(text)})
	}
}

// elicit puts a server's question to the person, a field after the other.
func (c *crew) elicit(ctx context.Context, server, message string, fields json.RawMessage) (map[string]any, bool) {
	c.mu.Lock()
	ask := c.ask
	c.mu.Unlock()
	if ask == nil {
		return nil, false
	}
	var form struct {
		Properties map[string]struct {
			Type, Title, Description string
			Enum                     []string
		}
		Required []string
	}
	if err := json.Unmarshal(fields, &form); err != nil {
		return nil, false
	}
	head := "The MCP server " + server + " asks: " + message
	out := map[string]any{}
	if len(form.Properties) == 0 {
		answer, ok := ask(ctx, head, []string{"yes", "no"})
		return out, ok && answer == "yes"
	}
	for _, name := range sortedKeys(form.Properties) {
		f := form.Properties[name]
		what := head + "\n" + name
		if f.Description != "" || f.Title != "" {
			what += ": " + strings.TrimSpace(f.Title+" "+f.Description)
		}
		options := f.Enum
		if f.Type == "boolean" {
			options = []string{"true", "false"}
		}
		answer, ok := ask(ctx, what, options)
		if !ok {
			return nil, false
		}
		v, ok := typedAs(f.Type, answer)
		if !ok {
			return nil, false
		}
		out[name] = v
	}
	return out, true
}

func typedAs(kind, text string) (any, bool) {
	switch kind {
	case "boolean", "number", "integer":
		var v any
		if json.Unmarshal([]byte(strings.TrimSpace(text)), &v) != nil {
			return nil, false
		}
		switch v.(type) {
		case bool:
			return v, kind == "boolean"
		case float64:
			return v, kind != "boolean"
		}
		return nil, false
	}
	return text, true
}
