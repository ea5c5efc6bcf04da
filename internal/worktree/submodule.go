package worktree

import (
	"context"
	"os"
	"path/filepath"
	"strings"
)

// sub is a submodule's checkout in the worktree: a linked worktree of the
// repository that the parent has of it, so that nothing is fetched, and what
// the task commits there is not lost.
type sub struct {
	Path   string `json:"path"` // in the worktree
	Record string `json:"record"`
	Common string `json:"common"`
	Base   string `json:"base"`
	Branch string `json:"branch"`
}

// maxDepth of submodules in submodules.
const maxDepth = 4

// moduleOf is the git directory of a submodule as the parent has it checked
// out, "" where it has not, or where it leads out of the parent's repository.
func moduleOf(r repo, path string) string {
	if !plainPath(r.top, path) {
		return ""
	}
	dir := filepath.Join(r.top, filepath.FromSlash(path))
	git := filepath.Join(dir, ".git")
	fi, err := os.Lstat(git)
	switch {
	case err != nil:
		return ""
	case fi.IsDir():
		if _, err := os.Lstat(filepath.Join(git, "HEAD")); err != nil {
			return ""
		}
		return git
	}
	own := recordOf(dir)
	if own == "" || !within(r.common, own) && !within(r.own, own) {
		return ""
	}
	return own
}

// plainPath says that a directory below top is there and is reached without a
// link.
func plainPath(top, path string) bool {
	root, err := os.OpenRoot(top)
	if err != nil {
		return false
	}
	defer root.Close()
	at := ""
	for part := range strings.SplitSeq(filepath.ToSlash(path), "/") {
		at = filepath.Join(at, part)
		fi, err := root.Lstat(at)
		if err != nil || !fi.IsDir() {
			return false
		}
	}
	return true
}

// addSubs checks out the submodules of a checkout that the parent has, too.
// One that is not there stays empty, which is told.
func (t *Tree) addSubs(ctx context.Context, r repo, g git, dir, at string, depth int) error {
	links := g.links(ctx)
	if len(links) > 0 && depth >= maxDepth {
		t.Notices = append(t.Notices, "submodules below "+at+" are left empty: they lie too deep")
		return nil
	}
	for _, l := range links {
		path := filepath.ToSlash(filepath.Join(at, filepath.FromSlash(l.path)))
		why, err := t.addSub(ctx, r, l, dir, path, depth)
		if err != nil {
			return err
		}
		if why != "" {
			t.Notices = append(t.Notices, "the submodule "+path+" is left empty: "+why)
		}
	}
	return nil
}

func (t *Tree) addSub(ctx context.Context, r repo, l link, dir, path string, depth int) (why string, err error) {
	own := moduleOf(r, l.path)
	if own == "" {
		return "it is not checked out in " + r.top, nil
	}
	if !plainPath(dir, l.path) {
		return "its directory is none in the worktree", nil
	}
	m := repo{top: filepath.Join(r.top, filepath.FromSlash(l.path)), own: own, common: own}
	m.git = git{environ: r.git.environ, dir: m.top, at: []string{"GIT_DIR=" + own, "GIT_WORK_TREE=" + m.top}}
	common, err := m.git.line(ctx, "rev-parse", "--git-common-dir")
	if err != nil {
		return err.Error(), ctx.Err()
	}
	if m.common, err = filepath.EvalSymlinks(from(m.top, common)); err != nil {
		return err.Error(), nil
	}
	if has, err := m.git.commit(ctx, l.commit); err != nil || has == "" {
		return "the commit " + l.commit[:12] + " is not on this machine", ctx.Err()
	}
	to := filepath.Join(dir, filepath.FromSlash(l.path))
	if _, err := m.shared().run(ctx, "worktree", "add", "--no-checkout", "--no-track", "-q", "-b", t.Branch, "--", to, l.commit); err != nil {
		return err.Error(), ctx.Err()
	}
	s := sub{Path: path, Record: recordOf(to), Common: m.common, Base: l.commit, Branch: t.Branch}
	if s.Record == "" || filepath.Dir(s.Record) != filepath.Join(m.common, "worktrees") {
		return "git has made it in a place of its own", nil
	}
	t.state.Subs = append(t.state.Subs, s)
	if err := t.state.write(t.record); err != nil {
		return "", err
	}
	g, _, err := m.linked(s.Record, to).disarm(ctx)
	if err != nil {
		return err.Error(), ctx.Err()
	}
	if _, err := g.run(ctx, "reset", "--hard", "-q", "--no-recurse-submodules", l.commit); err != nil {
		return err.Error(), ctx.Err()
	}
	return "", t.addSubs(ctx, m, g, to, path, depth+1)
}
