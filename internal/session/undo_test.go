package session

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/proc"
	"larva.dev/larva/internal/tool"
)

// bench is a project with checkpoints.
type bench struct {
	t       *testing.T
	dir     string
	store   *Store
	c       *Checkpoints
	notices []string
	calls   int
}

func newBench(t *testing.T, git bool) *bench {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, dir: dir, store: At(t.TempDir(), dir)}
	b.file("a.txt", "a\n", 0o644)
	b.file("run.sh", "#!/bin/sh\n", 0o755)
	b.file("src/deep/b.go", "package b\n", 0o600)
	b.file("crlf.txt", "x\r\ny\r\n", 0o644)
	b.file("bin.dat", "\x00\xff\x00", 0o644)
	if err := os.Symlink("a.txt", filepath.Join(dir, "ln")); err != nil {
		t.Fatal(err)
	}
	if git {
		b.sh("git init -q && git config user.email a@b && git config user.name n && printf 'build/\n*.log\n' > .gitignore && git add -A && git commit -qm one")
	}
	b.file("untracked.txt", "mine\n", 0o640)
	b.file("a.log", "ignored\n", 0o644)
	if git {
		b.file("crlf.txt", "dirty\r\n", 0o644)
	}
	b.open()
	return b
}

func (b *bench) open() {
	b.t.Helper()
	c, err := b.store.Checkpoints(context.Background(), id1, CheckOptions{Project: b.dir, Environ: os.Environ(),
		Notice: func(_, text string) { b.notices = append(b.notices, text) }})
	if err != nil {
		b.t.Fatal(err)
	}
	b.c = c
}

func (b *bench) file(name, text string, mode fs.FileMode) {
	b.t.Helper()
	path := filepath.Join(b.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		b.t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) sh(line string) {
	b.t.Helper()
	r, err := proc.Run(context.Background(), proc.Command{Argv: []string{"bash", "-c", line}, Dir: b.dir, Merge: true,
		Env: proc.Env(os.Environ(), "HOME="+b.dir, "GIT_CONFIG_GLOBAL=/dev/null")})
	if err != nil || r.Exit != 0 {
		b.t.Fatalf("%s: %v %s", line, err, r.Stdout)
	}
}

// bash is a call of the agent; killed leaves it without its end.
func (b *bench) bash(line string, killed bool) {
	b.t.Helper()
	b.call("bash", tool.Effects{Command: line, Touches: true}, func() { b.sh(line) }, killed)
}

func (b *bench) write(name, text string, killed bool) {
	b.t.Helper()
	path := filepath.Join(b.dir, name)
	if real, err := filepath.EvalSymlinks(path); err == nil { // as permission judged it
		path = real
	}
	b.call("write", tool.Effects{Touches: true, Paths: []tool.Path{{Real: path, Abs: path, Write: true}}}, func() { b.file(name, text, 0o644) }, killed)
}

func (b *bench) call(name string, eff tool.Effects, do func(), killed bool) {
	b.t.Helper()
	b.calls++
	done, err := b.c.BeforeRun(context.Background(), tool.Call{ID: fmt.Sprint("c", b.calls), Tool: name}, eff)
	if err != nil {
		b.t.Fatal(err)
	}
	do()
	if !killed && done != nil {
		done(context.Background(), tool.Result{})
	}
}

// tree is every file but git's own: mode, kind and content.
func (b *bench) tree() map[string]string {
	b.t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(b.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if d.Name() == ".git" {
				return fs.SkipDir
			}
			return nil
		}
		s, data, err := stateOf(path, 1<<30)
		rel, _ := filepath.Rel(b.dir, path)
		out[rel] = fmt.Sprint(s.Kind, s.Mode, s.Target, string(data))
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return out
}

func (b *bench) undo(n int, force bool) (*Undo, error) {
	b.t.Helper()
	b.open() // as another process does
	u, err := b.c.PlanUndo(n)
	if err != nil {
		b.t.Fatal(err)
	}
	return u, u.Do(force, time.Now())
}

func (b *bench) same(want map[string]string, what string) {
	b.t.Helper()
	if d := cmp.Diff(b.tree(), want); d != "" {
		b.t.Errorf("%s: got-, want+\n%s", what, d)
	}
}

// deeds are what an agent may do to a project in one call.
var deeds = []struct {
	name string
	do   func(b *bench, killed bool)
}{
	{"write a new file", func(b *bench, k bool) { b.write("new/dir/n.txt", "n", k) }},
	{"overwrite", func(b *bench, k bool) { b.write("a.txt", "other\n", k) }},
	{"write over a link's place", func(b *bench, k bool) { b.write("ln", "through\n", k) }},
	{"sed a tracked file", func(b *bench, k bool) { b.bash("sed -i s/a/b/ a.txt", k) }},
	{"same size, at once", func(b *bench, k bool) { b.bash("printf 'z\\n' > a.txt; printf 'y\\n' > untracked.txt", k) }},
	{"remove", func(b *bench, k bool) { b.bash("rm a.txt src/deep/b.go; rmdir src/deep src", k) }},
	{"mode", func(b *bench, k bool) { b.bash("chmod 600 a.txt; chmod 644 run.sh", k) }},
	{"move", func(b *bench, k bool) {
		b.bash("mv untracked.txt moved.txt; git mv a.txt c.txt 2>/dev/null || mv a.txt c.txt", k)
	}},
	{"a file becomes a directory", func(b *bench, k bool) { b.bash("rm a.txt && mkdir -p a.txt/x && echo 1 > a.txt/x/y", k) }},
	{"a directory becomes a file", func(b *bench, k bool) { b.bash("rm -r src && echo 1 > src", k) }},
	{"a file becomes a link", func(b *bench, k bool) { b.bash("ln -sf /etc/hostname a.txt", k) }},
	{"a link becomes a file", func(b *bench, k bool) { b.bash("rm ln && echo 1 > ln", k) }},
	{"a link elsewhere", func(b *bench, k bool) { b.bash("ln -sfn /etc ln", k) }},
	{"a directory becomes a link", func(b *bench, k bool) { b.bash("mv src /tmp/$$.src && ln -s /etc src && rm -r /tmp/$$.src", k) }},
	{"binary and line ends", func(b *bench, k bool) { b.bash("printf '\\1\\2' > bin.dat; printf 'x\\n' > crlf.txt", k) }},
	{"many files", func(b *bench, k bool) { b.bash("for i in $(seq 50); do echo $i > f$i; done", k) }},
	{"odd names", func(b *bench, k bool) {
		b.bash(`echo 1 > $'new\nline'; echo 2 > ' space '; echo 3 > 'quo"te'; echo 4 > ä`, k)
	}},
}

func TestUndoOneCall(t *testing.T) {
	t.Parallel()
	for _, git := range []bool{true, false} {
		for i, d := range deeds {
			killed := i%2 == 0 // TestUndoAll and the crash tests have the rest
			t.Run(fmt.Sprintf("%s git=%v killed=%v", d.name, git, killed), func(t *testing.T) {
				t.Parallel()
				b := newBench(t, git)
				before := b.tree()
				d.do(b, killed)
				if cmp.Equal(b.tree(), before) {
					t.Fatal("the deed changed nothing")
				}
				if _, err := b.undo(1, false); err != nil {
					t.Fatal(err)
				}
				b.same(before, "after undo")
				if u, err := b.undo(0, false); err != nil || len(u.Files) != 0 {
					t.Errorf("a second undo: got %+v, %v, want nothing to do", u, err)
				}
			})
		}
	}
}

// TestUndoAll does every deed, each in a turn of its own, with commits
// between, and goes back step by step, then all at once.
func TestUndoAll(t *testing.T) {
	t.Parallel()
	gits := []string{"git add -A && git commit -qm two", "git checkout -q -b side$RANDOM", "git stash -qu || true", "git reset -q --hard", "git clean -fdq"}
	b := newBench(t, true)
	trees := []map[string]string{b.tree()}
	for i := 0; i < 2*len(gits); i++ {
		b.write("a.txt", fmt.Sprint("turn ", i, "\n"), false)
		b.bash(fmt.Sprintf("echo %d > n%d; mkdir -p d; echo %d >> d/x", i, i, i), false)
		b.bash(gits[i%len(gits)], i%3 == 0) // a killed one is its turn's last
		trees = append(trees, b.tree())
		b.open()
	}
	last := len(trees) - 1
	for i := 1; i <= 3; i++ {
		if _, err := b.undo(1, false); err != nil {
			t.Fatal(err)
		}
		b.same(trees[last-i], fmt.Sprint("undo ", i))
	}
	if _, err := b.undo(2, false); err != nil {
		t.Fatal(err)
	}
	b.same(trees[last-5], "two turns")
	if _, err := b.undo(0, false); err != nil {
		t.Fatal(err)
	}
	b.same(trees[0], "all")
}

func TestUndoConflict(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		do   func(b *bench)
	}{
		{"changed since", func(b *bench) { b.write("a.txt", "agent", false); b.file("a.txt", "person", 0o644) }},
		{"removed since", func(b *bench) { b.write("a.txt", "agent", false); os.Remove(filepath.Join(b.dir, "a.txt")) }},
		{"mode since", func(b *bench) { b.bash("echo 1 > a.txt", false); os.Chmod(filepath.Join(b.dir, "a.txt"), 0o600) }},
		{"changed between two calls", func(b *bench) {
			b.write("a.txt", "agent", false)
			b.file("a.txt", "person", 0o644)
			b.write("a.txt", "agent again", false)
		}},
		{"between two commands", func(b *bench) {
			b.bash("echo 1 > a.txt", false)
			b.file("a.txt", "person", 0o644)
			b.bash("echo 2 > a.txt", false)
		}},
		{"between two turns", func(b *bench) {
			b.bash("echo 1 > a.txt", false)
			b.open()
			b.file("a.txt", "person", 0o644)
			b.bash("echo 2 > a.txt", false)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, true)
			first := b.tree()
			b.write("other.txt", "agent", false)
			tt.do(b)
			changed := b.tree()
			u, err := b.undo(0, false)
			if code(err) != diag.UndoConflict || len(u.Conflicts()) != 1 || u.Conflicts()[0].Path != filepath.Join(b.dir, "a.txt") {
				t.Fatalf("got %+v, %v; want UNDO_CONFLICT of a.txt", u, err)
			}
			b.same(changed, "after the refusal")
			if _, err := b.undo(0, true); err != nil {
				t.Fatal(err)
			}
			b.same(first, "forced")
		})
	}
}

// TestOthersAreLeft: what the agent did not change stays as people left it.
func TestOthersAreLeft(t *testing.T) {
	t.Parallel()
	b := newBench(t, true)
	b.file("person.txt", "before", 0o644)
	b.bash("echo 1 > agent.txt", false)
	b.file("person.txt", "after", 0o644)
	b.file("a.log", "person's log", 0o644)
	b.file("late.txt", "person", 0o644)
	if _, err := b.undo(0, false); err != nil {
		t.Fatal(err)
	}
	got := b.tree()
	if _, there := got["agent.txt"]; there || !strings.HasSuffix(got["person.txt"], "after") || got["late.txt"] == "" || !strings.HasSuffix(got["a.log"], "person's log") {
		t.Errorf("got %v; want the person's files as they are, agent.txt gone", got)
	}
}

// TestUnignored: a file that was there, unseen because ignored, is not taken
// for one that the command made.
func TestUnignored(t *testing.T) {
	t.Parallel()
	b := newBench(t, true)
	before := b.tree()
	b.bash("echo > .gitignore", false)
	if _, err := b.undo(0, false); err != nil {
		t.Fatal(err)
	}
	b.same(before, "after undo")
}

// TestThroughALink: a directory that a link has taken the place of is not
// written through.
func TestThroughALink(t *testing.T) {
	t.Parallel()
	b := newBench(t, true)
	outside := t.TempDir()
	b.write("src/deep/b.go", "package c\n", false)
	if err := os.RemoveAll(filepath.Join(b.dir, "src")); err != nil {
		t.Fatal(err)
	}
	os.MkdirAll(filepath.Join(outside, "deep"), 0o755)
	os.WriteFile(filepath.Join(outside, "deep", "b.go"), []byte("theirs"), 0o644)
	if err := os.Symlink(outside, filepath.Join(b.dir, "src")); err != nil {
		t.Fatal(err)
	}
	if _, err := b.undo(0, true); err == nil {
		t.Error("undo wrote through a link that stands where a directory was")
	}
	if got, _ := os.ReadFile(filepath.Join(outside, "deep", "b.go")); string(got) != "theirs" {
		t.Errorf("got %q, want theirs", got)
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	b := newBench(t, true)
	b.file("big.dat", strings.Repeat("x", maxFile+1), 0o644)
	b.bash("printf y >> big.dat; echo 1 > a.txt", false)
	u, err := b.undo(0, false)
	if code(err) != diag.UndoConflict || len(u.Conflicts()) != 1 || !strings.Contains(u.Conflicts()[0].Conflict, "larger than 2 MiB") {
		t.Fatalf("got %+v, %v; want a conflict of big.dat", u, err)
	}
	if _, err = b.undo(0, true); err != nil {
		t.Fatal(err)
	}
	if got := b.tree()["a.txt"]; !strings.HasSuffix(got, "a\n") {
		t.Errorf("got %q, want a.txt put back by force", got)
	}
}

func TestReadOnlyCostsNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t, true)
	for _, eff := range []tool.Effects{{ReadOnly: true, Command: "ls", Touches: true}, {}, {Touches: true, Network: true}} {
		done, err := b.c.BeforeRun(context.Background(), tool.Call{ID: "c", Tool: "x"}, eff)
		if done != nil || err != nil {
			t.Errorf("%+v: got %v, want neither a func nor an error", eff, err)
		}
	}
	if _, err := os.Stat(b.c.dir); err == nil {
		t.Error("a call that changes nothing made a checkpoint")
	}
}

// TestCannotKeep: a call whose files cannot be kept is refused.
func TestCannotKeep(t *testing.T) {
	t.Parallel()
	b := newBench(t, true)
	os.MkdirAll(filepath.Dir(b.c.dir), dirMode)
	os.WriteFile(b.c.dir, []byte("in the way"), 0o600)
	path := filepath.Join(b.dir, "a.txt")
	for _, eff := range []tool.Effects{{Touches: true, Paths: []tool.Path{{Real: path, Write: true}}}, {Touches: true, Command: "rm a.txt"}} {
		if _, err := b.c.BeforeRun(context.Background(), tool.Call{ID: "c", Tool: "x"}, eff); code(err) != diag.SessionWrite {
			t.Errorf("%+v: got %v, want SESSION_WRITE_FAILED", eff, err)
		}
	}
}

// TestSaves keeps what the model names: files that git ignores.
func TestSaves(t *testing.T) {
	t.Parallel()
	b := newBench(t, true)
	before := b.tree()
	eff := tool.Effects{Command: "x", Touches: true, Saves: []string{filepath.Join(b.dir, "a.log"), filepath.Join(b.dir, "b.log")}}
	b.call("bash", eff, func() { b.sh("echo 2 > a.log; echo 3 > b.log") }, false)
	if _, err := b.undo(0, false); err != nil {
		t.Fatal(err)
	}
	b.same(before, "after undo")
}

// TestFiltersAreNotRun: the repository's config names programs; none runs.
func TestFiltersAreNotRun(t *testing.T) {
	t.Parallel()
	b := newBench(t, true)
	b.sh(`echo '*.txt filter=evil diff=evil' > .gitattributes
git config filter.evil.clean 'touch evil; cat'; git config filter.evil.smudge 'touch evil; cat'; git config diff.evil.textconv 'touch evil; cat'
git config core.fsmonitor 'touch evil; false'; mkdir -p hooks; printf '#!/bin/sh\ntouch evil\n' > hooks/post-index-change; chmod +x hooks/*; git config core.hooksPath hooks`)
	before := b.tree()
	b.call("bash", tool.Effects{Command: "x", Touches: true}, func() { b.file("a.txt", "other", 0o644) }, false)
	if _, err := b.undo(0, false); err != nil {
		t.Fatal(err)
	}
	b.same(before, "after undo")
}

func TestCrashedWriteLeavesNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t, true)
	path := filepath.Join(b.dir, "fresh.txt")
	eff := tool.Effects{Touches: true, Paths: []tool.Path{{Given: path, Abs: path, Real: path, Write: true}}}
	if _, err := b.c.BeforeRun(context.Background(), tool.Call{ID: "c", Tool: "write"}, eff); err != nil {
		t.Fatal(err)
	}
	b.file(tool.TempName("fresh.txt"), "half", 0o600)
	other := tool.TempName("other.txt")
	b.file(other, "theirs", 0o600)
	if _, err := b.undo(0, false); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(b.dir, ".larva-*.tmp"))
	if err != nil || len(left) != 1 || filepath.Base(left[0]) != other {
		t.Errorf("got %v, %v; want only the file of another write, %s", left, err, other)
	}
}
