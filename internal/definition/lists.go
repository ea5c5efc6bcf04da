package definition

import (
	"slices"
	"strings"
)

// texts are the entries of a comma string or a list; ok is false where the
// value is neither, or a list holds something else.
func texts(v any) (out []string, ok bool) {
	switch x := v.(type) {
	case string:
		return []string{x}, true
	case []any:
		ok = true
		for _, e := range x {
			if s, text := e.(string); text {
				out = append(out, s)
			} else {
				ok = false
			}
		}
		return out, ok
	}
	return nil, false
}

// tokens are the names of a list. A field that is no YAML is a list only if
// each of its lines is made of names.
func (r *reader) tokens(key string, v any) (out []string, whole bool) {
	list, whole := texts(v)
	for _, s := range list {
		out = append(out, split(s)...)
	}
	if r.f.Raw[key] {
		whole = whole && !slices.ContainsFunc(out, func(t string) bool {
			return t != "*" && tokenForm().FindString(t) == "" && mcpForm().FindString(t) == ""
		})
	}
	return out, whole
}

// maxTokens bounds a list: there are not so many tools, and each unknown one is
// told.
const maxTokens = 500

// allow reads a list of the tools that the agent may use. What stands in it and
// is no tool gives none.
func (r *reader) allow(key string, v any) {
	r.listed = true
	if _, ok := texts(v); !ok && !isList(v) || r.f.Raw[key] && !r.clean(key, v) {
		r.deny("S2", key, "write a list of names: "+key+": Read, Grep", "cannot be read (%s)", shown(v))
		return
	}
	tokens, whole := r.tokens(key, v)
	if !whole {
		r.note("S2", key, "", "holds something that is no name; that part gives no tool")
	}
	if len(tokens) > maxTokens {
		r.deny("S2", key, "", "more than %d names", maxTokens)
		return
	}
	set := &Tools{}
	for _, t := range tokens {
		got := judge(t)
		switch {
		case got.part:
			r.note("S3", key, "write "+bareName(t)+" alone and bind it by a rule of the profile",
				"%s would give a part of a tool, which larva cannot bind here; it gives none", quoted(t))
			continue
		case got.why != "":
			r.note("S3", key, got.hint, "%s %s; it gives no tool", quoted(t), got.why)
		case got.all:
			r.note("F5", key, "name the tools that it needs", `"*" gives every tool`)
		}
		set.add(got)
	}
	if r.d.Tools != nil {
		set = r.d.Tools.meet(set)
	}
	r.d.Tools = set
	if !set.All && len(set.Names) == 0 && !r.d.Denied {
		r.note("", key, "", "names no tool that larva has, so the agent gets no tools")
	}
}

// clean says that a field which is no YAML is nevertheless a list of names.
func (r *reader) clean(key string, v any) bool {
	_, whole := r.tokens(key, v)
	return whole
}

// disallow reads a list of tools that the agent may not use. What cannot be
// read in it could be any tool.
func (r *reader) disallow(key string, v any) {
	tokens, whole := r.tokens(key, v)
	if _, ok := texts(v); !ok || !whole || r.f.Cut[key] || len(tokens) > maxTokens {
		r.deny("S2", key, "write a list of names: "+key+": Bash", "cannot be read (%s)", shown(v))
		return
	}
	if r.d.Disallowed == nil {
		r.d.Disallowed = &Tools{}
	}
	for _, t := range tokens {
		got := judge(t)
		switch {
		case !got.known:
			r.deny("S3", key, got.hint, "%s %s and could forbid anything", quoted(t), got.why)
		case strings.Contains(t, "("):
			r.note("S3", key, "a rule of the profile can deny a part", "%s forbids a part of a tool; the whole tool is taken away", quoted(t))
		}
		got.spawn = nil
		if strings.Contains(t, "(") && len(got.names) == 0 {
			got.names = judge(bareName(t)).names
		}
		r.d.Disallowed.add(got)
	}
}

func isList(v any) bool {
	_, ok := v.([]any)
	return ok
}

func bareName(token string) string {
	name, _, _ := strings.Cut(token, "(")
	return name
}

// quoted shows a token of a file.
func quoted(s string) string { return shown(s) }

// meet is what both sets hold.
func (t *Tools) meet(o *Tools) *Tools {
	switch {
	case t.All:
		return o
	case o.All:
		return t
	}
	out := &Tools{}
	for _, n := range t.Names {
		if o.Has(n) {
			out.Names = append(out.Names, n)
		}
	}
	for _, n := range o.Names {
		if t.Has(n) && !slices.Contains(out.Names, n) {
			out.Names = append(out.Names, n)
		}
	}
	slices.Sort(out.Names)
	switch {
	case t.Spawn == nil:
		out.Spawn = o.Spawn
	case o.Spawn == nil:
		out.Spawn = t.Spawn
	default:
		for _, id := range t.Spawn {
			if slices.Contains(o.Spawn, id) {
				out.Spawn = append(out.Spawn, id)
			}
		}
		if len(out.Spawn) == 0 { // nobody, which an empty list would not say
			out.Names = slices.DeleteFunc(out.Names, func(n string) bool { return strings.HasPrefix(n, "task") })
		}
	}
	return out
}
