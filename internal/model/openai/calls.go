package openai

import (
	"encoding/json"
	"fmt"
	"strings"

	"larva.dev/larva/internal/model"
)

// callDelta is a piece of a tool call, with the fields that the protocol does
// not know.
type callDelta struct {
	index    *int
	id       string
	name     string
	args     string
	call     raw // unknown fields beside function
	function raw // unknown fields within it
}

// UnmarshalJSON keeps what it does not know.
func (c *callDelta) UnmarshalJSON(data []byte) error {
	var top raw
	if err := json.Unmarshal(data, &top); err != nil {
		return err
	}
	if v, ok := top["index"]; ok && string(v) != "null" {
		if err := json.Unmarshal(v, &c.index); err != nil {
			return fmt.Errorf("index of a tool call: %w", err)
		}
	}
	c.id = text(top["id"])
	if err := json.Unmarshal(orNull(top["function"]), &c.function); err != nil {
		return fmt.Errorf("function of a tool call: %w", err)
	}
	c.name = text(c.function["name"])
	c.args = text(c.function["arguments"])
	if c.args == "" {
		// A few services write the object itself instead of its text.
		if v := c.function["arguments"]; len(v) > 0 && v[0] == '{' {
			c.args = string(v)
		}
	}
	for _, known := range []string{"index", "id", "type", "function"} {
		delete(top, known)
	}
	delete(c.function, "name")
	delete(c.function, "arguments")
	c.call = top
	return nil
}

func orNull(v json.RawMessage) json.RawMessage {
	if len(v) == 0 {
		return json.RawMessage("null")
	}
	return v
}

// text is a JSON string's value, "" for anything else.
func text(v json.RawMessage) string {
	var s string
	if json.Unmarshal(v, &s) != nil {
		return ""
	}
	return s
}

// maxCalls bounds one answer; no real batch comes near it.
const maxCalls = 256

// calls are the tool calls of one answer, in the order in which they began.
type calls struct {
	list []*growing
}

type growing struct {
	index    *int
	id, name string
	args     strings.Builder
	extra    extra
}

// add takes in one piece and gives the bytes it kept.
func (c *calls) add(d callDelta) (int, error) {
	g := c.find(d)
	if g == nil {
		if len(c.list) >= maxCalls {
			return 0, &model.Error{Message: fmt.Sprintf("the answer holds more than %d tool calls", maxCalls)}
		}
		g = &growing{index: d.index}
		c.list = append(c.list, g)
	}
	if g.id == "" {
		g.id = d.id
	}
	if g.name == "" {
		g.name = d.name
	}
	g.args.WriteString(d.args)
	kept := len(d.args) + len(d.id) + len(d.name)
	for k, v := range d.call {
		g.extra.Call = with(g.extra.Call, k, v)
		kept += len(k) + len(v)
	}
	for k, v := range d.function {
		g.extra.Function = with(g.extra.Function, k, v)
		kept += len(k) + len(v)
	}
	return kept, nil
}

func with(m raw, k string, v json.RawMessage) raw {
	if m == nil {
		m = raw{}
	}
	m[k] = v
	return m
}

// find gives the call that a piece continues, nil for a new one. The index
// decides where services send a true one; some send none, some send 0 for
// every call, and some a new id with every piece.
func (c *calls) find(d callDelta) *growing {
	if d.id != "" {
		for _, g := range c.list {
			if g.id == d.id && sameIndex(g.index, d.index) {
				return g
			}
		}
	}
	var g *growing
	if d.index != nil {
		for i := len(c.list) - 1; i >= 0 && g == nil; i-- {
			if have := c.list[i].index; have != nil && *have == *d.index {
				g = c.list[i]
			}
		}
	} else if len(c.list) > 0 {
		g = c.list[len(c.list)-1]
	}
	switch {
	case g == nil:
		return nil
	case d.name == "": // a piece without a name never begins a call
		return g
	case d.id != "" && g.id != "" && d.id != g.id:
		return nil
	case d.index == nil && d.id == "" && g.name != "":
		return nil // the only sign of a new call is its name
	case d.id == "" && d.args != "" && g.whole():
		return nil // more would break the arguments: another call without an id
	}
	return g
}

// whole says whether the arguments are a JSON object already.
func (g *growing) whole() bool {
	input, _ := model.Input(g.args.String())
	return g.args.Len() > 0 && input != nil
}

// sameIndex holds unless both are known and differ: some services repeat one
// id for all calls of a batch.
func sameIndex(a, b *int) bool { return a == nil || b == nil || *a == *b }

// finished gives the calls whole. An id that is missing or taken is made up
// from the request's number, so that a transcript never holds it twice.
func (c *calls) finished(provider, asked string, number int) []model.Call {
	seen := map[string]bool{}
	out := make([]model.Call, 0, len(c.list))
	for i, g := range c.list {
		call := model.Call{ID: g.id, Tool: g.name}
		if call.ID == "" || seen[call.ID] {
			call.ID = fmt.Sprintf("call_%d_%d", number, i+1)
		}
		seen[call.ID] = true
		call.Input, call.Broken = model.Input(g.args.String())
		if g.extra.Call != nil || g.extra.Function != nil {
			g.extra.Provider, g.extra.Model = provider, asked
			call.Extra, _ = json.Marshal(g.extra) // RawMessages out of valid JSON
		}
		out = append(out, call)
	}
	return out
}
