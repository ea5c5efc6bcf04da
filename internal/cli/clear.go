package cli

type clearCmd struct {
	Confirm string `required:"" placeholder:"TOKEN" help:"Exactly: CLEAR REGISTRY"`
}

func (clearCmd) doc() doc {
	return doc{
		Long:     "Removes personas only; what else lies in the registry's directory stays.",
		Examples: []string{"larva clear --confirm 'CLEAR REGISTRY'", "larva clear --confirm 'CLEAR REGISTRY' --json"},
		Exits:    plainExits(),
	}
}

// Run empties the registry.
func (c clearCmd) Run(s *session) error {
	n, err := s.app.Clear(c.Confirm)
	if err != nil {
		return err
	}
	return s.result(map[string]any{"cleared": true, "count": n})
}
