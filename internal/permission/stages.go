package permission

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"larva.dev/larva/internal/capability"
	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/tool"
)

// refusals are the reasons to deny a unit.
func (p *Policy) refusals(u *unit, hook HookSays) []finding {
	var out []finding
	add := func(s event.Stage, r *rule, format string, args ...any) {
		out = append(out, finding{s, r, fmt.Sprintf(format, args...)})
	}
	for _, pt := range u.paths {
		if why := p.guard(u, pt); why != "" {
			add(event.StageProtected, nil, "writing to %s is refused in every mode: %s", quote(pt.Given), why)
		}
	}
	if u.frees() {
		add(event.StageProtected, nil, "%s takes away the mark of a run inside a run, which is refused in every mode", quote(u.text))
	}
	for _, pt := range u.paths {
		if !pt.Unknown && (p.secret(pt.Abs) || p.secret(pt.Real)) && !p.secretAllowed(pt) {
			add(event.StageSecret, nil, "%s is a secret file; only an allow rule of your own configuration that names exactly this file opens it", quote(pt.Given))
		}
	}
	p.ceiling(u, add)
	if p.Rules != nil {
		for _, r := range u.restricting(&p.Rules.deny) {
			add(event.StageDenyRule, r, "deny rule %s matches %s", r.where(), quote(u.text))
		}
	}
	if hook.Verdict == event.Deny {
		add(event.StageHook, nil, "%s", hookReason(hook))
	}
	if p.Mode == Plan && !planned(u) {
		add(event.StagePlan, nil, "plan mode only reads; present the plan with exit_plan_mode first")
	}
	if p.Undeclared == "deny" {
		for _, f := range p.undeclared(u) {
			add(event.StageUndeclared, nil, "%s", f)
		}
	}
	return out
}

func hookReason(h HookSays) string {
	s := "hook"
	if h.Name != "" {
		s += " " + h.Name
	}
	if h.Reason != "" {
		return s + ": " + h.Reason
	}
	return s + " decided so"
}

// guard says why a path must not be touched as the unit does, "" where it may.
func (p *Policy) guard(u *unit, pt tool.Path) string {
	if !pt.Write || pt.Unknown {
		return ""
	}
	for _, f := range []string{pt.Abs, pt.Real} {
		if f == "" {
			continue
		}
		if why := p.protected(f); why != "" {
			return why
		}
		if u.removes() && p.holds(f) {
			return "protected paths lie in it"
		}
	}
	return ""
}

// removes says that the command takes away what it names.
func (u *unit) removes() bool {
	if u.seg == nil || len(u.seg.Argv) == 0 {
		return false
	}
	switch path.Base(u.seg.Argv[0].Value) {
	case "rm", "rmdir", "shred", "unlink", "srm", "wipe":
		return true
	}
	return false
}

// frees says that a command changes LARVA_DEPTH, or starts larva without it:
// by it larva knows that it must not widen itself.
func (u *unit) frees() bool {
	if u.seg == nil {
		return false
	}
	for _, a := range u.seg.Assigns {
		if a.Name == "LARVA_DEPTH" {
			return true
		}
	}
	if len(u.seg.Argv) == 0 || path.Base(u.seg.Argv[0].Value) != "larva" {
		return false
	}
	for _, w := range u.seg.Outer {
		if w.Value == "-" || w.Value == "--ignore-environment" || strings.HasPrefix(w.Value, "-i") {
			return strings.Contains(strings.Join(u.seg.Wrappers, " "), "env")
		}
	}
	return false
}

// planned says that plan mode lets a unit pass.
func planned(u *unit) bool {
	switch u.call.Tool {
	case "web_fetch", "web_search", "ask_user", "todo_write", "exit_plan_mode":
		return true
	}
	return u.reader || u.idle
}

// ceiling refuses what is above the persona's declared capabilities.
func (p *Policy) ceiling(u *unit, add func(event.Stage, *rule, string, ...any)) {
	for i, b := range p.bounds() {
		who := "the persona"
		if i > 0 || p.Ceiling == nil {
			who = "the persona that it works for"
		}
		for _, n := range u.needs {
			declared, ok := b.Ceiling[n.Family]
			if ok && n.Posture > declared {
				add(event.StageCeiling, nil, "%s needs %s %s; %s declares %s", quote(u.text), n.Family, n.Posture, who, declared)
			}
		}
		if u.call.Tool != "task" {
			continue
		}
		switch c := b.CanSpawn; {
		case c == nil || !c.All && len(c.IDs) == 0:
			add(event.StageCeiling, nil, "%s may not spawn subagents", who)
		case !c.All && !contains(c.IDs, u.subject):
			add(event.StageCeiling, nil, "%s may not spawn %s", who, quote(u.subject))
		}
	}
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// undeclared lists the families that the unit needs more of than an undeclared
// one grants: reading inside the project.
func (p *Policy) undeclared(u *unit) []string {
	bounds := p.bounds()
	if len(bounds) == 0 {
		return nil
	}
	reading := capability.Highest(u.needs) <= capability.ReadOnly && (u.reader || u.seg == nil && u.broken == "")
	for _, pt := range u.paths {
		if !pt.Unknown && p.Places.Project != "" && !(within(p.Places.Project, pt.Abs) && within(p.Places.Project, pt.Real)) && !within(p.Places.Temp, pt.Real) {
			reading = false
		}
	}
	var out []string
	for _, n := range u.needs {
		declared := true
		for _, b := range bounds {
			_, ok := b.Ceiling[n.Family]
			declared = declared && ok
		}
		if declared || n.Posture <= capability.Undeclared {
			continue
		}
		local := n.Family == "filesystem" || n.Family == "shell" || n.Family == "git"
		if local && reading && n.Posture <= capability.ReadOnly {
			continue
		}
		out = append(out, fmt.Sprintf("%s needs %s %s and the persona does not declare %s", quote(u.text), n.Family, n.Posture, n.Family))
	}
	return out
}

// questions are the reasons to ask that nothing has answered.
func (p *Policy) questions(u *unit, hook HookSays) []finding {
	var out []finding
	add := func(s event.Stage, r *rule, format string, args ...any) {
		out = append(out, finding{s, r, fmt.Sprintf(format, args...)})
	}
	own := p.allowing(u, true)
	if u.broken != "" {
		add(event.StageDefault, nil, "%s", p.whyDefault(u))
	}
	if u.seg != nil && u.seg.Unread && p.Rules != nil && (p.Rules.deny.patterns || p.Rules.ask.patterns) {
		add(event.StageDefault, nil, "%s runs commands that are not known before it runs, so rules that forbid commands cannot be held against them", quote(u.text))
	}
	if p.Mode == Plan && u.call.Tool == "exit_plan_mode" {
		add(event.StagePlanExit, nil, "leaving plan mode is for a person to decide")
	}
	if own == nil && p.Undeclared != "deny" {
		for _, f := range p.undeclared(u) {
			add(event.StageUndeclared, nil, "%s", f)
		}
	}
	for _, pt := range u.paths {
		if pt.Outside && !pt.Unknown && p.elsewhere(pt) {
			add(event.StageOutside, nil, "%s lies in another checkout of the repository: this run works in a worktree of its own, %s", quote(pt.Given), p.Places.Project)
		} else if pt.Outside && !pt.Unknown && !p.outsideAnswered(u, pt, own) {
			add(event.StageOutside, nil, "%s lies outside the project and the added directories", quote(pt.Given))
		}
	}
	for _, pt := range u.paths {
		if pt.Write && !pt.Unknown && (p.source(pt.Abs) || p.source(pt.Real)) && own == nil && p.pathRule(pt, true, true) == nil {
			add(event.StageSources, nil, "%s is what personas or instructions are made from", quote(pt.Given))
		}
	}
	if p.Rules != nil {
		for _, r := range u.restricting(&p.Rules.ask) {
			add(event.StageAskRule, r, "ask rule %s matches %s", r.where(), quote(u.text))
		}
	}
	if hook.Verdict == event.Ask {
		add(event.StageHook, nil, "%s", hookReason(hook))
	}
	if u.network && own == nil && p.Mode != Yolo && hook.Verdict != event.Allow {
		add(event.StageNetwork, nil, "%s opens a network connection and no rule of yours allows it", quote(u.text))
	}
	return out
}

// elsewhere says that a path lies in a checkout that the run was kept out of.
func (p *Policy) elsewhere(pt tool.Path) bool {
	return slices.ContainsFunc(p.Places.Others, func(top string) bool { return within(top, pt.Abs) || within(top, pt.Real) })
}

// outsideAnswered says that the user's own rules name a path outside the
// roots. For a shell command its own pattern is not enough: it must be a rule
// on the path, or the whole shell.
func (p *Policy) outsideAnswered(u *unit, pt tool.Path, own *rule) bool {
	if u.seg == nil && u.broken == "" {
		return own != nil || p.allowingPath(u, pt, true) != nil
	}
	return p.pathRule(pt, true, true) != nil || u.broken == "" && p.bareBash(true) != nil
}

// permission is the first reason to allow a unit.
func (p *Policy) permission(u *unit, hook HookSays) (finding, bool) {
	say := func(s event.Stage, r *rule, format string, args ...any) (finding, bool) {
		return finding{s, r, fmt.Sprintf(format, args...)}, true
	}
	if u.broken != "" {
		return finding{}, false
	}
	lean := p.lean(u)
	if hook.Verdict == event.Allow && !lean {
		return say(event.StageHook, nil, "%s", hookReason(hook))
	}
	if p.Mode == Yolo && !lean {
		return say(event.StageYolo, nil, "mode yolo allows what nothing refuses or asks about")
	}
	if u.seg != nil {
		return p.shellPermission(u, lean, say)
	}
	if u.idle || u.reader {
		why := "it only reads"
		if u.idle {
			why = "it touches nothing outside the run"
		}
		return say(event.StageReadOnly, nil, "%s: %s", u.call.Tool, why)
	}
	if r := p.allowing(u, false); r != nil {
		return say(event.StageAllowRule, r, "allow rule %s", r.where())
	}
	if r := p.allowedByParts(u); r != nil {
		return say(event.StageAllowRule, r, "allow rules cover every path; the first is %s", r.where())
	}
	if p.Mode == AcceptEdits && writes(u.call.Tool) && len(u.paths) > 0 {
		for _, pt := range u.paths {
			if pt.Outside || pt.Unknown {
				return finding{}, false
			}
		}
		return say(event.StageAcceptEdits, nil, "mode accept-edits allows edits inside the project")
	}
	return finding{}, false
}

// allowedByParts covers a call with several files by several rules.
func (p *Policy) allowedByParts(u *unit) *rule {
	if p.Rules == nil || len(u.paths) == 0 {
		return nil
	}
	var first *rule
	for _, pt := range u.paths {
		r := p.allowingPath(u, pt, false)
		if r == nil {
			return nil
		}
		if first == nil {
			first = r
		}
	}
	return first
}

// allowingPath is an allow rule on one path of a call of a file tool.
func (p *Policy) allowingPath(u *unit, pt tool.Path, user bool) *rule {
	one := *u
	return both(pt, func(pt tool.Path) *rule {
		one.paths = []tool.Path{pt}
		return p.allowing(&one, user)
	})
}

// lean says that only the safe list and allow rules for readers are left for
// a command: a persona with shell read_only and no sandbox as a second wall.
// Commands of git are bound by the persona's git posture instead.
func (p *Policy) lean(u *unit) bool {
	if u.seg == nil || u.boxed {
		return false
	}
	readers := false
	for _, b := range p.bounds() {
		s, ok := b.Ceiling["shell"]
		readers = readers || ok && s == capability.ReadOnly
	}
	if !readers {
		return false
	}
	for _, n := range u.needs {
		if n.Family == "git" {
			return false
		}
	}
	return true
}

// shellPermission allows a command of a shell line, its redirects included.
func (p *Policy) shellPermission(u *unit, lean bool, say func(event.Stage, *rule, string, ...any) (finding, bool)) (finding, bool) {
	bare := p.bareBash(false)
	target := p.uncovered(u)
	safe := u.use.Safe && len(u.seg.Assigns) == 0 && u.seg.Dynamic == "" || len(u.seg.Argv) == 0 && u.seg.Dynamic == "" && assignNeeds(u.seg) == nil
	safe = safe && !u.network
	if !lean || u.use.Known && u.use.Reader && u.seg.Dynamic == "" {
		if r := p.allowing(u, false); r != nil && target == nil {
			return say(event.StageAllowRule, r, "allow rule %s matches %s", r.where(), quote(u.text))
		}
		if safe && target == nil && bare == nil {
			if r := p.redirectRule(u); r != nil { // a safe command whose output an edit rule lets go into a file
				return say(event.StageAllowRule, r, "allow rule %s covers where %s writes", r.where(), quote(u.text))
			}
		}
	}
	if u.boxed {
		return say(event.StageSandbox, nil, "%s runs inside the sandbox", quote(u.text))
	}
	if safe && target == nil && p.redirectRule(u) == nil {
		return say(event.StageSafeList, nil, "%s is on the safe list: it only reads inside the project", quote(u.text))
	}
	return finding{}, false
}

// uncovered is the first redirect target that the command writes and that no
// rule lets it write; nil where all are covered.
func (p *Policy) uncovered(u *unit) *tool.Path {
	for i, pt := range u.paths {
		if !pt.Redirect {
			continue
		}
		if pt.Unknown {
			return &u.paths[i]
		}
		if pt.Write && p.bareBash(false) == nil && p.pathRule(pt, false, false) == nil {
			return &u.paths[i]
		}
	}
	return nil
}

// redirectRule is the rule that covers the command's first written redirect.
func (p *Policy) redirectRule(u *unit) *rule {
	for _, pt := range u.paths {
		if pt.Redirect && pt.Write {
			if r := p.pathRule(pt, false, false); r != nil {
				return r
			}
			return p.bareBash(false)
		}
	}
	return nil
}
