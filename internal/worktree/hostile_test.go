package worktree

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestHostile makes, finishes, lists and prunes worktrees of repositories that
// would run code of their own: none of it runs. That it would is shown by
// ordinary git where that says so.
func TestHostile(t *testing.T) {
	t.Parallel()
	// $T leaves a mark. Each script makes the repository hostile.
	for name, c := range map[string]struct {
		script string
		task   string
		shows  string // an ordinary command that runs the code, to show that it is armed
	}{
		"hooks": {script: `mkdir -p .git/hooks; for h in post-checkout pre-commit commit-msg prepare-commit-msg post-commit post-index-change reference-transaction pre-merge-commit post-merge pre-auto-gc; do cp $T .git/hooks/$h; done`,
			shows: "git commit -q --allow-empty -m x"},
		"hooksPath": {script: `mkdir own; cp $T own/post-checkout; cp $T own/post-index-change; git add own; git commit -qm own; git config core.hooksPath own`,
			shows: "git checkout -q -b y"},
		"fsmonitor": {script: `git config core.fsmonitor $T`, shows: "git status"},
		"smudge": {script: `echo '*.txt filter=x' >.gitattributes; git add .; git commit -qm f; git config filter.x.smudge $T; git config filter.x.clean $T; git config filter.x.required true`,
			shows: "rm a.txt; git checkout a.txt"},
		"process": {script: `echo '* filter=x' >.gitattributes; git add .; git commit -qm f; git config filter.x.process $T; git config filter.x.required true`,
			shows: "rm a.txt; git checkout a.txt"},
		"odd filter name": {script: `echo '*.txt filter=a.b=c' >.gitattributes; git add .; git commit -qm f; git config 'filter.a.b=c.smudge' $T; git config 'filter.a.b=c.clean' $T`,
			shows: "rm a.txt; git checkout a.txt"},
		"included filter": {script: `echo '*.txt filter=x' >.gitattributes; git add .; git commit -qm f; printf '[filter "x"]\n\tsmudge = '$T'\n\tclean = '$T'\n' >.git/more
			git config includeIf.onbranch:larva/**.path more; git config 'includeIf.gitdir:**/worktrees/**.path' more`, shows: "git checkout -q -b larva/x; rm a.txt; git checkout a.txt"},
		"worktree config": {script: `echo '*.txt filter=x' >.gitattributes; git add .; git commit -qm f; git config extensions.worktreeConfig true; git config --worktree filter.x.smudge $T; git config --worktree filter.x.clean $T`,
			shows: "rm a.txt; git checkout a.txt"},
		"merge driver": {script: `echo '*.txt merge=x' >.gitattributes; git add .; git commit -qm f; git config merge.x.driver "$T %A"; git config merge.default x`,
			task:  "echo task >a.txt; cd $REPO; echo theirs $$ >a.txt; git commit -qam theirs",
			shows: "git checkout -q -b z HEAD~1; echo z >a.txt; git commit -qam z; git merge -q main"},
		"diff":     {script: `echo '*.txt diff=x' >.gitattributes; git add .; git commit -qm f; git config diff.x.command $T; git config diff.x.textconv $T; git config diff.external $T`, shows: "echo 1 >>a.txt; git diff"},
		"signing":  {script: `git config commit.gpgSign true; git config gpg.program $T; git config log.showSignature true`, shows: "git commit -q --allow-empty -m x"},
		"editor":   {script: `git config core.editor $T; git config core.pager $T; git config core.askPass $T; git config sequence.editor $T`, shows: "git commit --allow-empty"},
		"aliases":  {script: `for a in worktree reset add write-tree commit-tree update-ref status rev-parse; do git config alias.$a "!$T"; done`},
		"promisor": {script: `git config remote.origin.url "ext::$T"; git config remote.origin.promisor true; git config protocol.ext.allow always; git config extensions.partialClone origin; o=$(git rev-parse HEAD:a.txt); chmod -R u+w .git/objects; rm -f .git/objects/$(printf %.2s $o)/${o#??}`, shows: "git cat-file -p HEAD:a.txt"},
		"submodule": {script: `printf '[submodule "m"]\n\tpath = m\n\turl = ext::'$T'\n' >.gitmodules; git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),m; git add .gitmodules; git commit -qm m; git config submodule.m.url "ext::$T"; git config submodule.m.update "!$T"; git config submodule.recurse true; git config protocol.ext.allow always`,
			shows: "GIT_ALLOW_PROTOCOL=ext git submodule update"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			top := filepath.Dir(b.repo)
			mark, trap := filepath.Join(top, "mark"), filepath.Join(top, "trap")
			write(t, trap, "#!/bin/sh\necho \"$0 $*\" >>"+mark+"\n")
			if err := os.Chmod(trap, 0o755); err != nil {
				t.Fatal(err)
			}
			b.env = append(b.env, "T="+trap, "REPO="+b.repo)
			if out, err := b.shell(b.repo, c.script); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			_ = os.Remove(mark)
			b.put("untracked.txt", "u\n")
			o := b.options()
			// Taking changes along reads each file of the checkout, too; of the
			// promisor it would store the missing object anew.
			o.WithChanges = name != "promisor"
			w, err := Create(context.Background(), o)
			clean(t, mark, "create")
			switch {
			case name == "promisor":
				if err == nil {
					t.Errorf("got %s, want an error: an object is missing", w.Dir)
				}
				same(t, "branches", b.branches(), "main other")
			case err != nil:
				t.Fatalf("create: %v", err)
			default:
				b.hostileTask(w, c.task, mark, name)
			}
			if c.shows != "" {
				_, _ = b.shell(b.repo, c.shows)
				if !exists(mark) {
					t.Errorf("%s runs nothing: the repository is not hostile", c.shows)
				}
			}
		})
	}
}

// hostileTask works in a worktree, finishes it and prunes it.
func (b *bench) hostileTask(w *Tree, task, mark, name string) {
	b.t.Helper()
	if task == "" {
		task = "echo task >task.txt; echo 1 >>a.txt"
	}
	if out, err := b.shell(w.Dir, "export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.hooksPath GIT_CONFIG_VALUE_0=/dev/null; "+task); err != nil {
		b.t.Fatalf("%v\n%s", err, out)
	}
	_ = os.Remove(mark)
	r, err := w.Finish(context.Background())
	if err != nil {
		b.t.Errorf("finish: %v", err)
	}
	clean(b.t, mark, "finish")
	if r.Commits != 1 || r.Removed {
		b.t.Errorf("got %d commits, removed %v, want one that is kept", r.Commits, r.Removed)
	}
	if name == "merge driver" {
		same(b.t, "merges", r.Merges, MergesUnknown)
	}
	if _, _, err := Prune(context.Background(), b.repo, b.env, true, false); err != nil {
		b.t.Errorf("prune: %v", err)
	}
	clean(b.t, mark, "prune")
}

func clean(t *testing.T, mark, when string) {
	t.Helper()
	if data, err := os.ReadFile(mark); err == nil {
		t.Errorf("%s: the repository's code ran: %s", when, strings.TrimSpace(string(data)))
		_ = os.Remove(mark)
	}
}

// TestOddRepositories has layouts and names that are unusual and harmless.
func TestOddRepositories(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"symlinked .git": `mv .git ../real.git; ln -s ../real.git .git`,
		"gitfile":        `mv .git ../real.git; echo "gitdir: ../real.git" >.git`,
		"branch name":    `git checkout -q -b 'feature/ünï-"x;y$z'`,
		"branch HEAD":    `git update-ref refs/heads/HEAD HEAD~0`,
		"tag main":       `git tag main HEAD; git tag larva HEAD`,
		"file names":     `printf x >'q"uote'; printf x >"$(printf 'n\nl')"; printf x >-rf; printf x >'é 日本'; git add .; git commit -qm n`,
		"packed":         `git pack-refs --all; git gc -q`,
		"no info":        `rm -rf .git/info`,
		"read-only refs": `git config core.logAllRefUpdates always`,
		"sparse":         `git sparse-checkout set sub`,
		"sha256":         `rm -rf .git; git init -q --object-format=sha256; git add .; git commit -qm one`,
		"shallow":        `git commit -q --allow-empty -m 2; cd ..; git clone -q --depth 1 "file://$PWD/demo" s; rm -rf demo; mv s demo`,
		"env":            `true`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			if out, err := b.shell(b.repo, script); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			o := b.options()
			if name == "env" { // of a git that has started us, a hook say
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
