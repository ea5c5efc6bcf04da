package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"larva.dev/larva/internal/app"
	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/spec"
)

type permissionCmd struct {
	Explain explainCmd        `cmd:"" help:"Say what would be decided for one call, and why; nothing is run."`
	Test    permissionTestCmd `cmd:"" help:"Check tables of calls against the verdicts that they want; nothing is run."`
}

// ruleFlags are what run and explain are both told about permission.
type ruleFlags struct {
	Profile string   `placeholder:"NAME" help:"A profile, by name or path." complete:"profile"`
	Mode    string   `placeholder:"MODE" help:"default, accept-edits, plan, auto or yolo." words:"default accept-edits plan auto yolo"`
	Allow   []string `sep:"none" placeholder:"RULE" help:"Add an allow rule: tool or tool(pattern). Repeats."`
	Ask     []string `sep:"none" placeholder:"RULE" help:"Add an ask rule. Repeats."`
	Deny    []string `sep:"none" placeholder:"RULE" help:"Add a deny rule. Repeats."`
	AddDir  []string `sep:"none" placeholder:"DIR" help:"A further root beside the project. Repeats." complete:"dir"`
}

func (f ruleFlags) check() error {
	switch f.Mode {
	case "", "default", "accept-edits", "plan", "auto", "yolo":
		return nil
	}
	return diag.Usage("--mode %s: expected default, accept-edits, plan, auto or yolo", f.Mode).With("value", f.Mode)
}

type explainCmd struct {
	Tool    string   `arg:"" help:"A tool's name; - reads one {\"tool\",\"input\"} a line from stdin."`
	Input   []string `arg:"" optional:"" help:"The call's input as JSON; for bash a command line, for file tools a path."`
	Persona string   `placeholder:"ID" help:"Judge under this persona's capabilities." complete:"runnable"`
	Variant string   `placeholder:"NAME" help:"With --persona: this variant in place of the active one."`
	ruleFlags
}

func (explainCmd) doc() doc {
	return doc{
		Long: "Exits 0 for any verdict. With - the answer is one decision a line.",
		Examples: []string{
			"larva permission explain bash 'git push origin main'",
			"larva permission explain read .env --persona code-reviewer --json",
		},
		Exits: slowExits(),
	}
}

// Run prints one decision, or one a line.
func (c explainCmd) Run(ctx context.Context, s *session) error {
	if err := c.check(); err != nil {
		return err
	}
	in := app.ExplainInput{
		Tool: c.Tool, Persona: c.Persona, Variant: c.Variant, Profile: c.Profile, Mode: c.Mode,
		Allow: c.Allow, Ask: c.Ask, Deny: c.Deny, AddDirs: c.AddDir,
	}
	each := s.decision
	switch {
	case c.Tool == "-" && len(c.Input) > 0:
		return diag.Usage("- takes its calls from stdin and no INPUT")
	case c.Tool == "-":
		in.Tool, in.Calls = "", untilDone(ctx, s.process.Stdin)
		each = s.decisionLine
	case len(c.Input) != 1:
		return c.inputs()
	default:
		in.Input = c.Input[0]
	}
	return s.app.Explain(ctx, in, each)
}

// inputs says what is wrong with the number of INPUTs, and how the call that
// was meant is typed.
func (c explainCmd) inputs() error {
	if len(c.Input) > 1 {
		return diag.Usage("expected one INPUT, got %d: quote what belongs together", len(c.Input)).
			WithHint("larva permission explain %s %s", diag.Word(c.Tool), diag.Word(strings.Join(c.Input, " ")))
	}
	e := diag.Usage("expected what %s is called with", c.Tool).With("tool", c.Tool)
	switch c.Tool {
	case "bash":
		return e.WithHint("larva permission explain bash 'git status'")
	case "read", "write", "edit", "multi_edit", "glob", "grep":
		return e.WithHint("larva permission explain %s README.md", c.Tool)
	case "web_fetch":
		return e.WithHint("larva permission explain web_fetch https://example.org")
	}
	return e.WithHint("larva permission explain %s '{}'; the object holds the call's input", diag.Word(c.Tool))
}

// decisionLine answers a batch: the bare decision, in the envelope where that
// was asked for. Each line leaves at once, so a program can hold a dialogue.
func (s *session) decisionLine(d event.Decision) error {
	if s.json() {
		if err := s.data(d); err != nil {
			return err
		}
		return s.out.Flush()
	}
	if _, err := s.out.Write(append(spec.AppendCanonical(nil, d), '\n')); err != nil {
		return err
	}
	return s.out.Flush()
}

func (s *session) decision(d event.Decision) error {
	if s.json() {
		return s.data(d)
	}
	s.line("%s\t%s", string(d.Verdict), string(d.Stage))
	s.line("reason: %s", d.Reason)
	if d.Rule != "" {
		s.line("rule: %s (%s)", d.Rule, d.Origin)
	}
	for _, seg := range d.Segments {
		rule := ""
		if seg.Rule != "" {
			rule = " " + seg.Rule
		}
		s.line("part: %s\t%s\t%s%s", seg.Text, string(seg.Verdict), string(seg.Stage), rule)
	}
	for i, r := range d.Reasons {
		if i > 0 {
			s.line("also: %s", r)
		}
	}
	return nil
}

// planLines is run --dry-run in text.
func (s *session) planLines(p app.Plan) error {
	s.line("persona: %s (%s) %s", p.Persona.ID, p.Persona.Variant, p.Persona.Digest)
	s.line("model: %s (label %s)", p.Model, p.Label)
	if len(p.Fallbacks) > 0 {
		s.line("where its service fails: %s", strings.Join(p.Fallbacks, ", "))
	}
	if p.Effort != "" {
		s.line("effort: %s", p.Effort)
	}
	s.words("capabilities", ceiling(p.Ceiling))
	s.line("mode: %s", p.Mode)
	if p.Profile != "" {
		s.line("profile: %s", p.Profile)
	}
	s.words("tools", p.Tools)
	s.words("roots", p.Roots)
	s.line("sandbox: %s", p.Sandbox)
	s.line("max turns: %s", fmt.Sprint(p.MaxTurns))
	for _, set := range []struct {
		word  string
		rules []app.PlanRule
	}{{"allow", p.Rules.Allow}, {"ask", p.Rules.Ask}, {"deny", p.Rules.Deny}} {
		for _, r := range set.rules {
			s.line("%s: %s (%s)", set.word, r.Rule, r.Origin)
		}
	}
	for _, h := range p.Hooks {
		s.line("hook: %s", h)
	}
	s.line("system prompt: %s", plural(p.SystemBytes, "byte"))
	s.line("prompt: %s", plural(p.PromptBytes, "byte"))
	for _, n := range p.Notices {
		s.line("notice: %s", n)
	}
	return nil
}

// ceiling is a persona's capabilities as words, sorted by family.
func ceiling(postures map[string]string) []string {
	var out []string
	for _, family := range slices.Sorted(maps.Keys(postures)) {
		out = append(out, family+"="+postures[family])
	}
	return out
}

func (s *session) words(name string, list []string) {
	text := ""
	for _, w := range list {
		text += " " + w
	}
	s.line("%s:%s", name, text)
}
