package worktree

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func (b *bench) shell(dir, script string) (string, error) {
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir, cmd.Env = dir, b.env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// TestFinish does to a worktree what tasks do.
func TestFinish(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		task      string // in the worktree
		commits   int
		files     string
		leftovers bool
		switched  bool
		removed   bool
		branch    string // "" the task's own
		merges    string
		notes     []string
		ignored   string
	}{
		"leftovers":       {task: "echo two >a.txt; echo new >'ü n.txt'; rm sub/b.txt; ln -s /etc/passwd p; ln -s /etc d; echo 1 >\"$(printf 'n\\nl')\"; echo 1 >' -x'; echo 1 >-y", commits: 1, leftovers: true, files: "A  -x,A -y,M a.txt,A d,A n\nl,A p,D sub/b.txt,A ü n.txt", merges: MergesClean},
		"commits":         {task: "echo 2 >c; git add c; git commit -qm C; echo 3 >d; git add d; git commit -qm D", commits: 2, files: "A c,A d", merges: MergesClean},
		"both":            {task: "echo 2 >c; git add c; git commit -qm C; echo 3 >d", commits: 2, leftovers: true, files: "A c,A d", merges: MergesClean},
		"back again":      {task: "echo 2 >c; git add c; git commit -qm C; git reset -q --hard HEAD~1", removed: true},
		"ignored only":    {task: "echo x >x.log; mkdir build; echo y >build/y; echo z >build/z; chmod 500 build", removed: true, ignored: "build/,x.log"},
		"ignored too":     {task: "git tag $(git symbolic-ref --short HEAD) HEAD; echo x >x.log; echo y >y", commits: 1, leftovers: true, files: "A y", merges: MergesClean, ignored: "x.log"},
		"new branch":      {task: "git checkout -qb fix; echo 2 >c; git add c; git commit -qm C", commits: 1, switched: true, branch: "fix", files: "A c", merges: MergesClean, notes: []string{"switched from larva/task-", "to the branch fix"}},
		"user's branch":   {task: "git checkout -q other; echo 2 >c", commits: 2, leftovers: true, switched: true, files: "A c,A o", merges: MergesClean, notes: []string{"switched to the branch other, which stays as the task left it"}},
		"only switched":   {task: "git checkout -q other", commits: 1, switched: true, branch: "other", files: "A o", merges: MergesClean},
		"detached":        {task: "git checkout -q --detach; echo 2 >c; git add c; git commit -qm C", commits: 1, switched: true, files: "A c", merges: MergesClean, notes: []string{"no branch at all"}},
		"detached, split": {task: "echo 1 >c; git add c; git commit -qm C; git checkout -q --detach HEAD~1; echo 2 >d", commits: 1, leftovers: true, switched: true, branch: "-rest", files: "A d", merges: MergesClean, notes: []string{"has 1 commit that is not on"}},
		"branch deleted":  {task: "echo 2 >c; git add c; git commit -qm C; b=$(git symbolic-ref --short HEAD); git checkout -q --detach; git branch -qD $b", commits: 1, switched: true, files: "A c", merges: MergesClean},
		"orphan":          {task: "git checkout -q --orphan new; echo 2 >c", commits: 1, leftovers: true, switched: true, branch: "-rest", files: "A c"},
		"stashed":         {task: "echo 2 >a.txt; git stash -q; echo 3 >c", commits: 1, leftovers: true, files: "A c", merges: MergesClean, notes: []string{"git stash list"}},
		"merge under way": {task: "echo mine >o; git add o; git commit -qm O; git merge -q other; true", commits: 2, leftovers: true, files: "A o", merges: MergesClean, notes: []string{"a merge was under way"}},
		"rebase":          {task: "echo mine >o; git add o; git commit -qm O; git rebase -q other; true", commits: 2, leftovers: true, switched: true, branch: "-rest", files: "A o", merges: MergesClean, notes: []string{"a rebase was under way"}},
		"conflict":        {task: "echo mine >a.txt; git -C \"$REPO\" commit -qm Theirs --allow-empty; echo theirs >\"$REPO/a.txt\"; git -C \"$REPO\" commit -qam Theirs", commits: 1, leftovers: true, files: "M a.txt", merges: MergesNot},
		"own repository":  {task: "git init -q in; cd in; echo 1 >f; git add f; git commit -qm F", commits: 1, leftovers: true, files: "A in", merges: MergesClean, notes: []string{"in is a repository of its own"}},
		"empty one":       {task: "git init -q in; echo 1 >in/f; echo c >c", commits: 1, leftovers: true, files: "A c", merges: MergesClean, notes: []string{"not everything could be committed"}},
		"stale lock":      {task: "echo 2 >a.txt; touch $(git rev-parse --git-dir)/index.lock", commits: 1, leftovers: true, files: "M a.txt", merges: MergesClean},
		"broken index":    {task: "echo 2 >a.txt; echo x >$(git rev-parse --git-dir)/index", commits: 1, leftovers: true, files: "M a.txt", merges: MergesClean},
		"no index":        {task: "echo 2 >a.txt; rm $(git rev-parse --git-dir)/index", commits: 1, leftovers: true, files: "M a.txt", merges: MergesClean},
		"placeholder":     {task: "printf '{}\\n' >.mcp.json; printf '{}\\n' >sub/.mcp.json", removed: true},
		".git replaced":   {task: "rm .git; git init -q; echo 2 >a.txt", commits: 1, leftovers: true, files: "M a.txt", merges: MergesClean, notes: []string{".git is not the one"}},
		".git removed":    {task: "rm .git", removed: true, notes: []string{".git is not the one"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			other := read(t, filepath.Join(b.repo, ".git/refs/heads/other"))
			w := b.create(func(o *Options) { o.Cwd = filepath.Join(b.repo, "sub") })
			b.env = append(b.env, "REPO="+b.repo)
			if out, err := b.shell(w.Dir, c.task); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			r := b.finish(w)
			same(t, "removed", r.Removed, c.removed)
			same(t, "commits", r.Commits, c.commits)
			same(t, "leftovers", r.Leftovers, c.leftovers)
			same(t, "switched", r.Switched, c.switched)
			same(t, "ignored", strings.Join(r.Ignored, ","), c.ignored)
			if name != "rebase" && name != "orphan" {
				same(t, "files", strings.Join(r.Files, ","), c.files)
				same(t, "merges", r.Merges, c.merges)
			}
			switch c.branch {
			case "":
				same(t, "branch", r.Branch, w.Branch)
			case "-rest":
				same(t, "branch", r.Branch, w.Branch+"-rest")
			default:
				same(t, "branch", r.Branch, c.branch)
			}
			has(t, "notes", strings.Join(r.Notes, "\n"), c.notes...)
			has(t, "text", r.Text(), r.Branch)
			same(t, "directory there", exists(w.Dir), !c.removed)
			same(t, "other", read(t, filepath.Join(b.repo, ".git/refs/heads/other")), other)
			if c.removed {
				same(t, "branches", b.branches(), "main other")
				same(t, "worktrees", len(repo{common: filepath.Join(b.repo, ".git")}.records()), 0)
				return
			}
			same(t, "head", read(t, filepath.Join(b.repo, ".git/refs/heads", r.Branch)), r.Head+"\n")
			if c.leftovers && !c.switched && len(c.notes) == 0 && !strings.Contains(name, "lock") {
				same(t, "state", b.gitIn(w.Dir, "status", "--porcelain"), "")
			}
		})
	}
}

// TestFinishGone has the directory deleted under the task.
func TestFinishGone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, task := range []string{":", "echo 1 >c; git add c; git commit -qm C", "git checkout -q --detach; echo 1 >c; git add c; git commit -qm C", "git checkout -qb fix; echo 1 >c; git add c; git commit -qm C"} {
		w := b.create()
		if out, err := b.shell(w.Dir, task); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if err := os.RemoveAll(w.Dir); err != nil {
			t.Fatal(err)
		}
		r := b.finish(w)
		has(t, "notes", strings.Join(r.Notes, "\n"), "directory is gone")
		if task == ":" {
			same(t, "removed", r.Removed, true)
			same(t, "branches", b.branches(), "main other")
			continue
		}
		same(t, task+": commits", r.Commits, 1)
		same(t, task+": c", b.git("show", r.Branch+":c"), "1")
	}
}

// TestFinishFailing has git fail, be killed or hang on the way: what is in the
// worktree stays, and the report says where.
func TestFinishFailing(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"killed add":        `case $1 in add) kill -9 $$;; esac`,
		"killed write-tree": `case $1 in write-tree) kill -9 $$;; esac`,
		"full disk":         `case $1 in commit-tree) echo "fatal: unable to write file: No space left on device" >&2; exit 128;; esac`,
		"no update-ref":     `case $1 in update-ref) exit 1;; esac`,
		"no diff-tree":      `case $1 in diff-tree) exit 1;; esac`,
		"no config":         `case $1 in config) exit 3;; esac`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			w := b.create()
			write(t, filepath.Join(w.Dir, "work.txt"), "work\n")
			bin := filepath.Join(filepath.Dir(b.repo), "bin")
			real, err := exec.LookPath("git")
			if err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(bin, "git"), "#!/bin/sh\n"+script+"\nexec "+real+" \"$@\"\n")
			if err := os.Chmod(filepath.Join(bin, "git"), 0o755); err != nil {
				t.Fatal(err)
			}
			w.repo.git.environ = append(b.env[:len(b.env):len(b.env)], "PATH="+bin+":"+os.Getenv("PATH"))
			ctx, cancel := context.WithCancel(context.Background())
			cancel() // a cancelled run is finished all the same
			r, err := w.Finish(ctx)
			if err == nil {
				t.Errorf("got no error, want one: %s", r.Text())
			}
			same(t, "removed", r.Removed, false)
			same(t, "work", read(t, filepath.Join(w.Dir, "work.txt")), "work\n")
			has(t, "text", r.Text(), w.Name, "Clean up: larva worktree remove "+w.Name)
			if name == "full disk" {
				has(t, "error", err.Error(), "No space left on device", w.Dir)
			}
		})
	}
}

// TestFinishUnreadable has something that git cannot take: the rest is
// committed, and the worktree stays. A repository without a commit is such for
// everybody, a file without rights for all but root.
func TestFinishUnreadable(t *testing.T) {
	t.Parallel()
	for name, plant := range map[string]func(b *bench, path string){
		"file": func(b *bench, path string) {
			write(b.t, path, "shut\n")
			if err := os.Chmod(path, 0); err != nil {
				b.t.Fatal(err)
			}
		},
		"repository": func(b *bench, path string) { b.gitIn(filepath.Dir(path), "init", "-q", path) },
	} {
		if name == "file" && os.Getuid() == 0 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			w := b.create()
			write(t, filepath.Join(w.Dir, "good.txt"), "good\n")
			plant(b, filepath.Join(w.Dir, "shut"))
			r := b.finish(w)
			same(t, "files", strings.Join(r.Files, ","), "A good.txt")
			has(t, "notes", strings.Join(r.Notes, "\n"), "not everything could be committed")
		})
	}
}

// TestFinishMany counts what it does not list.
func TestFinishMany(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	w := b.create()
	for i := range 45 {
		write(t, filepath.Join(w.Dir, fmt.Sprintf("f%02d", i)), "x")
		write(t, filepath.Join(w.Dir, fmt.Sprintf("l%02d.log", i)), "x")
	}
	r := b.finish(w)
	same(t, "files", r.FileCount, 45)
	same(t, "listed", len(r.Files), maxListed)
	same(t, "ignored", r.IgnoredCount, 45)
	has(t, "text", r.Text(), "Files (45):", "… and 25 more", "It merges cleanly.", "Merge: git merge "+w.Branch)
}

// TestIdentity commits where git knows nobody.
func TestIdentity(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	w := b.create()
	if err := os.Remove(filepath.Join(b.home, ".gitconfig")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(w.Dir, "n"), "n")
	r := b.finish(w)
	same(t, "author", b.git("log", "-1", "--format=%an <%ae> %cn", r.Branch), "larva <larva@localhost> larva")

	b.git("config", "user.name", "Own")
	b.git("config", "user.email", "own@example.com")
	w = b.create()
	write(t, filepath.Join(w.Dir, "n"), "n")
	r = b.finish(w)
	same(t, "author", b.git("log", "-1", "--format=%an <%ae> %cn", r.Branch), "Own <own@example.com> Own")
}

func TestCopy(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.put(".env", "KEY=1\n")
	b.put("sub/.env", "KEY=2\n")
	b.put("conf/x.log", "log\n")
	b.put("plain.txt", "not ignored\n")
	b.put("sub/.gitignore", "extra\n") // not committed
	b.put("sub/extra", "e\n")
	outside := filepath.Join(filepath.Dir(b.repo), "secret.log")
	write(t, outside, "secret\n")
	for link, to := range map[string]string{"link.log": outside, "dir.log": filepath.Dir(outside)} {
		if err := os.Symlink(to, filepath.Join(b.repo, link)); err != nil {
			t.Fatal(err)
		}
	}
	w := b.create(func(o *Options) {
		o.Copy = []string{".env", "sub/.env", "**/x.log", "plain.txt", "link.log", "dir.log/secret.log", "sub/extra", "none.log"}
	})
	for path, want := range map[string]string{".env": "KEY=1\n", "sub/.env": "KEY=2\n", "conf/x.log": "log\n"} {
		same(t, path, read(t, filepath.Join(w.Dir, path)), want)
		if fi, _ := os.Stat(filepath.Join(w.Dir, path)); fi.Mode().Perm() != 0o600 {
			t.Errorf("%s: got mode %v, want 0600", path, fi.Mode().Perm())
		}
	}
	for _, path := range []string{"plain.txt", "link.log", "dir.log", "sub/extra", "none.log"} {
		if exists(filepath.Join(w.Dir, path)) {
			t.Errorf("%s is in the worktree", path)
		}
	}
	has(t, "notices", strings.Join(w.Notices, "\n"), "link.log is not copied: it is a symbolic link", "sub/extra is not copied: git does not ignore it in the worktree",
		"nothing is copied for plain.txt", "nothing is copied for none.log")
	same(t, "state", b.gitIn(w.Dir, "status", "--porcelain"), "")
	if r := b.finish(w); !r.Removed || len(r.Ignored) != 0 {
		t.Errorf("got %+v, want it removed", r)
	}

	// A task that forces one in or changes it; a link in the place of a directory.
	w = b.create(func(o *Options) { o.Copy = []string{".env", "sub/.env", "conf/x.log"} })
	if out, err := b.shell(w.Dir, "echo changed >.env; rm -r conf; mkdir other; echo other >other/x.log; ln -s other conf; echo n >n"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	r := b.finish(w)
	has(t, "notes", strings.Join(r.Notes, "\n"), ".env, which was copied in, had been changed", "conf/x.log, which was copied in, could not be removed")
	same(t, "files", strings.Join(r.Files, ","), "A conf,A n")
	same(t, "other's", read(t, filepath.Join(w.Dir, "other/x.log")), "other\n")
	for _, path := range []string{".env", "sub/.env"} {
		if exists(filepath.Join(w.Dir, path)) {
			t.Errorf("%s is left in the worktree", path)
		}
	}
}
