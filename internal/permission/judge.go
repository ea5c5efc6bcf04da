package permission

import (
	"slices"

	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/tool"
)

// The stages of each step in the order in which they name a decision.
var (
	refusalOrder  = []event.Stage{event.StageProtected, event.StageSecret, event.StageCeiling, event.StageDenyRule, event.StageHook, event.StagePlan, event.StageUndeclared}
	questionOrder = []event.Stage{event.StagePlanExit, event.StageUndeclared, event.StageOutside, event.StageSources, event.StageAskRule, event.StageHook, event.StageNetwork, event.StageDefault}
	allowOrder    = []event.Stage{event.StageHook, event.StageYolo, event.StageReadOnly, event.StageAllowRule, event.StageSandbox, event.StageSafeList, event.StageAcceptEdits}
)

// finding is one reason for or against a call.
type finding struct {
	stage  event.Stage
	rule   *rule
	reason string
}

// outcome is what was found about one unit.
type outcome struct {
	verdict event.Verdict
	stage   event.Stage
	found   []finding // of the winning step
}

func (o outcome) ruleText() string {
	for _, f := range o.found {
		if f.stage == o.stage && f.rule != nil {
			return f.rule.Text
		}
	}
	return ""
}

// Judge decides one call. The verdict is allow, ask or deny, never
// Unanswered: whether anybody can be asked is the loop's business. Reasons
// holds every reason of the winning step as "stage: sentence".
func (p *Policy) Judge(c tool.Call, eff tool.Effects, hook HookSays) event.Decision {
	d := event.Decision{Tool: c.Tool, Input: c.Input, Segments: []event.Segment{}}
	units := p.units(c, eff)
	outcomes := make([]outcome, len(units))
	for i, u := range units {
		outcomes[i] = p.judge(u, hook)
		if u.seg != nil && u.text != "" || u.broken != "" {
			d.Segments = append(d.Segments, u.segment(outcomes[i]))
		}
	}
	d.Verdict = event.Allow
	for _, o := range outcomes {
		if o.verdict == event.Deny || o.verdict == event.Ask && d.Verdict == event.Allow {
			d.Verdict = o.verdict
		}
	}
	var all []finding
	d.Judgeable = d.Verdict == event.Ask
	for i, o := range outcomes {
		if o.verdict == d.Verdict {
			all = append(all, o.found...)
			d.Judgeable = d.Judgeable && p.judgeable(units[i], o)
		}
	}
	order := allowOrder
	switch d.Verdict {
	case event.Deny:
		order = refusalOrder
	case event.Ask:
		order = questionOrder
	}
	all = settle(d.Verdict, order, all).found
	first := all[0]
	d.Stage, d.Reason = first.stage, first.reason
	if first.rule != nil {
		d.Rule, d.Origin = first.rule.Text, first.rule.Origin
	}
	for _, f := range all {
		if r := string(f.stage) + ": " + f.reason; !slices.Contains(d.Reasons, r) {
			d.Reasons = append(d.Reasons, r)
		}
	}
	return d
}

// judge decides one unit: deny before ask before allow, each step in full.
func (p *Policy) judge(u *unit, hook HookSays) outcome {
	if found := p.refusals(u, hook); len(found) > 0 {
		return settle(event.Deny, refusalOrder, found)
	}
	questions := p.questions(u, hook)
	if len(questions) > 0 {
		return settle(event.Ask, questionOrder, questions)
	}
	if f, ok := p.permission(u, hook); ok {
		return settle(event.Allow, allowOrder, []finding{f})
	}
	return settle(event.Ask, questionOrder, []finding{{stage: event.StageDefault, reason: p.whyDefault(u)}})
}

func settle(v event.Verdict, order []event.Stage, found []finding) outcome {
	if len(found) == 1 {
		return outcome{verdict: v, stage: found[0].stage, found: found}
	}
	slices.SortStableFunc(found, func(a, b finding) int { return slices.Index(order, a.stage) - slices.Index(order, b.stage) })
	return outcome{verdict: v, stage: found[0].stage, found: found}
}

// restricting lists the rules of a list that speak of the unit.
func (u *unit) restricting(l *list) []*rule {
	var out []*rule
	candidates := l.all
	if u.seg != nil && (len(u.seg.Argv) == 0 || !u.seg.Argv[0].Glob) {
		candidates = l.shellRules(u.names, true)
	}
	for _, r := range candidates {
		if u.covered(r, true) {
			out = append(out, r)
		}
	}
	return out
}

// allowing is the first allow rule that speaks of the unit; user asks for one
// of a user layer.
func (p *Policy) allowing(u *unit, user bool) *rule {
	if p.Rules == nil {
		return nil
	}
	candidates := p.Rules.allow.all
	if u.seg != nil {
		candidates = p.Rules.allow.shellRules(u.own, false)
	}
	for _, r := range candidates {
		if (!user || r.User) && u.covered(r, false) {
			return r
		}
	}
	return nil
}

// pathRule is an allow rule on one path of a shell line.
func (p *Policy) pathRule(pt tool.Path, user, pattern bool) *rule {
	if p.Rules == nil || pt.Unknown {
		return nil
	}
	return both(pt, func(pt tool.Path) *rule {
		for _, r := range p.Rules.allow.files {
			if user && !r.User || pattern && r.kind != files {
				continue
			}
			ok := r.tool == "edit" || !pt.Write && r.tool == "read" || pt.Write && r.tool == "write"
			if ok && (r.kind == files || r.kind == whole) && r.covers(pt, false) {
				return r
			}
		}
		return nil
	})
}

// both finds a rule for a path: one that allows it, or, where it leads
// elsewhere, one for the path as given beside one for what it leads to.
func both(pt tool.Path, find func(tool.Path) *rule) *rule {
	if r := find(pt); r != nil || pt.Unknown || pt.Real == "" || pt.Real == pt.Abs {
		return r
	}
	given, target := pt, pt
	given.Real, target.Abs = pt.Abs, pt.Real
	if find(given) == nil {
		return nil
	}
	return find(target)
}

// bareBash is an allow rule for the whole shell.
func (p *Policy) bareBash(user bool) *rule {
	if p.Rules == nil {
		return nil
	}
	for _, r := range p.Rules.allow.shell {
		if r.kind == whole && (!user || r.User) {
			return r
		}
	}
	return nil
}

// whyDefault says what would be needed where nothing allows a unit.
func (p *Policy) whyDefault(u *unit) string {
	switch {
	case u.broken != "":
		return "the shell line cannot be parsed, so no rule can allow it: " + u.broken
	case u.seg != nil && u.seg.Dynamic != "":
		return "no rule can allow " + quote(u.text) + ": " + u.seg.Dynamic
	case u.seg != nil:
		if pt := p.uncovered(u); pt != nil {
			if pt.Unknown {
				return "no rule can allow a redirect whose target is not known before it runs: " + pt.Given
			}
			return "no rule allows writing to " + quote(pt.Given)
		}
		if len(u.seg.Assigns) > 0 {
			return "no rule allows " + quote(u.text) + ", which changes the environment"
		}
		return "no rule allows " + quote(u.text)
	}
	return "no rule allows " + u.call.Tool
}

// quote puts a text of the call in backquotes, one line, not too long.
func quote(s string) string {
	s = spaces(s)
	if len(s) <= 120 {
		return "`" + s + "`"
	}
	if r := []rune(s); len(r) > 120 {
		s = string(r[:117]) + "..."
	}
	return "`" + s + "`"
}
