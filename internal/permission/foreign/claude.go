package foreign

import (
	"slices"
	"strings"

	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/permission"
	"larva.dev/larva/internal/profile"
	"larva.dev/larva/internal/tool"
)

// claude is Claude Code: deny before ask before allow; path rules of Edit and
// Read only; shell lines split into commands whose text is compared.
type claude struct {
	Table
	deny, ask, allow []claudeRule
}

type claudeRule struct {
	written
	file func(path string) bool // a path rule that is consulted
	dead bool                   // a path rule that is not: Write(…), Glob(…)
}

func newClaude(t Table) (func(tool.Call) event.Decision, error) {
	c := &claude{Table: t}
	for _, l := range []struct {
		from      []profile.Rule
		to        *[]claudeRule
		restricts bool
	}{{t.Deny, &c.deny, true}, {t.Ask, &c.ask, true}, {t.Allow, &c.allow, false}} {
		for _, r := range l.from {
			w, err := read(r)
			if err != nil {
				return nil, err
			}
			one, err := claudeReads(w, l.restricts, t.Places)
			if err != nil {
				return nil, err
			}
			*l.to = append(*l.to, one)
		}
	}
	return c.judge, nil
}

func claudeReads(w written, restricts bool, at permission.Places) (claudeRule, error) {
	one := claudeRule{written: w}
	if w.pattern == "" || !isReader(w.tool) && !isWriter(w.tool) {
		return one, nil
	}
	if w.tool != "edit" && w.tool != "read" {
		one.dead = true
		return one, nil
	}
	file, err := permission.FilePattern(w.Rule, w.pattern, restricts, at)
	if err != nil {
		return one, err
	}
	one.file = file
	if restricts && strings.HasPrefix(w.pattern, "/") && !strings.HasPrefix(w.pattern, "//") {
		// To forbid, /x also counts from the working directory: measured.
		here := w.Rule
		here.Root = at.Cwd
		more, err := permission.FilePattern(here, w.pattern, restricts, at)
		if err != nil {
			return one, err
		}
		one.file = func(p string) bool { return file(p) || more(p) }
	}
	return one, nil
}

// judge decides one call.
func (c *claude) judge(call tool.Call) event.Decision {
	f := factsOf(call)
	if call.Tool == "bash" {
		return c.line(call, f.Command)
	}
	var paths []string
	if isReader(call.Tool) || isWriter(call.Tool) {
		paths = f.paths(c.Places)
	}
	find := func(list []claudeRule, all bool) *written {
		for i, r := range list {
			if r.matches(call, f, paths, all) {
				return &list[i].written
			}
		}
		return nil
	}
	if r := find(c.deny, false); r != nil {
		return decision(call, event.Deny, event.StageDenyRule, r, "deny rule %s", r.Text)
	}
	if r := find(c.ask, false); r != nil {
		return decision(call, event.Ask, event.StageAskRule, r, "ask rule %s", r.Text)
	}
	if r := find(c.allow, true); r != nil {
		return decision(call, event.Allow, event.StageAllowRule, r, "allow rule %s", r.Text)
	}
	return c.byDefault(call, paths)
}

// byDefault is what happens without a rule.
func (c *claude) byDefault(call tool.Call, paths []string) event.Decision {
	inside := true
	for _, p := range paths {
		inside = inside && c.inside(p)
	}
	switch {
	case c.Mode == permission.Yolo:
		return decision(call, event.Allow, event.StageYolo, nil, "bypassPermissions asks nothing")
	case isReader(call.Tool) && inside:
		return decision(call, event.Allow, event.StageReadOnly, nil, "reads inside the working directory need no permission")
	case isWriter(call.Tool) && c.Mode == permission.Plan:
		return decision(call, event.Deny, event.StagePlan, nil, "plan mode does not edit")
	case isWriter(call.Tool) && inside && c.Mode == permission.AcceptEdits:
		return decision(call, event.Allow, event.StageAcceptEdits, nil, "acceptEdits allows edits inside the working directory")
	case slices.Contains([]string{"todo_write", "ask_user", "task", "task_wait", "task_stop", "bash_output", "bash_kill", "list_mcp_resources", "tool_search"}, call.Tool):
		return decision(call, event.Allow, event.StageReadOnly, nil, "the tool needs no permission")
	}
	return decision(call, event.Ask, event.StageDefault, nil, "no rule speaks of it")
}

func (c *claude) inside(p string) bool {
	return below(c.Places.Cwd, p) || slices.ContainsFunc(c.Places.Roots, func(r string) bool { return below(r, p) })
}

// matches says that a rule speaks of a call that is no shell line; all asks
// for every path of it.
func (r claudeRule) matches(call tool.Call, f facts, paths []string, all bool) bool {
	switch {
	case strings.HasPrefix(r.tool, "mcp__"):
		server, one, has := strings.Cut(strings.TrimPrefix(r.tool, "mcp__"), "__")
		if !has || one == "*" {
			return strings.HasPrefix(call.Tool, "mcp__"+server+"__")
		}
		return call.Tool == r.tool
	case r.dead:
		return false
	case r.file != nil:
		if r.tool == "edit" && !isWriter(call.Tool) || r.tool == "read" && !isReader(call.Tool) {
			return false
		}
		hit := func(p string) bool { return r.file(p) }
		if all {
			return len(paths) > 0 && !slices.ContainsFunc(paths, func(p string) bool { return !hit(p) })
		}
		return slices.ContainsFunc(paths, hit)
	case r.tool != call.Tool && !(r.tool == "edit" && r.pattern == "" && isWriter(call.Tool)):
		return false
	case r.pattern == "":
		return true
	case call.Tool == "web_fetch":
		want, ok := strings.CutPrefix(r.pattern, "domain:")
		return ok && strings.EqualFold(want, host(f.URL)) // domain:* and *.x are compared as they stand
	case call.Tool == "task":
		return r.pattern == f.Agent
	case call.Tool == "skill":
		return r.pattern == f.Name || wild(strings.Replace(r.pattern, ":*", " *", 1), f.Name)
	}
	return false
}
