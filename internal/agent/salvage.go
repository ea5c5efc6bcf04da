package agent

import (
	"encoding/json"
	"regexp"
	"strings"
	"sync"

	"larva.dev/larva/internal/model"
)

// Weak models write their calls as text: a tag and a JSON object. Such text
// becomes a real call, which is judged like any other, only where it names a
// tool that is offered, stands in no code block, and the answer has no call of
// its own. Everything else stays text.
const (
	callOpen  = "<tool_call>"
	callClose = "</tool_call>"
	fence     = "```"
)

// salvage turns a message's text calls into calls and says whether it did.
func salvage(m *model.Message, offers func(string) bool) bool {
	var blocks []model.Block
	found := false
	for _, b := range m.Blocks {
		if b.Call != nil {
			return false
		}
		if b.Text == "" {
			blocks = append(blocks, b)
			continue
		}
		g := gate{offers: offers}
		kept := g.write(b.Text) + g.end(true)
		if len(g.calls) == 0 {
			blocks = append(blocks, b)
			continue
		}
		found = true
		if kept = strings.TrimRight(kept, " \t\r\n"); kept != "" {
			blocks = append(blocks, model.Block{Text: kept})
		}
		for i := range g.calls {
			blocks = append(blocks, model.Block{Call: &g.calls[i]})
		}
	}
	if found {
		m.Blocks = blocks
	}
	return found
}

// gate keeps text calls off the stream: write takes a piece of the answer and
// gives what may be shown, end the rest. What might become a tag is held until
// it is known. The pieces' sizes make no difference to what comes out.
type gate struct {
	offers func(name string) bool
	calls  []model.Call

	pending string // not yet decided on
	tried   int    // length of pending when its last closing tag was tried
	fences  int    // code fences in what was let through, plus its tail:
	tail    string // the last bytes let through, to count a fence that is split
	swallow []string
}

func (g *gate) write(s string) string {
	g.pending += s
	return g.let(false)
}

// end gives what is still held. salvaged says that the calls were taken; else
// their text comes after all.
func (g *gate) end(salvaged bool) string {
	out := g.let(true)
	if !salvaged {
		out += strings.Join(g.swallow, "")
	}
	return out
}

// let decides on pending as far as it can.
func (g *gate) let(last bool) string {
	var out strings.Builder
	pass := func(n int) {
		g.count(g.pending[:n])
		out.WriteString(g.pending[:n])
		g.pending, g.tried = g.pending[n:], 0
	}
	for {
		i := strings.Index(g.pending, callOpen)
		if i < 0 {
			keep := 0
			if !last {
				keep = begins(g.pending, callOpen)
			}
			pass(len(g.pending) - keep)
			return out.String()
		}
		pass(i)
		if g.quoted() {
			pass(len(callOpen))
			continue
		}
		if !last && !strings.Contains(g.pending[min(len(g.pending), max(g.tried-len(callClose), 0)):], callClose) {
			g.tried = len(g.pending)
			return out.String()
		}
		calls, n := textCalls(g.pending[len(callOpen):], g.offers, last)
		switch {
		case n < 0: // the closing tag stood inside a string
			g.tried = len(g.pending)
			return out.String()
		case len(calls) == 0:
			pass(len(callOpen))
		default:
			g.calls = append(g.calls, calls...)
			g.swallow = append(g.swallow, g.pending[:len(callOpen)+n])
			g.pending, g.tried = g.pending[len(callOpen)+n:], 0
		}
	}
}

// count keeps the number of code fences in what was let through.
func (g *gate) count(s string) {
	seen := g.tail + s
	n := strings.Count(seen, fence)
	g.fences += n
	if i := strings.LastIndex(seen, fence); i >= 0 {
		seen = seen[i+len(fence):]
	}
	g.tail = seen[max(0, len(seen)-len(fence)+1):]
}

// quoted says that the next byte stands in code.
func (g *gate) quoted() bool { return g.fences%2 == 1 || strings.HasSuffix(g.tail, "`") }

// begins is the length of the longest end of s that tag begins with.
func begins(s, tag string) int {
	for n := min(len(s), len(tag)-1); n > 0; n-- {
		if strings.HasSuffix(s, tag[:n]) {
			return n
		}
	}
	return 0
}

// textCalls reads what stands behind an opening tag: the calls, and how many
// bytes they take with the closing tag. No calls: it is text. -1: more of it
// must come, which can only be where it is not the last.
func textCalls(s string, offers func(string) bool, last bool) ([]model.Call, int) {
	dec := json.NewDecoder(strings.NewReader(s))
	var raw json.RawMessage
	if err := dec.Decode(&raw); err != nil {
		return brokenCall(s, offers, last)
	}
	n := int(dec.InputOffset())
	rest := strings.TrimLeft(s[n:], " \t\r\n")
	if strings.HasPrefix(rest, callClose) {
		n = len(s) - len(rest) + len(callClose)
	} else if !last && strings.HasPrefix(callClose, rest) {
		return nil, -1
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		list = []json.RawMessage{raw}
	}
	var out []model.Call
	for _, item := range list {
		c, ok := textCall(item)
		if !ok || !offers(c.Tool) {
			return nil, 0
		}
		out = append(out, c)
	}
	return out, n
}

var calledName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*\{\s*"(?:name|tool|function)"\s*:\s*"([A-Za-z0-9_.-]{1,128})"`)
})

// brokenCall is a call whose JSON does not read: where it names an offered
// tool the model is told so, as for any other call.
func brokenCall(s string, offers func(string) bool, last bool) ([]model.Call, int) {
	m := calledName().FindStringSubmatch(s)
	if m == nil || !offers(m[1]) {
		return nil, 0
	}
	body, n := s, len(s)
	switch i := strings.Index(s, callClose); {
	case i >= 0 && (last || !unfinished(s)):
		body, n = s[:i], i+len(callClose)
	case !last:
		return nil, -1
	}
	return []model.Call{{Tool: m[1], Broken: strings.TrimSpace(body)}}, n
}

// unfinished says that s ends within a JSON value that is sound so far.
func unfinished(s string) bool {
	var raw json.RawMessage
	err := json.NewDecoder(strings.NewReader(s)).Decode(&raw)
	return err != nil && strings.Contains(err.Error(), "unexpected EOF")
}

// textCall reads one call. Models name the two parts in different ways.
func textCall(raw json.RawMessage) (model.Call, bool) {
	var c map[string]json.RawMessage
	if json.Unmarshal(raw, &c) != nil {
		return model.Call{}, false
	}
	if inner, ok := c["function"]; ok && len(inner) > 0 && inner[0] == '{' {
		return textCall(inner)
	}
	var out model.Call
	for _, key := range []string{"name", "tool", "function"} {
		if json.Unmarshal(c[key], &out.Tool) == nil && out.Tool != "" {
			break
		}
	}
	if out.Tool == "" {
		return out, false
	}
	written := ""
	for _, key := range []string{"arguments", "parameters", "input", "args"} {
		if v, ok := c[key]; ok {
			if json.Unmarshal(v, &written) != nil {
				written = string(v)
			}
			break
		}
	}
	if strings.TrimSpace(written) == "null" {
		written = ""
	}
	out.Input, out.Broken = model.Input(written)
	return out, true
}
