package cli

import (
	"context"

	"larva.dev/larva/internal/app"
	"larva.dev/larva/internal/diag"
)

type skillCmd struct {
	List     skillListCmd     `cmd:"" help:"List the skills and commands, and who may use each."`
	Show     skillShowCmd     `cmd:"" help:"Show one with its text."`
	Validate skillValidateCmd `cmd:"" help:"Check skills and commands against their format."`
}

type skillListCmd struct{}

func (skillListCmd) doc() doc {
	return doc{
		Long: "Skills are directories with a SKILL.md in .larva/skills, .larik/skills, .claude/skills and .agents/skills, from the project's root down to here, " +
			"in what skills.paths of a profile names, in the personal skills directory, in ~/.claude/skills and ~/.agents/skills. Commands are Markdown files in commands " +
			"beside those, without .agents and ~/.agents. Of two with one name the nearer counts, in the order of this sentence, and a skill before a command. " +
			"One line each, with tabs between: who may use it (model, person, both or off), what /name runs it, kind, file:line and what it is for.",
		Examples: []string{"larva skill list", "larva skill list --json"},
		Exits:    plainExits(),
	}
}

// Run lists them.
func (skillListCmd) Run(ctx context.Context, s *session) error {
	list, err := s.app.SkillList(ctx)
	if err != nil {
		return err
	}
	if s.json() {
		return s.data(list)
	}
	for _, p := range list.Problems {
		s.say("%s: %s", p.Kind, p.String())
	}
	for _, r := range list.Skills {
		s.line("%s\t%s\t%s\t%s\t%s", skillState(r), slashed(r), r.Kind, r.Source, oneLine(r.Description))
		if n := len(r.Notices); n > 0 {
			s.say("note: %s: %s%s", r.ID, r.Notices[0].String(), more(n-1))
		}
	}
	return nil
}

// skillState says who may use a skill.
func skillState(r app.SkillRow) string {
	state := "off"
	switch {
	case r.Model && r.Person:
		state = "both"
	case r.Model:
		state = "model"
	case r.Person:
		state = "person"
	}
	if r.ShadowedBy != "" {
		state += ", shadowed by " + r.ShadowedBy
	}
	return state
}

// slashed is how a person calls it.
func slashed(r app.SkillRow) string {
	if !r.Person {
		return r.ID
	}
	if r.Hint == "" {
		return "/" + r.ID
	}
	return "/" + r.ID + " " + oneLine(r.Hint)
}

type skillShowCmd struct {
	Skill string `arg:"" name:"name" help:"A name, or a file as skill list prints it." complete:"skill"`
}

func (skillShowCmd) doc() doc {
	return doc{
		Long:     "What it is called by, where it comes from and who may use it; everything that was healed, dropped or has no effect, each with file:line; then its text.",
		Examples: []string{"larva skill show review", "larva skill show review --json"},
		Exits:    plainExits(),
	}
}

// Run shows one.
func (c skillShowCmd) Run(ctx context.Context, s *session) error {
	d, err := s.app.SkillShow(ctx, c.Skill)
	if err != nil {
		return err
	}
	if s.json() {
		return s.data(d)
	}
	put := func(label, value string) {
		if value != "" {
			s.line("%s: %s", label, value)
		}
	}
	put("id", d.ID)
	if d.Name != d.ID {
		put("name", d.Name)
	}
	put("kind", d.Kind)
	put("from", d.Source)
	put("for", skillState(d.SkillRow))
	s.lines("description: ", d.Description)
	put("arguments", d.Hint)
	for _, n := range d.Notices {
		put(n.Kind, n.String())
	}
	s.lines("text: ", d.Text)
	return nil
}

type skillValidateCmd struct {
	Files []string `arg:"" optional:"" name:"file" help:"SKILL.md, a directory that holds one or several, or a command's file; none: all that a run here would find." complete:"file"`
}

func (skillValidateCmd) doc() doc {
	return doc{
		Long: "One line a mistake: file:line:col: key: message. What larva heals or leaves without effect is a note and fails nothing; invalid is what breaks the format, " +
			"and error what gives no skill at all. Any of those two exits 1.",
		Examples: []string{"larva skill validate", "larva skill validate --json"},
		Exits:    plainExits(),
	}
}

// Run checks them.
func (c skillValidateCmd) Run(ctx context.Context, s *session) error {
	list, err := s.app.SkillValidate(ctx, c.Files)
	if err != nil {
		return err
	}
	for _, f := range list {
		if !f.Valid {
			s.code = diag.ExitFailed
		}
	}
	if s.json() {
		return s.data(list)
	}
	for _, f := range list {
		if len(f.Problems) == 0 {
			s.line("%s: valid", f.File)
		}
		for _, p := range f.Problems {
			s.line("%s: %s", p.Kind, p.String())
		}
	}
	return nil
}
