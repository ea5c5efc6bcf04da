package worktree

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// hostile is a way of a repository to run code of its own. $T leaves a mark.
type hostile struct {
	name   string
	script string // makes the repository so, "git" as plain tells it
	shows  string // an ordinary command that runs the code, to show that it is armed
}

// manyWays fit into one repository together. Its files and attributes are
// committed before.
var manyWays = []hostile{
	{"hooks", `mkdir -p .git/hooks; for h in post-checkout pre-commit commit-msg prepare-commit-msg post-commit post-index-change reference-transaction pre-merge-commit post-merge pre-auto-gc; do cp $T .git/hooks/$h; done`,
		"git commit -q --allow-empty -m x"},
	{"fsmonitor", `git config core.fsmonitor $T`, "git status"},
	{"smudge", `git config filter.x.smudge $T; git config filter.x.clean $T; git config filter.x.required true`, "rm a.txt; git checkout a.txt"},
	{"odd filter name", `git config 'filter.a.b=c.smudge' $T; git config 'filter.a.b=c.clean' $T`, "rm a.odd; git checkout a.odd"},
	{"included filter", `printf '[filter "i"]\n\tsmudge = '$T'\n\tclean = '$T'\n' >.git/more
		git config includeIf.onbranch:larva/**.path more; git config 'includeIf.gitdir:**/worktrees/**.path' more`,
		"git symbolic-ref HEAD refs/heads/larva/x; rm a.included; git checkout main -- a.included; git symbolic-ref HEAD refs/heads/main"},
	{"worktree config", `git config extensions.worktreeConfig true; git config --worktree filter.w.smudge $T; git config --worktree filter.w.clean $T`,
		"rm a.worktree; git checkout a.worktree"},
	{"merge driver", `git config merge.x.driver "$T %A"; git config merge.default x`,
		"plain checkout -qf -b z $(plain rev-list -1 --grep=^files main); echo z >a.txt; plain commit -qam z; plain merge -q main; plain merge --abort; plain checkout -qf main"},
	{"diff", `git config diff.x.command $T; git config diff.x.textconv $T; git config diff.external $T`, "echo 1 >>a.txt; git diff"},
	{"signing", `git config commit.gpgSign true; git config gpg.program $T; git config log.showSignature true`, "git commit -q --allow-empty -m x"},
	{"editor", `git config core.editor $T; git config core.pager $T; git config core.askPass $T; git config sequence.editor $T`, "git commit --allow-empty"},
	{"aliases", `for a in worktree reset add write-tree commit-tree update-ref status rev-parse; do git config alias.$a "!$T"; done`, ""},
}

// hostileFiles are what the many ways need in the repository.
const hostileFiles = `printf '*.txt filter=x diff=x merge=x\n*.odd filter=a.b=c\n*.included filter=i\n*.worktree filter=w\n' >.gitattributes
for f in odd included worktree; do echo $f >a.$f; done; git add .; git commit -qm files`

// plain is git with nothing of the many ways to run but merge drivers.
const plain = `plain() { git -c core.hooksPath=/dev/null -c core.fsmonitor=false -c commit.gpgSign=false -c core.editor=true -c filter.x.clean= -c filter.x.smudge= -c filter.x.required=false -c filter.a.b=c.clean= -c filter.w.clean= "$@"; }
`

// TestHostile makes, finishes, lists and prunes worktrees of repositories that
// would run code of their own: none of it runs. That it would is shown by
// ordinary git where that says so.
func TestHostile(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before string
		ways   []hostile
		task   string
	}{
		"many": {before: hostileFiles, ways: manyWays, task: "echo task >a.txt; cd $REPO; echo theirs $$ >a.txt; plain commit -qam theirs"},
		"hooksPath": {ways: []hostile{{"hooksPath", `mkdir own; cp $T own/post-checkout; cp $T own/post-index-change; git add own; git commit -qm own; git config core.hooksPath own`,
			"git checkout -q -b y"}}},
		"process": {ways: []hostile{{"process", `echo '* filter=x' >.gitattributes; git add .; git commit -qm f; git config filter.x.process $T; git config filter.x.required true`,
			"rm a.txt; git checkout a.txt"}}},
		"promisor": {ways: []hostile{{"promisor", `git config remote.origin.url "ext::$T"; git config remote.origin.promisor true; git config protocol.ext.allow always; git config extensions.partialClone origin; o=$(git rev-parse HEAD:a.txt); chmod -R u+w .git/objects; rm -f .git/objects/$(printf %.2s $o)/${o#??}`,
			"git cat-file -p HEAD:a.txt"}}},
		"submodule": {ways: []hostile{{"submodule", `printf '[submodule "m"]\n\tpath = m\n\turl = ext::'$T'\n' >.gitmodules; git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),m; git add .gitmodules; git commit -qm m; git config submodule.m.url "ext::$T"; git config submodule.m.update "!$T"; git config submodule.recurse true; git config protocol.ext.allow always`,
			"GIT_ALLOW_PROTOCOL=ext git submodule update"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.env = append(b.env, "REPO="+b.repo)
			if out, err := b.shell(b.repo, c.before); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			for i, w := range c.ways {
				if out, err := b.shell(b.repo, "T="+b.trap(i)+"; "+w.script); err != nil {
					t.Fatalf("%s: %v\n%s", w.name, err, out)
				}
			}
			b.unmark()
			b.put("untracked.txt", "u\n")
			o := b.options()
			// Taking changes along reads each file of the checkout, too; of the
			// promisor it would store the missing object anew.
			o.WithChanges = name != "promisor"
			w, err := Create(context.Background(), o)
			b.nothingRan("create", c.ways)
			switch {
			case name == "promisor":
				if err == nil {
					t.Errorf("got %s, want an error: an object is missing", w.Dir)
				}
				same(t, "branches", b.branches(), "main other")
			case err != nil:
				t.Fatalf("create: %v", err)
			default:
				b.hostileTask(w, c.task, c.ways)
			}
			for i, w := range c.ways {
				if w.shows == "" {
					continue
				}
				b.unmark()
				if out, _ := b.shell(b.repo, plain+w.shows); !exists(b.mark(i)) {
					t.Errorf("%s: %s runs nothing: the repository is not hostile\n%s", w.name, w.shows, out)
				}
			}
		})
	}
}

func (b *bench) mark(i int) string { return filepath.Join(b.home, "mark", strconv.Itoa(i)) }
func (b *bench) unmark()           { _ = os.RemoveAll(filepath.Join(b.home, "mark")) }

// trap makes a program that leaves a mark.
func (b *bench) trap(i int) string {
	b.t.Helper()
	path := filepath.Join(b.home, "trap", strconv.Itoa(i))
	write(b.t, path, "#!/bin/sh\nmkdir -p "+filepath.Dir(b.mark(i))+"; echo \"$0 $*\" >>"+b.mark(i)+"\n")
	if err := os.Chmod(path, 0o755); err != nil {
		b.t.Fatal(err)
	}
	return path
}

// hostileTask works in a worktree, finishes it and prunes it.
func (b *bench) hostileTask(w *Tree, task string, ways []hostile) {
	b.t.Helper()
	if task == "" {
		task = "echo task >task.txt; echo 1 >>a.txt"
	}
	if out, err := b.shell(w.Dir, plain+task); err != nil {
		b.t.Fatalf("%v\n%s", err, out)
	}
	b.unmark()
	r, err := w.Finish(context.Background())
	if err != nil {
		b.t.Errorf("finish: %v", err)
	}
	b.nothingRan("finish", ways)
	if r.Commits != 1 || r.Removed {
		b.t.Errorf("got %d commits, removed %v, want one that is kept", r.Commits, r.Removed)
	}
	if len(ways) > 1 { // the merge driver is among them
		same(b.t, "merges", r.Merges, MergesUnknown)
	}
	if _, _, err := Prune(context.Background(), b.repo, b.env, true, false); err != nil {
		b.t.Errorf("prune: %v", err)
	}
	b.nothingRan("prune", ways)
}

func (b *bench) nothingRan(when string, ways []hostile) {
	b.t.Helper()
	for i, w := range ways {
		if data, err := os.ReadFile(b.mark(i)); err == nil {
			b.t.Errorf("%s: the repository's code ran (%s): %s", when, w.name, strings.TrimSpace(string(data)))
		}
	}
	b.unmark()
}

// TestOddRepositories has layouts and names that are unusual and harmless.
func TestOddRepositories(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"symlinked .git": `mv .git ../real.git; ln -s ../real.git .git`,
		"gitfile":        `mv .git ../real.git; echo "gitdir: ../real.git" >.git`,
		// With tags like branches, the environment of a git that has started us (a
		// hook, say), packed, without info and with every ref logged.
		"names": `git checkout -q -b 'feature/ünï-"x;y$z'; git tag main HEAD; git tag larva HEAD
			printf x >'q"uote'; printf x >"$(printf 'n\nl')"; printf x >-rf; printf x >'é 日本'; git add .; git commit -qm n
			git config core.logAllRefUpdates always; git pack-refs --all; git gc -q; rm -rf .git/info`,
		"branch HEAD": `git update-ref refs/heads/HEAD HEAD~0`,
		"sparse":      `git sparse-checkout set sub`,
		"sha256":      `rm -rf .git; git init -q --object-format=sha256; git add .; git commit -qm one`,
		"shallow":     `git commit -q --allow-empty -m 2; cd ..; git clone -q --depth 1 "file://$PWD/demo" s; rm -rf demo; mv s demo`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			if out, err := b.shell(b.repo, script); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			o := b.options()
			if name == "names" {
				o.Environ = append(o.Environ, "GIT_DIR=/nowhere", "GIT_INDEX_FILE=/nowhere", "GIT_WORK_TREE=/", "GIT_OBJECT_DIRECTORY=/nowhere", "GIT_EXTERNAL_DIFF=false", "GIT_CONFIG_PARAMETERS='core.bare=true'")
			}
			w, err := Create(context.Background(), o)
			if err != nil {
				t.Fatal(err)
			}
			if name != "branch HEAD" { // git warns of it
				same(t, "state", b.gitIn(w.Dir, "status", "--porcelain"), "")
				same(t, "tree", b.gitIn(w.Dir, "rev-parse", "HEAD"), b.git("rev-parse", "HEAD"))
			}
			write(t, filepath.Join(w.Dir, "sub/new.txt"), "new\n")
			r := b.finish(w)
			same(t, "files", strings.Join(r.Files, ","), "A sub/new.txt")
			same(t, "merges", r.Merges, MergesClean)
			if name != "symlinked .git" && name != "sha256" && name != "gitfile" {
				return
			}
			list, err := List(context.Background(), b.repo, b.env)
			if err != nil || len(list) != 1 || list[0].State != StateWork {
				t.Fatalf("got %+v (%v), want one with work", list, err)
			}
			if err := Remove(context.Background(), list[0], true); err != nil {
				t.Fatal(err)
			}
			if exists(w.Dir) || strings.Contains(b.git("for-each-ref"), "larva/") {
				t.Errorf("the worktree is still there")
			}
		})
	}
}
