//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// foreman is the model of a parent that hands work to three children in
// worktrees and to two in the background, merges one branch, and ends once it
// has heard of all. It holds answers back, so that what happens has one order.
type foreman struct {
	mu      sync.Mutex
	working map[string]bool // children of the worktrees at work
	most    int             // at once
	all     chan struct{}   // closed once three are
	merged  chan struct{}   // closed once the branch is merged
	first   chan struct{}   // closed once the first background report was heard
}

var mergeLine = regexp.MustCompile(`larva/task-[0-9a-f]{6}`)

func hold(on, gone <-chan struct{}) {
	select {
	case <-on:
	case <-gone:
	case <-time.After(time.Minute):
	}
}

func (f *foreman) answer(r chatRequest, gone <-chan struct{}) (string, []map[string]any) {
	task := func(agent, about, prompt string, more map[string]any) map[string]any {
		in := map[string]any{"description": about, "prompt": prompt, "subagent_type": agent}
		for k, v := range more {
			in[k] = v
		}
		return map[string]any{"tool": "task", "input": in}
	}
	if !r.says("system", "You lead.") {
		return f.child(r, gone)
	}
	switch {
	case r.says("user", "two.txt is there"):
		return "All five are in: a is merged, b and c wait on their branches.", nil
	case r.says("user", "one.txt is there"):
		close(f.first)
		return "One report is in.", nil
	case r.says("tool", "Merge made") || r.says("tool", "Fast-forward"):
		close(f.merged)
		return "a is merged.", nil
	case r.says("tool", "did write"):
		return "", []map[string]any{{"tool": "bash", "input": map[string]any{"command": "git merge -q --no-edit " + f.branchOf(r, "did write a") + " && echo Merge made"}}}
	}
	tree, back := map[string]any{"isolation": "worktree"}, map[string]any{"run_in_background": true}
	return "Off they go.", []map[string]any{
		task("scout", "one", "look for one.txt", back), task("scout", "two", "look for two.txt", back),
		task("hand", "a", "write a", tree), task("hand", "b", "write b", tree), task("hand", "c", "write c", tree),
	}
}

// branchOf reads the branch out of the report that says a text.
func (f *foreman) branchOf(r chatRequest, text string) string {
	for _, m := range r.Messages {
		if s := fmt.Sprint(m.Content); m.Role == "tool" && strings.Contains(s, text) {
			return mergeLine.FindString(s)
		}
	}
	return "none"
}

func (f *foreman) child(r chatRequest, gone <-chan struct{}) (string, []map[string]any) {
	switch {
	case r.says("user", "look for one.txt"):
		hold(f.merged, gone)
		return "one.txt is there", nil
	case r.says("user", "look for two.txt"):
		hold(f.first, gone)
		return "two.txt is there", nil
	}
	for _, name := range []string{"a", "b", "c"} {
		if !r.says("user", "write "+name) {
			continue
		}
		if r.says("tool", "created") {
			f.mu.Lock()
			delete(f.working, name)
			f.mu.Unlock()
			return "did write " + name, nil
		}
		f.mu.Lock()
		f.working[name] = true
		f.most = max(f.most, len(f.working))
		if len(f.working) == 3 {
			close(f.all)
		}
		f.mu.Unlock()
		hold(f.all, gone)
		return "", []map[string]any{{"tool": "write", "input": map[string]any{"path": name + ".txt", "content": name + "\n"}}}
	}
	return "lost", nil
}

const goldenConfig = `{"models":{"m":"here/x"},"providers":{"here":{"api":"openai","base_url":"%s","key_env":""}},"prices":{"here/x":{"input":1000,"output":2000}},
"sandbox":{"kind":"none"},"permissions":{"allow":["write","bash(git merge *)","bash(echo *)"]}}`

var goldenPersonas = map[string]string{
	"lead":  `{"spec_version":"0.1.0","id":"lead","description":"Leads","prompt":"You lead.","model":"m","capabilities":{"filesystem":"read_write","shell":"read_write","git":"read_write"},"can_spawn":["scout","hand"]}`,
	"scout": `{"spec_version":"0.1.0","id":"scout","description":"Looks","prompt":"You look.","model":"m","capabilities":{"filesystem":"read_only"}}`,
	"hand":  `{"spec_version":"0.1.0","id":"hand","description":"Does","prompt":"You do.","model":"m","capabilities":{"filesystem":"read_write"}}`,
}

// TestDelegationGolden compares the final answer, the cost tree, the events of
// each agent, how many were at work at once and the state of git with a golden
// file. LARVA_UPDATE=1 writes it; LARVA_REPEAT=50 runs it so often.
func TestDelegationGolden(t *testing.T) {
	t.Parallel()
	times := 3
	if n := os.Getenv("LARVA_REPEAT"); n != "" {
		fmt.Sscan(n, &times)
	}
	file := filepath.Join("testdata", "delegation.golden")
	for i := range times {
		got := delegation(t)
		if os.Getenv("LARVA_UPDATE") != "" && i == 0 {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(got, string(want)); d != "" {
			t.Fatalf("run %d of %d (-got +want):\n%s", i+1, times, d)
		}
	}
	t.Logf("COUNT %d runs of one golden", times)
}

// delegation runs it once, in a repository of its own.
func delegation(t *testing.T) string {
	t.Helper()
	f := &foreman{working: map[string]bool{}, all: make(chan struct{}), merged: make(chan struct{}), first: make(chan struct{})}
	url := chatServer(t, f.answer)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	home, dir := t.TempDir(), t.TempDir()
	put := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put(filepath.Join(home, ".config", "larva", "config.cue"), fmt.Sprintf(goldenConfig, url))
	put(filepath.Join(home, ".gitconfig"), "[user]\nname = N\nemail = n@x.test\n[init]\ndefaultBranch = main\n")
	put(filepath.Join(dir, "base.txt"), "base\n")
	run := func(path string, args ...string) string {
		t.Helper()
		cmd := &exec.Cmd{Path: path, Args: args, Dir: dir, Env: []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}}
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %v\n%s%s", args, err, out, stderr.Bytes())
		}
		return string(out)
	}
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"lead", "scout", "hand"} {
		file := filepath.Join(home, id+".json")
		put(file, goldenPersonas[id])
		run(self, "larva", "register", file)
	}
	run(git, "git", "init", "-q")
	run(git, "git", "add", ".")
	run(git, "git", "commit", "-qm", "first")
	stream := run(self, "larva", "run", "lead", "-o", "stream-json", "go")

	var b strings.Builder
	told := tellStream(t, stream)
	fmt.Fprintf(&b, "%sat work at once: %d\n\n", told, f.most)
	fmt.Fprintf(&b, "# git\n%s", run(git, "git", "log", "--format=%s", "main"))
	for _, branch := range strings.Fields(run(git, "git", "branch", "--list", "larva/*", "--format=%(refname:short)")) {
		merged := "not merged"
		if strings.Contains(run(git, "git", "branch", "--merged", "main", "--format=%(refname:short)"), branch) {
			merged = "merged"
		}
		fmt.Fprintf(&b, "%s: %s: %s", branchOfTask(stream)[branch], merged, run(git, "git", "diff", "--stat", "--format=", branch+"~1", branch))
	}
	text := b.String()
	head, tail, _ := strings.Cut(text, "# git\n")
	lines := strings.SplitAfter(tail, "\n")
	slices.Sort(lines) // branches have random names
	status := run(git, "git", "status", "--porcelain")
	return head + "# git\n" + strings.Join(lines, "") + "status: " + fmt.Sprintf("%q", status) + "\nworktrees: " +
		fmt.Sprint(strings.Count(run(git, "git", "worktree", "list", "--porcelain"), "worktree ")-1) + "\n"
}

// branchOfTask names the branches by their tasks' ids.
func branchOfTask(stream string) map[string]string {
	out := map[string]string{}
	for _, line := range strings.Split(stream, "\n") {
		var e struct{ Type, ID, Branch string }
		if json.Unmarshal([]byte(line), &e) == nil && e.Type == "task_start" && e.Branch != "" {
			out[e.Branch] = e.ID
		}
	}
	return out
}

// tellStream words a stream of events: of each agent what it said and did in
// its order, since the order among agents that work side by side is open, and
// what it cost.
func tellStream(t *testing.T, stream string) string {
	t.Helper()
	type entry struct {
		Type, Agent, Text, ID, Tool, Status, Branch, Output, Result string
		Generated                                                   bool
		IsError                                                     bool     `json:"is_error"`
		StopReason                                                  string   `json:"stop_reason"`
		Cost                                                        *float64 `json:"cost_usd"`
		Turns                                                       int
		Usage, Turn                                                 struct {
			In  int `json:"input_tokens"`
			Out int `json:"output_tokens"`
		}
		Decision *struct{ Verdict, Stage string }
		Denials  []any
	}
	branches := branchOfTask(stream)
	name := func(s string) string {
		for branch, id := range branches {
			s = strings.ReplaceAll(s, branch, "BRANCH of "+id)
			s = strings.ReplaceAll(s, strings.TrimPrefix(branch, "larva/"), "TREE of "+id)
		}
		return s
	}
	by, spent := map[string][]string{}, map[string][]float64{}
	seq := 0
	for _, line := range strings.Split(strings.TrimSpace(stream), "\n") {
		var head struct{ Seq int }
		var e entry
		var raw map[string]json.RawMessage
		if err := json.Unmarshal([]byte(line), &raw); err != nil {
			t.Fatal(err)
		}
		delete(raw, "persona") // an object or a word
		rest, _ := json.Marshal(raw)
		if err := json.Unmarshal(rest, &e); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		_ = json.Unmarshal([]byte(line), &head)
		if seq++; head.Seq != seq {
			t.Errorf("got seq %d, want %d", head.Seq, seq)
		}
		say := func(format string, args ...any) {
			by[e.Agent] = append(by[e.Agent], name(fmt.Sprintf(format, args...)))
		}
		switch e.Type {
		case "user":
			first, _, _ := strings.Cut(e.Text, "\n")
			say("user (generated %t) %s", e.Generated, first)
		case "assistant":
			say("assistant %q", e.Text)
		case "tool_end":
			first, _, _ := strings.Cut(e.Output, "\n")
			say("%s error=%t %s by %s: %s", e.Tool, e.IsError, e.Decision.Verdict, e.Decision.Stage, first)
		case "usage":
			spent[e.Agent] = append(spent[e.Agent], *e.Cost)
			say("a request of %d tokens in, %d out", e.Turn.In, e.Turn.Out)
		case "task_start":
			say("begins as %s on %q", e.ID, e.Branch)
		case "task_end":
			say("%s is %s, work on %q", e.ID, e.Status, e.Branch)
		case "result":
			say("result %q: %s, %d turns, %d in, %d out, %.2f USD, %d denials", e.Result, e.StopReason, e.Turns, e.Usage.In, e.Usage.Out, *e.Cost, len(e.Denials))
		}
	}
	var agents []string
	for a := range by {
		agents = append(agents, a)
	}
	slices.Sort(agents)
	var b strings.Builder
	for _, a := range agents {
		fmt.Fprintf(&b, "# %q\n", a)
		for _, l := range by[a] {
			b.WriteString(l + "\n")
		}
		// What stands on its bill at the end; the main agent's has the whole tree's.
		fmt.Fprintf(&b, "%d requests, %.2f USD\n", len(spent[a]), slices.Max(spent[a]))
		b.WriteString("\n")
	}
	return b.String()
}
