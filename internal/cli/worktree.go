package cli

import (
	"context"
	"strconv"
	"time"

	"larva.dev/larva/internal/app"
)

type worktreeCmd struct {
	List   worktreeListCmd   `cmd:"" help:"List the worktrees that runs and tasks have left."`
	Remove worktreeRemoveCmd `cmd:"" help:"Remove worktrees with their branches."`
	Prune  worktreePruneCmd  `cmd:"" help:"Remove the worktrees that are merged, empty or gone."`
}

type worktreeListCmd struct {
	All bool `help:"Those of every repository."`
}

func (worktreeListCmd) doc() doc {
	return doc{
		Long: "One line a worktree: name, state, age, commits that are merged nowhere, files not committed, branch, directory, with tabs between. " +
			"States: running, unsaved (it holds what is not committed), work (commits that are merged nowhere), merged, empty, broken (git cannot tell). " +
			"A directory that is gone is shown as -.",
		Examples: []string{"larva worktree list", "larva worktree list --all --json"},
		Exits:    plainExits(),
	}
}

// Run lists worktrees.
func (c worktreeListCmd) Run(ctx context.Context, s *session) error {
	list, err := s.app.WorktreeList(ctx, c.All)
	if err != nil {
		return err
	}
	if s.json() {
		return s.data(list)
	}
	for _, w := range list {
		dir := w.Dir
		if w.Gone {
			dir = "-"
		}
		s.line("%s\t%s\t%s\t%s\t%s\t%s\t%s", w.Name, w.State, age(time.Since(w.Created), w.Created.IsZero()), strconv.Itoa(w.Commits), strconv.Itoa(w.Changed), w.Branch, dir)
	}
	return nil
}

// age is in the largest unit that has passed once.
func age(d time.Duration, unknown bool) string {
	switch {
	case unknown:
		return "-"
	case d < time.Minute:
		return "now"
	case d < time.Hour:
		return strconv.Itoa(int(d.Minutes())) + "m"
	case d < 24*time.Hour:
		return strconv.Itoa(int(d.Hours())) + "h"
	}
	return strconv.Itoa(int(d.Hours()/24)) + "d"
}

type worktreeRemoveCmd struct {
	Names []string `arg:"" name:"name" help:"Names, branches or directories, as worktree list prints them." complete:"worktree"`
	Force bool     `help:"Also where that loses commits that are merged nowhere, or files that are not committed."`
	Yes   bool     `short:"y" help:"Do not ask."`
}

func (worktreeRemoveCmd) doc() doc {
	return doc{
		Long: "Asks first on a terminal. Refuses, without --force, where something would be lost that is nowhere else; a worktree that a run is at work in stays in any case. " +
			"Files that git ignores go with it.",
		Examples: []string{"larva worktree remove $NAME", "larva worktree remove $NAME2 --force --yes --json"},
		Exits:    plainExits(),
	}
}

// Run removes worktrees.
func (c worktreeRemoveCmd) Run(ctx context.Context, s *session) error {
	var confirm func(context.Context, app.Worktree) (bool, error)
	if !c.Yes && s.canAsk() {
		confirm = func(ctx context.Context, w app.Worktree) (bool, error) {
			question := "Remove " + w.Name + " with its branch?"
			if loses := w.Loses(); loses != "" {
				question += " It takes away " + loses + "."
			}
			return s.confirm(ctx, question)
		}
	}
	removed, err := s.app.WorktreeRemove(ctx, c.Names, c.Force, confirm)
	if err != nil {
		return err
	}
	if s.json() {
		return s.data(map[string]any{"removed": worktreeNames(removed)})
	}
	for _, w := range removed {
		s.line("%s", w.Name)
	}
	return nil
}

func worktreeNames(list []app.Worktree) []string {
	names := make([]string, len(list))
	for i, w := range list {
		names[i] = w.Name
	}
	return names
}

type worktreePruneCmd struct {
	All    bool `help:"Those of every repository."`
	Force  bool `help:"All of them, also where commits or files are nowhere else; asks first on a terminal."`
	DryRun bool `help:"Show what would be removed, and do nothing."`
	Yes    bool `short:"y" help:"Do not ask."`
}

func (worktreePruneCmd) doc() doc {
	return doc{
		Long: "Removes what holds nothing that is not elsewhere: all its commits are on other branches, or merging them would change nothing, and no file is uncommitted. " +
			"Files that git ignores go with it. The rest is told on stderr and stays, unless --force; where a run is at work it stays in any case.",
		Examples: []string{"larva worktree prune --dry-run", "larva worktree prune --json"},
		Exits:    plainExits(),
	}
}

// Run removes worktrees that nobody needs.
func (c worktreePruneCmd) Run(ctx context.Context, s *session) error {
	in := app.PruneInput{All: c.All, Force: c.Force, DryRun: c.DryRun}
	if c.Force && !c.DryRun && !c.Yes && s.canAsk() {
		yes, err := s.confirm(ctx, "Remove all worktrees with their branches, also what is merged nowhere?")
		if err != nil {
			return err
		}
		if !yes {
			s.say("nothing is removed: you said no")
			return nil
		}
	}
	p, err := s.app.WorktreePrune(ctx, in)
	if err != nil {
		return err
	}
	if s.json() {
		return s.data(p)
	}
	for _, w := range p.Removed {
		s.line("%s\t%s", w.Name, w.State)
	}
	for _, w := range p.Kept {
		why := w.State
		if loses := w.Loses(); loses != "" {
			why += ": " + loses
		}
		s.say("kept: %s (%s)", w.Name, why)
	}
	return nil
}
