package app

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/dialog"
	"larva.dev/larva/internal/event"
)

// chatting is a chat that runs, with a person who can be scripted.
type chatting struct {
	*Chat
	t      *testing.T
	mu     sync.Mutex
	events []event.Event
	seen   int // events that expect has passed
	came   chan struct{}
	asked  []event.Question
	answer func(context.Context, event.Question) event.Answer
	cancel context.CancelFunc
	over   chan error
}

const chatPatience = 20 * time.Second

func startChat(t *testing.T, a *App, in RunInput) *chatting {
	t.Helper()
	c := &chatting{t: t, came: make(chan struct{}), over: make(chan error, 1)}
	in.Emit = func(e event.Event) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.events = append(c.events, e)
		close(c.came)
		c.came = make(chan struct{})
	}
	in.Question = func(ctx context.Context, q event.Question) event.Answer {
		c.mu.Lock()
		c.asked = append(c.asked, q)
		answer := c.answer
		c.mu.Unlock()
		if answer == nil {
			return event.Answer{}
		}
		return answer(ctx, q)
	}
	c.Chat = a.Chat(in, nil)
	ctx, cancel := context.WithCancel(t.Context())
	c.cancel = cancel
	go func() { c.over <- c.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if c.over != nil {
			<-c.over
		}
	})
	return c
}

// expect waits for an event of which ok holds, behind those it has given.
func (c *chatting) expect(what string, ok func(event.Event) bool) event.Event {
	c.t.Helper()
	late := time.After(chatPatience)
	for {
		c.mu.Lock()
		for c.seen < len(c.events) {
			e := c.events[c.seen]
			c.seen++
			if ok(e) {
				c.mu.Unlock()
				return e
			}
		}
		came := c.came
		c.mu.Unlock()
		select {
		case <-came:
		case err := <-c.over:
			c.over = nil
			c.t.Fatalf("the chat ended (%v) before %s; it said:\n%s", err, what, c.said())
		case <-late:
			c.t.Fatalf("no %s; it said:\n%s", what, c.said())
		}
	}
}

func (c *chatting) said() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var b strings.Builder
	for _, e := range c.events {
		line, _ := e.AppendLine(nil)
		b.WriteString(string(line[:min(len(line), 300)]) + "\n")
	}
	return b.String()
}

// turn says a prompt and gives its answer.
func (c *chatting) turn(prompt string) string {
	c.t.Helper()
	c.Say(prompt)
	return c.result()
}

func (c *chatting) result() string {
	c.t.Helper()
	e := c.expect("result", func(e event.Event) bool {
		switch e.Body.(type) {
		case event.Result, event.Fault:
			return true
		}
		return false
	})
	if f, failed := e.Body.(event.Fault); failed {
		return f.Code + ": " + f.Message
	}
	c.idle()
	return e.Body.(event.Result).Result
}

// idle waits until no turn is on.
func (c *chatting) idle() {
	c.t.Helper()
	for late := time.Now().Add(chatPatience); c.State().Busy; {
		if time.Now().After(late) {
			c.t.Fatal("a turn goes on and on")
		}
		time.Sleep(time.Millisecond)
	}
}

func (c *chatting) do(line string) dialog.Reply {
	c.t.Helper()
	r, err := c.Do(c.t.Context(), line)
	if err != nil {
		c.t.Fatalf("%s: %v", line, err)
	}
	return r
}

// begun waits for the session.
func (c *chatting) begun() *chatting {
	c.t.Helper()
	for late := time.Now().Add(chatPatience); c.State().Session == ""; {
		select {
		case err := <-c.over:
			c.over = nil
			c.t.Fatalf("the chat ended: %v", err)
		default:
		}
		if time.Now().After(late) {
			c.t.Fatal("no session begins")
		}
		time.Sleep(time.Millisecond)
	}
	return c
}

func (c *chatting) ends() error {
	c.t.Helper()
	select {
	case err := <-c.over:
		c.over = nil
		return err
	case <-time.After(chatPatience):
		c.t.Fatalf("the chat does not end; it said:\n%s", c.said())
	}
	return nil
}

const chatPersonas = `{"spec_version":"0.1.0","id":"lead","description":"Leads","prompt":"You lead.","model":"m","capabilities":{"filesystem":"read_write","shell":"read_write"},"can_spawn":["scout"]}
{"spec_version":"0.1.0","id":"scout","description":"Looks around","prompt":"You look.","model":"m","capabilities":{"filesystem":"read_only"}}`

// chatApp has the two personas and a profile of the scenario.
func chatApp(t *testing.T, turns string) (*App, RunInput) {
	t.Helper()
	a, p := testApp(t)
	for i, text := range strings.Split(chatPersonas, "\n") {
		path := filepath.Join(a.home, string(rune('a'+i))+".json")
		plant(t, path, text)
		if _, err := a.Register(t.Context(), RegisterInput{Files: []string{path}}); err != nil {
			t.Fatal(err)
		}
	}
	profile := filepath.Join(a.home, "demo.yaml")
	plant(t, profile, "models: {\"*\": script/demo, other: script/other}\nsandbox: {kind: none}\nscripts:\n  other: {turns: [{repeat: true, text: from the other}]}\n  demo:\n    turns:\n"+turns)
	plant(t, filepath.Join(p.project, "note.txt"), "the note\n")
	return a, RunInput{Persona: "lead", Profile: profile, Mode: "default"}
}

const chatEdits = `
    - {repeat: true, when: {tool: edit}, text: "edit: {{result 1}}"}
    - {repeat: true, when: {tool: read}, text: "read: {{result 1}}"}
    - {repeat: true, when: {user: "(?m)^edit"}, calls: [{tool: edit, input: {path: note.txt, old_string: the, new_string: a}}]}
    - {repeat: true, when: {user: "(?m)^read"}, calls: [{tool: read, input: {path: note.txt}}]}
    - {repeat: true, when: {user: "(?m)^who"}, text: "you said {{user}}"}
`

// A switch of the persona holds from the next request on: its own ceiling
// binds, and the conversation and the rules of the start go on.
func TestChatSwitchesThePersona(t *testing.T) {
	t.Parallel()
	a, in := chatApp(t, chatEdits)
	in.Deny = []string{"bash(rm *)"}
	c := startChat(t, a, in).begun()
	c.answer = func(context.Context, event.Question) event.Answer { return event.Answer{Allow: true} }
	if got := c.turn("read it"); !strings.Contains(got, "the note") {
		t.Fatalf("got %q; it said:\n%s", got, c.said())
	}
	if got := c.turn("edit it"); strings.Contains(got, "DENIED") {
		t.Errorf("lead may edit, got %q", got)
	}
	if r := c.do("/persona scout"); !strings.Contains(r.Text, "filesystem read_only") {
		t.Errorf("got %q, want what it may", r.Text)
	}
	if got := c.turn("edit it again"); !strings.Contains(got, "DENIED") || !strings.Contains(got, "ceiling") {
		t.Errorf("got %q, want scout's ceiling", got)
	}
	if st := c.State(); st.Persona != "scout" || st.Model != "script/demo" {
		t.Errorf("got %+v", st)
	}
	if _, err := c.Do(t.Context(), "/persona scoot"); err == nil || !strings.Contains(diag.As(err).Hint, "scout") {
		t.Errorf("got %v, want a did-you-mean", err)
	}
	if got := c.State().Persona; got != "scout" {
		t.Errorf("got %s after a switch that failed, want scout", got)
	}
	id := c.State().Session
	c.do("/quit")
	if err := c.ends(); err != nil {
		t.Fatal(err)
	}

	// Resumed it is scout still, under the same rules.
	again := startChat(t, a, RunInput{Resume: id, Profile: in.Profile}).begun()
	if st := again.State(); st.Persona != "scout" || st.Mode != "default" {
		t.Errorf("resumed: got %+v", st)
	}
	replayed := again.expect("the last prompt", func(e event.Event) bool { u, ok := e.Body.(event.User); return ok && u.Text == "edit it again" })
	if replayed.Agent != "" {
		t.Errorf("got %+v", replayed)
	}
	if got := again.turn("edit once more"); !strings.Contains(got, "ceiling") {
		t.Errorf("got %q, want scout's ceiling", got)
	}
}

func TestChatChangesModelAndMode(t *testing.T) {
	t.Parallel()
	a, in := chatApp(t, chatEdits)
	c := startChat(t, a, in).begun()
	c.do("/model other")
	if got := c.turn("who"); got != "from the other" {
		t.Errorf("got %q", got)
	}
	if _, err := c.Do(t.Context(), "/model nothing/there"); err == nil {
		t.Error("a model that leads nowhere was taken")
	}
	if got := c.State().Model; got != "script/other" {
		t.Errorf("got %s, want the one before", got)
	}
	c.do("/model default")
	if got := c.turn("who am I"); got != "you said who am I" {
		t.Errorf("got %q", got)
	}
	c.do("/mode plan")
	c.turn("read it")
	if got := c.turn("edit it"); !strings.Contains(got, "plan") || !strings.Contains(got, "DENIED") {
		t.Errorf("got %q, want the plan's refusal", got)
	}
	if _, err := c.Do(t.Context(), "/mode plam"); err == nil || !strings.Contains(diag.As(err).Hint, "plan") {
		t.Errorf("got %v, want a did-you-mean", err)
	}
	id := c.State().Session
	c.do("/quit")
	c.ends()
	again := startChat(t, a, RunInput{Resume: id, Profile: in.Profile}).begun()
	if st := again.State(); st.Mode != "plan" {
		t.Errorf("resumed: got %+v, want mode plan", st)
	}
}

const chatTasks = `
    - {repeat: true, when: {user: "be slow", tool: read}, text: "slow: {{result 1}}"}
    - {repeat: true, when: {user: "be slow"}, calls: [{tool: read, input: {path: /etc/hostname}}]}
    - {repeat: true, when: {tool: task}, text: started}
    - {repeat: true, when: {user: "(?m)^<task-notification"}, text: "heard of it"}
    - {repeat: true, when: {user: "(?m)^start"}, calls: [{tool: task, input: {description: slow, prompt: be slow, subagent_type: scout, run_in_background: true}}]}
`

// A background task asks while nobody talks, survives a turn's end, and its
// report begins a turn of its own.
func TestChatBackground(t *testing.T) {
	t.Parallel()
	a, in := chatApp(t, chatTasks)
	c := startChat(t, a, in).begun()
	let := make(chan struct{})
	c.answer = func(context.Context, event.Question) event.Answer {
		<-let
		return event.Answer{Allow: true}
	}
	if got := c.turn("start one"); got != "started" {
		t.Fatalf("got %q; it said:\n%s", got, c.said())
	}
	q := c.expect("question", func(e event.Event) bool { p, ok := e.Body.(event.Permission); return ok && p.Answer == nil })
	if q.Agent != "scout: slow" {
		t.Errorf("got the label %q", q.Agent)
	}
	if c.Interrupt() {
		t.Error("there was no turn to interrupt")
	}
	if r := c.do("/tasks"); !strings.Contains(r.Text, "bg-1") || !strings.Contains(r.Text, "running") {
		t.Errorf("got %q", r.Text)
	}
	if _, err := c.Do(t.Context(), "/resume nobody"); err == nil {
		t.Error("no such session")
	}
	if _, err := c.Do(t.Context(), "/fork"); err == nil || !strings.Contains(err.Error(), "background") {
		t.Errorf("got %v, want a refusal: a task is at work", err)
	}
	if r := c.do("/persona scout"); !strings.Contains(r.Text, "scout") { // its report goes to whoever is talked to
		t.Errorf("got %q", r.Text)
	}
	close(let)
	if got := c.result(); got != "heard of it" {
		t.Errorf("got %q, want the turn of the report", got)
	}
	if r := c.do("/cost"); !strings.Contains(r.Text, "scout: slow") {
		t.Errorf("got %q, want the task's cost", r.Text)
	}
}

func TestChatStopsTasksAtTheEnd(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*chatting){
		"quit":   func(c *chatting) { c.do("/quit") },
		"cancel": func(c *chatting) { c.cancel() },
		"stop":   func(c *chatting) { c.do("/tasks stop bg-1"); c.do("/quit") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, in := chatApp(t, chatTasks)
			c := startChat(t, a, in).begun()
			asked := make(chan struct{})
			c.answer = func(ctx context.Context, _ event.Question) event.Answer {
				close(asked)
				<-ctx.Done()
				return event.Answer{}
			}
			c.turn("start one")
			<-asked
			end(c)
			if err := c.ends(); err != nil {
				t.Errorf("got %v", err)
			}
			e := c.expect("end of the task", func(e event.Event) bool { _, ok := e.Body.(event.TaskEnd); return ok })
			if got := e.Body.(event.TaskEnd).Status; got != "stopped" {
				t.Errorf("got %s", got)
			}
		})
	}
}

func TestChatUndoForkClearExport(t *testing.T) {
	t.Parallel()
	a, in := chatApp(t, chatEdits)
	in.Mode = "accept-edits"
	c := startChat(t, a, in).begun()
	note := filepath.Join(a.dir, "note.txt")
	has := func(want string) {
		t.Helper()
		if got, _ := os.ReadFile(note); string(got) != want {
			t.Errorf("note.txt: got %q, want %q", got, want)
		}
	}
	c.turn("read it")
	c.turn("edit it")
	has("a note\n")
	if r := c.do("/undo"); !strings.Contains(r.Text, "note.txt") {
		t.Errorf("got %q", r.Text)
	}
	has("the note\n")
	c.turn("who am I")
	if text := c.said(); !strings.Contains(text, "The person has undone what you did") {
		t.Errorf("got %s, want a note of the undo", text)
	}
	if r := c.do("/undo"); !strings.Contains(r.Text, "No turn") {
		t.Errorf("got %q", r.Text)
	}
	out := filepath.Join(a.dir, "out.md")
	c.do("/export out.md")
	if text, err := os.ReadFile(out); err != nil || !strings.Contains(string(text), "edit it") {
		t.Errorf("got %v, %q", err, text)
	}
	if _, err := c.Do(t.Context(), "/export out.md"); err == nil {
		t.Error("a file was written over")
	}
	first := c.State().Session
	r := c.do("/fork 2")
	if r.Prompt != "edit it" || !r.Clear {
		t.Errorf("got %+v, want the second prompt back", r)
	}
	for late := time.Now().Add(chatPatience); c.State().Session == first || c.State().Session == ""; {
		if time.Now().After(late) {
			t.Fatal("no fork begins")
		}
		time.Sleep(time.Millisecond)
	}
	if got := c.turn("who am I"); got != "you said who am I" {
		t.Errorf("got %q", got)
	}
	if r := c.do("/clear"); !r.Clear {
		t.Errorf("got %+v", r)
	}
	id := c.State().Session
	c.do("/quit")
	c.ends()
	s, err := a.session(id)
	if err != nil {
		t.Fatal(err)
	}
	if h := s.History(); len(h) != 0 {
		t.Errorf("got %d messages behind /clear, want none", len(h))
	}
}

func TestChatCommands(t *testing.T) {
	t.Parallel()
	a, in := chatApp(t, chatEdits)
	plantSkill(t, filepath.Join(a.home, ".claude/skills"), "greet")
	plant(t, filepath.Join(a.dir, "src", "my file.go"), "x")
	c := startChat(t, a, in).begun()
	for _, k := range c.Commands() {
		if k.Help == "" && k.Name != "greet" {
			t.Errorf("/%s has no help", k.Name)
		}
	}
	for _, line := range []string{"/help", "/cost", "/tasks", "/agents", "/skills", "/mcp", "/hooks", "/routing", "/compact"} {
		if r := c.do(line); strings.TrimSpace(r.Text) == "" {
			t.Errorf("%s: says nothing", line)
		}
	}
	for _, line := range []string{"/persona", "/model", "/mode"} {
		if r := c.do(line); r.Pick == nil || len(r.Pick.Items) < 2 {
			t.Errorf("%s: got %+v, want a list", line, r)
		}
	}
	for line, hint := range map[string]string{"/hlep": "/help", "/gret": "/greet", "/undo x": "/undo 2", "/fork 9": "/fork", "/clear now": "space", "/tasks halt": "stop", "/tasks stop bg-9": "at work"} {
		if _, err := c.Do(t.Context(), line); err == nil || !strings.Contains(diag.As(err).Hint, hint) {
			t.Errorf("%s: got %v, want a hint with %s", line, err, hint)
		}
	}
	for line, want := range map[string]string{"/per": "/persona", "/persona sc": "scout", "/mode pl": "plan", "/model oth": "other", "look at @my": `@"src/my file.go"`, "@note": "@note.txt", "/gre": "/greet", "/tasks st": "stop"} {
		got := c.Complete(t.Context(), line)
		if len(got) == 0 || got[0].Text != want {
			t.Errorf("%s: got %+v, want %s first", line, got, want)
		}
	}
}

// Two chats cannot write one session.
func TestChatSessionIsLocked(t *testing.T) {
	t.Parallel()
	a, in := chatApp(t, chatEdits)
	c := startChat(t, a, in).begun()
	c.turn("who am I")
	other := a.Chat(RunInput{Resume: c.State().Session, Profile: in.Profile}, nil)
	if err := other.Run(t.Context()); err == nil || diag.As(err).Code != diag.SessionBusy {
		t.Errorf("got %v, want %s", err, diag.SessionBusy)
	}
}
