package foreign

import (
	"path/filepath"
	"slices"
	"strings"

	"larva.dev/larva/internal/command"
	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/permission"
	"larva.dev/larva/internal/profile"
	"larva.dev/larva/internal/tool"
)

// openCode is OpenCode: one ordered list of rules, of which the last that
// matches decides. Its rules are taken in the order allow, ask, deny, so that
// the order of the lists is kept as far as a list without precedence can.
type openCode struct {
	at    permission.Places
	rules []openRule
}

type openRule struct {
	written
	key     string // bash, edit, read, webfetch, …
	pattern string // * crosses slashes too
	verdict event.Verdict
}

func newOpenCode(t Table) (func(tool.Call) event.Decision, error) {
	o := &openCode{at: t.Places}
	def := func(key, pattern string, v event.Verdict) {
		o.rules = append(o.rules, openRule{key: key, pattern: pattern, verdict: v})
	}
	def("*", "*", event.Allow)
	def("external_directory", "*", event.Ask)
	for _, secret := range []string{"*.env", "*.env.*"} {
		def("read", secret, event.Deny)
	}
	def("read", "*.env.example", event.Allow)
	if t.Mode == permission.Plan {
		def("edit", "*", event.Deny)
	}
	for _, l := range []struct {
		from []profile.Rule
		v    event.Verdict
	}{{t.Allow, event.Allow}, {t.Ask, event.Ask}, {t.Deny, event.Deny}} {
		for _, r := range l.from {
			w, err := read(r)
			if err != nil {
				return nil, err
			}
			for _, p := range openPatterns(w, t.Places) {
				o.rules = append(o.rules, openRule{written: w, key: openKey(w.tool), pattern: p, verdict: l.v})
			}
		}
	}
	return o.judge, nil
}

// openKey is the permission that a tool asks for.
func openKey(t string) string {
	switch {
	case isWriter(t):
		return "edit"
	case strings.HasPrefix(t, "mcp__"):
		return strings.TrimSuffix(strings.ReplaceAll(strings.TrimPrefix(t, "mcp__"), "__", "_"), "_*")
	case t == "web_fetch":
		return "webfetch"
	case t == "web_search":
		return "websearch"
	}
	return t
}

// openPatterns writes a rule's pattern as OpenCode's config would have it.
func openPatterns(w written, at permission.Places) []string {
	p := w.pattern
	switch {
	case p == "":
		return []string{"*"}
	case w.tool == "bash":
		if b, ok := strings.CutSuffix(p, ":*"); ok {
			return []string{b + " *"}
		}
		return []string{p}
	case w.tool == "web_fetch":
		d := strings.TrimPrefix(p, "domain:")
		return []string{"*://" + d, "*://" + d + "/*"}
	case isReader(w.tool) || isWriter(w.tool):
		switch {
		case strings.HasPrefix(p, "//"):
			p = p[1:]
		case strings.HasPrefix(p, "~/"):
			p = filepath.ToSlash(filepath.Join(at.Home, p[2:]))
		default:
			p = strings.TrimPrefix(strings.TrimPrefix(p, "./"), "/")
		}
		return []string{strings.ReplaceAll(p, "**", "*")}
	}
	return []string{p}
}

// last is the last rule that matches; there always is one.
func (o *openCode) last(key, subject string) *openRule {
	for i := len(o.rules) - 1; i >= 0; i-- {
		r := &o.rules[i]
		if (r.key == "*" || r.key == key || strings.HasPrefix(key, r.key+"_") && strings.HasPrefix(r.tool, "mcp__")) && wild(r.pattern, subject) {
			return r
		}
	}
	return &o.rules[0]
}

// judge decides one call: the strictest answer about its subjects.
func (o *openCode) judge(c tool.Call) event.Decision {
	f := factsOf(c)
	key := openKey(c.Tool)
	subjects := []string{"*"}
	var outside []string
	switch {
	case c.Tool == "bash":
		return o.line(c, f.Command)
	case isReader(c.Tool) || isWriter(c.Tool):
		subjects = nil
		for _, p := range f.paths(o.at) {
			subjects = append(subjects, o.relative(p))
			if !below(o.at.Cwd, p) && !below(o.at.Project, p) {
				outside = append(outside, filepath.ToSlash(filepath.Dir(p))+"/*")
			}
		}
	case c.Tool == "web_fetch":
		subjects = []string{f.URL}
	case c.Tool == "task":
		subjects = []string{f.Agent}
	case c.Tool == "skill":
		subjects = []string{f.Name}
	}
	var out event.Decision
	for _, s := range subjects {
		out = stricter(out, o.say(c, key, s))
	}
	for _, s := range outside {
		out = stricter(out, o.say(c, "external_directory", s))
	}
	return out
}

func stricter(a, b event.Decision) event.Decision {
	if a.Verdict == "" || rank(b.Verdict) > rank(a.Verdict) {
		return b
	}
	return a
}

func (o *openCode) say(c tool.Call, key, subject string) event.Decision {
	r := o.last(key, subject)
	stage := map[event.Verdict]event.Stage{event.Allow: event.StageAllowRule, event.Ask: event.StageAskRule, event.Deny: event.StageDenyRule}[r.verdict]
	if r.Text == "" {
		return decision(c, r.verdict, event.StageDefault, nil, "the default of OpenCode for %s %s is %s", key, subject, r.verdict)
	}
	return decision(c, r.verdict, stage, &r.written, "the last rule that matches %s %s is %s", key, subject, r.Text)
}

// relative is a path as OpenCode compares it: from the project's root where it
// lies below it.
func (o *openCode) relative(p string) string {
	for _, dir := range []string{o.at.Project, o.at.Cwd} {
		if below(dir, p) && p != dir {
			return filepath.ToSlash(strings.TrimPrefix(p, strings.TrimSuffix(dir, "/")+"/"))
		}
	}
	return filepath.ToSlash(p)
}

// line judges a shell line: each command's text, as it was written.
func (o *openCode) line(c tool.Call, text string) event.Decision {
	l, err := command.Parse(text)
	if err != nil {
		return o.say(c, "bash", text)
	}
	var out event.Decision
	segments := []event.Segment{}
	seen := map[string]bool{}
	for i := range l.Segments {
		s := &l.Segments[i]
		shown := textOf(s.Outer)
		if shown == "" || seen[shown] {
			continue
		}
		seen[shown] = true
		d := o.say(c, "bash", shown)
		if len(s.Argv) > 0 && slices.Contains([]string{"cd", "rm", "cp", "mv", "mkdir", "touch", "chmod", "chown", "cat"}, s.Argv[0].Value) {
			for _, w := range s.Argv[1:] {
				if p := absolute(w.Value, o.at); w.Static && !strings.HasPrefix(w.Value, "-") && !below(o.at.Cwd, p) && !below(o.at.Project, p) {
					d = stricter(d, o.say(c, "external_directory", filepath.ToSlash(filepath.Dir(p))+"/*"))
				}
			}
		}
		segments = append(segments, event.Segment{Text: shown, Verdict: d.Verdict, Stage: d.Stage, Rule: d.Rule})
		out = stricter(out, d)
	}
	if out.Verdict == "" {
		out = o.say(c, "bash", text)
	}
	out.Segments = segments
	return out
}
