package worktree

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestHelperProcess is no test: it is what the tests below start as processes
// of their own.
func TestHelperProcess(t *testing.T) {
	o := Options{Cwd: os.Getenv("WORKTREE_REPO"), Data: os.Getenv("WORKTREE_DATA"), Environ: os.Environ()}
	switch os.Getenv("WORKTREE_HELPER") {
	case "task":
		for i := range 2 {
			w, err := Create(context.Background(), o)
			if err != nil {
				t.Fatal(err)
			}
			if i > 0 {
				write(t, filepath.Join(w.Dir, w.Name+".txt"), "x")
			}
			r, err := w.Finish(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			fmt.Println("done", r.Branch, r.Commits, r.Removed)
		}
	case "hold":
		r, err := open(context.Background(), o.Cwd, o.Environ)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.lock(context.Background()); err != nil {
			t.Fatal(err)
		}
		fmt.Println("held")
		time.Sleep(time.Minute)
	case "work":
		w, err := Create(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(w.Dir, "unsaved.txt"), "x")
		fmt.Println("at", w.Name)
		time.Sleep(time.Minute)
	}
}

func (b *bench) helper(what string) *exec.Cmd {
	b.t.Helper()
	self, err := os.Executable()
	if err != nil {
		b.t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run=^TestHelperProcess$", "-test.v")
	cmd.Env = append(b.env[:len(b.env):len(b.env)], "WORKTREE_HELPER="+what, "WORKTREE_REPO="+b.repo, "WORKTREE_DATA="+b.data)
	cmd.Dir = b.repo
	return cmd
}

// TestProcesses has processes make and finish worktrees of one repository at
// once.
func TestProcesses(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	outs := make([]string, 3)
	var wg sync.WaitGroup
	for i := range outs {
		wg.Go(func() {
			out, err := b.helper("task").CombinedOutput()
			if err != nil {
				t.Errorf("process %d: %v\n%s", i, err, out)
			}
			outs[i] = string(out)
		})
	}
	wg.Wait()
	all := strings.Join(outs, "")
	same(t, "finished", strings.Count(all, "done larva/task-"), 6)
	same(t, "kept", strings.Count(all, " 1 false"), 3)
	same(t, "removed", strings.Count(all, " 0 true"), 3)
	same(t, "branches", strings.Count(b.branches(), "larva/task-"), 3)
	list, err := List(context.Background(), b.repo, b.env)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "listed", len(list), 3)
	for _, e := range list {
		same(t, e.Name, e.State, StateWork)
	}
	if out, err := b.try(b.repo, "fsck", "--no-dangling"); err != nil || strings.Contains(out, "error") {
		t.Errorf("fsck: %v\n%s", err, out)
	}
}

// until reads a process's output up to a line that begins so, and gives it.
func until(t *testing.T, cmd *exec.Cmd, begins string) string {
	t.Helper()
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	s := bufio.NewScanner(pipe)
	for s.Scan() {
		if strings.HasPrefix(s.Text(), begins) {
			return s.Text()
		}
	}
	t.Fatalf("got no line %q", begins)
	return ""
}

// TestLockKilled has the holder of the lock killed: the next one goes on.
func TestLockKilled(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	holder := b.helper("hold")
	until(t, holder, "held")
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	r, err := open(context.Background(), b.repo, b.env)
	if err != nil {
		t.Fatal(err)
	}
	if unlock, err := r.lock(ctx); err == nil {
		unlock()
		t.Fatal("got the lock that another process holds")
	}
	if err := holder.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = holder.Wait()
	b.finish(b.create())
}

// TestTaskKilled has the process of a task killed: what it had is listed as
// unsaved and kept, until somebody says so.
func TestTaskKilled(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := context.Background()
	worker := b.helper("work")
	name := strings.TrimPrefix(until(t, worker, "at "), "at ")
	e, err := Find(ctx, b.repo, name, b.env)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "state", e.State, StateRunning)
	for _, force := range []bool{false, true} {
		if err := Remove(ctx, e, force); err == nil {
			t.Fatal("got a worktree removed that a process works in")
		}
		removed, kept, err := Prune(ctx, b.repo, b.env, force, false)
		if err != nil || len(removed) != 0 || len(kept) != 1 {
			t.Fatalf("got %d removed, %d kept (%v), want it kept", len(removed), len(kept), err)
		}
	}
	if err := worker.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = worker.Wait()
	if e, err = Find(ctx, b.repo, e.Branch, b.env); err != nil {
		t.Fatal(err)
	}
	same(t, "state", e.State, StateUnsaved)
	same(t, "changed", e.Changed, 1)
	if err := Remove(ctx, e, false); err == nil {
		t.Fatal("got unsaved work removed without force")
	}
	has(t, "loses", e.Loses(), "1 file not committed")
	if err := Remove(ctx, e, true); err != nil {
		t.Fatal(err)
	}
	same(t, "branches", b.branches(), "main other")
	same(t, "directory", exists(e.Dir), false)
}

// TestPrune removes what is merged, empty or gone, and nothing else.
func TestPrune(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := context.Background()
	task := func(script string, after ...string) *Tree {
		w := b.create()
		if out, err := b.shell(w.Dir, script); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if len(after) > 0 && after[0] == "crash" {
			w.Release()
		} else {
			b.finish(w)
		}
		return w
	}
	want := map[string]string{}
	merged := task("echo 1 >merged")
	b.git("merge", "-q", merged.Branch)
	want[merged.Name] = StateMerged
	squashed := task("echo 1 >squashed")
	b.git("merge", "-q", "--squash", squashed.Branch)
	b.git("commit", "-qm", "Squashed")
	want[squashed.Name] = StateMerged
	work := task("echo 1 >work")
	want[work.Name] = StateWork
	want[task(":", "crash").Name] = StateEmpty
	want[task("echo 1 >unsaved", "crash").Name] = StateUnsaved
	gone := task("echo 1 >gone")
	want[gone.Name] = StateWork
	branchOnly := task("echo 1 >branch-only")
	want[branchOnly.Name] = StateWork
	want[task("git checkout -q other; echo 1 >x; git add x; git commit -qm X").Name] = StateMerged
	b.git("branch", "larva/task-of-mine")
	for _, w := range []*Tree{merged, gone, branchOnly} {
		if err := os.RemoveAll(w.Dir); err != nil {
			t.Fatal(err)
		}
		if w == branchOnly {
			if err := os.RemoveAll(w.record); err != nil { // as git worktree prune does
				t.Fatal(err)
			}
		}
	}
	b.git("update-ref", "refs/remotes/origin/"+gone.Branch, gone.Branch) // pushed is not merged

	inside, err := List(ctx, work.Dir, b.env) // seen from inside of one it is the same
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range inside {
		same(t, i.Name+" from "+work.Name, i.State, want[i.Name])
	}
	removed, kept, err := Prune(ctx, b.repo, b.env, false, false)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "all", len(removed)+len(kept), len(want))
	for _, e := range removed {
		same(t, e.Name+" is removed", want[e.Name], e.State)
		if e.State != StateMerged && e.State != StateEmpty {
			t.Errorf("%s is removed: %s", e.Name, e.State)
		}
		same(t, "directory", exists(e.Dir), false)
	}
	for _, e := range kept {
		same(t, e.Name+" is kept", e.State, want[e.Name])
		if e.Safe() {
			t.Errorf("%s is kept: %s", e.Name, e.State)
		}
	}
	has(t, "branches", b.branches(), "larva/task-of-mine", gone.Branch, branchOnly.Branch)
	if _, kept, err = Prune(ctx, b.repo, b.env, true, false); err != nil || len(kept) != 0 {
		t.Errorf("got %d kept (%v), want none with force", len(kept), err)
	}
	same(t, "branches", b.branches(), "larva/task-of-mine main other")
	same(t, "x", b.git("show", "other:x"), "1")
}
