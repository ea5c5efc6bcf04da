package cli

import (
	"fmt"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/spec"
)

type updateCmd struct {
	ID      string   `arg:"" optional:"" help:"The persona's id." complete:"persona"`
	Set     []string `sep:"none" placeholder:"KEY=VALUE" help:"A field and its new value; dots reach into capabilities and model_params. Repeats."`
	Variant string   `placeholder:"NAME" help:"Change this variant in place of the active one." complete:"variant"`
	Where   []string `sep:"none" placeholder:"KEY=VALUE" help:"In place of ID: change every persona whose field has this value. Repeats; all must hold."`
	DryRun  bool     `help:"With --where: only say which personas match."`
}

func (updateCmd) doc() doc {
	return doc{
		Long: "prompt, model, model_params and compaction_prompt belong to a variant; description, capabilities and can_spawn to all of them. " +
			"One update changes one kind.",
		Examples: []string{
			"larva update code-reviewer --set model_params.temperature=0.2",
			"larva update --where model=smart --set model=anthropic/claude-opus-4-5 --dry-run --json",
		},
		Exits: plainExits(),
	}
}

// Run changes one persona or, with --where, all that match.
func (c updateCmd) Run(s *session) error {
	flat, err := pairs("--set", c.Set)
	if err != nil {
		return err
	}
	patches, err := nested("--set", flat)
	if err != nil {
		return err
	}
	if len(c.Where) > 0 {
		return c.batch(s, patches)
	}
	switch {
	case c.ID == "":
		return diag.Usage("expected an ID or --where").WithHint("larva update --help")
	case c.DryRun:
		return diag.Usage("--dry-run needs --where")
	}
	o, err := s.app.Update(c.ID, patches, c.Variant)
	if err != nil {
		return err
	}
	return s.result(o)
}

func (c updateCmd) batch(s *session, patches *spec.Object) error {
	switch {
	case c.ID != "":
		return diag.Usage("an ID and --where exclude each other")
	case c.Variant != "":
		return diag.Usage("--variant and --where exclude each other")
	}
	where, err := pairs("--where", c.Where)
	if err != nil {
		return err
	}
	if len(where.Members) < len(c.Where) {
		return diag.Usage("--where names a key twice; a field has one value")
	}
	res, err := s.app.UpdateWhere(where, patches, c.DryRun)
	if err != nil {
		return err
	}
	if s.json() {
		return s.data(res)
	}
	fmt.Fprintf(s.out, "matched: %d, updated: %d\n", res.Matched, res.Updated)
	for _, it := range res.Items {
		word := "False" // the contract's spelling
		if it.Updated {
			word = "True"
		}
		s.line("  %s: %s", it.ID, word)
	}
	return nil
}
