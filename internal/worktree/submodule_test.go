package worktree

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSubmodules has one that the parent has checked out, with one of its own,
// one that it has not, and one whose commit is not here.
func TestSubmodules(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	top := filepath.Dir(b.repo)
	script := `set -e
cd "$TOP"
for n in inner lib far; do git init -q $n; echo $n >$n/$n.txt; git -C $n add .; git -C $n commit -qm $n; done
git -C lib submodule --quiet add "$TOP/inner" in; git -C lib commit -qm inner
cd demo; git submodule --quiet add "$TOP/lib" 'li b'; git submodule --quiet add "$TOP/far" far; git commit -qm subs
git submodule --quiet update --init --recursive
git submodule --quiet deinit -f far; rm -rf .git/modules/far
`
	b.env = append(b.env, "TOP="+top)
	if out, err := b.shell(top, script); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, n := range []string{"inner", "lib", "far"} { // nothing is fetched
		if err := os.RemoveAll(filepath.Join(top, n)); err != nil {
			t.Fatal(err)
		}
	}
	w := b.create()
	same(t, "lib", read(t, filepath.Join(w.Dir, "li b/lib.txt")), "lib\n")
	same(t, "inner", read(t, filepath.Join(w.Dir, "li b/in/inner.txt")), "inner\n")
	has(t, "notices", strings.Join(w.Notices, "\n"), "the submodule far is left empty: it is not checked out in "+b.repo)
	same(t, "state", b.gitIn(w.Dir, "status", "--porcelain"), "")
	if r := b.finish(w); !r.Removed || exists(w.Dir) {
		t.Errorf("got %s, want it removed", r.Text())
	}
	same(t, "parent", b.git("status", "--porcelain"), "")
	same(t, "branches", b.gitIn(filepath.Join(b.repo, "li b"), "for-each-ref", "--format=%(refname)", "refs/heads/larva"), "")
	same(t, "worktrees", strings.Count(b.gitIn(filepath.Join(b.repo, "li b"), "worktree", "list"), "\n"), 0)

	w = b.create()
	write(t, filepath.Join(w.Dir, "li b/in/deep.txt"), "deep\n")
	r := b.finish(w)
	same(t, "files", strings.Join(r.Files, ","), "M li b")
	has(t, "notes", strings.Join(r.Notes, "\n"), "the submodule li b has commits of its own", "the submodule li b/in has commits of its own")
	// The parent merges it and has all of it without a network.
	b.git("merge", "-q", r.Branch)
	b.git("submodule", "--quiet", "update", "--recursive", "--no-fetch", "li b")
	same(t, "merged", read(t, filepath.Join(b.repo, "li b/in/deep.txt")), "deep\n")
	list, err := List(t.Context(), b.repo, b.env)
	if err != nil || len(list) != 1 {
		t.Fatalf("got %+v (%v), want one", list, err)
	}
	same(t, "state", list[0].State, StateUnsaved)
	if err := Remove(t.Context(), list[0], true); err != nil {
		t.Fatal(err)
	}
	same(t, "branches", b.gitIn(filepath.Join(b.repo, "li b"), "for-each-ref", "--format=%(refname)", "refs/heads/larva"), "")
}
