//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// day is a repository and a scripted model that works in it: five calls a
// turn, of all kinds.
type day struct {
	t          *testing.T
	home, work string
	turns      int
}

func newDay(t *testing.T, turns int) *day {
	t.Helper()
	work, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	d := &day{t: t, home: t.TempDir(), work: work, turns: turns}
	write(t, filepath.Join(work, "p.json"), `{"id":"p","description":"Works all day in this repository.","prompt":"Work.","model":"script/./s.json",`+
		`"capabilities":{"filesystem":"destructive","shell":"destructive","git":"read_write"},"spec_version":"0.1.0"}`)
	for i := range turns {
		write(t, filepath.Join(work, "src", syllable(i)+"-f.txt"), fmt.Sprintf("first\nline %d\r\nlast without newline", i))
		write(t, filepath.Join(work, "src", syllable(i)+"-g.txt"), strings.Repeat("alpha\n", i+1))
		write(t, filepath.Join(work, "old", syllable(i)+"-h.bin"), "\x00\xff"+fmt.Sprint(i))
	}
	d.script()
	d.sh("git init -q -b main && git config user.email a@b.c && git config user.name n && git add -A && git commit -q -m one")
	write(t, filepath.Join(work, "untracked.txt"), "mine\n")
	d.sh("chmod 755 src/aaa-g.txt; chmod 600 src/abh-g.txt; ln -s src/aaa-f.txt ln; echo dirty >> src/aco-g.txt")
	return d
}

// syllable is a name for a number: the loop's guard takes calls that differ in
// numbers alone for the same.
func syllable(i int) string {
	return string([]byte{'a' + byte(i/26), 'a' + byte(i%26), 'a' + byte(i*7%26)})
}

// script writes the model's answers.
func (d *day) script() {
	type call struct {
		Tool  string         `json:"tool"`
		Input map[string]any `json:"input"`
	}
	type turn struct {
		Text  string `json:"text,omitempty"`
		Calls []call `json:"calls,omitempty"`
	}
	var turns []turn
	for i := range d.turns {
		w := syllable(i)
		f := "src/" + w + "-f.txt"
		turns = append(turns, turn{Text: "Step " + w + ".", Calls: []call{
			{"read", map[string]any{"path": f}},
			{"edit", map[string]any{"path": f, "old_string": "line", "new_string": "a line"}},
			{"bash", map[string]any{"command": fmt.Sprintf("echo %s >> made%d.txt; sed -i s/alpha/beta/ src/%s-g.txt; rm -f old/%s-h.bin; ln -sfn src ln; echo %s >> untracked.txt", w, i%3, w, w, w)}},
			{"write", map[string]any{"path": "new/" + w + "/n.txt", "content": w}},
			{"grep", map[string]any{"pattern": w, "path": "."}},
		}})
	}
	data, err := json.Marshal(map[string]any{"turns": append(turns, turn{Text: "All is done."})})
	if err != nil {
		d.t.Fatal(err)
	}
	write(d.t, filepath.Join(d.work, "s.json"), string(data))
}

func (d *day) sh(line string) {
	d.t.Helper()
	cmd := exec.Command("bash", "-c", line)
	cmd.Dir, cmd.Env = d.work, []string{"HOME=" + d.home, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1"}
	if out, err := cmd.CombinedOutput(); err != nil {
		d.t.Fatalf("%s: %v\n%s", line, err, out)
	}
}

// larva starts this test binary as larva.
func (d *day) larva(args ...string) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		d.t.Fatal(err)
	}
	return &exec.Cmd{Path: self, Args: append([]string{"larva"}, args...), Dir: d.work,
		Env: []string{"HOME=" + d.home, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1"}}
}

func (d *day) must(args ...string) string {
	d.t.Helper()
	var out, errs bytes.Buffer
	cmd := d.larva(args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		d.t.Fatalf("larva %v: %v\n%s%s", args, err, out.String(), errs.String())
	}
	return out.String()
}

// killed runs larva and kills it with SIGKILL once it has said so many events;
// false where it ended before.
func (d *day) killed(after int, args ...string) bool {
	d.t.Helper()
	cmd := d.larva(append(args, "-o", "stream-json")...)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		d.t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for n := 0; n < after && lines.Scan(); n++ {
	}
	_ = cmd.Process.Kill()
	return cmd.Wait() != nil && cmd.ProcessState.ExitCode() < 0
}

// tree is every file but git's own, with mode and content.
func (d *day) tree() map[string]string {
	d.t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(d.work, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() {
			if e.Name() == ".git" {
				return fs.SkipDir
			}
			return nil
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		text, err := os.Readlink(path)
		if e.Type()&fs.ModeSymlink == 0 {
			var data []byte
			data, err = os.ReadFile(path)
			text = string(data)
		}
		rel, _ := filepath.Rel(d.work, path)
		out[rel] = info.Mode().String() + " " + text
		return err
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return out
}

// complete holds the export to the session's own lines: each call that the
// model made, in its order, with the decision and the result that were written
// down. It gives the numbers of calls and of those without a result.
func (d *day) complete() (calls, unanswered int) {
	d.t.Helper()
	var want []string
	ends := map[string]int{}
	lines := bufio.NewScanner(strings.NewReader(d.must("session", "export", "--format", "jsonl")))
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e struct {
			Type, ID string
			Calls    []struct{ ID, Tool string }
		}
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			d.t.Fatalf("%v: %.200s", err, lines.Text())
		}
		for _, c := range e.Calls {
			want = append(want, c.ID+" "+c.Tool)
		}
		if e.Type == "tool_end" {
			ends[e.ID]++
		}
	}
	var export struct {
		Data struct {
			Steps []struct {
				Call *struct {
					ID, Tool string
					Decision *struct{ Verdict string }
					Result   *struct{ Output string }
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(d.must("session", "export", "--json")), &export); err != nil {
		d.t.Fatal(err)
	}
	var got []string
	for _, s := range export.Data.Steps {
		if s.Call == nil {
			continue
		}
		got = append(got, s.Call.ID+" "+s.Call.Tool)
		switch {
		case s.Call.Result == nil:
			unanswered++
		case s.Call.Decision == nil:
			d.t.Errorf("call %s has a result and no decision", s.Call.ID)
		default:
			ends[s.Call.ID]--
		}
	}
	if diff := cmp.Diff(got, want); diff != "" {
		d.t.Errorf("calls of the export: got-, want+\n%s", diff)
	}
	for id, n := range ends {
		if n != 0 {
			d.t.Errorf("call %s: %d results are not in the export", id, n)
		}
	}
	text := d.must("session", "export")
	if n := strings.Count(text, "\n### Call "); n != len(want) {
		d.t.Errorf("the Markdown has %d calls, want %d", n, len(want))
	}
	return len(got), unanswered
}

var goOn = []string{"run", "--continue", "Go on"}

// TestDay is a day's work: 300 calls, killed in the middle, taken up again,
// exported whole, undone to the byte.
func TestDay(t *testing.T) {
	t.Parallel()
	d := newDay(t, 60)
	before := d.tree()
	if !d.killed(400+rand.IntN(300), "run", "./p.json", "Work", "--mode", "yolo") {
		t.Fatal("the run ended before it was killed")
	}
	if out := d.must(goOn...); !strings.Contains(out, "All is done.") {
		t.Errorf("resumed: got %q, want it to end", out)
	}
	calls, unanswered := d.complete()
	if calls < 300 || unanswered > 5 {
		t.Errorf("got %d calls, %d without a result; want 300, and at most the batch that was cut off", calls, unanswered)
	}
	if cmp.Equal(d.tree(), before) {
		t.Fatal("the day's work changed nothing")
	}
	d.must("session", "undo", "--all")
	if diff := cmp.Diff(d.tree(), before); diff != "" {
		t.Errorf("after undo --all: got-, want+\n%s", diff)
	}
	t.Logf("%d calls, %d cut off", calls, unanswered)
}

// TestCrash kills one session at 24 random points, once within each stretch of
// events, and takes it up after each.
func TestCrash(t *testing.T) {
	t.Parallel()
	const crashes = 24
	d := newDay(t, 8)
	before := d.tree()
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	args := []string{"run", "./p.json", "Work", "--mode", "yolo"}
	kills := 0
	for i := range crashes {
		if d.killed(1+i*4+r.IntN(4), args...) {
			kills++
		}
		args = goOn
		if i%4 == 0 {
			d.must("session", "show")
		}
	}
	if kills < 20 {
		t.Errorf("got %d kills, want at least 20", kills)
	}
	if out := d.must(goOn...); !strings.Contains(out, "All is done.") {
		t.Errorf("resumed: got %q, want it to end", out)
	}
	calls, unanswered := d.complete()
	if calls < 40 || unanswered > 5*crashes {
		t.Errorf("got %d calls, %d without a result", calls, unanswered)
	}
	d.must("session", "undo", "--all")
	if diff := cmp.Diff(d.tree(), before); diff != "" {
		t.Errorf("after undo --all: got-, want+\n%s", diff)
	}
	t.Logf("%d kills, %d calls, %d cut off", kills, calls, unanswered)
}
