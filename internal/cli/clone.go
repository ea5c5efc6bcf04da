package cli

type cloneCmd struct {
	Source string `arg:"" help:"The persona to copy." complete:"persona"`
	New    string `arg:"" help:"The copy's id; refused where it is taken."`
}

func (cloneCmd) doc() doc {
	return doc{
		Long:     "The copy gets the contract and the active variant, which becomes its default.",
		Examples: []string{"larva clone code-reviewer strict-reviewer", "larva clone code-reviewer strict-reviewer --json"},
		Exits:    plainExits(),
	}
}

// Run prints the copy.
func (c cloneCmd) Run(s *session) error {
	o, err := s.app.Clone(c.Source, c.New)
	if err != nil {
		return err
	}
	return s.result(o)
}
