package cli

import (
	"context"
	"encoding/json"
	"os"

	"larva.dev/larva/internal/app"
	"larva.dev/larva/internal/diag"
)

// openCodeVerb is looked for before the grammar is: what stands behind it is
// OpenCode's to understand.
const openCodeVerb = "opencode"

// dryRunFlag is ours in front of the first argument of OpenCode's.
const dryRunFlag = "--larva-dry-run"

type openCodeCmd struct {
	Args []string `arg:"" optional:"" passthrough:"" help:"OpenCode's own arguments, passed on as they are; --larva-dry-run before them only prints what would be started."`
}

func (openCodeCmd) doc() doc {
	return doc{
		Long: "Starts the real OpenCode with every persona of the registry as an agent: its prompt at system strength, its model, and no more rights than it says. Arguments, stdin, signals and the exit code are passed on. Nothing is written into OpenCode's configuration.\n\n" +
			"A persona that is edited meanwhile is what it is now in the next request; one that is new or deleted needs a new start. Without larva's plugin no request of a persona goes out. --pure is refused.",
		Examples: []string{"larva opencode --agent code-reviewer", "larva opencode --larva-dry-run run --agent code-reviewer hello"},
		Exits:    []int{diag.ExitOK, diag.ExitFailed, diag.ExitUsage, diag.ExitInterrupted, diag.ExitTerminated},
	}
}

// Run is for a command line on which something stands before the verb.
func (c openCodeCmd) Run(ctx context.Context, s *session) error { return s.openCode(ctx, c.Args) }

// openCode starts OpenCode, or prints the plan of it.
func (s *session) openCode(ctx context.Context, args []string) error {
	if len(args) > 0 && args[0] == dryRunFlag {
		return s.openCodePlan(ctx, dropDashes(args[1:]))
	}
	args = dropDashes(args)
	code, err := s.app.OpenCode(ctx, app.OpenCodeInput{Args: args, Stdin: file(s.process.Stdin), Stdout: file(s.process.Stdout), Stderr: file(s.process.Stderr),
		Notice: func(text string) { s.say("larva: %s", text) }})
	if err != nil {
		return err
	}
	s.code = code
	return nil
}

// dropDashes takes one leading -- away.
func dropDashes(args []string) []string {
	if len(args) > 0 && args[0] == "--" {
		return args[1:]
	}
	return args
}

func file(v any) *os.File {
	f, _ := v.(*os.File) // a test's buffer is the null device
	return f
}

func (s *session) openCodePlan(ctx context.Context, args []string) error {
	plan, err := s.app.OpenCodePlan(ctx, args)
	if err != nil {
		return err
	}
	if s.json() {
		return s.data(plan)
	}
	text, err := json.MarshalIndent(plan, "", "  ")
	if err != nil {
		return err
	}
	_, err = s.out.Write(append(text, '\n'))
	return err
}
