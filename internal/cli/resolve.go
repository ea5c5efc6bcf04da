package cli

type resolveCmd struct {
	ID       string   `arg:"" help:"The persona's id." complete:"persona"`
	Variant  string   `placeholder:"NAME" help:"This variant in place of the active one." complete:"variant"`
	Override []string `sep:"none" placeholder:"KEY=VALUE" help:"Replace prompt, model, model_params or compaction_prompt in the answer; nothing is stored. Repeats."`
}

func (resolveCmd) doc() doc {
	return doc{
		Examples: []string{
			"larva resolve code-reviewer",
			"larva resolve code-reviewer --variant tacit --override model=openai/gpt-5 --json",
		},
		Exits: plainExits(),
	}
}

// Run prints one PersonaSpec.
func (c resolveCmd) Run(s *session) error {
	over, err := pairs("--override", c.Override)
	if err != nil {
		return err
	}
	o, err := s.app.Resolve(c.ID, c.Variant, over)
	if err != nil {
		return err
	}
	return s.result(o)
}
