package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"larva.dev/larva/internal/launch/opencode"
)

var ocPostures = []string{"none", "read_only", "read_write", "destructive"}

// ocCaps draws capabilities; a family may be undeclared.
func ocCaps(rnd *rand.Rand) map[string]any {
	caps := map[string]any{}
	for _, family := range []string{"filesystem", "shell", "git", "http"} {
		// The upper half more often: at least a third of the calls are to happen.
		if n := rnd.IntN(9); n > 0 {
			caps[family] = ocPostures[[]int{0, 1, 1, 2, 2, 3, 3, 3}[n-1]]
		}
	}
	return caps
}

// below says that a family is declared, and lower than a call needs: the call
// must not happen. What is undeclared is a question or reading.
func below(caps map[string]any, family, need string) bool {
	have, ok := caps[family].(string)
	return ok && slices.Index(ocPostures, have) < slices.Index(ocPostures, need)
}

// ocPair is one call, whether the spec refuses it, and how one sees that it
// has happened.
type ocPair struct {
	call    ocCall
	refused func(caps map[string]any) bool
	happens func(w *ocWorld, result string) bool
}

func ocPairs(w *ocWorld, id, url string, visited func(path string) bool) []ocPair {
	file := func(name string) string { return id + "-" + name + ".txt" }
	abs := func(name string) string { return filepath.Join(w.dir, file(name)) }
	there := func(name string) func(*ocWorld, string) bool {
		return func(w *ocWorld, _ string) bool { return w.there(file(name)) }
	}
	shell := func(need string) func(map[string]any) bool {
		return func(c map[string]any) bool { return below(c, "shell", need) }
	}
	files := func(need string) func(map[string]any) bool {
		return func(c map[string]any) bool { return below(c, "filesystem", need) }
	}
	says := func(text string) func(*ocWorld, string) bool {
		return func(_ *ocWorld, r string) bool { return strings.Contains(r, text) }
	}
	for _, name := range []string{"edit", "rm", "add"} {
		w.write(file(name), "KEY\n")
	}
	return []ocPair{
		{bashCall("touch " + file("touch")), shell("read_write"), there("touch")},
		{bashCall("cat open.txt"), shell("read_only"), says("word-open")},
		{bashCall("rm " + file("rm")), shell("destructive"), func(w *ocWorld, _ string) bool { return !w.there(file("rm")) }},
		{bashCall("git add " + file("add")), func(c map[string]any) bool { return below(c, "git", "read_write") || below(c, "shell", "read_only") },
			func(w *ocWorld, _ string) bool {
				out, err := exec.Command("git", "-C", w.dir, "ls-files", file("add")).Output()
				return err == nil && len(out) > 0
			}},
		{bashCall("git status --short"), func(c map[string]any) bool { return below(c, "git", "read_only") || below(c, "shell", "read_only") }, says("??")},
		{ocCall{"write", map[string]any{"filePath": abs("write"), "content": "x"}}, files("read_write"), there("write")},
		{ocCall{"edit", map[string]any{"filePath": abs("edit"), "oldString": "KEY", "newString": "EDITED"}}, files("read_write"), func(w *ocWorld, _ string) bool {
			text, err := os.ReadFile(abs("edit"))
			return err == nil && strings.Contains(string(text), "EDITED")
		}},
		{readCall(w, "open.txt"), files("read_only"), says("word-open")},
		{ocCall{"grep", map[string]any{"pattern": "word-op"}}, files("read_only"), says("word-open")},
		// Without a timeout OpenCode 1.18.33 cannot list its question.
		{ocCall{"webfetch", map[string]any{"url": url + "/" + id, "format": "text", "timeout": 10}}, func(c map[string]any) bool { return below(c, "http", "read_only") }, func(*ocWorld, string) bool { return visited("/" + id) }},
	}
}

// agreeAll is a person who says yes to whatever OpenCode asks: no answer gives
// a persona what it refuses.
func (s *ocServer) agreeAll(t *testing.T) {
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(250 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			var asked []struct{ ID string }
			if _, err := s.call("GET", "/permission", nil, &asked); err != nil {
				continue // it has ended, or is busy
			}
			for _, a := range asked {
				_, _ = s.call("POST", "/permission/"+a.ID+"/reply", map[string]any{"reply": "once"}, nil) // asked again next time
			}
		}
	})
	t.Cleanup(func() { close(done); wg.Wait() })
}

// TestOpencodePairs has fifty generated personas in one start of the real
// program: the rules that it made of them are read back, and two hundred calls
// are made by ten of them. None happens that its persona refuses.
func TestOpencodePairs(t *testing.T) {
	t.Parallel()
	const seed = 20250601
	rnd := rand.New(rand.NewPCG(seed, seed))
	w := newOcWorld(t, ocScripted)
	w.write("open.txt", "word-open\n")
	caps := map[string]map[string]any{}
	var ids []string
	for i := range 50 {
		id := fmt.Sprintf("made-%02d", i)
		ids, caps[id] = append(ids, id), ocCaps(rnd)
		w.put(id, map[string]any{"capabilities": caps[id], "can_spawn": i%2 == 0})
	}
	var mu sync.Mutex
	visits := map[string]bool{}
	web := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		visits[r.URL.Path] = true
	}))
	t.Cleanup(web.Close)
	visited := func(path string) bool {
		mu.Lock()
		defer mu.Unlock()
		return visits[path]
	}
	s := w.serve()
	s.agreeAll(t)
	ocReadBack(t, s, ids, caps)
	happened, judged := 0, 0
	for _, id := range ids[:10] {
		pairs := slices.Concat(ocPairs(w, id+"-1", web.URL, visited), ocPairs(w, id+"-2", web.URL, visited))
		var calls []ocCall
		for _, p := range pairs {
			calls = append(calls, p.call)
		}
		results := s.results(t, s.session(t, nil), id, "word-"+id, calls...)
		for i, p := range pairs {
			judged++
			is := p.happens(w, results[i])
			if is {
				happened++
			}
			if is && p.refused(caps[id]) {
				t.Errorf("%s %v: %s %v has happened", id, caps[id], p.call.Tool, p.call.Input)
			}
		}
	}
	t.Logf("%d of %d calls have happened", happened, judged)
	if judged != 200 || happened < judged/3 {
		t.Errorf("%d of %d calls have happened, want at least a third", happened, judged)
	}
}

// ocLine is a call in OpenCode's words, with what it asks its rules about.
type ocLine struct {
	tool, args, permission, pattern string
}

var ocLines = func() []ocLine {
	var out []ocLine
	for _, line := range []string{"ls", "ls -l sub", "cat a.txt", "grep -n x a.txt", "find . -name x", "git status", "git log", "git diff a.txt", "git add a.txt", "git commit -m x",
		"git push", "git push --force", "git reset --hard", "git checkout -- a.txt", "git stash list", "touch b", "mkdir d", "mv a.txt b", "cp a.txt b", "rm a.txt", "rm -rf d", "chmod 600 a.txt",
		"curl http://a.example", "wget http://a.example", "make", "npm install", "python3 x.py", "sudo ls", "sort -o b a.txt", "sed -i s/a/b/ a.txt", "kill 1", "unheard-of"} {
		args, err := json.Marshal(map[string]string{"command": line})
		if err != nil {
			panic(err)
		}
		out = append(out, ocLine{"bash", string(args), "bash", line})
	}
	return append(out, ocLine{"read", `{"filePath":"a.txt"}`, "read", "a.txt"}, ocLine{"read", `{"filePath":".env"}`, "read", ".env"},
		ocLine{"write", `{"filePath":"b","content":""}`, "edit", "b"}, ocLine{"edit", `{"filePath":"a.txt"}`, "edit", "a.txt"}, ocLine{"edit", `{"filePath":".git/config"}`, "edit", ".git/config"},
		ocLine{"edit", `{"filePath":".mcp.json"}`, "edit", ".mcp.json"}, ocLine{"glob", `{"pattern":"*"}`, "glob", "*"}, ocLine{"grep", `{"pattern":"x"}`, "grep", "x"},
		ocLine{"webfetch", `{"url":"http://a.example/"}`, "webfetch", "http://a.example/"}, ocLine{"task", `{"subagent_type":"made-01"}`, "task", "made-01"},
		ocLine{"todowrite", `{}`, "todowrite", "*"}, ocLine{"nobody_knows", `{}`, "nobody_knows", "*"})
}()

// ocReadBack compares the rules that OpenCode has with what larva's helper says
// of plain calls: never wider, and where narrower the plan's report says so.
func ocReadBack(t *testing.T, s *ocServer, ids []string, caps map[string]map[string]any) {
	t.Helper()
	w := s.w
	w.write("a.txt", "x\n")
	r := w.opencode("--larva-dry-run")
	var plan struct {
		Losses map[string][]opencode.Loss
	}
	if err := json.Unmarshal([]byte(r.stdout), &plan); err != nil {
		t.Fatalf("%v\n%s", err, r)
	}
	verdicts := w.judged(t, ids)
	agents := s.agents(t)
	narrower, kinds := 0, map[opencode.Action]int{}
	for _, id := range ids {
		var rules opencode.Rules
		for _, p := range agents[id].Permission {
			rules = append(rules, opencode.Rule{Permission: p.Permission, Pattern: p.Pattern, Action: opencode.Action(p.Action)})
		}
		for i, l := range ocLines {
			rule, spec := rules.Evaluate(l.permission, l.pattern), verdicts[id][i]
			kinds[spec]++
			if rule.Wider(spec) {
				t.Errorf("%s %v: OpenCode would %s %s %s, larva says %s", id, caps[id], rule, l.tool, l.args, spec)
			}
			if spec.Wider(rule) {
				narrower++
				if !slices.ContainsFunc(plan.Losses[id], func(x opencode.Loss) bool { return x.Where == l.permission && x.Kind != opencode.Guarded }) {
					t.Errorf("%s %v: OpenCode would %s %s %s, larva says %s, and the report is silent", id, caps[id], rule, l.tool, l.args, spec)
				}
			}
		}
	}
	t.Logf("%d of %d rules are narrower than the persona; verdicts: %v", narrower, len(ids)*len(ocLines), kinds)
	for _, a := range []opencode.Action{opencode.Allow, opencode.Ask, opencode.Deny} {
		if kinds[a] < len(ids) {
			t.Errorf("%d verdicts are %s: too few to tell", kinds[a], a)
		}
	}
}

// judged asks the helper about every line, for every persona.
func (w *ocWorld) judged(t *testing.T, ids []string) map[string][]opencode.Action {
	t.Helper()
	var in strings.Builder
	n := 0
	for _, id := range ids {
		for _, l := range ocLines {
			fmt.Fprintf(&in, `{"id":%d,"op":"judge","host":"opencode","chain":[%q],"personas":[%q],"tool":%q,"args":%s,"cwd":%q}`+"\n", n, id, id, l.tool, l.args, w.dir)
			n++
		}
	}
	cmd := exec.CommandContext(t.Context(), larvaProgram(t), "__bridge")
	cmd.Env, cmd.Stdin = []string{"HOME=" + w.home, "PATH=/usr/bin:/bin"}, strings.NewReader(in.String())
	text, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]opencode.Action{}
	for _, id := range ids {
		out[id] = make([]opencode.Action, len(ocLines))
	}
	for line := range strings.Lines(string(text)) {
		var a struct {
			ID   int
			Data struct{ Behavior opencode.Action }
		}
		if err := json.Unmarshal([]byte(line), &a); err != nil || a.Data.Behavior == "" {
			t.Fatalf("%v: %s", err, line)
		}
		out[ids[a.ID/len(ocLines)]][a.ID%len(ocLines)] = a.Data.Behavior
		n--
	}
	if n != 0 {
		t.Fatalf("%d answers are missing", n)
	}
	return out
}
