package cli

import "encoding/json"

type schemaCmd struct {
	Name   string `arg:"" optional:"" help:"Which schema; without it the names are listed." complete:"schema"`
	Format string `enum:"cue,jsonschema" default:"jsonschema" placeholder:"FORMAT" help:"cue or jsonschema."`
}

func (schemaCmd) doc() doc {
	return doc{
		Long:     "With --json the schema stands under data.schema: an object for jsonschema, a text for cue.",
		Examples: []string{"larva schema", "larva schema persona --format cue"},
		Exits:    plainExits(),
	}
}

// Run prints one schema or all names.
func (c schemaCmd) Run(s *session) error {
	if c.Name == "" {
		names := s.app.SchemaNames()
		if s.json() {
			return s.data(names)
		}
		for _, n := range names {
			s.line("%s", n)
		}
		return nil
	}
	text, err := s.app.Schema(c.Name, c.Format)
	if err != nil {
		return err
	}
	if !s.json() {
		_, err := s.out.Write(text)
		return err
	}
	var body any = string(text)
	if c.Format == "jsonschema" {
		body = json.RawMessage(text)
	}
	return s.data(map[string]any{"name": c.Name, "format": c.Format, "schema": body})
}
