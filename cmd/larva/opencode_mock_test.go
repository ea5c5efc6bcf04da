package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"larva.dev/larva/internal/cli"
)

// ocMock is a model service that speaks OpenAI's chat completions, streamed,
// and keeps every request. What it answers is decided by a function of the
// test's, so that one start of a program can be led through many calls.
type ocMock struct {
	URL string // with /v1

	mu     sync.Mutex
	asked  []ocRequest
	answer func(ocRequest) ocReply
}

// ocRequest is one question as the service got it.
type ocRequest struct {
	N        int // of all requests, from 1
	Raw      string
	Model    string
	System   string // every system message, joined by newlines
	Messages []ocMessage
	Tools    []string // sorted
	Params   map[string]any
}

type ocMessage struct {
	Role string
	Text string
	// Calls are an assistant's; CallID is of a tool's result.
	Calls  []string
	CallID string
}

// user is the last message that a user has written.
func (r ocRequest) user() string {
	for _, m := range slices.Backward(r.Messages) {
		if m.Role == "user" {
			return m.Text
		}
	}
	return ""
}

// results are the tool results behind the last user message, in order.
func (r ocRequest) results() []string {
	var out []string
	for _, m := range r.Messages {
		switch m.Role {
		case "user":
			out = nil
		case "tool":
			out = append(out, m.Text)
		}
	}
	return out
}

// title says that the request only asks for the session's title.
func (r ocRequest) title() bool { return strings.HasPrefix(r.System, "You are a title generator") }

// ocReply is an answer: an HTTP error, or a text and calls.
type ocReply struct {
	Status int // an error where it is not 0
	Text   string
	Calls  []ocCall
}

type ocCall struct {
	Tool  string
	Input any
}

// newOcMock serves until the test ends. answer nil says "done" to all.
func newOcMock(t testing.TB, answer func(ocRequest) ocReply) *ocMock {
	t.Helper()
	m := &ocMock{answer: answer}
	srv := httptest.NewServer(http.HandlerFunc(m.serve))
	t.Cleanup(srv.Close)
	m.URL = srv.URL + "/v1"
	return m
}

// requests are all so far.
func (m *ocMock) requests() []ocRequest {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.asked)
}

// ocSteps answers the nth turn behind the last user message with the nth reply;
// behind the last one it says "done". Requests for a title are not counted.
func ocSteps(replies ...ocReply) func(ocRequest) ocReply {
	return func(r ocRequest) ocReply {
		if r.title() {
			return ocReply{Text: "A title"}
		}
		turns := 0
		for _, m := range r.Messages {
			switch m.Role {
			case "user":
				turns = 0
			case "assistant":
				turns++
			}
		}
		if turns < len(replies) {
			return replies[turns]
		}
		return ocReply{Text: "done"}
	}
}

func (m *ocMock) serve(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(io.LimitReader(req.Body, 64<<20))
	if err != nil || !strings.HasSuffix(req.URL.Path, "/chat/completions") {
		http.Error(w, `{"error":{"message":"no such route"}}`, http.StatusNotFound)
		return
	}
	r, err := readOcChat(body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	m.mu.Lock()
	r.N = len(m.asked) + 1
	m.asked = append(m.asked, r)
	answer := m.answer
	m.mu.Unlock()
	reply := ocReply{Text: "done"}
	if answer != nil {
		reply = answer(r)
	}
	if reply.Status != 0 {
		http.Error(w, `{"error":{"message":"as scripted"}}`, reply.Status)
		return
	}
	writeOcChat(w, r, reply)
}

func readOcChat(body []byte) (ocRequest, error) {
	r := ocRequest{Raw: string(body)}
	if err := json.Unmarshal(body, &r.Params); err != nil {
		return r, err
	}
	var in struct {
		Model    string
		Messages []struct {
			Role       string
			Content    json.RawMessage
			ToolCallID string `json:"tool_call_id"`
			ToolCalls  []struct {
				Function struct{ Name string }
			} `json:"tool_calls"`
		}
		Tools []struct {
			Function struct{ Name string }
		}
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return r, err
	}
	r.Model = in.Model
	var system []string
	for _, m := range in.Messages {
		msg := ocMessage{Role: m.Role, Text: ocText(m.Content), CallID: m.ToolCallID}
		for _, c := range m.ToolCalls {
			msg.Calls = append(msg.Calls, c.Function.Name)
		}
		if m.Role == "system" {
			system = append(system, msg.Text)
		}
		r.Messages = append(r.Messages, msg)
	}
	r.System = strings.Join(system, "\n")
	for _, t := range in.Tools {
		r.Tools = append(r.Tools, t.Function.Name)
	}
	slices.Sort(r.Tools)
	return r, nil
}

// ocText reads a content: a string, or parts.
func ocText(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var parts []struct{ Text string }
	_ = json.Unmarshal(raw, &parts) // null and other forms have no text
	var out []string
	for _, p := range parts {
		out = append(out, p.Text)
	}
	return strings.Join(out, "\n")
}

func writeOcChat(w http.ResponseWriter, r ocRequest, reply ocReply) {
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(delta map[string]any, finish any) {
		chunk, err := json.Marshal(map[string]any{"id": fmt.Sprintf("chatcmpl-%d", r.N), "object": "chat.completion.chunk", "created": 1, "model": r.Model,
			"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}}})
		if err == nil {
			_, _ = fmt.Fprintf(w, "data: %s\n\n", chunk)
		}
	}
	send(map[string]any{"role": "assistant", "content": reply.Text}, nil)
	finish := "stop"
	for i, c := range reply.Calls {
		finish = "tool_calls"
		args, err := json.Marshal(c.Input)
		if err != nil {
			args = []byte("{}")
		}
		send(map[string]any{"tool_calls": []any{map[string]any{"index": i, "id": fmt.Sprintf("call_%d_%d", r.N, i), "type": "function",
			"function": map[string]any{"name": c.Tool, "arguments": string(args)}}}}, nil)
	}
	send(map[string]any{}, finish)
	_, _ = fmt.Fprintf(w, "data: {\"id\":\"u\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":%q,\"choices\":[],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":5,\"total_tokens\":15}}\n\ndata: [DONE]\n\n", r.Model)
}

// ocWorld is a home, a project and the real OpenCode, led by a mock.
type ocWorld struct {
	t    testing.TB
	home string // HOME
	dir  string // the project: a git repository
	bin  string // a directory with the program opencode, for PATH
	real string // the program itself
	mock *ocMock
	self string
	// env is added to what every program gets.
	env []string
	// config is added to OPENCODE_CONFIG_CONTENT, top level.
	config map[string]any
}

// opencodeProgram is the pinned program; where it is not fetched the test is
// skipped, with CI set on the system it is built for it fails.
func opencodeProgram(t testing.TB) string {
	t.Helper()
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("the pinned OpenCode is built for Linux on x64")
	}
	path, err := filepath.Abs(filepath.Join("..", "..", "scripts", "peers", "opencode", "node_modules", "opencode-linux-x64", "bin", "opencode"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("OpenCode is not fetched: run `make peers`")
		}
		t.Skip("OpenCode is not fetched: run `make peers`")
	}
	return path
}

// newOcWorld makes one; its git repository has no commit.
func newOcWorld(t testing.TB, answer func(ocRequest) ocReply) *ocWorld {
	t.Helper()
	real := opencodeProgram(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	base := t.TempDir()
	w := &ocWorld{t: t, home: filepath.Join(base, "home"), dir: filepath.Join(base, "project"), bin: filepath.Join(base, "bin"), real: real, self: self,
		mock: newOcMock(t, answer), config: map[string]any{}}
	for _, d := range []string{w.home, w.dir, w.bin} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(real, filepath.Join(w.bin, "opencode")); err != nil {
		t.Fatal(err)
	}
	git := exec.Command("git", "init", "-q", w.dir)
	if out, err := git.CombinedOutput(); err != nil {
		t.Fatalf("git init: %v\n%s", err, out)
	}
	return w
}

// write puts a file into the project, or anywhere when path is absolute.
func (w *ocWorld) write(path, text string) {
	w.t.Helper()
	if !filepath.IsAbs(path) {
		path = filepath.Join(w.dir, path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// persona registers one; fields are those of a PersonaSpec, spec_version, id,
// description, prompt and model filled where absent.
func (w *ocWorld) persona(id string, fields map[string]any) {
	w.t.Helper()
	all := map[string]any{"spec_version": "0.1.0", "id": id, "description": "The persona " + id + ".", "prompt": "PROMPT-OF-" + id, "model": "mock/mock-1", "capabilities": map[string]any{}}
	for k, v := range fields {
		all[k] = v
	}
	text, err := json.Marshal(all)
	if err != nil {
		w.t.Fatal(err)
	}
	file := filepath.Join(w.home, "in", id+".json")
	w.write(file, string(text))
	if out, code := w.larva("register", file); code != 0 {
		w.t.Fatalf("register %s: exit %d\n%s", id, code, out)
	}
}

// environ is what both programs get: the mock as the only provider, nothing of
// the caller's, and no network but loopback.
func (w *ocWorld) environ() []string {
	w.t.Helper()
	models := map[string]any{}
	for _, m := range []string{"mock-1", "mock-2"} {
		models[m] = map[string]any{"name": m, "tool_call": true, "temperature": true, "limit": map[string]any{"context": 200000, "output": 8192}}
	}
	config := map[string]any{"model": "mock/mock-1", "small_model": "mock/mock-1", "share": "disabled", "autoupdate": false,
		"provider": map[string]any{"mock": map[string]any{"npm": "@ai-sdk/openai-compatible", "name": "Mock",
			"options": map[string]any{"baseURL": w.mock.URL, "apiKey": "x"}, "models": models}}}
	for k, v := range w.config {
		config[k] = v
	}
	content, err := json.Marshal(config)
	if err != nil {
		w.t.Fatal(err)
	}
	env := []string{"HOME=" + w.home, "PATH=" + w.bin + ":/usr/bin:/bin", "LANG=C.UTF-8", "OPENCODE_CONFIG_CONTENT=" + string(content),
		"OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1",
		"npm_config_registry=http://127.0.0.1:1/", "GIT_CONFIG_NOSYSTEM=1"}
	return append(env, w.env...)
}

// ocRan is how a program ended.
type ocRan struct {
	stdout, stderr string
	code           int
	took           time.Duration
}

func (r ocRan) String() string {
	return fmt.Sprintf("exit %d after %s\nstdout: %s\nstderr: %s", r.code, r.took.Round(time.Millisecond), r.stdout, r.stderr)
}

// ocSlots are how many real programs run at once: each takes two cores and
// 600 MB.
var ocSlots = make(chan struct{}, 2)

// heavy says that a command line starts the real program.
func (w *ocWorld) heavy(argv []string) bool {
	return argv[0] == w.real || len(argv) > 1 && argv[1] == "opencode" && !slices.Contains(argv, "--larva-dry-run")
}

// start runs a program in the project, with nothing on stdin.
func (w *ocWorld) start(argv ...string) ocRan {
	w.t.Helper()
	if w.heavy(argv) {
		ocSlots <- struct{}{}
		defer func() { <-ocSlots }()
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	if argv[0] == w.self {
		cmd.Args[0] = "larva"
	}
	cmd.Dir, cmd.Env = w.dir, w.environ()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	begin := time.Now()
	err := cmd.Run()
	r := ocRan{stdout: stdout.String(), stderr: stderr.String(), took: time.Since(begin)}
	if err != nil {
		if r.code = exitCode(err); r.code == 0 {
			w.t.Fatalf("%q: %v", argv, err)
		}
	}
	return r
}

// larva runs a command line of larva; both streams together. It starts no
// program of its own, so it takes no start either.
func (w *ocWorld) larva(args ...string) (string, int) {
	w.t.Helper()
	var out lockedBuffer
	code := cli.Main(w.t.Context(), cli.Process{Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out,
		Environ: w.environ(), Dir: w.dir, Self: []string{w.self}})
	return out.String(), code
}

// opencode is larva opencode; plain is the program without larva.
func (w *ocWorld) opencode(args ...string) ocRan {
	w.t.Helper()
	return w.start(append([]string{w.self, "opencode"}, args...)...)
}

func (w *ocWorld) plain(args ...string) ocRan {
	w.t.Helper()
	return w.start(append([]string{w.real}, args...)...)
}
