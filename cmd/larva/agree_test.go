package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestExplainAndRunAgree: what permission explain says of a call is what run
// does with it where nobody can be asked, over generated calls of every
// writing tool, shell lines in many shapes, paths, modes, rules and
// capabilities. What run did is read off the disk: a file that came, changed or
// went; for a call that only reads it is the event of its start.
func TestExplainAndRunAgree(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the lines are written for a Unix shell")
	}
	first, scenes, perScene := 12, 8, 420
	if os.Getenv("LARVA_LONG") != "" {
		first, scenes = 0, 24 // ten thousand calls
	}
	results := make([]agreed, scenes)
	t.Run("scenes", func(t *testing.T) {
		for i := range scenes {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				results[i] = newScene(t, uint64(first+i)).compare(t, perScene)
			})
		}
	})
	var all agreed
	for _, r := range results {
		all.calls, all.allowed, all.asked, all.refused = all.calls+r.calls, all.allowed+r.allowed, all.asked+r.asked, all.refused+r.refused
	}
	t.Logf("COUNT %d generated calls: explain and run agree; %d allowed, %d asked, %d refused", all.calls, all.allowed, all.asked, all.refused)
	if !t.Failed() && (all.calls < scenes*perScene || all.allowed < all.calls/3 || all.asked == 0 || all.refused == 0) {
		t.Errorf("got %+v; want %d calls, a third of them allowed, and some of each", all, scenes*perScene)
	}
}

type agreed struct{ calls, allowed, asked, refused int }

// scene is a project, a persona, a mode and rules.
type scene struct {
	r             *rand.Rand
	home, dir     string
	flags         []string
	sandbox, caps string
}

var (
	agreeCaps = []string{
		`{"filesystem":"destructive","shell":"destructive","git":"destructive"}`,
		`{"filesystem":"read_write","shell":"destructive","git":"read_only"}`,
		`{"filesystem":"read_write","shell":"read_write","git":"read_write"}`,
		`{"filesystem":"read_write","shell":"read_only"}`,
		`{"filesystem":"read_only","shell":"read_write"}`,
		`{"filesystem":"read_write"}`, `{}`,
	}
	agreeAllow = []string{"bash(touch *)", "bash(echo *)", "bash(cp *)", "edit(w/**)", "edit(m/**)", "edit", "bash", "bash(timeout 5 touch *)", "bash(tee *)", "write(w/**)",
		"Bash(mkdir:*)", "bash(bash *)", "bash(find *)", "bash(rm *)", "edit(/e/*)", "MultiEdit(e/**)", "bash(ls *)", "bash(X=1 touch *)", "edit(//{OUT}/**)", "edit(**/AGENTS.md)"}
	agreeAsk  = []string{"bash(cp *)", "edit(m/**)", "bash(echo *)", "write_files", "bash(mv *)"}
	agreeDeny = []string{"bash(rm *)", "edit(w/b*)", "bash(tee *)", "read(e/**)", "Edit(//{DIR}/m/c*)", "bash(bash -c *)", "write(e/)", "bash(mkdir *)"}
)

// seenShapes are shell lines that leave a mark: {N} is a name of the call's
// own. The mark is m/{N} unless the shape says another.
var seenShapes = []struct{ line, mark string }{
	{line: "touch m/{N}"}, {line: "echo x > m/{N}"}, {line: "cp a.txt m/{N}"}, {line: "cd m && touch {N}"}, {line: "git status; touch m/{N}"}, {line: "env touch m/{N}"},
	{line: "bash -c 'touch m/{N}'"}, {line: "ls | tee m/{N}"}, {line: "if true; then touch m/{N}; fi"}, {line: "X={N}; touch m/$X"}, {line: "eval 'touch m/{N}'"}, {line: "$(echo touch) m/{N}"},
	{line: "timeout 5 touch m/{N}"}, {line: "mkdir m/{N}"}, {line: "printf y >> m/{N}"}, {line: "cat a.txt > w/{N}", mark: "w/{N}"}, {line: "find a.txt -exec touch m/{N} \\;"},
	{line: "touch ../out/{N}", mark: "../out/{N}"}, {line: "sh -c \"echo x > m/{N}\""}, {line: "sed -n 1p a.txt > m/{N}"}, {line: "mv r/{N} m/{N}"}, {line: "ln -s a.txt m/{N}"},
	{line: "touch .git/hooks/{N}", mark: ".git/hooks/{N}"}, {line: "mkdir m/{N} && touch m/{N}/AGENTS.md"}, {line: "X=1 touch m/{N}"}, {line: "for f in {N}; do touch m/$f; done"}, {line: "{ touch m/{N}; }"},
	{line: "echo {N} | xargs -I@ touch m/@"}, {line: "touch \"m/{N}\" # done"}, {line: "true && touch m/{N} || true"}, {line: "command touch m/{N}"}, {line: "/usr/bin/touch m/{N}"},
	{line: "f() { touch m/{N}; }; f"}, {line: "touch m/{N} 2>/dev/null"}, {line: "cat <<EOF > m/{N}\nx\nEOF"}, {line: "touch $PWD/m/{N}"}, {line: "touch ~/p/m/{N}"}, {line: "rm r/{N}; touch m/{N}"},
	{line: "echo x >> w/{N}", mark: "w/{N}"}, {line: "git add a.txt; touch m/{N}"}, {line: "ls m* && touch m/{N}"}, {line: "unknown-{N} 2>/dev/null; touch m/{N}"},
}

func newScene(t *testing.T, seed uint64) *scene {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &scene{r: rand.New(rand.NewPCG(7, seed)), home: filepath.Join(base, "home"), dir: filepath.Join(base, "home", "p"), sandbox: "none"}
	if seed%5 == 4 {
		s.sandbox = "auto"
	}
	s.caps = agreeCaps[s.r.IntN(len(agreeCaps))]
	mode := []string{"default", "default", "accept-edits", "yolo", "yolo", "plan"}[seed%6]
	if mode == "yolo" || s.r.IntN(2) == 0 {
		s.caps = agreeCaps[s.r.IntN(3)] // else hardly anything is allowed
	}
	s.flags = []string{"--mode", mode}
	fill := strings.NewReplacer("{OUT}", strings.TrimPrefix(filepath.Join(s.home, "out"), "/"), "{DIR}", strings.TrimPrefix(s.dir, "/"))
	for _, l := range []struct {
		flag  string
		rules []string
		odds  int
	}{{"--allow", agreeAllow, 2}, {"--ask", agreeAsk, 8}, {"--deny", agreeDeny, 8}} {
		for _, r := range l.rules {
			if s.r.IntN(l.odds) == 0 {
				s.flags = append(s.flags, l.flag, fill.Replace(r))
			}
		}
	}
	for _, d := range []string{"m", "w", "e", "r", ".git/hooks", "../out"} {
		if err := os.MkdirAll(filepath.Join(s.dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for file, text := range map[string]string{
		"a.txt": "a\n", ".git/HEAD": "ref: refs/heads/main\n", ".git/config": "", "../.config/larva/config.toml": "[sandbox]\nkind = \"" + s.sandbox + "\"\n",
		"p.json": `{"id":"p","description":"d","prompt":"p","model":"script/./s.json","capabilities":` + s.caps + `,"spec_version":"0.1.0"}`,
	} {
		file = filepath.Join(s.dir, file)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// generated is one call with what it would leave behind.
type generated struct {
	Tool  string         `json:"tool"`
	Input map[string]any `json:"input"`
	mark  string         // a file that comes, "" where the content of changed tells
	gone  bool           // the mark goes instead
	edits string         // a file whose text becomes "new"
	reads bool           // seen by its start alone
	first *generated     // a read that must come before
}

// word is n in letters: a guard against loops takes calls that differ in
// numbers only for the same.
func word(n int) string {
	var b []byte
	for range 4 {
		b = append(b, "bcdfghjklmnpqrstvwxz"[n%20])
		n /= 20
	}
	return string(b)
}

func (s *scene) generate(t *testing.T, n int) generated {
	name := word(n)
	keep := func(path, text string) {
		if err := os.WriteFile(filepath.Join(s.dir, path), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	switch k := s.r.IntN(20); {
	case k < 3: // a command costs a hundred times what a write does
		shape := seenShapes[s.r.IntN(len(seenShapes))]
		for s.sandbox != "none" && strings.Contains(shape.line, "../out") { // what a rule lets out, the wall still holds
			shape = seenShapes[s.r.IntN(len(seenShapes))]
		}
		if strings.Contains(shape.line, "r/{N}") {
			keep("r/"+name, "x")
		}
		fill := func(x string) string { return strings.ReplaceAll(x, "{N}", name) }
		mark := fill(shape.mark)
		if mark == "" {
			mark = "m/" + name
		}
		return generated{Tool: "bash", Input: map[string]any{"command": fill(shape.line)}, mark: mark}
	case k == 3 && s.r.IntN(2) == 0:
		keep("r/"+name, "x")
		return generated{Tool: "bash", Input: map[string]any{"command": "rm r/" + name}, mark: "r/" + name, gone: true}
	case k < 12:
		dir := []string{"m/", "w/", "w/", "src/", "../out/", ".claude/", "e/"}[s.r.IntN(7)]
		return generated{Tool: "write", Input: map[string]any{"path": dir + name, "content": "x\n"}, mark: dir + name}
	case k < 16:
		keep("e/"+name, "old\n")
		g := generated{Tool: "edit", Input: map[string]any{"path": "e/" + name, "old_string": "old", "new_string": "new"}, edits: "e/" + name}
		if s.r.IntN(2) == 0 {
			g.Tool, g.Input = "multi_edit", map[string]any{"path": "e/" + name, "edits": []any{map[string]any{"old_string": "old", "new_string": "new"}}}
		}
		g.first = &generated{Tool: "read", Input: map[string]any{"path": "e/" + name}}
		return g
	case k < 18:
		return generated{Tool: "write_files", Input: map[string]any{"files": []any{map[string]any{"path": "w/" + name, "content": "x"}, map[string]any{"path": "m/" + name, "content": "x"}}}, mark: "m/" + name}
	}
	path := []string{"a.txt", "/etc/hostname", ".env", "m"}[s.r.IntN(4)]
	return generated{Tool: "grep", Input: map[string]any{"pattern": name, "path": path}, reads: true}
}

// compare explains the calls, then runs them, and holds the two together.
func (s *scene) compare(t *testing.T, n int) agreed {
	calls := make([]generated, n)
	for i := range calls {
		calls[i] = s.generate(t, i)
	}
	verdicts := s.explain(t, calls)
	started := s.run(t, calls)
	got := agreed{calls: n}
	for i, c := range calls {
		did := s.happened(c, started[i])
		switch verdicts[i].Verdict {
		case "allow":
			got.allowed++
		case "ask":
			got.asked++
		case "deny":
			got.refused++
		}
		if did != (verdicts[i].Verdict == "allow") {
			in, _ := json.Marshal(c.Input)
			t.Errorf("%s %s under %v, %s, sandbox %s: explain says %s (%s), run did it: %t", c.Tool, in, s.flags, s.caps, s.sandbox, verdicts[i].Verdict, verdicts[i].Reason, did)
		}
	}
	return got
}

func (s *scene) happened(c generated, started bool) bool {
	if c.reads {
		return started
	}
	if c.edits != "" {
		data, err := os.ReadFile(filepath.Join(s.dir, c.edits))
		return err == nil && string(data) == "new\n"
	}
	_, err := os.Lstat(filepath.Join(s.dir, c.mark))
	return (err == nil) != c.gone
}

type verdict struct{ Verdict, Reason string }

func (s *scene) explain(t *testing.T, calls []generated) []verdict {
	var in bytes.Buffer
	for _, c := range calls {
		line, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		in.Write(append(line, '\n'))
	}
	out := s.larva(t, &in, append([]string{"permission", "explain", "-", "--persona", "./p.json"}, s.flags...)...)
	var list []verdict
	sc := bufio.NewScanner(bytes.NewReader(out))
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		var v verdict
		if err := json.Unmarshal(sc.Bytes(), &v); err != nil {
			t.Fatalf("explain: %v: %s", err, sc.Text())
		}
		list = append(list, v)
	}
	if len(list) != len(calls) {
		t.Fatalf("explain: got %d decisions, want %d", len(list), len(calls))
	}
	return list
}

// run gives which calls were started.
func (s *scene) run(t *testing.T, calls []generated) map[int]bool {
	type turn struct {
		Calls []generated `json:"calls,omitempty"`
		Text  string      `json:"text,omitempty"`
	}
	var turns []turn
	which := map[string]int{} // tool and input → call
	for i, c := range calls {
		if i%50 == 0 {
			turns = append(turns, turn{})
		}
		last := &turns[len(turns)-1]
		if c.first != nil {
			last.Calls = append(last.Calls, *c.first)
		}
		last.Calls = append(last.Calls, c)
		which[keyOf(t, c.Tool, c.Input)] = i
	}
	data, err := json.Marshal(map[string]any{"turns": append(turns, turn{Text: "done"})})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.dir, "s.json"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	out := s.larva(t, strings.NewReader(""), append([]string{"run", "./p.json", "go", "-o", "stream-json"}, s.flags...)...)
	started := map[int]bool{}
	ended := ""
	sc := bufio.NewScanner(bytes.NewReader(out))
	sc.Buffer(nil, 16<<20)
	for sc.Scan() {
		var e struct {
			Type, Tool string
			Input      map[string]any
			StopReason string `json:"stop_reason"`
		}
		if err := json.Unmarshal(sc.Bytes(), &e); err != nil {
			t.Fatalf("run: %v: %.300s", err, sc.Text())
		}
		if i, ok := which[keyOf(t, e.Tool, e.Input)]; ok && e.Type == "tool_start" {
			started[i] = true
		}
		if e.Type == "result" {
			ended = e.StopReason
		}
	}
	if ended != "end_turn" {
		t.Fatalf("run: ended by %q, want end_turn", ended)
	}
	return started
}

func keyOf(t *testing.T, tool string, input map[string]any) string {
	data, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	return tool + string(data)
}

// larva runs this test binary as larva and gives its stdout.
func (s *scene) larva(t *testing.T, in interface{ Read([]byte) (int, error) }, args ...string) []byte {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, self)
	cmd.Args = append([]string{"larva"}, args...)
	cmd.Dir, cmd.Stdin = s.dir, in
	cmd.Env = []string{"HOME=" + s.home, "PATH=/usr/bin:/bin", "GIT_CONFIG_NOSYSTEM=1"}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil && exitCode(err) != 0 {
		t.Fatalf("larva %v: %v\n%.1000s%.1000s", args, err, errs.String(), out[max(0, len(out)-1000):])
	}
	return out
}
