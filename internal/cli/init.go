package cli

import (
	"path/filepath"
)

type initCmd struct {
	Dir string `arg:"" optional:"" default:"." help:"Where to write; made if it is not there."`
}

func (initCmd) doc() doc {
	return doc{
		Long:     "Writes a persona with two variants, a profile, the schema that plain `cue vet` needs and a .gitignore. Never overwrites.",
		Examples: []string{"larva init demo", "larva init demo --json"},
		Exits:    plainExits(),
	}
}

// Run writes the starter and says what to type next.
func (c initCmd) Run(s *session) error {
	done, err := s.app.Init(c.Dir)
	if err != nil {
		return err
	}
	if s.json() {
		return s.data(map[string]any{"dir": done.Dir, "files": done.Files})
	}
	for _, f := range done.Files {
		s.line("%s", filepath.Join(c.Dir, f))
	}
	if err := s.out.Flush(); err != nil { // the files come before what to do with them
		return err
	}
	s.say("next:")
	if c.Dir != "." {
		s.say("  cd %s", c.Dir)
	}
	for _, l := range done.Next {
		s.say("  %s", l)
	}
	return nil
}
