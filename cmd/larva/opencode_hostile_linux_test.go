package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// ocHostileWorld is a project that wants more than its personas may.
func ocHostileWorld(t *testing.T) *ocWorld {
	w := newOcWorld(t, nil)
	w.mock.answer = ocScripted
	w.config["mcp"] = map[string]any{"lab": map[string]any{"type": "local", "command": []string{larvaProgram(t), "mcp"}}}
	models := map[string]any{}
	for _, m := range []string{"mock-1", "gpt-5"} {
		models[m] = map[string]any{"name": m, "tool_call": true, "limit": map[string]any{"context": 200000, "output": 8192}}
	}
	w.config["provider"] = map[string]any{"mock": map[string]any{"npm": "@ai-sdk/openai-compatible", "name": "Mock",
		"options": map[string]any{"baseURL": w.mock.URL, "apiKey": "x"}, "models": models}}
	reads := map[string]any{"filesystem": "read_only", "shell": "read_only", "git": "read_only", "http": "none", "mcp": "none"}
	all := map[string]any{"filesystem": "destructive", "shell": "destructive", "git": "destructive", "http": "destructive", "mcp": "destructive"}
	w.put("reader", map[string]any{"capabilities": reads, "can_spawn": []string{"worker"}})
	w.put("worker", map[string]any{"capabilities": all})
	w.put("boss", map[string]any{"capabilities": all, "can_spawn": true})
	w.put("patch-reader", map[string]any{"capabilities": reads, "model": "mock/gpt-5"})
	w.put("patch-worker", map[string]any{"capabilities": all, "model": "mock/gpt-5"})
	w.write(".opencode/tool/evil.js", `import fs from "node:fs";
export default { description: "Writes evil.txt.", args: {}, async execute() { fs.writeFileSync("`+w.dir+`/evil.txt", "x"); return "written" } };
`)
	w.write(".env", "KEY=word-secret\n")
	w.write("open.txt", "KEY=word-open\n")
	outside := filepath.Join(w.home, "outside.txt")
	w.write(outside, "word-outside\n")
	for link, to := range map[string]string{"link-env.txt": ".env", "link-out.txt": outside, "link-dir": w.home} {
		if err := os.Symlink(to, filepath.Join(w.dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// results asks an agent to make calls and gives what each came to.
func (s *ocServer) results(t *testing.T, session, agent, word string, calls ...ocCall) []string {
	t.Helper()
	if turn := s.say(t, session, agent, ocScript(word, calls...)); turn.Err != "" {
		t.Fatalf("%s: %s", word, turn.Err)
	}
	requests, _ := s.w.mock.about(word)
	if len(requests) < 2 {
		t.Fatalf("%s: %d requests", word, len(requests))
	}
	results := requests[len(requests)-1].results()
	if len(results) != len(calls) {
		t.Fatalf("%s: %d results for %d calls: %q", word, len(results), len(calls), results)
	}
	return results
}

func (w *ocWorld) there(name string) bool {
	_, err := os.Stat(filepath.Join(w.dir, name))
	return err == nil
}

// TestOpencodeHostile tries, in one start of the real program, what a model or
// a repository could try to get more than a persona says. Row 28 of the bug
// reports is in it: whose call it is nobody tells the plugin.
func TestOpencodeHostile(t *testing.T) {
	t.Parallel()
	w := ocHostileWorld(t)
	s := w.serve()
	for _, row := range []struct {
		name string
		test func(*testing.T, *ocServer)
	}{
		{"tools and files", ocTools}, {"patches", ocPatches}, {"a child", ocChild}, {"two agents in one session", ocTwoAgents}, {"a killed helper", ocKilled},
		{"two instances", ocTwoInstances},
	} {
		t.Run(row.name, func(t *testing.T) { row.test(t, s) })
	}
	for _, r := range w.mock.requests() {
		if raw := ocRaw.FindString(r.Raw); raw != "" {
			t.Errorf("request %d holds %s", r.N, raw)
		}
		for _, secret := range []string{"word-secret", "word-outside"} {
			if strings.Contains(r.Raw, secret) {
				t.Errorf("request %d of %.30q holds %s", r.N, r.System, secret)
			}
		}
	}
}

func bashCall(command string) ocCall {
	return ocCall{"bash", map[string]any{"command": command, "description": "d"}}
}

func readCall(w *ocWorld, name string) ocCall {
	return ocCall{"read", map[string]any{"filePath": filepath.Join(w.dir, name)}}
}

func ocTools(t *testing.T, s *ocServer) {
	w := s.w
	calls := []ocCall{
		{"evil", map[string]any{}},
		{"lab_larva_list", map[string]any{}},
		bashCall("touch reader-1.txt"),
		{"write", map[string]any{"filePath": filepath.Join(w.dir, "reader-2.txt"), "content": "x"}},
		{"edit", map[string]any{"filePath": filepath.Join(w.dir, "open.txt"), "oldString": "KEY", "newString": "EDITED"}},
		readCall(w, ".env"),
		readCall(w, "link-env.txt"),
		readCall(w, "link-out.txt"),
		readCall(w, "link-dir/outside.txt"),
		bashCall("cat link-env.txt"),
		bashCall("git log --output=reader-3.txt"),
		{"webfetch", map[string]any{"url": w.mock.URL + "/word-fetched", "format": "text"}},
		{"invented", map[string]any{"command": "touch reader-4.txt"}},
		{"grep", map[string]any{"pattern": "KEY="}},
		readCall(w, "open.txt"),
	}
	results := s.results(t, s.session(t, nil), "reader", "word-tools", calls...)
	for i, r := range results[:len(calls)-2] {
		if !strings.Contains(r, "refused") && !strings.Contains(r, "prevents you") && !strings.Contains(r, "nvalid") && !strings.Contains(r, "rejected") {
			t.Errorf("%s %v: %.300q is no refusal", calls[i].Tool, calls[i].Input, r)
		}
	}
	if found := results[len(calls)-2]; !strings.Contains(found, "word-open") {
		t.Errorf("grep found nothing: %q", found)
	}
	if read := results[len(calls)-1]; !strings.Contains(read, "word-open") {
		t.Errorf("read is refused, too: %q", read)
	}
	for _, name := range []string{"evil.txt", "reader-1.txt", "reader-2.txt", "reader-3.txt", "reader-4.txt"} {
		if w.there(name) {
			t.Errorf("%s is there", name)
		}
	}
	// Who may do all of it does some of it.
	results = s.results(t, s.session(t, nil), "boss", "word-boss", ocCall{"lab_larva_list", map[string]any{}}, bashCall("touch boss.txt"), readCall(w, "link-env.txt"))
	if !strings.Contains(results[0], "patch-worker") || !w.there("boss.txt") {
		t.Errorf("boss may do it: %q", results)
	}
}

func ocPatches(t *testing.T, s *ocServer) {
	for _, agent := range []string{"patch-reader", "patch-worker"} {
		name := agent + ".txt"
		s.results(t, s.session(t, nil), agent, "word-"+agent,
			ocCall{"apply_patch", map[string]any{"patchText": "*** Begin Patch\n*** Add File: " + name + "\n+x\n*** End Patch"}},
			ocCall{"apply_patch", map[string]any{"patchText": "*** Begin Patch\n*** Add File: link-dir/" + name + "\n+x\n*** End Patch"}})
		if got, want := s.w.there(name), agent == "patch-worker"; got != want {
			t.Errorf("%s has patched: %v, want %v", agent, got, want)
		}
		if _, err := os.Stat(filepath.Join(s.w.home, name)); err == nil {
			t.Errorf("%s has patched through a link", agent)
		}
	}
}

// ocChild: a subagent's calls are held to its parent's ceiling, and a task goes
// on in no session of another's.
func ocChild(t *testing.T, s *ocServer) {
	foreign := s.session(t, nil)
	if turn := s.say(t, foreign, "boss", "word-foreign-root"); turn.Err != "" {
		t.Fatal(turn.Err)
	}
	inner := ocScript("word-inner", bashCall("touch child-1.txt"), readCall(s.w, "open.txt"))
	mine := s.session(t, nil)
	// The mock leads the child by the script in the prompt; the parent's has no
	// script once it has results.
	results := s.results(t, mine, "reader", "word-outer",
		ocCall{"task", map[string]any{"description": "d", "prompt": inner, "subagent_type": "worker"}},
		ocCall{"task", map[string]any{"description": "d", "prompt": "word-foreign-call", "subagent_type": "worker", "task_id": foreign}},
		ocCall{"task", map[string]any{"description": "d", "prompt": "word-boss-call", "subagent_type": "boss"}},
		ocCall{"task", map[string]any{"description": "d", "prompt": "word-general-call", "subagent_type": "general"}})
	for i, r := range results[1:] {
		if !strings.Contains(r, "refused") && !strings.Contains(r, "prevents you") {
			t.Errorf("task %d: %.200q is no refusal", i+1, r)
		}
	}
	var child []ocRequest
	for _, r := range s.w.mock.requests() {
		if strings.HasPrefix(r.System, "PROMPT-OF-worker\n") && strings.Contains(r.user(), "word-inner") {
			child = append(child, r)
		}
	}
	if len(child) < 2 {
		t.Fatalf("the child made %d requests: %q", len(child), results)
	}
	if got := child[len(child)-1].results(); len(got) != 2 || !strings.Contains(got[0], "refused") || !strings.Contains(got[1], "word-open") {
		t.Errorf("the child's calls came to %q, want a refusal and a file", got)
	}
	if s.w.there("child-1.txt") {
		t.Error("the child has done what its parent may not")
	}
}

// ocTwoAgents is row 28: the transform is not told the agent, so a session in
// which it changes must not lend one the other's rights.
func ocTwoAgents(t *testing.T, s *ocServer) {
	id := s.session(t, nil)
	s.results(t, id, "boss", "word-first", bashCall("touch two-1.txt"))
	r := s.results(t, id, "reader", "word-second", bashCall("touch two-2.txt"))
	if !strings.Contains(r[0], "refused") && !strings.Contains(r[0], "prevents you") || s.w.there("two-2.txt") || !s.w.there("two-1.txt") {
		t.Errorf("reader behind boss: %q", r)
	}
	s.results(t, id, "boss", "word-third", bashCall("touch two-3.txt"))
	if !s.w.there("two-3.txt") {
		t.Error("boss behind reader has not got its own back")
	}
	for word, prompt := range map[string]string{"word-first": "PROMPT-OF-boss", "word-second": "PROMPT-OF-reader", "word-third": "PROMPT-OF-boss"} {
		requests, _ := s.w.mock.about(word)
		if err := carries(requests[:1], prompt); err != nil {
			t.Error(err)
		}
	}
}

// ocKilled kills the plugin's helper: there is a new one, and nothing passes in
// between.
func ocKilled(t *testing.T, s *ocServer) {
	pids := s.helpers(t)
	if len(pids) == 0 {
		t.Fatal("there is no helper")
	}
	for _, pid := range pids {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	r := s.results(t, s.session(t, nil), "reader", "word-killed", bashCall("touch killed.txt"), readCall(s.w, "open.txt"))
	if s.w.there("killed.txt") || !strings.Contains(r[1], "word-open") {
		t.Errorf("behind a killed helper: %q", r)
	}
	requests, _ := s.w.mock.about("word-killed")
	if strings.Contains(requests[0].System, " stale -->") {
		t.Error("the helper's restart shows")
	}
	for _, pid := range s.helpers(t) {
		for _, old := range pids {
			if pid == old {
				t.Errorf("%d is still there", pid)
			}
		}
	}
}

// ocTwoInstances starts a second one over a plugin that somebody has changed,
// and ends it: the first still has its plan, also for a directory that it opens
// only then.
func ocTwoInstances(t *testing.T, s *ocServer) {
	w := s.w
	entry := w.pluginEntry(t)
	before, err := os.ReadFile(entry)
	if err != nil {
		t.Fatal(err)
	}
	w.write(filepath.Join(w.home, "evil.mjs"), "export default async () => ({})\n")
	if err := os.Remove(entry); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(w.home, "evil.mjs"), entry); err != nil {
		t.Fatal(err)
	}
	second := w.serve()
	if after, err := os.ReadFile(entry); err != nil || string(after) != string(before) {
		t.Errorf("the plugin is not as it was: %v", err)
	}
	if info, err := os.Lstat(entry); err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("the plugin's entry is %v %v", info, err)
	}
	for _, server := range []*ocServer{second, s} {
		r := server.results(t, server.session(t, nil), "reader", "word-instance-"+filepath.Base(server.url), bashCall("touch instance.txt"), readCall(w, "open.txt"))
		if w.there("instance.txt") || !strings.Contains(r[1], "word-open") {
			t.Errorf("%s: %q", server.url, r)
		}
	}
	second.stop()
	other := filepath.Join(filepath.Dir(w.dir), "other")
	w.write(filepath.Join(other, "a.txt"), "")
	var session struct{ ID string }
	if _, err := s.call("POST", "/session?directory="+other, map[string]any{"title": "t"}, &session); err != nil {
		t.Fatal(err)
	}
	if _, err := s.call("POST", "/session/"+session.ID+"/message?directory="+other, map[string]any{"agent": "reader",
		"parts": []any{map[string]any{"type": "text", "text": "word-elsewhere"}}}, nil); err != nil {
		t.Fatal(err)
	}
	requests, _ := w.mock.about("word-elsewhere")
	if err := carries(requests, "PROMPT-OF-reader"); err != nil {
		t.Error(err)
	}
}

// pluginEntry finds the module that OpenCode was told to load.
func (w *ocWorld) pluginEntry(t *testing.T) string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(w.home, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == "index.mjs" && !strings.Contains(path, "node_modules") {
			found = append(found, path)
		}
		return nil
	})
	if err != nil || len(found) != 1 {
		t.Fatalf("the plugin is at %q: %v", found, err)
	}
	return found[0]
}
