package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"larva.dev/larva/internal/app"
	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/spec"
)

type sessionCmd struct {
	List   sessionListCmd   `cmd:"" help:"List this project's sessions, the newest first."`
	Show   sessionShowCmd   `cmd:"" help:"Show what was said, called, decided and done."`
	Export sessionExportCmd `cmd:"" help:"Print a session whole."`
	Undo   sessionUndoCmd   `cmd:"" help:"Put files back as they were before the last turn."`
	Delete sessionDeleteCmd `cmd:"" help:"Remove sessions with what they keep."`
}

type sessionListCmd struct {
	All bool `help:"Those of every project."`
}

func (sessionListCmd) doc() doc {
	return doc{
		Long: "One line a session: id, start, persona, state, turns, cost and the first prompt, with tabs between. States: running, done, " +
			"stopped (by a limit, a denial, a person), failed, crashed, empty, broken. Sessions are kept for 90 days, what undo needs for 7.",
		Examples: []string{"larva session list", "larva session list --all --json"},
		Exits:    plainExits(),
	}
}

// Run lists sessions.
func (c sessionListCmd) Run(s *session) error {
	list, err := s.app.SessionList(c.All)
	if err != nil {
		return err
	}
	if s.json() {
		return s.data(list)
	}
	for _, l := range list {
		usd := "-"
		if l.CostUSD != nil {
			usd = fmt.Sprintf("%.4f", *l.CostUSD)
		}
		s.line("%s\t%s\t%s\t%s\t%s\t%s\t%s", l.ID, l.Started.UTC().Format(time.RFC3339), l.Persona.ID, l.State, fmt.Sprint(l.Turns), usd, l.Prompt)
	}
	return nil
}

type sessionShowCmd struct {
	ID string `arg:"" optional:"" help:"The session's id, or enough of it; the project's latest if left out." complete:"session"`
}

func (sessionShowCmd) doc() doc {
	return doc{
		Long:     "Long inputs and outputs are cut at 20 lines; export prints them whole. Typed prompts are numbered: run --fork ID@N goes back to before one.",
		Examples: []string{"larva session show", "larva session show --json"},
		Exits:    plainExits(),
	}
}

// outputLines of an output tell what it is about.
const outputLines = 20

// Run shows one session.
func (c sessionShowCmd) Run(s *session) error {
	t, err := s.app.SessionShow(c.ID)
	if err != nil {
		return err
	}
	if s.json() {
		return s.data(t)
	}
	return t.Markdown(s.out, outputLines)
}

type sessionExportCmd struct {
	ID     string `arg:"" optional:"" help:"The session's id, or enough of it; the project's latest if left out." complete:"session"`
	Format string `enum:"markdown,json,jsonl" default:"markdown" placeholder:"FORMAT" help:"markdown, json (one object), or jsonl (the session's own lines)."`
}

func (sessionExportCmd) doc() doc {
	return doc{
		Long:     "Each call stands with its decision and its result, in order. Where the model saw a part of an output only, the file with the whole is named.",
		Examples: []string{"larva session export", "larva session export --format jsonl"},
		Exits:    plainExits(),
	}
}

// Run prints one session whole.
func (c sessionExportCmd) Run(s *session) error {
	if c.Format == "jsonl" && !s.json() {
		return s.app.SessionLines(c.ID, s.out)
	}
	t, err := s.app.SessionShow(c.ID)
	if err != nil {
		return err
	}
	switch {
	case s.json():
		return s.data(t)
	case c.Format == "json":
		_, err := s.out.Write(append(spec.AppendCanonical(nil, t), '\n'))
		return err
	}
	return t.Markdown(s.out, 0)
}

type sessionUndoCmd struct {
	ID     string `arg:"" optional:"" help:"The session's id, or enough of it; the project's latest if left out." complete:"session"`
	Turns  *int   `placeholder:"N" xor:"turns" help:"How many turns that changed something; 1 if left out."`
	All    bool   `xor:"turns" help:"All turns of the session."`
	DryRun bool   `help:"Show what would be done, and do nothing."`
	Force  bool   `help:"Also where somebody else has changed a file since."`
}

func (sessionUndoCmd) doc() doc {
	return doc{
		Long: "A turn is one run. What file tools and shell commands changed is put back, contents, modes and links; files made since are removed. " +
			"Not covered: files that git ignores (unless a command named them in checkpoint_paths), files above 2 MiB or more than 64 MiB or 2,000 files outside git " +
			"that commands change, commits and the index, and what lies outside the project. A resumed session tells its model what was undone.",
		Examples: []string{"larva session undo --dry-run", "larva session undo --all --json"},
		Exits:    plainExits(),
	}
}

// Run puts files back.
func (c sessionUndoCmd) Run(ctx context.Context, s *session) error {
	turns := 1
	if c.Turns != nil {
		turns = *c.Turns
	}
	if turns < 1 {
		return diag.Usage("--turns %d: must be at least 1", turns).WithHint("--all for every turn")
	}
	in := app.UndoInput{ID: c.ID, Turns: turns, DryRun: c.DryRun, Force: c.Force}
	if c.All {
		in.Turns = 0
	}
	u, err := s.app.SessionUndo(ctx, in)
	if err != nil {
		return err
	}
	if s.json() {
		return s.data(u)
	}
	if len(u.Files) == 0 {
		s.say("session %s has nothing to undo", u.SessionID)
	}
	for _, f := range u.Files {
		if f.Conflict == "" {
			s.line("%s\t%s", f.Do, f.Path)
		} else {
			s.line("%s\t%s\t%s", f.Do, f.Path, f.Conflict)
		}
	}
	return nil
}

type sessionDeleteCmd struct {
	IDs []string `arg:"" name:"id" help:"Ids of this project's sessions, or enough of them." complete:"session"`
	Yes bool     `short:"y" help:"Do not ask."`
}

func (sessionDeleteCmd) doc() doc {
	return doc{
		Long:     "Asks first on a terminal. What undo keeps for the session goes too. A session that is being written stays.",
		Examples: []string{"larva session delete $ID", "larva session delete $ID2 --yes --json"},
		Exits:    plainExits(),
	}
}

// Run removes sessions.
func (c sessionDeleteCmd) Run(ctx context.Context, s *session) error {
	var confirm func(context.Context, app.SessionSummary) (bool, error)
	if !c.Yes && s.canAsk() {
		confirm = func(ctx context.Context, l app.SessionSummary) (bool, error) {
			return s.confirm(ctx, strings.TrimSpace("Delete session "+l.ID+" and what undo keeps for it? "+l.Prompt))
		}
	}
	deleted, err := s.app.SessionDelete(ctx, c.IDs, confirm)
	if err != nil {
		return err
	}
	if s.json() {
		return s.data(map[string]any{"deleted": deleted})
	}
	for _, id := range deleted {
		s.line("%s", id)
	}
	return nil
}
