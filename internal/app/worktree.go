package app

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"larva.dev/larva/internal/agent"
	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/permission"
	"larva.dev/larva/internal/profile"
	"larva.dev/larva/internal/worktree"
)

// Worktree is one task's worktree, under a name that cli may say.
type Worktree = worktree.Entry

// workDir is where a run works.
func (a *App) workDir() string {
	if a.work != "" {
		return a.work
	}
	return a.dir
}

// absAll gives directories as the command line means them.
func (a *App) absAll(dirs []string) []string {
	if a.work == "" {
		return dirs
	}
	out := make([]string, len(dirs))
	for i, d := range dirs {
		if out[i] = d; !strings.HasPrefix(d, "~") {
			out[i] = a.abs(d)
		}
	}
	return out
}

// in gives an App whose runs work in a worktree, kept out of the checkout that
// it was made from.
func (a *App) in(t *worktree.Tree) *App {
	b := *a
	b.work = t.Cwd
	b.others = append(slices.Clone(a.others), t.Repo)
	return &b
}

// apartRun is a run in a worktree of its own; nil is a run in place.
type apartRun struct {
	tree *worktree.Tree
	over bool
}

// setApart makes the worktree of a run, and gives the App that works there.
// Outside of a repository it works in place, and says so.
func (a *App) setApart(ctx context.Context, in RunInput) (*App, *apartRun, []string, error) {
	if !in.Worktree {
		return a, nil, nil, nil
	}
	data, err := a.DataDir()
	if err != nil {
		return nil, nil, nil, err
	}
	at, err := a.locate()
	if err != nil {
		return nil, nil, nil, err
	}
	stood, err := a.treeProfile(ctx, at, in.about("", &sitting{}).flags)
	if err != nil {
		return nil, nil, nil, err
	}
	if onlyReads(stood.Mode, at) {
		return nil, nil, nil, errOnlyReads()
	}
	holds := stood.Worktree
	t, err := worktree.Create(ctx, worktree.Options{Cwd: a.workDir(), Data: data, Label: in.Persona, Environ: a.environ,
		WithChanges: holds.Changes != nil && *holds.Changes, Copy: holds.Copy})
	if errors.Is(err, worktree.ErrOutside) {
		return a, nil, []string{"--worktree: this is no git repository, so the run works in place"}, nil
	}
	if err != nil {
		return nil, nil, nil, err
	}
	notices := append([]string{"the run works in " + t.Dir + ", on branch " + t.Branch}, t.Notices...)
	return a.in(t), &apartRun{tree: t}, notices, nil
}

// onlyReads says that a run may have no worktree: making one writes branches
// and records into the repository, which plan mode promises not to, and in place
// it would be another run than the one that was asked for.
func onlyReads(mode string, at where) bool {
	return mode == permission.Plan && exists(filepath.Join(at.project, ".git"))
}

func errOnlyReads() error {
	return diag.New(diag.Unsupported, "plan mode only reads: no worktree is made in it").
		WithHint("plan without a worktree, or choose another mode: --mode default")
}

// treeProfile is the profile of a run, read before there is a worktree: what it
// wants in one, and the mode.
func (a *App) treeProfile(ctx context.Context, at where, f flags) (profile.Profile, error) {
	store, err := a.trustStore(at)
	if err != nil {
		return profile.Profile{}, err
	}
	stack, err := a.layers(ctx, at, store, f)
	if err != nil {
		return profile.Profile{}, err
	}
	eff, err := profile.Merge(stack)
	if err != nil {
		return profile.Profile{}, diag.New(diag.ProfileInvalid, "%v", err)
	}
	return eff.Profile, nil
}

// closing finishes the worktree as the run's last act, before its result is
// said: nothing that the run has started may be at work any more.
func (w *apartRun) closing(l *agent.Loop, s *stand) {
	if w == nil {
		return
	}
	l.Points.SessionEnd = append(l.Points.SessionEnd, func(ctx context.Context, _ event.Result) {
		_ = s.shell.Close()
		_ = s.wall.Close()
		text, err := w.finish(ctx)
		code := "worktree"
		if err != nil {
			code = string(diag.As(err).Code)
		}
		l.Notice(code, text)
	})
}

// finish gives the report. It does nothing the second time.
func (w *apartRun) finish(ctx context.Context) (string, error) {
	if w == nil || w.over {
		return "", nil
	}
	w.over = true
	rep, err := w.tree.Finish(ctx)
	return rep.Text(), err
}

// WorktreeList lists this repository's worktrees, or with all those of every
// repository, the oldest first.
func (a *App) WorktreeList(ctx context.Context, all bool) ([]Worktree, error) {
	dirs, err := a.repositories(all)
	if err != nil {
		return nil, err
	}
	out := []Worktree{}
	for _, dir := range dirs {
		list, err := worktree.List(ctx, dir, a.environ)
		if err != nil {
			return nil, outsideGit(err)
		}
		out = append(out, list...)
	}
	return out, nil
}

// repositories are directories in those that a verb means.
func (a *App) repositories(all bool) ([]string, error) {
	if !all {
		return []string{a.workDir()}, nil
	}
	data, err := a.DataDir()
	if err != nil {
		return nil, err
	}
	return worktree.Everywhere(data), nil
}

func outsideGit(err error) error {
	if errors.Is(err, worktree.ErrOutside) {
		return diag.Usage("this directory is in no git repository").WithHint("larva worktree list --all shows those of every repository")
	}
	return err
}

// WorktreeNames are those of this repository, for completion.
func (a *App) WorktreeNames(ctx context.Context) ([]string, error) {
	list, err := a.WorktreeList(ctx, false)
	names := make([]string, len(list))
	for i, e := range list {
		names[i] = e.Name
	}
	return names, err
}

// WorktreeRemove removes worktrees with their branches. All are found before
// the first one goes. confirm is asked about each; nil asks nobody.
func (a *App) WorktreeRemove(ctx context.Context, names []string, force bool, confirm func(context.Context, Worktree) (bool, error)) ([]Worktree, error) {
	if err := a.refuseNested("worktree remove"); err != nil {
		return nil, err
	}
	found := make([]Worktree, len(names))
	for i, n := range names {
		var err error
		if found[i], err = worktree.Find(ctx, a.workDir(), n, a.environ); err != nil {
			return nil, outsideGit(err)
		}
	}
	removed := []Worktree{}
	for _, e := range found {
		if confirm != nil && (force || e.Safe()) { // what is refused is not asked about
			if yes, err := confirm(ctx, e); err != nil || !yes {
				if err != nil {
					return removed, err
				}
				continue
			}
		}
		if err := worktree.Remove(ctx, e, force); err != nil {
			return removed, err
		}
		removed = append(removed, e)
	}
	return removed, nil
}

// Pruned is what `worktree prune` did, or with DryRun would do.
type Pruned struct {
	Removed []Worktree `json:"removed"`
	Kept    []Worktree `json:"kept"`
	Done    bool       `json:"done"`
}

// PruneInput is everything `worktree prune` was told.
type PruneInput struct {
	All, Force, DryRun bool
}

// WorktreePrune removes what is merged, empty or gone and holds nothing that is
// nowhere else.
func (a *App) WorktreePrune(ctx context.Context, in PruneInput) (Pruned, error) {
	out := Pruned{Removed: []Worktree{}, Kept: []Worktree{}}
	if !in.DryRun {
		if err := a.refuseNested("worktree prune"); err != nil {
			return out, err
		}
	}
	dirs, err := a.repositories(in.All)
	if err != nil {
		return out, err
	}
	for _, dir := range dirs {
		removed, kept, err := worktree.Prune(ctx, dir, a.environ, in.Force, in.DryRun)
		out.Removed, out.Kept = append(out.Removed, removed...), append(out.Kept, kept...)
		if err != nil {
			return out, outsideGit(err)
		}
	}
	out.Done = !in.DryRun
	return out, nil
}
