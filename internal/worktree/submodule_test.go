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
for n in inner lib; do git init -q $n; echo $n >$n/$n.txt; git -C $n add .; git -C $n commit -qm $n; done
git -C lib submodule --quiet add "$TOP/inner" in; git -C lib commit -qm inner
cd demo; git submodule --quiet add "$TOP/lib" 'li b'
printf '[submodule "far"]\n\tpath = far\n\turl = /nowhere\n' >>.gitmodules
git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),far; git add .gitmodules; git commit -qm subs
mkdir far; git submodule --quiet update --init --recursive 'li b'
`
	b.env = append(b.env, "TOP="+top)
	if out, err := b.shell(top, script); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, n := range []string{"inner", "lib"} { // nothing is fetched
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
	// The parent has all of it without a network.
	lib := filepath.Join(b.repo, "li b")
	same(t, "deep", b.gitIn(filepath.Join(lib, "in"), "show", b.gitIn(lib, "rev-parse", b.git("rev-parse", r.Branch+":li b")+":in")+":deep.txt"), "deep")
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
