package cli

import (
	"context"
	"fmt"
	"strings"

	"larva.dev/larva/internal/app"
)

type hookCmd struct {
	List hookListCmd `cmd:"" help:"List the hooks of all files, and which of them count."`
	Test hookTestCmd `cmd:"" help:"Fire an event's hooks with a sample, outside a run."`
}

type hookListCmd struct {
	Profile string `placeholder:"NAME" help:"A profile, by name or path." complete:"profile"`
}

func (hookListCmd) doc() doc {
	return doc{
		Long: "In the order in which they are asked. One line a hook: state, event, matcher, name, file:line and what it runs, with tabs between. " +
			"State own is a hook of your own files; one of the project counts only when it is trusted.",
		Examples: []string{"larva hook list", "larva hook list --json"},
		Exits:    slowExits(),
	}
}

// Run lists the hooks.
func (c hookListCmd) Run(ctx context.Context, s *session) error {
	hooks, notices, err := s.app.HookList(ctx, app.HookInput{Profile: c.Profile})
	if err != nil {
		return err
	}
	if s.json() {
		return s.data(hooks)
	}
	for _, n := range notices {
		s.say("notice: %s", n)
	}
	for _, h := range hooks {
		matcher := h.Matcher
		if matcher == "" {
			matcher = "*"
		}
		if h.If != "" {
			matcher += " if " + h.If
		}
		s.line("%s\t%s\t%s\t%s\t%s\t%s: %s", h.State, h.Event, matcher, h.Name, h.Source, h.Type, h.Runs)
	}
	return nil
}

type hookTestCmd struct {
	Event   string `arg:"" help:"An event: PreToolUse, Stop, …" words:"SessionStart UserPromptSubmit PreToolUse PermissionRequest PostToolUse PostToolUseFailure Stop StopFailure SubagentStart SubagentStop PreCompact PostCompact Notification SessionEnd"`
	Tool    string `placeholder:"NAME" help:"The tool that the sample calls; bash if left out."`
	Input   string `placeholder:"JSON" help:"The call's input as JSON; for bash a command line, for file tools a path."`
	Hook    string `placeholder:"NAME" help:"Only the hook of this name, as hook list prints it."`
	Profile string `placeholder:"NAME" help:"A profile, by name or path." complete:"profile"`
}

func (hookTestCmd) doc() doc {
	return doc{
		Long: "Really runs them. Prints the payload, then of each hook its exit, its output and its effect, then what all would do together. " +
			"A project's hook that is not trusted is not run. Exits 0 whatever the hooks decide.",
		Examples: []string{
			"larva hook test PreToolUse --tool bash --input 'git push'",
			"larva hook test UserPromptSubmit --json",
		},
		Exits: slowExits(),
	}
}

// Run fires the event.
func (c hookTestCmd) Run(ctx context.Context, s *session) error {
	t, err := s.app.HookTest(ctx, app.HookInput{Event: c.Event, Tool: c.Tool, Input: c.Input, Hook: c.Hook, Profile: c.Profile})
	if err != nil {
		return err
	}
	if s.json() {
		return s.data(t)
	}
	for _, n := range t.Notices {
		s.say("notice: %s", n)
	}
	s.line("payload: %s", strings.TrimSpace(string(t.Payload)))
	for _, h := range t.Skipped {
		s.line("not run: %s (%s): %s", h.Name, h.Source, h.Why)
	}
	for _, h := range t.Hooks {
		s.hookRun(h)
	}
	s.hookEffect(t)
	return nil
}

func (s *session) hookRun(h app.HookRun) {
	s.line("hook: %s (%s)", h.Name, h.Source)
	exit := "none"
	if h.Exit != nil {
		exit = fmt.Sprint(*h.Exit)
	}
	s.line("  exit: %s", exit)
	if len(h.Output) > 0 {
		s.line("  output: %s", string(h.Output))
	} else {
		s.lines("  stdout: ", h.Stdout)
	}
	s.lines("  stderr: ", h.Stderr)
	for _, f := range h.Faults {
		s.line("  wrong: %s", f)
	}
	s.line("  effect: %s", because(h.Effect, h.Reason))
}

// lines prints a text line by line behind a label, nothing where it is empty.
func (s *session) lines(label, text string) {
	text = strings.TrimRight(text, "\n")
	if text == "" {
		return
	}
	for _, l := range strings.Split(text, "\n") {
		s.line("%s%s", label, l)
	}
}

func (s *session) hookEffect(t app.HookTested) {
	e := t.Effect
	said := false
	put := func(word, value string) {
		said = true
		s.line("together: %s", because(word, value))
	}
	if len(t.Hooks) == 0 {
		s.line("no hook was run")
		return
	}
	if e.Verdict != "" {
		put(e.Verdict, e.Reason)
	}
	if e.Block != "" {
		put("block", e.Block)
	}
	if e.Halt != "" {
		put("halt", e.Halt)
	}
	if len(e.Input) > 0 {
		put("rewrite", string(e.Input))
	}
	if e.Output != nil {
		put("replace the result", *e.Output)
	}
	if e.Context != "" {
		put("context", e.Context)
	}
	if !said {
		s.line("together: nothing")
	}
}

func because(word, why string) string {
	if why == "" {
		return word
	}
	return word + ": " + why
}
