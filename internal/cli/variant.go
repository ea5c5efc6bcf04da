package cli

type variantCmd struct {
	List     variantListCmd     `cmd:"" help:"List a persona's variants and the active one."`
	Activate variantActivateCmd `cmd:"" help:"Make a variant the active one."`
	Delete   variantDeleteCmd   `cmd:"" help:"Remove a variant; never the active or the last one."`
}

type variantListCmd struct {
	ID string `arg:"" help:"The persona's id." complete:"persona"`
}

func (variantListCmd) doc() doc {
	return doc{
		Examples: []string{"larva variant list code-reviewer", "larva variant list code-reviewer --json"},
		Exits:    plainExits(),
	}
}

// Run prints the variants, sorted.
func (c variantListCmd) Run(s *session) error {
	v, err := s.app.VariantList(c.ID)
	if err != nil {
		return err
	}
	return s.result(map[string]any{"id": v.ID, "active": v.Active, "variants": v.Variants})
}

type variantActivateCmd struct {
	ID      string `arg:"" help:"The persona's id." complete:"persona"`
	Variant string `arg:"" help:"The variant." complete:"variant"`
}

func (variantActivateCmd) doc() doc {
	return doc{
		Examples: []string{"larva variant activate code-reviewer tacit", "larva variant activate code-reviewer default --json"},
		Exits:    plainExits(),
	}
}

// Run moves the active pointer.
func (c variantActivateCmd) Run(s *session) error {
	if err := s.app.VariantActivate(c.ID, c.Variant); err != nil {
		return err
	}
	return s.result(map[string]any{"id": c.ID, "active": c.Variant})
}

type variantDeleteCmd struct {
	ID      string `arg:"" help:"The persona's id." complete:"persona"`
	Variant string `arg:"" help:"The variant." complete:"variant"`
}

func (variantDeleteCmd) doc() doc {
	return doc{
		Examples: []string{"larva variant delete code-reviewer tacit", "larva variant delete code-reviewer terse --json"},
		Exits:    plainExits(),
	}
}

// Run removes one variant.
func (c variantDeleteCmd) Run(s *session) error {
	if err := s.app.VariantDelete(c.ID, c.Variant); err != nil {
		return err
	}
	return s.result(map[string]any{"id": c.ID, "variant": c.Variant, "deleted": true})
}
