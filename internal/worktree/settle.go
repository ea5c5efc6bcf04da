package worktree

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// work is one checkout at the end of a task: the worktree, or a submodule's in
// it.
type work struct {
	g      git
	record string
	dir    string
	branch string // the one that was made for it
	base   string
	label  string
}

// outcome is what a task has left in a checkout.
type outcome struct {
	head      string // the commit that holds all
	on        string // the branch that HEAD is on at the end, "" for none
	branch    string // the branch that head is on
	leftovers bool   // what was not committed has been, by us
	notes     []string
	short     string // why some files could not be committed, "" where all were
}

// settle commits what is left in a checkout and finds the branch that holds
// the work. Branches that are not ours never move: where HEAD is on one, or on
// none, leftovers go to the task's own, or where that holds something else to
// one beside it.
func (w work) settle(ctx context.Context, leaveOut ...string) (outcome, error) {
	var o outcome
	head, was, on, err := w.g.head(ctx)
	if err != nil {
		return o, err
	}
	o.head, o.on, o.branch = head, on, w.branch
	if o.on != "" {
		o.branch = o.on
	}
	got, err := w.g.gather(ctx, w.record, filepath.Join(w.record, "index"), leaveOut...)
	if err != nil {
		return o, err
	}
	defer got.remove()
	o.short = got.short
	if got.tree != was {
		if under := underWay(w.record); under != "" {
			o.notes = append(o.notes, under+" was under way when the task ended: its files are committed as they were")
		}
		if o.head, err = w.g.commitTree(ctx, got.tree, head, w.message()); err != nil {
			return o, err
		}
		o.leftovers = true
	}
	switch {
	case o.on == w.branch && !o.leftovers:
		return o, nil
	case o.on == w.branch:
		if _, err := w.g.run(ctx, "update-ref", "-m", "larva: what the task left", "HEAD", o.head, head); err != nil {
			return o, err
		}
		w.adopt(got.index)
		return o, nil
	case o.on != "" && !o.leftovers || o.head == "":
		return o, nil
	}
	o.branch, err = w.keep(ctx, o.head)
	return o, err
}

func (w work) message() string {
	if w.label == "" {
		return "What the task left uncommitted"
	}
	return "What the task left uncommitted: " + strings.Join(strings.Fields(clip(w.label)), " ")
}

// adopt makes our index the checkout's, so that git calls it clean. A lock that
// somebody holds, or a killed git has left, is respected: then the checkout
// looks changed, and nothing is lost.
func (w work) adopt(index string) {
	own := filepath.Join(w.record, "index")
	lock, err := os.OpenFile(own+".lock", os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	_ = lock.Close()
	_ = os.Rename(index, own)
	_ = os.Remove(own + ".lock")
}

// keep puts a commit on the task's own branch, where that loses nothing, else
// on one beside it.
func (w work) keep(ctx context.Context, commit string) (string, error) {
	ref := "refs/heads/" + w.branch
	at, err := w.g.commit(ctx, ref)
	if err != nil {
		return "", err
	}
	if at == commit {
		return w.branch, nil
	}
	if at != "" {
		_, err := w.g.run(ctx, "merge-base", "--is-ancestor", at, commit)
		if err != nil && !exitIs(err, 1) {
			return "", err
		}
		if err != nil {
			beside := w.branch + "-rest"
			_, err := w.g.run(ctx, "update-ref", "-m", "larva: what the task left", "refs/heads/"+beside, commit)
			return beside, err
		}
	}
	none := at
	if none == "" {
		none = strings.Repeat("0", len(commit))
	}
	_, err = w.g.run(ctx, "update-ref", "-m", "larva: what the task left", ref, commit, none)
	return w.branch, err
}

// underWay names what git was in the middle of.
func underWay(record string) string {
	for _, s := range [...]struct{ file, what string }{{"MERGE_HEAD", "a merge"}, {"CHERRY_PICK_HEAD", "a cherry-pick"},
		{"REVERT_HEAD", "a revert"}, {"rebase-merge", "a rebase"}, {"rebase-apply", "a rebase"}, {"BISECT_LOG", "a bisect"}} {
		if exists(filepath.Join(record, s.file)) {
			return s.what
		}
	}
	return ""
}

// fakes are the placeholders that a sandbox has left: files of ours that no
// task has made.
func fakes(dir, cwd string, names []string) []string {
	var out []string
	for _, d := range []string{dir, cwd} {
		for _, n := range names {
			path := filepath.Join(d, n)
			fi, err := os.Lstat(path)
			if err != nil || !fi.Mode().IsRegular() || fi.Size() != int64(len("{}\n")) {
				continue
			}
			if b, err := os.ReadFile(path); err != nil || string(b) != "{}\n" {
				continue
			}
			if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) && straight(dir, rel) {
				out = append(out, rel)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// straight says that no link is on the way to a path.
func straight(dir, rel string) bool {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return false
	}
	defer root.Close()
	return plainParents(root, rel) == ""
}

// gone says that a worktree's directory is not there any more.
func gone(dir string) bool {
	_, err := os.Lstat(dir)
	return errors.Is(err, fs.ErrNotExist)
}
