package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// ocRaw is what must be in no request, whoever's it is.
var ocRaw = regexp.MustCompile(`\[larva:[^\]]*\]`)

// put writes a persona in the registry's layout, past its writers: hundreds
// would take longer than all that is tested with them.
func (w *ocWorld) put(id string, fields map[string]any) {
	w.t.Helper()
	contract := map[string]any{"spec_version": "0.1.0", "id": id, "description": "The persona " + id + ".", "capabilities": map[string]any{}}
	variant := map[string]any{"prompt": "PROMPT-OF-" + id, "model": "mock/mock-1"}
	for k, v := range fields {
		switch k {
		case "prompt", "model", "model_params":
			variant[k] = v
		default:
			contract[k] = v
		}
	}
	dir := filepath.Join(w.home, ".larva", "registry", id)
	for name, v := range map[string]any{"manifest.json": map[string]any{"active": "default"}, "contract.json": contract, "variants/default.json": variant} {
		text, err := json.Marshal(v)
		if err != nil {
			w.t.Fatal(err)
		}
		w.write(filepath.Join(dir, name), string(text))
	}
}

// about are the requests in whose user's text a word stands, those for a title
// apart: a turn's requests.
func (m *ocMock) about(word string) (turn, titles []ocRequest) {
	for _, r := range m.requests() {
		said := false
		for _, msg := range r.Messages {
			said = said || msg.Role == "user" && strings.Contains(msg.Text, word)
		}
		switch {
		case said && r.title():
			titles = append(titles, r)
		case said:
			turn = append(turn, r)
		}
	}
	return turn, titles
}

// carries says what is wrong with requests that should carry a persona's
// prompt: each has one system message, which begins with it.
func carries(requests []ocRequest, prompt string) error {
	if len(requests) == 0 {
		return fmt.Errorf("no request was made")
	}
	for _, r := range requests {
		systems := 0
		for _, m := range r.Messages {
			if m.Role == "system" {
				systems++
			}
		}
		if systems != 1 || !strings.HasPrefix(r.System, prompt+"\n") {
			return fmt.Errorf("request %d has %d system messages, that begin with %.120q; want one that begins with %q", r.N, systems, r.System, prompt)
		}
	}
	return nil
}

const ocDollars = "Pay $$5 and $& then $` end $' $1 $<x> of PROMPT-OF-dollar"

// ocMatrixWorld has a persona for each row, and 600 that only are there: too
// many for a variable of the environment.
func ocMatrixWorld(t *testing.T) *ocWorld {
	w := newOcWorld(t, ocScripted)
	for i := range 600 {
		w.put(fmt.Sprintf("filler-%03d", i), map[string]any{"description": strings.Repeat("One of many. ", 10), "capabilities": map[string]any{"filesystem": "read_only", "shell": "none"}})
	}
	all := map[string]any{"filesystem": "destructive", "shell": "destructive", "git": "destructive", "http": "destructive", "mcp": "destructive"}
	w.put("lead", map[string]any{"capabilities": all, "can_spawn": []string{"helper"}, "model_params": map[string]any{"temperature": 0.125, "top_p": 0.75}})
	w.put("helper", map[string]any{"capabilities": map[string]any{"filesystem": "read_only"}, "model": "mock/mock-2"})
	w.put("dollar", map[string]any{"prompt": ocDollars})
	w.put("quoter", map[string]any{"prompt": "Say [larva:other] and [larva:quoter] as PROMPT-OF-quoter", "description": "Like [larva:other], at {env:HOME} and {file:/etc/passwd}."})
	w.put("other", nil)
	w.put("edited", map[string]any{"model_params": map[string]any{"temperature": 0.25}})
	w.put("gone", nil)
	w.put("never", nil)
	w.put("stale", nil)
	w.put("fresh", nil)
	w.put("same", nil)
	w.put("order", map[string]any{"capabilities": map[string]any{"shell": "read_only", "git": "read_only", "filesystem": "read_only"}})
	for _, native := range []string{"title", "build", "compaction"} {
		w.put(native, nil)
	}
	w.write("AGENTS.md", "The house rules. [larva:other] is not chosen by this.\n")
	w.write(".opencode/agent/same.md", "---\ndescription: Mine.\nmode: primary\nmodel: mock/mock-2\ntemperature: 0.9\npermission:\n  bash: allow\n  edit: allow\ntools:\n  bash: true\n---\nTHE PROJECT'S PROMPT [larva:lead]\n")
	w.write(".opencode/agent/thief.md", "---\nname: lead\nmode: all\nmodel: mock/mock-1\n---\nTHE THIEF'S PROMPT\n")
	return w
}

// ocScripted answers a message of ocScript's by its calls, once, and others by
// "done".
func ocScripted(r ocRequest) ocReply {
	var script struct{ Calls []ocCall }
	_, text, ok := strings.Cut(r.user(), "@@")
	if r.title() || !ok || len(r.results()) > 0 || json.Unmarshal([]byte(text), &script) != nil {
		return ocReply{Text: "done"}
	}
	return ocReply{Calls: script.Calls}
}

// ocScript is a message that leads the mock's first answer to it.
func ocScript(word string, calls ...ocCall) string {
	text, err := json.Marshal(map[string]any{"Calls": calls})
	if err != nil {
		panic(err)
	}
	return word + " @@" + string(text)
}

// TestOpencodeMatrix leads one start of the real program through what may go
// wrong with a persona's prompt. Rows 26 and 29 of the bug reports are in it.
func TestOpencodeMatrix(t *testing.T) {
	t.Parallel()
	w := ocMatrixWorld(t)
	s := w.serve()
	t.Logf("listens after %s", s.started)
	// At once, but not t.Parallel: whoever holds a start of the real program must
	// not wait for a place among tests that wait for such a start.
	var turns sync.WaitGroup
	for _, row := range []struct {
		name string
		test func(*testing.T, *ocServer)
	}{
		{"main, title, subagent", ocMainTitleSubagent}, {"compaction and continue", ocCompaction}, {"prompts of odd letters", ocLetters},
		{"edited between turns", ocEdited}, {"deleted", ocDeleted}, {"not to be resolved", ocUnresolved}, {"same-named agent", ocSameNamed},
		{"native ids", ocNative}, {"order of rules", ocOrder},
	} {
		turns.Go(func() { t.Run(row.name, func(t *testing.T) { row.test(t, s) }) })
	}
	turns.Wait()
	// Of all that was sent, whoever asked: no placeholder, and OpenCode's own
	// requests carry no persona.
	own := 0
	for _, r := range w.mock.requests() {
		if raw := ocRaw.FindString(r.Raw); raw != "" {
			t.Errorf("request %d holds %s: %.300s", r.N, raw, r.Raw)
		}
		if r.title() || strings.HasPrefix(r.System, "You are a context summarization") {
			own++
			if strings.Contains(r.Raw, "PROMPT-OF-") || strings.Contains(r.Raw, "larva-spec") {
				t.Errorf("request %d is OpenCode's own and carries a persona: %.400s", r.N, r.Raw)
			}
		}
	}
	if own < 3 {
		t.Errorf("%d requests for titles and compactions: too few to tell", own)
	}
	s.stop()
	if left, err := filepath.Glob(filepath.Join(w.home, ".local", "share", "larva", "*", "run*", "*")); err != nil || len(left) != 0 {
		t.Errorf("private files are left: %q %v", left, err)
	}
}

func ocMainTitleSubagent(t *testing.T, s *ocServer) {
	id := s.session(t, map[string]any{"title": nil})
	turn := s.say(t, id, "lead", ocScript("word-main", ocCall{"task", map[string]any{"description": "d", "prompt": "word-child", "subagent_type": "helper"}}))
	if turn.Err != "" {
		t.Fatal(turn.Err)
	}
	main, titles := s.w.mock.about("word-main")
	if err := carries(main, "PROMPT-OF-lead"); err != nil {
		t.Error(err)
	}
	if len(titles) == 0 {
		t.Error("no title was asked for")
	}
	for _, r := range main {
		if r.Params["temperature"] != 0.125 || r.Params["top_p"] != 0.75 {
			t.Errorf("temperature %v and top_p %v, want 0.125 and 0.75", r.Params["temperature"], r.Params["top_p"])
		}
		if !strings.Contains(r.System, "The house rules. [ larva:other]") {
			t.Errorf("AGENTS.md is not there: %q", r.System)
		}
	}
	child, _ := s.w.mock.about("word-child")
	for i := 0; i < len(child); i++ {
		if strings.HasPrefix(child[i].System, "PROMPT-OF-lead") { // the parent's, which quotes the call
			child = append(child[:i], child[i+1:]...)
			i--
		}
	}
	if err := carries(child, "PROMPT-OF-helper"); err != nil {
		t.Error(err)
	}
	for _, r := range child {
		if r.Model != "mock-2" {
			t.Errorf("the child's model is %s", r.Model)
		}
	}
}

func ocCompaction(t *testing.T, s *ocServer) {
	id := s.session(t, nil)
	if turn := s.say(t, id, "lead", "word-compact-1"); turn.Err != "" {
		t.Fatal(turn.Err)
	}
	if _, err := s.call("POST", "/session/"+id+"/summarize", map[string]any{"providerID": "mock", "modelID": "mock-1", "auto": true}, nil); err != nil {
		t.Fatal(err)
	}
	if turn := s.say(t, id, "lead", "word-compact-2"); turn.Err != "" {
		t.Fatal(turn.Err)
	}
	var compactions, after []ocRequest
	for _, r := range s.w.mock.requests() {
		switch {
		case !strings.Contains(r.Raw, "word-compact-"):
		case strings.HasPrefix(r.System, "You are a context summarization"):
			compactions = append(compactions, r)
		default:
			after = append(after, r)
		}
	}
	if len(compactions) == 0 {
		t.Error("nothing was compacted")
	}
	if err := carries(after, "PROMPT-OF-lead"); err != nil {
		t.Error(err)
	}
}

func ocLetters(t *testing.T, s *ocServer) {
	for agent, prompt := range map[string]string{"dollar": ocDollars, "quoter": "Say [ larva:other] and [ larva:quoter] as PROMPT-OF-quoter"} {
		word := "word-letters-" + agent
		if turn := s.say(t, s.session(t, nil), agent, word); turn.Err != "" {
			t.Error(turn.Err)
		}
		requests, _ := s.w.mock.about(word)
		if err := carries(requests, prompt); err != nil {
			t.Error(err)
		}
	}
	if d := s.agents(t)["quoter"].Description; d != "[larva] Like [ larva:other], at { env:HOME} and { file:/etc/passwd}." {
		t.Errorf("the description is %q", d)
	}
}

func ocEdited(t *testing.T, s *ocServer) {
	id := s.session(t, nil)
	for i, want := range []struct {
		prompt string
		params map[string]any
	}{{"PROMPT-OF-edited", nil}, {"PROMPT-OF-edited, the second", map[string]any{"temperature": 0.5}}, {"PROMPT-OF-edited, the third", map[string]any{}}} {
		if want.params != nil {
			s.w.put("edited", map[string]any{"prompt": want.prompt, "model_params": want.params})
		}
		word := fmt.Sprintf("word-edited-%d", i)
		if turn := s.say(t, id, "edited", word); turn.Err != "" {
			t.Fatal(turn.Err)
		}
		requests, _ := s.w.mock.about(word)
		if err := carries(requests, want.prompt); err != nil {
			t.Error(err)
		}
		for _, r := range requests {
			if got, wanted := r.Params["temperature"], []any{0.25, 0.5, nil}[i]; got != wanted {
				t.Errorf("turn %d: temperature %v, want %v", i, got, wanted)
			}
			if !strings.Contains(r.System, "<!-- larva-spec: edited@") {
				t.Errorf("no watermark: %.300q", r.System)
			}
		}
	}
}

// refused asks an agent that cannot be had: no request of it goes out, with a
// message. The one for a title may.
func (s *ocServer) refused(t *testing.T, session, agent, word, why string) {
	t.Helper()
	turn := s.say(t, session, agent, word)
	if !strings.Contains(turn.Err, "larva: nothing was sent: ") || !strings.Contains(turn.Err, why) {
		t.Errorf("%s: the message is %q, want %q in it", agent, turn.Err, why)
	}
	if requests, _ := s.w.mock.about(word); len(requests) != 0 {
		t.Errorf("%s: %d requests went out after a refusal", agent, len(requests))
	}
}

func ocDeleted(t *testing.T, s *ocServer) {
	id := s.session(t, nil)
	if turn := s.say(t, id, "gone", "word-gone-1"); turn.Err != "" {
		t.Fatal(turn.Err)
	}
	for _, id := range []string{"gone", "never"} {
		if out, code := s.w.larva("delete", id, "--yes"); code != 0 {
			t.Fatalf("delete: exit %d\n%s", code, out)
		}
	}
	s.refused(t, s.session(t, map[string]any{"title": nil}), "gone", "word-gone-2", "gone")
	s.refused(t, s.session(t, nil), "never", "word-never", "never")
	// As a subagent it is refused before it begins.
	turn := s.say(t, s.session(t, nil), "lead", ocScript("word-spawn", ocCall{"task", map[string]any{"description": "d", "prompt": "word-never-child", "subagent_type": "never"}}))
	if turn.Err != "" {
		t.Error(turn.Err)
	}
	for _, r := range s.w.mock.requests() {
		if strings.Contains(r.Raw, "word-never-child") && !strings.HasPrefix(r.System, "PROMPT-OF-lead\n") {
			t.Errorf("request %d is of a subagent that is not there: %.200q", r.N, r.System)
		}
	}
}

// ocUnresolved: what cannot be read stands in as it was last known, marked, or
// is refused.
func ocUnresolved(t *testing.T, s *ocServer) {
	id := s.session(t, nil)
	if turn := s.say(t, id, "stale", "word-stale-1"); turn.Err != "" {
		t.Fatal(turn.Err)
	}
	for _, name := range []string{"stale", "fresh"} {
		s.w.write(filepath.Join(s.w.home, ".larva", "registry", name, "variants", "default.json"), `{"prompt": [`)
	}
	if turn := s.say(t, id, "stale", "word-stale-2"); turn.Err != "" {
		t.Error(turn.Err)
	}
	requests, _ := s.w.mock.about("word-stale-2")
	if err := carries(requests, "PROMPT-OF-stale"); err != nil {
		t.Error(err)
	}
	for _, r := range requests {
		if !regexp.MustCompile(`<!-- larva-spec: stale@[0-9a-f]{6} stale -->`).MatchString(r.System) {
			t.Errorf("it is not marked: %.300q", r.System)
		}
	}
	s.refused(t, s.session(t, nil), "fresh", "word-fresh", "fresh")
}

// ocSameNamed is row 26 of the bug reports: a project's agent of the same name
// changes nothing, and none may take a persona's name.
func ocSameNamed(t *testing.T, s *ocServer) {
	if turn := s.say(t, s.session(t, nil), "same", "word-same"); turn.Err != "" {
		t.Fatal(turn.Err)
	}
	requests, _ := s.w.mock.about("word-same")
	if err := carries(requests, "PROMPT-OF-same"); err != nil {
		t.Error(err)
	}
	for _, r := range requests {
		if r.Model != "mock-1" || r.Params["temperature"] != nil || strings.Contains(r.Raw, "THE PROJECT'S PROMPT") {
			t.Errorf("the project's agent shows: model %s, temperature %v", r.Model, r.Params["temperature"])
		}
	}
	agents := s.agents(t)
	if a := agents["same"]; a.Mode != "all" || a.Description != "[larva] The persona same." {
		t.Errorf("same is %s, %q", a.Mode, a.Description)
	}
	if a := agents["lead"]; a.Description != "[larva] The persona lead." {
		t.Errorf("the project's agent that calls itself lead shows: %q", a.Description)
	}
}

func ocNative(t *testing.T, s *ocServer) {
	for _, id := range []string{"title", "build", "compaction"} {
		if a := s.agents(t)[id]; !a.Native || strings.Contains(a.Prompt, "larva") {
			t.Errorf("%s is no agent of OpenCode's own: %.200v", id, a)
		}
		if !strings.Contains(s.errs.String(), "persona "+id+" is left out") {
			t.Errorf("nothing is said of %s:\n%s", id, s.errs)
		}
	}
	if turn := s.say(t, s.session(t, nil), "build", "word-build"); turn.Err != "" {
		t.Error(turn.Err)
	}
	requests, _ := s.w.mock.about("word-build")
	if len(requests) == 0 || strings.Contains(requests[0].Raw, "PROMPT-OF") {
		t.Errorf("build made %d requests, or carries a persona", len(requests))
	}
}

// ocOrder is row 18 of the bug reports: what is said first of a permission must
// not shadow what is said of patterns.
func ocOrder(t *testing.T, s *ocServer) {
	agent := s.agents(t)["order"]
	first := map[string]string{}
	for _, r := range agent.Permission {
		if _, ok := first[r.Permission]; !ok && r.Permission != "*" {
			first[r.Permission] = r.Pattern
		}
	}
	if first["bash"] != "*" || first["edit"] != "*" || first["read"] != "*" {
		t.Errorf(`a permission's rules begin with %q, want "*"`, first)
	}
	if err := os.WriteFile(filepath.Join(s.w.dir, "seen.txt"), []byte("x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	turn := s.say(t, s.session(t, nil), "order", ocScript("word-order",
		ocCall{"bash", map[string]any{"command": "git ls-files --others", "description": "d"}},
		ocCall{"bash", map[string]any{"command": "touch order.txt", "description": "d"}}))
	if turn.Err != "" {
		t.Fatal(turn.Err)
	}
	requests, _ := s.w.mock.about("word-order")
	results := requests[len(requests)-1].results()
	if len(results) != 2 || !strings.Contains(results[0], "seen.txt") {
		t.Errorf("git ls-files did not run: %q", results)
	}
	if _, err := os.Stat(filepath.Join(s.w.dir, "order.txt")); err == nil {
		t.Error("touch ran")
	}
}
