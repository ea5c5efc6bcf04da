package cli

import (
	"context"
	"encoding/json"
	"fmt"

	"larva.dev/larva/internal/app"
	"larva.dev/larva/internal/diag"
)

type permissionTestCmd struct {
	Files []string `arg:"" name:"file" help:"Tables of cases (larva schema permission-test); - is stdin." complete:"file"`
	As    string   `placeholder:"AGENT" help:"Judge the same table as another agent would: claude or opencode." words:"claude opencode"`
	ruleFlags
}

func (permissionTestCmd) doc() doc {
	return doc{
		Long: "A table holds cases: tool, input (an object, or the shell line or path alone), want (allow, ask or deny) and why. It may bring a persona, a mode and rules. " +
			"Each case that is decided in another way is shown with what was wanted and what came, and why. With --as the rules mean what Claude Code or OpenCode take them to mean; a persona's capabilities are larva's own and do not count then.",
		Examples: []string{
			"larva permission test permissions.cue",
			"larva permission test permissions.cue --as claude --json",
		},
		Exits: slowExits(),
	}
}

// Run judges the tables; any case that is decided in another way makes the
// exit code 1.
func (c permissionTestCmd) Run(ctx context.Context, s *session) error {
	if err := c.check(); err != nil {
		return err
	}
	switch c.As {
	case "", "claude", "opencode":
	default:
		return diag.Usage("--as %s: expected claude or opencode", c.As).With("value", c.As)
	}
	tables := s.app.PermissionTest(ctx, app.PermissionTestInput{Files: c.Files, Stdin: untilDone(ctx, s.process.Stdin), As: c.As, Profile: c.Profile, Mode: c.Mode,
		Allow: c.Allow, Ask: c.Ask, Deny: c.Deny, AddDirs: c.AddDir})
	for _, t := range tables {
		if t.Failed > 0 {
			s.code = diag.ExitFailed
		}
	}
	if len(tables) == 1 {
		if t := tables[0]; t.Err != nil {
			return t.Err
		} else if s.json() {
			row := tableFields(c.As, t)
			row["file"] = t.File
			return s.data(row)
		} else {
			s.table(t)
			return nil
		}
	}
	return s.several(len(tables), func(i int) entry {
		t := tables[i]
		return entry{where: t.Where, err: t.Err, fields: tableFields(c.As, t), text: func(string) { s.table(t) }}
	})
}

func tableFields(as string, t app.PermissionTable) map[string]any {
	if as == "" {
		as = "larva"
	}
	cases := t.Cases
	if cases == nil {
		cases = []app.PermissionCase{}
	}
	return map[string]any{"as": as, "cases": cases, "passed": len(t.Cases) - t.Failed, "failed": t.Failed}
}

// table prints what went another way, and the sum.
func (s *session) table(t app.PermissionTable) {
	for _, c := range t.Cases {
		if !c.OK {
			s.failedCase(c)
		}
	}
	if t.Failed == 0 {
		s.line("%s: %s as wanted", t.File, plural(len(t.Cases), "case"))
		return
	}
	s.line("%s: %s of %s decided otherwise", t.File, fmt.Sprint(t.Failed), plural(len(t.Cases), "case"))
}

func (s *session) failedCase(c app.PermissionCase) {
	s.line("%s: %s %s", c.At, c.Tool, caseInput(c))
	if c.Why == "" {
		s.line("  - want %s", c.Want)
	} else {
		s.line("  - want %s: %s", c.Want, c.Why)
	}
	d := c.Decision
	stage := ""
	if d.Stage != "" {
		stage = " by " + string(d.Stage)
	}
	s.line("  + got  %s%s: %s", c.Got, stage, d.Reason)
	if d.Rule != "" {
		s.line("    rule %s (%s)", d.Rule, d.Origin)
	}
	if len(d.Segments) < 2 {
		return
	}
	for _, seg := range d.Segments {
		rule := ""
		if seg.Rule != "" {
			rule = " " + seg.Rule
		}
		s.line("    part %s: %s by %s%s", seg.Text, string(seg.Verdict), string(seg.Stage), rule)
	}
}

// caseInput is a call's input as a person would have typed it.
func caseInput(c app.PermissionCase) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(c.Input, &fields) == nil {
		for _, name := range []string{"command", "path", "url"} {
			var text string
			if raw, ok := fields[name]; ok && json.Unmarshal(raw, &text) == nil {
				return text
			}
		}
	}
	return string(c.Input)
}
