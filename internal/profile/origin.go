package profile

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// place is where an effective field was written: the layer, and the field's
// path in it, which differs where a list was appended to.
type place struct {
	layer *Layer
	path  string
}

// first names, for the fields that hold more fields, those that one has at
// least: the origin of the whole is that of the first that is there. A name in
// such a path may hold dots, so that searching by prefix would find others'.
var first = map[string][]string{
	"prices":    {"input"},
	"providers": {"api"},
	"roles":     {"model", "fallbacks.0", "context", "isolation", "max_turns", "effort"},
	"servers":   {"type", "command", "url", "disabled"},
}

// OriginOf is where the value at a path of the effective profile was written:
// file:line, the flag, or the layer's name; "" for what nobody said. Path is
// dotted, as in Origins: roles.smart.max_turns, servers.files.args.0.
func (e *Effective) OriginOf(path string) string {
	for at := path; at != ""; at = up(at) {
		p, ok := e.from[at]
		if !ok {
			continue
		}
		if o := p.layer.Origins[p.path+path[len(at):]]; o != "" {
			return o
		}
		return cmp.Or(e.Origins[at], p.layer.origin())
	}
	return ""
}

func up(path string) string {
	i := strings.LastIndexByte(path, '.')
	return path[:max(i, 0)]
}

// note records where an effective field came from.
func (e *Effective) note(l Layer, field string) { e.noteAt(l, field, field) }

func (e *Effective) noteAt(l Layer, field, path string) {
	e.from[field] = place{&l, path}
	e.Origins[field] = l.originOf(path)
}

// originOf is where a layer says a field; of one that holds fields, where the
// first one stands.
func (l Layer) originOf(path string) string {
	if o := l.Origins[path]; o != "" {
		return o
	}
	kind, _, _ := strings.Cut(path, ".")
	for _, name := range first[kind] {
		if o := l.Origins[path+"."+name]; o != "" {
			return o
		}
	}
	var below []string
	for k := range l.Origins {
		if strings.HasPrefix(k, path+".") {
			below = append(below, k)
		}
	}
	if len(below) > 0 {
		return l.Origins[slices.Min(below)]
	}
	return l.origin()
}

func (e *Effective) forget(field string) {
	delete(e.from, field)
	delete(e.Origins, field)
}

// noteItems records the items that are about to be appended to a list of have.
func (e *Effective) noteItems(l Layer, field string, have, more int) {
	for i := range more {
		e.noteAt(l, field+"."+strconv.Itoa(have+i), field+"."+strconv.Itoa(i))
	}
	if more > 0 {
		e.note(l, field)
	}
}

// noteRole records what a layer says of a role, field by field: overRole leaves
// the others as they were.
func (e *Effective) noteRole(l Layer, name string, r Role) {
	at := "roles." + name
	e.note(l, at)
	if r.Model != "" {
		e.forget(at + ".fallbacks") // a model without them has none
	}
	for field, said := range map[string]bool{"model": r.Model != "", "fallbacks": r.Fallbacks != nil, "context": r.Context != "",
		"isolation": r.Isolation != "", "max_turns": r.MaxTurns != 0, "effort": r.Effort != ""} {
		if said {
			e.note(l, at+"."+field)
		}
	}
}

// noteLimits records the limits that a layer has set or changed.
func (e *Effective) noteLimits(l Layer, was, is Limits) {
	for field, changed := range map[string]bool{"max_turns": differs(was.MaxTurns, is.MaxTurns), "max_parallel": differs(was.MaxParallel, is.MaxParallel),
		"max_depth": differs(was.MaxDepth, is.MaxDepth), "time": was.Time != is.Time, "stall": was.Stall != is.Stall,
		"usd": differs(was.USD, is.USD), "tokens": differs(was.Tokens, is.Tokens)} {
		if changed {
			e.note(l, "limits."+field)
		}
	}
}

func differs[N comparable](a, b *N) bool { return b != nil && (a == nil || *a != *b) }
