package cli

import (
	"context"
	"os"
	"strings"

	"larva.dev/larva/internal/app"
	"larva.dev/larva/internal/diag"
)

type chatCmd struct {
	Persona string   `arg:"" optional:"" help:"A persona's id or path; without one the shipped worker." complete:"runnable"`
	Prompt  []string `arg:"" optional:"" help:"The first prompt."`
	Variant string   `placeholder:"NAME" help:"This variant in place of the active one." complete:"variant"`
	Model   string   `placeholder:"MODEL" help:"A label, role or provider/model in place of the persona's."`
	ruleFlags
	BudgetUSD    *float64 `name:"budget-usd" placeholder:"USD" help:"Ask no model any more once this much is spent, by the profile's prices."`
	BudgetTokens *int64   `placeholder:"N" help:"Ask no model any more once this many tokens went in and out."`
	Effort       string   `placeholder:"WORD" help:"How hard the model thinks: minimal, low, medium, high, xhigh or max." words:"minimal low medium high xhigh max"`
	Continue     bool     `short:"c" xor:"session" help:"Go on with this project's latest session; PERSONA may be left out."`
	Resume       string   `xor:"session" placeholder:"ID" help:"Go on with this session." complete:"session"`
	Fork         string   `xor:"session" placeholder:"ID[@N]" help:"Go on with a copy of this session, up to its Nth typed prompt." complete:"session"`
}

func (chatCmd) doc() doc {
	return doc{
		Long: "Needs a terminal. The conversation is a session like a run's: larva session list has it, larva chat --continue and larva run --continue go on with it. " +
			"/help lists the commands: /persona, /model, /mode change who is talked to and how, /tasks what runs in the background, /undo puts files back. " +
			"@ completes files, a line that ends with \\ goes on. Esc interrupts the turn, Ctrl-C twice quits.",
		Examples: []string{"larva chat", "larva chat code-reviewer --profile offline"},
		Exits:    []int{diag.ExitOK, diag.ExitFailed, diag.ExitUsage, diag.ExitInterrupted, diag.ExitTerminated},
	}
}

// Run holds the chat.
func (c chatCmd) Run(ctx context.Context, s *session) error {
	in, err := c.input()
	if err != nil {
		return err
	}
	if s.json() {
		return diag.Usage("a chat is for a person at a terminal, and has no JSON").
			WithHint("larva run %s PROMPT -o stream-json; --continue goes on with it", in.Who())
	}
	if !isTerminal(s.process.Stdin) || !isTerminal(s.process.Stdout) {
		return diag.Usage("a chat needs a terminal to read from and to write to").
			WithHint("larva run %s PROMPT; larva run --continue PROMPT goes on with it", in.Who())
	}
	if plainTerminal(s.process.Environ) {
		return diag.Usage("a chat draws on the terminal, which this one cannot (TERM=dumb or ACCESSIBLE is set)").
			WithHint("turn by turn: larva run %s PROMPT, then larva run --continue PROMPT", in.Who())
	}
	return s.chat(ctx, in, s.process.Stdin.(*os.File), s.process.Stdout.(*os.File))
}

func (c chatCmd) input() (app.RunInput, error) {
	if err := c.check(); err != nil {
		return app.RunInput{}, err
	}
	in := app.RunInput{Persona: c.Persona, Prompt: strings.Join(c.Prompt, " "), Profile: c.Profile, Variant: c.Variant, Model: c.Model, Mode: c.Mode,
		Allow: c.Allow, Ask: c.Ask, Deny: c.Deny, AddDirs: c.AddDir, Continue: c.Continue, Resume: c.Resume, Fork: c.Fork}
	return in, limitFlags{BudgetUSD: c.BudgetUSD, BudgetTokens: c.BudgetTokens, Effort: c.Effort}.put(&in, "")
}
