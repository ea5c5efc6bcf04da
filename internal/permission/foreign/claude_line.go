package foreign

import (
	"slices"
	"strings"

	"larva.dev/larva/internal/capability"
	"larva.dev/larva/internal/command"
	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/permission"
	"larva.dev/larva/internal/tool"
)

// transparent are the wrappers that Claude Code looks through.
var transparent = []string{"timeout", "time", "nice", "nohup", "stdbuf", "xargs"}

// quiet are the commands that it runs without a question where they only read
// inside the working directory.
var quiet = []string{"ls", "cat", "echo", "pwd", "head", "tail", "grep", "find", "wc", "which", "diff", "stat", "du", "cd", "true", "sort", "uniq", "date"}

// openers are commands whose file words it takes for reads.
var openers = []string{"cat", "head", "tail", "less", "more", "grep", "rg", "sed", "awk", "diff", "sort", "uniq", "wc", "cp", "stat", "ls", "find"}

// line judges a shell line: each command, each file that a redirect writes.
func (c *claude) line(call tool.Call, text string) event.Decision {
	l, err := command.Parse(text)
	if err != nil {
		if r := c.whole(c.deny, text); r != nil {
			return decision(call, event.Deny, event.StageDenyRule, r, "deny rule %s", r.Text)
		}
		return decision(call, event.Ask, event.StageDefault, nil, "the line cannot be parsed")
	}
	out := decision(call, event.Allow, event.StageSafeList, nil, "every command is allowed")
	seen := map[string]bool{}
	for i := range l.Segments {
		d, shown := c.segment(call, &l.Segments[i])
		if shown == "" || seen[shown] {
			continue
		}
		seen[shown] = true
		out.Segments = append(out.Segments, event.Segment{Text: shown, Verdict: d.Verdict, Stage: d.Stage, Rule: d.Rule})
		if len(out.Segments) == 1 || rank(d.Verdict) > rank(out.Verdict) {
			out.Verdict, out.Stage, out.Rule, out.Origin, out.Reason = d.Verdict, d.Stage, d.Rule, d.Origin, d.Reason
		}
	}
	return out
}

func rank(v event.Verdict) int {
	return slices.Index([]event.Verdict{event.Allow, event.Ask, event.Deny}, v)
}

func (c *claude) whole(list []claudeRule, text string) *written {
	for i, r := range list {
		if r.tool == "bash" && (r.pattern == "" || claudeText(r.pattern, text)) {
			return &list[i].written
		}
	}
	return nil
}

// segment judges one command. shown is "" for what is seen with another one.
func (c *claude) segment(call tool.Call, s *command.Segment) (d event.Decision, shown string) {
	if slices.ContainsFunc(s.Wrappers, func(w string) bool { return w == "find -exec" || w == "find -ok" || w == "find -execdir" }) {
		return d, "" // inside find's own words
	}
	texts := c.texts(s)
	shown = texts[0]
	verdict := func(v event.Verdict, st event.Stage, r *written, format string, args ...any) (event.Decision, string) {
		return decision(call, v, st, r, format, args...), shown
	}
	for _, list := range []struct {
		rules []claudeRule
		v     event.Verdict
		st    event.Stage
	}{{c.deny, event.Deny, event.StageDenyRule}, {c.ask, event.Ask, event.StageAskRule}} {
		for i, r := range list.rules {
			if r.restrictsCommand(c, s, texts) {
				return verdict(list.v, list.st, &list.rules[i].written, "%s rule %s matches %s", list.v, r.Text, shown)
			}
		}
	}
	if c.Mode == permission.Yolo {
		return verdict(event.Allow, event.StageYolo, nil, "bypassPermissions asks nothing")
	}
	if why := substitution(s); why != "" {
		return verdict(event.Ask, event.StageDefault, nil, "contains %s", why)
	}
	for _, r := range s.Redirects {
		if r.Write && !c.mayWrite(r.Target) {
			return verdict(event.Ask, event.StageDefault, nil, "writes to %s", r.Target.Text)
		}
	}
	if len(s.Argv) == 0 && len(s.Assigns) == 0 {
		return verdict(event.Allow, event.StageSafeList, nil, "nothing but a redirect")
	}
	if len(s.Assigns) > 0 {
		return verdict(event.Ask, event.StageDefault, nil, "sets a variable before the command")
	}
	for i, r := range c.allow {
		if r.tool == "bash" && (r.pattern == "" || slices.ContainsFunc(texts, func(t string) bool { return claudeText(r.pattern, t) })) {
			return verdict(event.Allow, event.StageAllowRule, &c.allow[i].written, "allow rule %s", r.Text)
		}
	}
	if c.quiet(s) {
		return verdict(event.Allow, event.StageSafeList, nil, "only reads inside the working directory")
	}
	return verdict(event.Ask, event.StageDefault, nil, "no rule allows %s", shown)
}

// texts are what a command is compared by: without the wrappers that are
// looked through, and as it was written.
func (c *claude) texts(s *command.Segment) []string {
	outer := textOf(s.Outer)
	if outer == "" {
		outer = s.Text
	}
	for _, w := range s.Wrappers {
		if !slices.Contains(transparent, w) {
			return []string{outer}
		}
	}
	inner := textOf(s.Argv)
	if slices.Contains(s.Wrappers, "xargs") {
		inner = strings.TrimSuffix(inner, " {}") // stands for what xargs reads
	}
	if inner == "" || inner == outer {
		return []string{outer}
	}
	return []string{inner, outer}
}

func textOf(words []command.Word) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w.Text
	}
	return strings.Join(out, " ")
}

// claudeText compares a pattern with a command's text.
func claudeText(pattern, text string) bool {
	if p, ok := strings.CutSuffix(pattern, ":*"); ok {
		return text == p || strings.HasPrefix(text, p+" ")
	}
	if !strings.Contains(pattern, "*") {
		return pattern == text
	}
	return wild(pattern, text)
}

func (r claudeRule) restrictsCommand(c *claude, s *command.Segment, texts []string) bool {
	switch {
	case r.tool == "bash":
		return r.pattern == "" || slices.ContainsFunc(texts, func(t string) bool { return claudeText(r.pattern, t) })
	case r.file == nil || len(s.Argv) == 0:
		return false
	case r.tool == "edit":
		return slices.ContainsFunc(s.Redirects, func(to command.Redirect) bool {
			return to.Write && to.Target.Static && r.file(absolute(to.Target.Value, c.Places))
		})
	}
	if !slices.Contains(openers, s.Argv[0].Value) {
		return false
	}
	return slices.ContainsFunc(s.Argv[1:], func(w command.Word) bool {
		return w.Static && !strings.HasPrefix(w.Value, "-") && r.file(absolute(w.Value, c.Places))
	})
}

// substitution says what keeps a command from being allowed by a rule.
func substitution(s *command.Segment) string {
	for _, w := range append(slices.Clone(s.Outer), s.Argv...) {
		switch {
		case w.Static:
		case strings.Contains(w.Text, "$(") || strings.Contains(w.Text, "`"):
			return "command_substitution"
		case strings.Contains(w.Text, "<(") || strings.Contains(w.Text, ">("):
			return "process_substitution"
		}
	}
	return ""
}

// mayWrite says that an Edit rule, or acceptEdits, covers a redirect's target.
func (c *claude) mayWrite(w command.Word) bool {
	if !w.Static {
		return false
	}
	p := absolute(w.Value, c.Places)
	if c.Mode == permission.AcceptEdits && c.inside(p) {
		return true
	}
	return slices.ContainsFunc(c.allow, func(r claudeRule) bool {
		return r.tool == "edit" && (r.pattern == "" || r.file != nil && r.file(p))
	})
}

// quiet says that a command reads inside the working directory and no more.
func (c *claude) quiet(s *command.Segment) bool {
	if s.Dynamic != "" || len(s.Wrappers) > 0 {
		return false
	}
	use := capability.ShellNeeds(permission.Args(s.Argv), false)
	name, _, isSub := strings.Cut(use.Name, " ")
	if !use.Safe || !slices.Contains(quiet, use.Name) && !(isSub && name == "git") {
		return false
	}
	return !slices.ContainsFunc(use.Operands, func(o capability.Operand) bool {
		return o.Known && o.Sure && !c.inside(absolute(o.Value, c.Places))
	})
}
