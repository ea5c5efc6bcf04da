package cli

type listCmd struct{}

func (listCmd) doc() doc {
	return doc{
		Long:     "One line a persona: id, model label and digest of the active variant, with tabs between.",
		Examples: []string{"larva list", "larva list --json"},
		Exits:    plainExits(),
	}
}

// Run lists the active variants; one blank line when there is none.
func (listCmd) Run(s *session) error {
	list, err := s.app.List()
	if err != nil {
		return err
	}
	if s.json() {
		rows := make([]any, 0, len(list))
		for _, p := range list {
			rows = append(rows, map[string]any{
				"id": p.ID, "description": p.Description, "spec_digest": p.SpecDigest, "model": p.Model, "capabilities": p.Capabilities})
		}
		return s.data(rows)
	}
	if len(list) == 0 {
		s.line("")
	}
	for _, p := range list {
		s.line("%s\t%s\t%s", p.ID, p.Model, p.SpecDigest)
	}
	return nil
}
