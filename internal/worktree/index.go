package worktree

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// fallback is who commits where git knows nobody.
const (
	fallbackName  = "larva"
	fallbackEmail = "larva@localhost"
)

// gathered is what a checkout's files are, as a tree.
type gathered struct {
	tree  string
	short string // why some files are not in it, "" where all are
	index string // a file of our own; the caller removes it
}

// gather makes a tree of a checkout's files, ignored ones left out, through an
// index of its own in dir: a lock that a killed git has left does not matter,
// and the checkout's own index stays as it is. like is that one; the stat data
// in it saves reading each file.
func (g git) gather(ctx context.Context, dir, like string, leaveOut ...string) (gathered, error) {
	f, err := os.CreateTemp(dir, "larva-index-")
	if err != nil {
		return gathered{}, err
	}
	out := gathered{index: f.Name()}
	copyErr := copyIndex(f, like)
	if err := f.Close(); err != nil && copyErr == nil {
		copyErr = err
	}
	if copyErr != nil {
		out.remove()
		return gathered{}, copyErr
	}
	g = g.with("GIT_INDEX_FILE=" + out.index)
	err = out.add(ctx, g, leaveOut)
	if err != nil && ctx.Err() == nil && g.anew(ctx, out.index) { // its own index cannot be read
		err = out.add(ctx, g, leaveOut)
	}
	if err == nil {
		out.tree, err = g.line(ctx, "write-tree")
	}
	if err != nil {
		out.remove()
	}
	return out, err
}

func (out *gathered) add(ctx context.Context, g git, leaveOut []string) error {
	args := append([]string{"add", "-A", "--ignore-errors", "--", ":/"}, leaveOut...)
	_, err := g.run(ctx, args...)
	var e *gitError
	if errors.As(err, &e) && e.exit == 1 && e.signal == "" {
		out.short, err = e.said, nil
		if out.short == "" {
			out.short = e.Error()
		}
	}
	return err
}

func (out gathered) remove() {
	_ = os.Remove(out.index)
	_ = os.Remove(out.index + ".lock")
}

// anew makes the index that of HEAD.
func (g git) anew(ctx context.Context, index string) bool {
	_ = os.Remove(index)
	_ = os.Remove(index + ".lock")
	_, err := g.run(ctx, "read-tree", "HEAD")
	return err == nil
}

// copyIndex copies with the time of the last change, by which git knows which
// files it must look into.
func copyIndex(to *os.File, like string) error {
	from, err := os.Open(like)
	if errors.Is(err, fs.ErrNotExist) {
		return os.Remove(to.Name()) // an empty file is no index
	}
	if err != nil {
		return err
	}
	defer from.Close()
	fi, err := from.Stat()
	if err != nil {
		return err
	}
	if _, err := io.Copy(to, from); err != nil {
		return err
	}
	return os.Chtimes(to.Name(), fi.ModTime(), fi.ModTime())
}

// commitTree makes a commit of a tree. No hook, no signature, no editor. Who
// is not named by the configuration or the environment is not guessed at.
func (g git) commitTree(ctx context.Context, tree, parent, message string) (string, error) {
	args := []string{"commit-tree", "--no-gpg-sign", "-m", message}
	if parent != "" {
		args = append(args, "-p", parent)
	}
	args = append(args, tree)
	g.off = append(g.off[:len(g.off):len(g.off)], setting{"user.useConfigOnly", "true"})
	commit, err := g.line(ctx, args...)
	if err == nil || ctx.Err() != nil {
		return commit, err
	}
	unknown := false
	for _, who := range [...]string{"AUTHOR", "COMMITTER"} {
		if _, verr := g.run(ctx, "var", "GIT_"+who+"_IDENT"); verr != nil {
			unknown = true
			g = g.with("GIT_" + who + "_NAME=" + fallbackName).with("GIT_" + who + "_EMAIL=" + fallbackEmail)
		}
	}
	if !unknown {
		return commit, err
	}
	return g.line(ctx, args...)
}

// head gives HEAD's commit, that one's tree and the branch that HEAD is on,
// each "" where there is none.
func (g git) head(ctx context.Context) (commit, tree, branch string, err error) {
	out, err := g.line(ctx, "rev-parse", "-q", "HEAD^{commit}", "HEAD^{tree}", "--symbolic-full-name", "HEAD")
	if l := strings.Split(out, "\n"); err == nil && len(l) == 3 {
		return l[0], l[1], branchOf(l[2]), nil
	}
	// None yet, or a branch that is called HEAD, too: one by one.
	if commit, err = g.commit(ctx, "HEAD"); err != nil {
		return "", "", "", err
	}
	if commit != "" {
		if tree, err = g.line(ctx, "rev-parse", "-q", "--verify", commit+"^{tree}"); err != nil {
			return "", "", "", err
		}
	}
	ref, err := g.line(ctx, "symbolic-ref", "-q", "HEAD")
	if exitIs(err, 1) {
		err = nil
	}
	return commit, tree, branchOf(ref), err
}

func branchOf(ref string) string {
	name, ok := strings.CutPrefix(ref, "refs/heads/")
	if !ok {
		return ""
	}
	return name
}

// changes makes a commit of the parent's uncommitted changes behind From, which
// is From where there are none. The parent's checkout and index stay as they
// are.
func (t *Tree) changes(ctx context.Context, data string) (string, error) {
	r := t.repo
	head, was, _, err := r.git.head(ctx)
	if err != nil {
		return "", err
	}
	if head != t.From {
		return "", failed("uncommitted changes belong to HEAD: they cannot be taken along from another commit")
	}
	g, _, err := r.git.disarm(ctx, r.below(ctx)...)
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "larva-index-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	var leaveOut []string
	if real, err := filepath.EvalSymlinks(data); err == nil && within(r.top, real) {
		if rel, err := filepath.Rel(r.top, real); err == nil {
			leaveOut = append(leaveOut, exclude(rel))
		}
	}
	got, err := g.gather(ctx, dir, filepath.Join(r.own, "index"), leaveOut...)
	if err != nil {
		return "", err
	}
	if got.short != "" {
		t.Notices = append(t.Notices, "not all of your changes are in the worktree: "+got.short)
	}
	if was == got.tree {
		return head, nil
	}
	return g.commitTree(ctx, got.tree, head, "Uncommitted changes, as they were when the task began")
}

// exclude is the pathspec that leaves one path out.
func exclude(rel string) string { return ":(top,exclude,literal)" + filepath.ToSlash(rel) }

// below gives git in the checked-out submodules of the repository, the ones
// that git asks when it looks at the checkout's state.
func (r repo) below(ctx context.Context) []git {
	var out []git
	for _, l := range r.git.links(ctx) {
		if own := moduleOf(r, l.path); own != "" {
			out = append(out, git{environ: r.git.environ, dir: own, at: []string{"GIT_DIR=" + own}})
		}
	}
	return out
}

// link is a commit of another repository in a tree.
type link struct{ path, commit string }

// links are those of the checkout's index that .gitmodules names. Others are
// nobody's to make.
func (g git) links(ctx context.Context) []link {
	modules := filepath.Join(g.dir, ".gitmodules")
	if fi, err := os.Lstat(modules); err != nil || !fi.Mode().IsRegular() {
		return nil
	}
	out, err := g.run(ctx, "config", "-z", "--no-includes", "-f", modules, "--get-regexp", `^submodule\..*\.path$`)
	if err != nil {
		return nil
	}
	args := []string{"ls-files", "-s", "-z", "--"}
	for _, kv := range fields(out) {
		if _, path, ok := strings.Cut(kv, "\n"); ok && path != "" && filepath.IsLocal(filepath.FromSlash(path)) {
			args = append(args, ":(top,literal)"+path)
		}
	}
	if len(args) == 4 {
		return nil
	}
	if out, err = g.run(ctx, args...); err != nil {
		return nil
	}
	var list []link
	for _, e := range fields(out) {
		facts, path, ok := strings.Cut(e, "\t")
		f := strings.Fields(facts)
		if ok && len(f) == 3 && f[0] == "160000" && f[2] == "0" {
			list = append(list, link{path, f[1]})
		}
	}
	return list
}
