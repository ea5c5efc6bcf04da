package opencode

import (
	"slices"
	"strings"

	"larva.dev/larva/internal/spec"
)

// Action is what a rule of OpenCode's says.
type Action string

// The actions, from the narrowest.
const (
	Deny  Action = "deny"
	Ask   Action = "ask"
	Allow Action = "allow"
)

// rank orders actions; what is no action ranks as deny.
func (a Action) rank() int { return slices.Index([]Action{Deny, Ask, Allow}, a) }

// Wider says that a lets more pass than b.
func (a Action) Wider(b Action) bool { return a.rank() > b.rank() }

// Lower is the narrower of the two.
func Lower(a, b Action) Action {
	if a.Wider(b) {
		return b
	}
	return a
}

// Rule is one line of the list that OpenCode judges by: of all rules whose
// Permission and Pattern match a call the last one decides.
type Rule struct {
	Permission string `json:"permission"`
	Pattern    string `json:"pattern"`
	Action     Action `json:"action"`
}

// Rules is such a list.
type Rules []Rule

// Evaluate gives what the list says of a permission and a pattern: ask where
// nothing matches, as OpenCode does.
func (rs Rules) Evaluate(permission, pattern string) Action {
	for _, r := range slices.Backward(rs) {
		if Match(permission, r.Permission) && Match(pattern, r.Pattern) {
			return r.Action
		}
	}
	return Ask
}

// Match is OpenCode's comparison: * is anything, also nothing and newlines, ?
// one character, and " *" at the end is optional. A backslash is a slash.
func Match(text, pattern string) bool {
	text, pattern = strings.ReplaceAll(text, `\`, "/"), strings.ReplaceAll(pattern, `\`, "/")
	if front, ok := strings.CutSuffix(pattern, " *"); ok && wild(text, front) {
		return true
	}
	return wild(text, pattern)
}

func wild(text, pattern string) bool {
	t, p := []rune(text), []rune(pattern)
	ti, pi, star, mark := 0, 0, -1, 0
	for ti < len(t) {
		switch {
		case pi < len(p) && p[pi] == '*':
			star, mark = pi, ti
			pi++
		case pi < len(p) && (p[pi] == '?' || p[pi] == t[ti]):
			pi++
			ti++
		case star >= 0:
			pi = star + 1
			mark++
			ti = mark
		default:
			return false
		}
	}
	for pi < len(p) && p[pi] == '*' {
		pi++
	}
	return pi == len(p)
}

// Table is an agent's permission object: its keys in order, and under each
// either one action or actions by pattern in order.
type Table struct {
	keys []key
}

type key struct {
	name string
	rows []Rule // Permission is name; one row with pattern "*" may be written short
}

// set replaces a key by one action.
func (t *Table) set(name string, a Action) {
	t.put(name, []Rule{{name, "*", a}})
}

// put replaces a key by rows. Of a pattern that is there twice the last stands,
// as it would in OpenCode.
func (t *Table) put(name string, all []Rule) {
	last := map[string]int{}
	for i := range all {
		last[all[i].Pattern] = i
	}
	rows := make([]Rule, 0, len(last))
	for i, r := range all {
		if last[r.Pattern] == i {
			rows = append(rows, Rule{name, r.Pattern, r.Action})
		}
	}
	for i := range t.keys {
		if t.keys[i].name == name {
			t.keys[i].rows = rows
			return
		}
	}
	t.keys = append(t.keys, key{name, rows})
}

// get gives a key's rows, nil where it is not there.
func (t *Table) get(name string) []Rule {
	for _, k := range t.keys {
		if k.name == name {
			return k.rows
		}
	}
	return nil
}

// Rules is the table as the list that OpenCode makes of it.
func (t *Table) Rules() Rules {
	var out Rules
	for _, k := range t.keys {
		out = append(out, k.rows...)
	}
	return out
}

// Object is the table as JSON. JavaScript puts keys that look like whole
// numbers first, so no pattern may: see exactly.
func (t *Table) Object() *spec.Object {
	out := &spec.Object{}
	for _, k := range t.keys {
		if len(k.rows) == 1 && k.rows[0].Pattern == "*" {
			out.Members = append(out.Members, spec.Member{Key: k.name, Value: string(k.rows[0].Action)})
			continue
		}
		rows := &spec.Object{}
		for _, r := range k.rows {
			rows.Members = append(rows.Members, spec.Member{Key: r.Pattern, Value: string(r.Action)})
		}
		out.Members = append(out.Members, spec.Member{Key: k.name, Value: rows})
	}
	return out
}

// readTable reads a permission of a configuration: an action for everything,
// or an object. What OpenCode would not understand is refused.
func readTable(v any) (*Table, bool) {
	t := &Table{}
	switch v := v.(type) {
	case nil:
		return t, true
	case string:
		if Action(v).rank() < 0 {
			return nil, false
		}
		t.set("*", Action(v))
		return t, true
	case *spec.Object:
		for _, m := range v.Members {
			rows, ok := readRows(m.Key, m.Value)
			if !ok {
				return nil, false
			}
			t.put(m.Key, rows)
		}
		return t, true
	}
	return nil, false
}

func readRows(name string, v any) ([]Rule, bool) {
	switch v := v.(type) {
	case string:
		return []Rule{{name, "*", Action(v)}}, Action(v).rank() >= 0
	case *spec.Object:
		var rows []Rule
		for _, m := range v.Members {
			s, ok := m.Value.(string)
			if !ok || Action(s).rank() < 0 {
				return nil, false
			}
			rows = append(rows, Rule{name, exactly(m.Key), Action(s)})
		}
		return rows, true
	}
	return nil, false
}

// exactly is a pattern for one word: one that JavaScript would take for a
// whole number gets the optional end, which keeps it where it was written.
func exactly(word string) string {
	if word != "" && strings.Trim(word, "0123456789") == "" {
		return word + " *"
	}
	return word
}
