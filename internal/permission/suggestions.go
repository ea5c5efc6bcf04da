package permission

import (
	"slices"

	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/profile"
	"larva.dev/larva/internal/tool"
)

// maxSuggestions bounds the rules of one "always": more than a person reads
// before a yes is no answer to a question.
const maxSuggestions = 6

// Suggestions are the narrowest sensible rules that together allow this call:
// one for each part of a shell line, or each file, that would ask. nil where
// no rules could, and then nothing is to be kept.
func (p *Policy) Suggestions(c tool.Call, eff tool.Effects) []string {
	var out []string
	for _, u := range p.units(c, eff) {
		o := p.judge(u, HookSays{})
		if o.verdict == event.Allow {
			continue
		}
		rules := p.answers(u)
		if o.verdict == event.Deny || len(rules) == 0 {
			return nil
		}
		for _, r := range rules {
			if !slices.Contains(out, r) {
				out = append(out, r)
			}
		}
	}
	if len(out) == 0 || len(out) > maxSuggestions || !p.enough(c, eff, out) {
		return nil
	}
	return out
}

// enough says that the rules, as a person's own, allow the call.
func (p *Policy) enough(c tool.Call, eff tool.Effects, texts []string) bool {
	q := *p
	for _, text := range texts {
		grown, err := q.Rules.With(profile.Rule{Text: text, User: true}, p.Places)
		if err != nil {
			return false
		}
		q.Rules = grown
	}
	return q.Judge(c, eff, HookSays{}).Verdict == event.Allow
}

// answers are the rules that would allow one unit; nil where none could.
func (p *Policy) answers(u *unit) []string {
	if u.broken != "" {
		return nil
	}
	if u.seg != nil {
		return p.shellAnswers(u)
	}
	if len(u.paths) < 2 {
		return nonEmpty(p.Suggest(u.call, tool.Effects{Paths: u.paths, Subject: u.subject}))
	}
	var out []string
	for _, pt := range u.paths {
		one := *u
		one.paths = []tool.Path{pt}
		if p.judge(&one, HookSays{}).verdict != event.Allow {
			out = append(out, nonEmpty(p.Suggest(u.call, tool.Effects{Paths: one.paths}))...)
		}
	}
	return out
}

func nonEmpty(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

// shellAnswers are rules on the paths of a command that ask, and one on the
// command where it is not allowed by itself.
func (p *Policy) shellAnswers(u *unit) []string {
	if u.seg.Dynamic != "" {
		return nil
	}
	var out []string
	add := func(kind string, pt tool.Path) {
		if r := p.suggestPath(kind, pt); r != "" && !slices.Contains(out, r) {
			out = append(out, r)
		}
	}
	own := p.allowing(u, true)
	for _, pt := range u.paths {
		outside := pt.Outside && !pt.Unknown && !p.outsideAnswered(u, pt, own)
		source := pt.Write && !pt.Unknown && (p.source(pt.Abs) || p.source(pt.Real)) && p.pathRule(pt, true, true) == nil
		redirect := pt.Redirect && pt.Write && !pt.Unknown && p.pathRule(pt, false, false) == nil
		switch {
		case outside && !pt.Write:
			add("read", pt)
		case outside || source || redirect:
			add("edit", pt)
		}
	}
	asks := len(p.undeclared(u)) > 0 || u.network
	safe := u.use.Safe && len(u.seg.Assigns) == 0 && !u.seg.Opaque || len(u.seg.Argv) == 0
	if own == nil && (asks || !safe && !u.boxed && p.allowing(u, false) == nil) && len(u.seg.Argv) > 0 {
		out = append(out, nonEmpty(suggestCommand(u.seg, u.use))...)
	}
	return out
}
