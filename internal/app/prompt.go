package app

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"larva.dev/larva/internal/agent"
	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/frame"
	"larva.dev/larva/internal/mcpclient"
	"larva.dev/larva/internal/permission"
	"larva.dev/larva/internal/prompt"
	"larva.dev/larva/internal/tool"
)

// maxListed is how many names of a mentioned directory the model reads.
const maxListed = 200

// instruct reads the instruction files, where there is a persona to instruct. A
// minimal context has the project's own and not the person's.
func (s *stand) instruct() {
	if s.persona == nil {
		return
	}
	config := s.at.config
	if s.route.Context == "minimal" {
		config = ""
	}
	s.instructions = nil
	files, notices := prompt.Instructions(prompt.Search{Config: config, Dirs: s.at.dirs, Denied: s.policy.ReadDenied, Name: s.at.rel})
	for _, f := range files {
		s.instructions = append(s.instructions, agent.Instruction{Source: f.Source, Text: f.Text})
	}
	s.notices = append(s.notices, notices...)
}

// attach reads what a prompt mentions, through the loop like any call: rules
// and hooks hold for it, and what is read counts as read. A mention that may
// not be read stays prose, and the person is told.
func (s *stand) attach(ctx context.Context, l *agent.Loop, typed string) (string, []tool.Image) {
	var parts []string
	var images []tool.Image
	for i, m := range prompt.Mentions(typed) {
		if text, ok := s.attachResource(ctx, l, i+1, m.Path); ok {
			if text != "" {
				parts = append(parts, text)
			}
			continue
		}
		info, err := os.Stat(s.roots.Resolve(m.Path, false).Real)
		if err != nil {
			continue // prose
		}
		name, input := "read", map[string]any{"path": m.Path}
		if info.IsDir() {
			name, input = "glob", map[string]any{"path": m.Path, "pattern": "*"}
		} else if m.From > 0 {
			input["offset"], input["limit"] = m.From, m.To-m.From+1
		}
		data, err := json.Marshal(input)
		if err != nil {
			continue
		}
		c := tool.Call{ID: fmt.Sprintf("mention_%d", i+1), Tool: name, Input: data}
		if why := s.mayAttach(c, l.Ask != nil); why != "" {
			l.Notice("mention", "@"+m.Path+" is not attached: "+why)
			continue
		}
		r := l.Call(ctx, c)
		if r.IsError {
			l.Notice("mention", "@"+m.Path+" is not attached: "+firstLine(r.Output))
			continue
		}
		images = append(images, r.Images...)
		tag, text := "file", r.Output
		if info.IsDir() {
			tag, text = "directory", firstLines(r.Output, maxListed)
		}
		parts = append(parts, frame.Block(tag, "path", m.Path, text))
	}
	return strings.Join(parts, "\n\n"), images
}

// attachResource reads what "server:uri" names, where such a server is
// connected and has resources; anything else is no mention of one.
func (s *stand) attachResource(ctx context.Context, l *agent.Loop, n int, path string) (text string, ok bool) {
	server, uri, named := strings.Cut(path, ":")
	if !named || uri == "" || s.servers == nil {
		return "", false
	}
	i := slices.IndexFunc(s.servers.Status(), func(st mcpclient.Status) bool {
		return st.Name == server && st.State == mcpclient.Connected && st.Resources
	})
	if i < 0 {
		return "", false
	}
	data, err := json.Marshal(map[string]string{"server": server, "uri": uri})
	if err != nil {
		return "", false
	}
	c := tool.Call{ID: fmt.Sprintf("mention_%d", n), Tool: "read_mcp_resource", Input: data}
	why := s.mayAttach(c, true)
	if why == "" {
		r := l.Call(ctx, c)
		if !r.IsError {
			return frame.Block("resource", "uri", path, r.Output), true
		}
		why = firstLine(r.Output)
	}
	l.Notice("mention", "@"+path+" is not attached: "+why)
	return "", true
}

// mayAttach says why a mention is not read, "" where it is: hooks have their
// say when it is read. What would have to be asked is asked where there is a
// person.
func (s *stand) mayAttach(c tool.Call, person bool) string {
	t, ok := s.tools.Get(c.Tool)
	if !ok {
		return "there is no tool " + c.Tool
	}
	d := s.policy.Judge(c, t.Effects(c), permission.HookSays{})
	if d.Verdict == event.Allow || d.Verdict == event.Ask && person {
		return ""
	}
	return cmp.Or(d.Reason, "it is refused")
}

func firstLine(s string) string { return firstLines(s, 1) }

func firstLines(s string, n int) string {
	lines := strings.SplitN(s, "\n", n+1)
	if len(lines) > n {
		rest := 1 + strings.Count(lines[n], "\n")
		lines = lines[:n]
		if n > 1 {
			lines = append(lines, fmt.Sprintf("(%d more)", rest))
		}
	}
	return strings.Join(lines, "\n")
}
