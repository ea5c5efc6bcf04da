package worktree

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"larva.dev/larva/internal/diag"
)

// What Entry.State says.
const (
	StateRunning = "running" // a process works in it
	StateUnsaved = "unsaved" // it holds what no commit has, which only it has
	StateWork    = "work"    // its branch has commits that are merged nowhere
	StateMerged  = "merged"  // all that its branch has is elsewhere, too
	StateEmpty   = "empty"   // nothing has happened in it
	StateBroken  = "broken"  // git cannot say what is in it
)

// Entry is one task's worktree, or a branch that one has left.
type Entry struct {
	Name    string    `json:"name"`
	Branch  string    `json:"branch"`
	Dir     string    `json:"dir"`
	Repo    string    `json:"repo"` // the parent's checkout
	Label   string    `json:"label"`
	Created time.Time `json:"created"`
	State   string    `json:"state"`
	Gone    bool      `json:"gone"`    // the directory is not there
	Commits int       `json:"commits"` // that are on no other branch
	Changed int       `json:"changed"` // files that no commit has
	Ignored int       `json:"ignored"` // files that git ignores, directories as one
	Why     string    `json:"why,omitempty"`

	repo   repo
	record string
	state  state
	tip    string
}

// List gives the worktrees of the repository around dir, the oldest first. It
// changes nothing.
func List(ctx context.Context, dir string, environ []string) ([]Entry, error) {
	r, err := open(ctx, dir, environ)
	if err != nil {
		return nil, err
	}
	return r.list(ctx)
}

func (r repo) list(ctx context.Context) ([]Entry, error) {
	tips, others, err := r.branches(ctx)
	if err != nil {
		return nil, wrap(err, "the branches cannot be read")
	}
	out := []Entry{}
	seen := map[string]bool{}
	for _, record := range r.records() {
		e, ok := r.entry(record)
		if !ok {
			continue
		}
		e.tip = tips[e.Branch]
		seen[e.Branch] = true
		out = append(out, e)
	}
	for branch, tip := range tips {
		if seen[branch] {
			continue
		}
		out = append(out, Entry{Name: strings.TrimPrefix(branch, prefix), Branch: branch, Repo: r.top, Gone: true, repo: r, tip: tip})
	}
	into := &target{repo: r}
	for i := range out {
		out[i].look(ctx, others, into)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(out, func(a, b Entry) int {
		if c := a.Created.Compare(b.Created); c != 0 {
			return c
		}
		return strings.Compare(a.Name, b.Name)
	})
	return out, nil
}

// entry reads a record of git's, if it is one of ours.
func (r repo) entry(record string) (Entry, bool) {
	at := smallLine(filepath.Join(record, "gitdir"))
	if at == "" {
		return Entry{}, false
	}
	dir := filepath.Dir(from(record, filepath.FromSlash(at)))
	name := filepath.Base(dir)
	if !nameForm.MatchString(name) {
		return Entry{}, false
	}
	e := Entry{Name: name, Branch: prefix + name, Dir: dir, Repo: r.top, repo: r, record: record, Gone: gone(dir)}
	s, err := readState(record)
	switch {
	case err == nil && s.Branch == e.Branch:
		e.state, e.Repo, e.Label, e.Created = s, s.Repo, s.Label, s.Created
	case filepath.Base(filepath.Dir(filepath.Dir(dir))) != "worktrees":
		return Entry{}, false // somebody else's, of a like name
	}
	return e, true
}

// branches gives the tips of the tasks' branches, and those of all others, of
// remotes and of the checkouts' HEADs.
func (r repo) branches(ctx context.Context) (tips map[string]string, others []string, err error) {
	out, err := r.shared().run(ctx, "for-each-ref", "--format=%(objectname) %(refname)", "refs/heads", "refs/remotes")
	if err != nil {
		return nil, nil, err
	}
	tips = map[string]string{}
	for l := range strings.SplitSeq(strings.TrimSpace(out), "\n") {
		at, ref, ok := strings.Cut(strings.TrimSpace(l), " ")
		if !ok {
			continue
		}
		_, name, ours := strings.Cut("/"+ref, "/"+prefix) // a pushed one is saved, not merged
		if ours = ours && nameForm.MatchString(strings.TrimSuffix(name, "-rest")); ours {
			if ref == "refs/heads/"+prefix+name {
				tips[prefix+name] = at
			}
			continue
		}
		others = append(others, at)
	}
	if at, err := r.parent().commit(ctx, "HEAD"); err == nil && at != "" {
		others = append(others, at) // a detached one is on no branch
	}
	slices.Sort(others)
	return tips, slices.Compact(others), nil
}

// parent gives git in the checkout that work is merged into: the one around, but
// for a task's own worktree, whose HEAD is what is asked about.
func (r repo) parent() git {
	if _, ours := r.entry(r.own); ours {
		return r.shared()
	}
	return r.git
}

// look finds out what is in an entry that is nowhere else.
func (e *Entry) look(ctx context.Context, others []string, into *target) {
	if e.record != "" && busy(filepath.Join(e.record, heldFile)) {
		e.State = StateRunning
		return
	}
	if err := e.inside(ctx, others, into); err != nil {
		e.State, e.Why = StateBroken, diag.As(wrap(err, "git")).Message
	}
}

func (e *Entry) inside(ctx context.Context, others []string, into *target) error {
	heads := []string{}
	if e.tip != "" {
		heads = append(heads, e.tip)
	}
	if !e.Gone {
		g, _, err := e.repo.linked(e.record, e.Dir).disarm(ctx, e.subGits()...)
		if err != nil {
			return err
		}
		head, err := g.commit(ctx, "HEAD")
		if err != nil {
			return err
		}
		if head != "" && head != e.tip {
			heads = append(heads, head)
		}
		if err := e.unsaved(ctx, g); err != nil {
			return err
		}
	}
	moved := false
	for _, h := range heads {
		moved = moved || h != e.state.Base
	}
	n, err := e.repo.shared().alone(ctx, heads, others)
	if err != nil {
		return err
	}
	e.Commits = n
	switch {
	case e.Changed > 0:
		e.State = StateUnsaved
	case n > 0 && !into.contains(ctx, heads):
		e.State = StateWork
	case !moved && e.Ignored == 0:
		e.State = StateEmpty
	default:
		e.State = StateMerged
	}
	return nil
}

// alone counts the commits of heads that no other has.
func (g git) alone(ctx context.Context, heads, others []string) (int, error) {
	if len(heads) == 0 {
		return 0, nil
	}
	var in strings.Builder
	for _, h := range heads {
		in.WriteString(h + "\n")
	}
	for _, o := range others {
		in.WriteString("^" + o + "\n")
	}
	out, err := g.feed(ctx, []byte(in.String()), "rev-list", "--stdin")
	return strings.Count(out, "\n"), err
}

// target is what work is merged into, looked up when it is first asked.
type target struct {
	repo         repo
	asked        bool
	git          git
	commit, tree string
}

// contains says that merging would change nothing: the work was taken over by
// a squash or a patch.
func (t *target) contains(ctx context.Context, heads []string) bool {
	if !t.asked {
		t.asked = true
		g, _, err := t.repo.parent().disarm(ctx)
		if err != nil {
			return false
		}
		t.git = g
		if t.commit, t.tree, _, err = g.head(ctx); err != nil {
			t.commit = ""
		}
	}
	if t.commit == "" {
		return false
	}
	for _, h := range heads {
		out, err := t.git.line(ctx, "merge-tree", "--write-tree", "--no-messages", t.commit, h)
		if err != nil || out != t.tree {
			return false
		}
	}
	return true
}

// unsaved counts files that no commit has, in submodules, too.
func (e *Entry) unsaved(ctx context.Context, g git) error {
	for _, in := range append([]git{g}, e.subGits()...) {
		in.off = g.off
		out, err := in.run(ctx, "status", "--porcelain", "-z", "--no-renames", "--untracked-files=all", "--ignored=traditional", "--ignore-submodules=all")
		if err != nil {
			return err
		}
		for _, f := range fields(out) {
			if strings.HasPrefix(f, "!! ") {
				e.Ignored++
			} else {
				e.Changed++
			}
		}
	}
	for _, s := range e.state.Subs {
		dir := filepath.Join(e.Dir, filepath.FromSlash(s.Path))
		if gone(dir) {
			continue
		}
		head, err := e.repo.linked(s.Record, dir).commit(ctx, "HEAD")
		if err != nil || head != s.Base {
			e.Changed++ // its commits are on a branch of its own that nobody has looked at
		}
	}
	return nil
}

func (e *Entry) subGits() []git {
	t := Tree{Dir: e.Dir, repo: e.repo, state: e.state}
	return t.subGits()
}

// Everywhere gives a checkout of each repository that has worktrees in data.
func Everywhere(data string) []string {
	var out []string
	places, err := os.ReadDir(filepath.Join(data, "worktrees"))
	if err != nil {
		return nil
	}
	for _, p := range places {
		trees, err := os.ReadDir(filepath.Join(data, "worktrees", p.Name()))
		if err != nil {
			continue
		}
		for _, t := range trees {
			dir := filepath.Join(data, "worktrees", p.Name(), t.Name())
			if nameForm.MatchString(t.Name()) && recordOf(dir) != "" {
				out = append(out, dir)
				break // one leads to the repository
			}
		}
	}
	return out
}
