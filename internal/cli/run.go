package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"larva.dev/larva/internal/app"
	"larva.dev/larva/internal/diag"
)

type runCmd struct {
	Persona  string   `arg:"" optional:"" help:"A persona's id or path (a path has a / or a file ending)." complete:"runnable"`
	Prompt   []string `arg:"" optional:"" help:"What to do; piped stdin is appended."`
	Variant  string   `placeholder:"NAME" help:"This variant in place of the active one." complete:"variant"`
	Override []string `sep:"none" placeholder:"KEY=VALUE" help:"Replace prompt, model, model_params or compaction_prompt. Repeats."`
	Model    string   `placeholder:"MODEL" help:"A label, role or provider/model in place of the persona's."`
	MaxTurns *int     `placeholder:"N" help:"End after this many turns (exit 5)."`
	ruleFlags
	limitFlags
	Continue     bool   `short:"c" xor:"session" help:"Go on with this project's latest session; PERSONA may be left out."`
	Resume       string `xor:"session" placeholder:"ID" help:"Go on with this session." complete:"session"`
	Fork         string `xor:"session" placeholder:"ID[@N]" help:"Go on with a copy of this session, up to its Nth typed prompt." complete:"session"`
	Worktree     bool   `help:"Work in a git worktree of its own, on a new branch from HEAD; what is in it at the end is kept and told."`
	FailOnDenied bool   `help:"Exit 3 when any call was denied."`
	DryRun       bool   `help:"Show persona, model, tools, rules and sizes, and send nothing."`
}

func (runCmd) doc() doc {
	return doc{
		Long: "Without a terminal a question is a denial that tells the model why. With -o json one envelope, with -o stream-json one event a line. " +
			"Each run is a session (larva session list): --continue goes on with the latest, with its persona, ceiling, mode and profile.",
		Examples: []string{
			"larva run code-reviewer 'Review my change' --profile offline",
			"larva run code-reviewer 'Review my change' --profile offline --variant tacit --deny grep",
		},
		Exits: []int{diag.ExitOK, diag.ExitFailed, diag.ExitUsage, diag.ExitDenied, diag.ExitBudget, diag.ExitMaxTurns,
			diag.ExitLoop, diag.ExitModel, diag.ExitSchema, diag.ExitTimeLimit,
			diag.ExitInterrupted, diag.ExitTerminated},
	}
}

// Run runs the persona and prints what it says.
func (c runCmd) Run(ctx context.Context, s *session) error {
	in, err := c.input(ctx, s)
	if err != nil {
		return err
	}
	if c.DryRun {
		plan, err := s.app.Plan(ctx, in)
		if err != nil {
			return err
		}
		if s.json() {
			return s.data(plan)
		}
		return s.planLines(plan)
	}
	return s.play(ctx, in)
}

func (c runCmd) input(ctx context.Context, s *session) (app.RunInput, error) {
	if err := c.check(); err != nil {
		return app.RunInput{}, err
	}
	turns := 0
	if c.MaxTurns != nil {
		turns = *c.MaxTurns
	}
	if turns < 0 || c.MaxTurns != nil && turns == 0 {
		return app.RunInput{}, diag.Usage("--max-turns %d: must be at least 1", turns)
	}
	in := app.RunInput{
		Persona: c.Persona, Prompt: strings.Join(c.Prompt, " "), Profile: c.Profile, Variant: c.Variant,
		Model: c.Model, Mode: c.Mode, MaxTurns: turns, Allow: c.Allow, Ask: c.Ask, Deny: c.Deny, AddDirs: c.AddDir,
		Continue: c.Continue, Resume: c.Resume, Fork: c.Fork,
		FailOnDenied: c.FailOnDenied, Worktree: c.Worktree, Stdin: c.stdin(ctx, s), StdinTTY: isTerminal(s.process.Stdin),
	}
	if err := c.put(&in, s.process.Dir); err != nil {
		return in, err
	}
	if len(c.Override) > 0 {
		o, err := pairs("--override", c.Override)
		if err != nil {
			return in, err
		}
		in.Override = o
	}
	return in, nil
}

// stdin says so where it is waited for beside a prompt: a pipe that somebody
// forgot to close looks like a run that does nothing.
func (c runCmd) stdin(ctx context.Context, s *session) io.Reader {
	r := untilDone(ctx, s.process.Stdin)
	if len(c.Prompt) > 0 && !s.json() {
		r.slow = func() {
			fmt.Fprintln(s.process.Stderr, "notice: waiting for stdin to end; it is added to the prompt (</dev/null where there is none)")
		}
	}
	return r
}
