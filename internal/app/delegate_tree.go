package app

import (
	"cmp"
	"context"
	"errors"
	"time"

	"larva.dev/larva/internal/agent"
	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/permission"
	"larva.dev/larva/internal/root"
	"larva.dev/larva/internal/tool/task"
	"larva.dev/larva/internal/worktree"
)

// treeTime is what finishing worktrees may take when their run ends: as much
// as one of them gives itself.
const treeTime = time.Minute

// appOf is the App of the place where a stand works.
func (f *family) appOf(s *stand) *App {
	if s.own != nil {
		return s.own
	}
	return f.app
}

// place gives a child a checkout of its own where the task, its definition or
// its role says so. Inside of a repository it never works in its parent's
// instead; outside of one there is none to make, and that is told.
func (f *family) place(ctx context.Context, parent *stand, above *agent.Loop, s *stand, r task.Request) error {
	wants := s.route.Isolation
	for _, d := range s.agents {
		wants = cmp.Or(d.Isolation, wants)
	}
	if cmp.Or(r.Isolation, wants) != "worktree" {
		return nil
	}
	if above.CurrentMode() == permission.Plan {
		return errChildReads()
	}
	data, err := s.own.DataDir()
	if err != nil {
		return err
	}
	holds := parent.eff.Profile.Worktree
	t, err := worktree.Create(ctx, worktree.Options{WithChanges: holds.Changes != nil && *holds.Changes, Copy: holds.Copy, Cwd: parent.roots.Cwd, Data: data, Label: task.Label(r.Agent, r.Description), Environ: f.app.environ})
	if errors.Is(err, worktree.ErrOutside) {
		s.notices = append(s.notices, s.persona.ID+" works in place: this is no git repository, so there is no worktree to make")
		return nil
	}
	if err != nil {
		return err
	}
	s.tree, s.own = t, s.own.in(t)
	s.notices = append(s.notices, t.Notices...)
	if err := s.moveTo(parent); err != nil {
		s.finishTree(ctx)
		return err
	}
	return nil
}

func errChildReads() error {
	return diag.New(diag.Unsupported, "plan mode only reads: no worktree is made in it")
}

// backToTree takes up the worktree of a child that goes on.
func (s *stand) backToTree(ctx context.Context, above *agent.Loop) error {
	if s.tree == nil {
		return nil
	}
	if above.CurrentMode() == permission.Plan {
		return errChildReads()
	}
	if err := s.tree.Resume(ctx); err != nil {
		return err
	}
	s.settled = false
	return nil
}

// moveTo lets a stand be where its worktree is.
func (s *stand) moveTo(parent *stand) error {
	var err error
	if s.at, err = s.own.locate(); err != nil {
		return err
	}
	var added []string
	for _, r := range parent.roots.Roots {
		if r != parent.roots.Project && r != parent.roots.Temp {
			added = append(added, r)
		}
	}
	s.roots, err = root.New(s.own.workDir(), added, s.own.home, parent.roots.Temp)
	return err
}

// branch is the worktree's, "" for a child that works in place.
func (s *stand) branch() string {
	if s.tree == nil {
		return ""
	}
	return s.tree.Branch
}

// finishTree settles a child's worktree, once: it gives the report for the
// parent and the branch that holds the work, "" where nothing was left. No
// program of the child may run any more.
func (s *stand) finishTree(ctx context.Context) (note, branch string) {
	if s.tree == nil || s.settled {
		return "", ""
	}
	s.settled = true
	rep, err := s.tree.Finish(ctx)
	note = rep.Text()
	if err != nil {
		note += "\n" + told(err)
	}
	if !rep.Removed {
		branch = rep.Branch
	}
	return note, branch
}
