//go:build unix

package hook

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"larva.dev/larva/internal/agent"
	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/profile"
	"larva.dev/larva/internal/tool"
)

func attachChild(r *Runner) agent.Points {
	var p agent.Points
	r.AttachChild(&p)
	return p
}

func stopping(active bool) agent.Stopping { return agent.Stopping{Text: "done", Active: active} }

// Nothing is attached for events without hooks.
func TestNothingAttached(t *testing.T) {
	t.Parallel()
	_, p, _ := build(t, nil)
	if diff := cmp.Diff(p, agent.Points{}); diff != "" {
		t.Errorf("got- want+\n%s", diff)
	}
	_, p, _ = build(t, nil, sh(Stop, "true"))
	if len(p.Stop) != 1 || len(p.BeforeTool)+len(p.SessionEnd)+len(p.Prompt) != 0 {
		t.Errorf("got %+v, want Stop alone", p)
	}
}

// Several hooks: deny over ask over allow, reasons of the deciding ones only,
// every context, the last rewrite in the order of the files.
func TestJoin(t *testing.T) {
	t.Parallel()
	allow, ask, deny := `"permissionDecision":"allow","permissionDecisionReason":"fine"`, `"permissionDecision":"ask","permissionDecisionReason":"sure?"`, `"permissionDecision":"deny","permissionDecisionReason":"never"`
	input := func(s string) string { return `"updatedInput":{"command":"` + s + `"}` }
	ctxt := func(s string) string { return `"additionalContext":"` + s + `"` }
	for name, c := range map[string]struct {
		hooks    []string // what each prints, "" for nothing
		verdict  event.Verdict
		reason   string
		input    string
		context  string
		conflict bool
	}{
		"none":                          {hooks: []string{"", ""}},
		"deny and allow":                {hooks: []string{pre(deny), pre(allow)}, verdict: event.Deny, reason: "never"},
		"allow and deny":                {hooks: []string{pre(allow), pre(deny)}, verdict: event.Deny, reason: "never"},
		"two denials":                   {hooks: []string{pre(deny), pre(`"permissionDecision":"deny","permissionDecisionReason":"no"`)}, verdict: event.Deny, reason: "never\nno"},
		"allow and ask":                 {hooks: []string{pre(allow), pre(ask)}, verdict: event.Ask, reason: "sure?"},
		"allow alone":                   {hooks: []string{pre(allow), ""}, verdict: event.Allow, reason: "fine"},
		"rewrite, then silence":         {hooks: []string{pre(allow + "," + input("one")), ""}, verdict: event.Allow, reason: "fine", input: "one"},
		"silence, then rewrite":         {hooks: []string{"", pre(input("two"))}, input: "two"},
		"rewrite, then allow":           {hooks: []string{pre(input("one")), pre(allow)}, verdict: event.Allow, reason: "fine", input: "one"},
		"rewrite, then broken":          {hooks: []string{pre(input("one")), `{"x`}, input: "one"},
		"two rewrites":                  {hooks: []string{pre(input("one")), pre(input("two"))}, input: "two", conflict: true},
		"two rewrites and a denial":     {hooks: []string{pre(input("one")), pre(deny), pre(input("two"))}, verdict: event.Deny, reason: "never", input: "two", conflict: true},
		"the same rewrite twice":        {hooks: []string{pre(`"updatedInput":{"a":1,"b":2}`), pre(`"updatedInput":{"b":2, "a":1}`)}, input: `{"a":1,"b":2}`},
		"rewrite without a decision":    {hooks: []string{pre(input("one"))}, input: "one"},
		"contexts":                      {hooks: []string{pre(ctxt("a")), "", pre(ctxt("b"))}, context: "a\n\nb"},
		"slow first, quick second":      {hooks: []string{"sleep:" + pre(input("one")), pre(input("two"))}, input: "two", conflict: true},
		"quick first, slow second":      {hooks: []string{pre(input("one")), "sleep:" + pre(input("two"))}, input: "two", conflict: true},
		"flat allow beside a rewrite":   {hooks: []string{`{"permissionDecision":"allow"}`, pre(input("two"))}, input: "two"},
		"flat deny beside an allow":     {hooks: []string{`{"permissionDecision":"deny","reason":"flat"}`, pre(allow)}, verdict: event.Deny, reason: "flat"},
		"rewrite of one that is broken": {hooks: []string{`{"hookSpecificOutput":{"updatedInput":{"command":"x"}}}`, ""}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var hooks []Hook
			for _, text := range c.hooks {
				slow, isSlow := strings.CutPrefix(text, "sleep:")
				h := says(PreToolUse, slow)
				if isSlow {
					h.Command = "sleep 0.3; " + h.Command
				}
				hooks = append(hooks, h)
			}
			_, p, heard := build(t, nil, hooks...)
			got := p.BeforeTool[0](context.Background(), call)
			in := string(got.Input)
			var o struct{ Command string }
			if json.Unmarshal(got.Input, &o) == nil && o.Command != "" {
				in = o.Command
			}
			if got.Says.Verdict != c.verdict || got.Says.Reason != c.reason || in != c.input || got.Context != c.context {
				t.Errorf("got %q (%q), input %q, context %q; want %q (%q), %q, %q", got.Says.Verdict, got.Says.Reason, in, got.Context, c.verdict, c.reason, c.input, c.context)
			}
			if has := strings.Contains(strings.Join(heard.notices, "\n"), "hook_conflict"); has != c.conflict {
				t.Errorf("conflict told: got %v, want %v (%q)", has, c.conflict, heard.notices)
			}
			if len(heard.events) != len(c.hooks) {
				t.Errorf("got %d hook events, want %d", len(heard.events), len(c.hooks))
			}
		})
	}
}

// Each point hands over what its event has, and takes what its hook says.
func TestPoints(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	save := func(ev, then string) Hook { return sh(ev, "cat >"+ev+".json; "+then) }
	r, p, _ := build(t, func(o *Options) {
		o.Transcript, o.Mode = "/t.jsonl", func() string { return "plan" }
	}, save(SessionStart, "echo start context"), save(UserPromptSubmit, "echo prompt context"),
		save(PermissionRequest, `echo '{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"not here"}}}'`),
		save(PostToolUse, `echo '{"decision":"block","reason":"fix it","hookSpecificOutput":{"hookEventName":"PostToolUse","updatedToolOutput":"less"}}'`),
		save(PostToolUseFailure, `echo failed >&2; exit 2`), save(Stop, "echo test first >&2; exit 2"), save(StopFailure, ""),
		save(PreCompact, `echo '{"hookSpecificOutput":{"hookEventName":"PreCompact","additionalContext":"keep"}}'`), save(PostCompact, ""),
		save(Notification, ""), save(SessionEnd, ""))
	if got := p.SessionStart[0](ctx, "resume"); got.Context != "start context" {
		t.Errorf("SessionStart: got %+v", got)
	}
	if got := p.Prompt[0](ctx, "do it"); got.Context != "prompt context" {
		t.Errorf("UserPromptSubmit: got %+v", got)
	}
	if got := p.PermissionAsked[0](ctx, call, event.Question{}); got == nil || got.Allow || got.Reason != "not here" {
		t.Errorf("PermissionRequest: got %+v, want a denial", got)
	}
	if got := p.AfterTool[0](ctx, call, tool.Result{Output: "long"}); got.Feedback != "fix it" || got.Output == nil || *got.Output != "less" {
		t.Errorf("PostToolUse: got %+v", got)
	}
	if got := p.AfterTool[0](ctx, call, tool.Result{Output: "exit 1", IsError: true}); got.Feedback != "failed" {
		t.Errorf("PostToolUseFailure: got %+v", got)
	}
	if got := p.Stop[0](ctx, stopping(true)); got.Block != "test first" {
		t.Errorf("Stop: got %+v", got)
	}
	p.StopFailure[0](ctx, "no service")
	if got := p.BeforeCompact[0](ctx, "auto"); got.Context != "keep" {
		t.Errorf("PreCompact: got %+v", got)
	}
	p.AfterCompact[0](ctx, "manual", "summary")
	p.Notify[0](ctx, "look")
	p.SessionEnd[0](ctx, event.Result{StopReason: event.StopLoop})

	for ev, want := range map[string]string{
		SessionStart:       `"source":"resume"`,
		UserPromptSubmit:   `"prompt":"do it"`,
		PermissionRequest:  `"tool_name":"bash","tool_input":{"command":"echo <one> & two"},"tool_use_id":"c1"`,
		PostToolUse:        `"tool_name":"bash","tool_input":{"command":"echo <one> & two"},"tool_use_id":"c1","tool_response":{"output":"long","is_error":false}`,
		PostToolUseFailure: `"tool_name":"bash","tool_input":{"command":"echo <one> & two"},"tool_use_id":"c1","error":"exit 1"`,
		Stop:               `"stop_hook_active":true`,
		StopFailure:        `"error":"no service"`,
		PreCompact:         `"trigger":"auto"`,
		PostCompact:        `"trigger":"manual"`,
		Notification:       `"message":"look"`,
		SessionEnd:         `"reason":"loop"`,
	} {
		head := `{"session_id":"s","transcript_path":"/t.jsonl","cwd":"` + r.o.Cwd + `","hook_event_name":"` + ev + `","permission_mode":"plan",`
		if got := read1(t, r.o.Cwd, ev+".json"); got != head+want+"}\n" {
			t.Errorf("%s: got %s, want %s", ev, got, head+want+"}")
		}
	}
}

// theirs are fields of Claude Code's payloads that ours do not have: its own
// bookkeeping, and what SHAPES leaves out.
var theirs = map[string]bool{"prompt_id": true, "effort": true, "duration_ms": true, "is_interrupt": true, "last_assistant_message": true,
	"background_tasks": true, "session_crons": true, "agent_transcript_path": true, "custom_instructions": true}

// Each payload that Claude Code was seen to send has a twin of ours: every
// field that a script of its may read is there, of the same JSON type, and
// the tool is one that a matcher written for it still meets.
func TestCapturedPayloads(t *testing.T) {
	t.Parallel()
	f, err := os.Open("testdata/claude-hook-payloads.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<20)
	events, compared := map[string]bool{}, 0
	for sc.Scan() {
		var line map[string]json.RawMessage
		if json.Unmarshal(sc.Bytes(), &line) != nil {
			t.Fatalf("no JSON: %s", sc.Text())
		}
		var ev, toolName string
		_ = json.Unmarshal(line["hook_event_name"], &ev)
		_ = json.Unmarshal(line["tool_name"], &toolName)
		if !known(ev) {
			continue // an event that we do not have, PostToolBatch say
		}
		events[ev] = true
		ours := twin(t, ev, toolName, line)
		for key, value := range line {
			if theirs[key] || key == "permission_mode" {
				continue
			}
			mine, ok := ours[key]
			if !ok {
				t.Errorf("%s: ours has no %s", ev, key)
				continue
			}
			if kindOfJSON(mine) != kindOfJSON(value) {
				t.Errorf("%s: %s is %s of ours, %s of theirs", ev, key, kindOfJSON(mine), kindOfJSON(value))
			}
			compared++
		}
	}
	if sc.Err() != nil || len(events) < 8 || compared < 200 {
		t.Errorf("compared %d fields of %d events (%v), want 200 of 8 at least", compared, len(events), sc.Err())
	}
}

// twin fires our event with the captured one's values and gives what a hook
// with a matcher for Claude Code's tool read.
func twin(t *testing.T, ev, toolName string, line map[string]json.RawMessage) map[string]json.RawMessage {
	t.Helper()
	h := sh(ev, "cat >in.json")
	h.Matcher = toolName
	r, _, _ := build(t, nil, h)
	if line["agent_id"] != nil {
		var id, kind string
		_ = json.Unmarshal(line["agent_id"], &id)
		_ = json.Unmarshal(line["agent_type"], &kind)
		r = r.For(Agent{ID: id, Type: kind})
	}
	s := Sample{}
	if AboutTool(ev) {
		name := map[string]string{"Bash": "bash", "Read": "read", "Agent": "task", "Edit": "edit", "Write": "write"}[toolName]
		if name == "" {
			t.Fatalf("a tool %s that this test does not know", toolName)
		}
		s.Call = &tool.Call{ID: "c", Tool: name, Input: line["tool_input"]}
	}
	trial := r.Try(context.Background(), ev, s)
	if len(trial.Outcomes) != 1 {
		t.Fatalf("%s of %s: got %d hooks fired, want 1", ev, toolName, len(trial.Outcomes))
	}
	var out map[string]json.RawMessage
	if err := json.Unmarshal([]byte(read1(t, r.o.Cwd, "in.json")), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func kindOfJSON(v json.RawMessage) string {
	switch v[0] {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}

// Prompt hooks: what a model may answer, and what becomes of it.
func TestPromptHooks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer string
		want   event.Verdict
		reason string
		loud   bool
	}{
		"ok":                 {answer: `{"ok":true}`},
		"not ok":             {answer: `{"ok":false,"reason":"secrets"}`, want: event.Deny, reason: "secrets"},
		"a fence":            {answer: "Sure!\n```json\n{\"ok\": false, \"reason\": \"r\"}\n```\n", want: event.Deny, reason: "r"},
		"legacy":             {answer: `I would {"decision":"block","reason":"r"}.`, want: event.Deny, reason: "r"},
		"text":               {answer: `{"ok":"false"}`, want: event.Deny},
		"braces in prose":    {answer: `{not json} {"ok":false,"reason":"r"}`, want: event.Deny, reason: "r"},
		"a quoted yes first": {answer: `The event says {"ok":true} but {"ok":false,"reason":"r"}`, want: event.Deny, reason: "r"},
		"a quoted yes last":  {answer: `{"ok":false,"reason":"r"} although it says {"ok":true}`, want: event.Deny, reason: "r"},
		"nothing":            {answer: "", loud: true},
		"prose":              {answer: "That looks fine to me.", loud: true},
		"half":               {answer: `{"ok":fal`, loud: true},
	} {
		var asked string
		h := Hook{Event: PreToolUse, Hook: profile.Hook{Type: "prompt", Prompt: "Judge: $ARGUMENTS", Model: "fast"}}
		strict := h.with(func(h *profile.Hook) { h.OnError = "block" })
		evaluate := func(o *Options) {
			o.Evaluate = func(_ context.Context, model, prompt string) (string, error) {
				asked = model + "|" + prompt
				return c.answer, nil
			}
		}
		_, p, heard := build(t, evaluate, h)
		got := p.BeforeTool[0](context.Background(), call)
		if got.Says.Verdict != c.want || !strings.Contains(got.Says.Reason, c.reason) || (len(heard.notices) > 0) != c.loud {
			t.Errorf("%s: got %+v, notices %q; want %q (%q), loud %v", name, got.Says, heard.notices, c.want, c.reason, c.loud)
		}
		if !strings.HasPrefix(asked, `fast|Judge: {"session_id":"s",`) {
			t.Errorf("%s: asked %q", name, asked)
		}
		_, p, _ = build(t, evaluate, strict)
		if got := p.BeforeTool[0](context.Background(), call); (got.Says.Verdict == event.Deny) != (c.loud || c.want == event.Deny) {
			t.Errorf("%s with on_error block: got %q", name, got.Says.Verdict)
		}
	}
}
