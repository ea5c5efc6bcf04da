package cli

import (
	"context"

	"larva.dev/larva/internal/diag"
)

type deleteCmd struct {
	ID  string `arg:"" help:"The persona's id." complete:"persona"`
	Yes bool   `short:"y" help:"Do not ask."`
}

func (deleteCmd) doc() doc {
	return doc{
		Long:     "Asks first on a terminal. Works on a broken persona too.",
		Examples: []string{"larva delete strict-reviewer", "larva delete strict-reviewer --yes --json"},
		Exits:    plainExits(),
	}
}

// Run removes a persona.
func (c deleteCmd) Run(ctx context.Context, s *session) error {
	if !c.Yes && s.canAsk() {
		yes, err := s.confirm(ctx, "Delete "+c.ID+" with all its variants?")
		if err != nil {
			return err
		}
		if !yes {
			return diag.New(diag.RegistryDeleteFailed, "%s is kept: you said no", c.ID).With("persona_id", c.ID)
		}
	}
	if err := s.app.Delete(c.ID); err != nil {
		return err
	}
	return s.result(map[string]any{"id": c.ID, "deleted": true})
}
