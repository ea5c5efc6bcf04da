//go:build unix

package mcpclient

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"larva.dev/larva/internal/proc"
)

// The test program is its own servers: LARVA_FAKE_SERVER says which.
func TestMain(m *testing.M) {
	if kind := os.Getenv("LARVA_FAKE_SERVER"); kind != "" {
		fakeServer(kind)
		return
	}
	os.Exit(m.Run())
}

// fakeServer speaks by hand what servers of each kind do wrong.
func fakeServer(kind string) {
	out := bufio.NewWriter(os.Stdout)
	send := func(v any) {
		line, _ := json.Marshal(v)
		out.Write(append(line, '\n'))
		out.Flush()
	}
	calls, grown := 0, false
	switch kind {
	case "chatter":
		fmt.Println("Starting server...")
		fmt.Fprintln(os.Stderr, "a word on stderr")
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
		spawnSleeper()
	case "dies":
		fmt.Fprintln(os.Stderr, "cannot find my database")
		os.Exit(3)
	case "mute":
		select {}
	}
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, maxMessage)
	for in.Scan() {
		var r struct {
			ID     any
			Method string
			Params json.RawMessage
		}
		if json.Unmarshal(in.Bytes(), &r) != nil {
			continue
		}
		reply := func(result any) { send(map[string]any{"jsonrpc": "2.0", "id": r.ID, "result": result}) }
		switch r.Method {
		case "initialize":
			reply(map[string]any{"protocolVersion": "2025-11-25", "serverInfo": map[string]any{"name": kind, "version": "1"}, "instructions": "be kind",
				"capabilities": map[string]any{"tools": map[string]any{"listChanged": true}, "prompts": map[string]any{}, "resources": map[string]any{}}})
			if os.Getenv("FAKE_ROOTS") != "" {
				os.WriteFile(os.Getenv("FAKE_ROOTS"), r.Params, 0o600)
			}
		case "notifications/initialized":
			if kind == "late" {
				for range 3 {
					send(map[string]any{"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
				}
			}
		case "tools/list":
			calls++
			tools := fakeTools(kind)
			if kind == "late" && calls == 1 {
				tools = nil
			}
			if kind == "grows" && grown {
				tools = append(tools, map[string]any{"name": "grown"})
			}
			reply(map[string]any{"tools": tools})
		case "prompts/list":
			reply(map[string]any{"prompts": []any{map[string]any{"name": "greet", "arguments": []any{map[string]any{"name": "who", "required": true}}}}})
		case "prompts/get":
			reply(map[string]any{"messages": []any{map[string]any{"role": "user", "content": map[string]any{"type": "text", "text": "greet " + string(r.Params)}}}})
		case "resources/list":
			reply(map[string]any{"resources": []any{map[string]any{"uri": "x://1", "name": "one"}}})
		case "resources/read":
			reply(map[string]any{"contents": []any{map[string]any{"uri": "x://1", "text": "the one"}}})
		case "tools/call":
			if kind == "grows" {
				grown = true
				send(map[string]any{"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
			}
			fakeCall(kind, r.Params, reply, send)
		default:
			// silent: a legacy server answers nothing that it does not know
			if kind != "silent" && r.ID != nil {
				send(map[string]any{"jsonrpc": "2.0", "id": r.ID, "error": map[string]any{"code": -32601, "message": "unknown method " + r.Method}})
			}
		}
	}
	if kind == "stubborn" {
		select {}
	}
}

func fakeTools(kind string) []any {
	tool := func(name string, more map[string]any) map[string]any {
		t := map[string]any{"name": name, "inputSchema": map[string]any{"$schema": "x", "type": "object", "properties": map[string]any{"a": map[string]any{"type": "string"}}}}
		for k, v := range more {
			t[k] = v
		}
		return t
	}
	no := false
	list := []any{
		tool("look", map[string]any{"annotations": map[string]any{"readOnlyHint": true, "openWorldHint": no}}),
		tool("browse", map[string]any{"annotations": map[string]any{"readOnlyHint": true}}),
		tool("drop", map[string]any{"annotations": map[string]any{"destructiveHint": true}}),
		tool("change", nil),
	}
	if kind == "odd" {
		bare := tool("a b/c!", nil)
		delete(bare, "inputSchema")
		list = append(list, bare, tool("worse", map[string]any{"inputSchema": []any{1}}), tool("typed", map[string]any{"inputSchema": map[string]any{"type": "string"}}),
			tool("out", map[string]any{"outputSchema": map[string]any{"type": "nonsense", "$ref": "#/nowhere"}}), tool(strings.Repeat("long", 40), nil))
	}
	return list
}

func fakeCall(kind string, params json.RawMessage, reply func(any), send func(any)) {
	var p struct {
		Name      string
		Arguments json.RawMessage
		Meta      struct {
			ProgressToken any `json:"progressToken"`
		} `json:"_meta"`
	}
	_ = json.Unmarshal(params, &p)
	once := os.Getenv("FAKE_ONCE")
	if _, err := os.Stat(once); kind == "breaks" && once != "" && err != nil {
		os.WriteFile(once, nil, 0o600)
		os.Exit(4)
	}
	if p.Name == "slow" || kind == "slow" {
		time.Sleep(time.Hour)
	}
	send(map[string]any{"jsonrpc": "2.0", "method": "notifications/progress", "params": map[string]any{"progressToken": p.Meta.ProgressToken, "progress": 1, "total": 2, "message": "half"}})
	text := p.Name + " " + string(p.Arguments)
	if p.Name == "change" {
		env, _ := json.Marshal(os.Environ())
		text = string(env)
	}
	reply(map[string]any{"content": []any{map[string]any{"type": "text", "text": text}, map[string]any{"type": "image", "mimeType": "image/png", "data": "aGk="},
		map[string]any{"type": "resource_link", "uri": "x://1", "name": "one"}}, "structuredContent": map[string]any{"n": 1}})
}

func spawnSleeper() {
	cmd := proc.Command{Argv: []string{"sleep", "1000"}, Started: func() {}}
	go func() { _, _ = proc.Run(context.Background(), cmd) }()
	// The number of the sleeper's parent is ours: its group is found through it.
	_ = os.WriteFile(os.Getenv("FAKE_PID"), []byte(strconv.Itoa(os.Getpid())), 0o600)
}

func fake(t *testing.T, kind string, env ...string) Config {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Config{Name: kind, Type: "stdio", Command: self, Env: append([]string{"PATH=" + os.Getenv("PATH"), "LARVA_FAKE_SERVER=" + kind}, env...),
		Log: filepath.Join(t.TempDir(), "log")}
}

func start(t *testing.T, o Options, configs ...Config) *Manager {
	t.Helper()
	m := New(configs, o)
	m.Start(t.Context())
	t.Cleanup(m.Close)
	return m
}

func statusOf(t *testing.T, m *Manager, want State) Status {
	t.Helper()
	st := m.Wait(t.Context(), 20*time.Second)[0]
	if st.State != want {
		t.Fatalf("got %s (%v), want %s", st.State, st.Err, want)
	}
	return st
}

func TestServer(t *testing.T) {
	t.Parallel()
	roots := filepath.Join(t.TempDir(), "init")
	var told []string
	m := start(t, Options{Tell: func(server, code, text string) { told = append(told, server+" "+code+" "+text) }}, fake(t, "plain", "FAKE_ROOTS="+roots))
	st := statusOf(t, m, Connected)
	var got []string
	for _, tool := range st.Tools {
		got = append(got, fmt.Sprintf("%s %t %t", tool.Name, tool.ReadOnly, tool.Destructive))
		if strings.Contains(string(tool.Schema), "$schema") {
			t.Errorf("%s: $schema is left: %s", tool.Name, tool.Schema)
		}
	}
	if want := "browse false false, change false false, drop false true, look true false"; strings.Join(got, ", ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
	if st.Instructions != "be kind" || !st.Resources || len(st.Prompts) != 1 || !st.Prompts[0].Arguments[0].Required {
		t.Errorf("got %+v", st)
	}
	r, err := m.Call(t.Context(), "plain", "look", json.RawMessage(`{"a":"b"}`), true)
	if err != nil || len(r.Content) != 3 || r.Content[0].Text != `look {"a":"b"}` || string(r.Content[1].Data) != "hi" || !r.Content[2].Link || string(r.Structured) != `{"n":1}` {
		t.Errorf("got %+v, %v", r, err)
	}
	if c, err := m.Read(t.Context(), "plain", "x://1"); err != nil || c[0].Text != "the one" {
		t.Errorf("got %+v, %v", c, err)
	}
	if c, err := m.Expand(t.Context(), "plain", "greet", map[string]string{"who": "me"}); err != nil || !strings.Contains(c[0].Text, `"who":"me"`) {
		t.Errorf("got %+v, %v", c, err)
	}
	if l, err := m.Resources(t.Context(), "plain"); err != nil || len(l) != 1 || l[0].URI != "x://1" {
		t.Errorf("got %+v, %v", l, err)
	}
	if _, err := m.Call(t.Context(), "nobody", "x", nil, true); err == nil {
		t.Error("there is no such server")
	}
	init, err := os.ReadFile(roots)
	if err != nil || strings.Contains(string(init), "roots") || strings.Contains(string(init), "sampling") {
		t.Errorf("got capabilities %s, %v: neither roots nor sampling are offered", init, err)
	}
	m.Close()
	if !slices.Contains(told, "plain progress 50% half") {
		t.Errorf("got %q, want the progress", told)
	}
}

// Trap a: a server that does not answer what it does not know. b: chatter. g:
// lists that come late.
func TestOddServers(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"silent", "chatter", "late", "odd"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			c := fake(t, kind)
			m := start(t, Options{}, c)
			st := statusOf(t, m, Connected)
			if len(st.Tools) < 4 || st.Took > 15*time.Second {
				t.Errorf("got %d tools in %s", len(st.Tools), st.Took)
			}
			if kind == "odd" && len(st.Tools) != 9 {
				t.Errorf("got %d tools, want 9: one that is odd never hurts the others: %v", len(st.Tools), st.Notices)
			}
			for _, tool := range st.Tools {
				var s struct {
					Type       string
					Properties map[string]any
				}
				if err := json.Unmarshal(tool.Schema, &s); err != nil || s.Type != "object" || s.Properties == nil {
					t.Errorf("%s: got the schema %s", tool.Name, tool.Schema)
				}
			}
			if kind == "chatter" {
				m.Close()
				log, err := os.ReadFile(c.Log)
				if err != nil || !strings.Contains(string(log), "stdout: Starting server...") || !strings.Contains(string(log), "a word on stderr") {
					t.Errorf("got the log %q, %v", log, err)
				}
				if info, err := os.Stat(c.Log); err == nil && info.Mode().Perm() != 0o600 {
					t.Errorf("got mode %v", info.Mode())
				}
			}
		})
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]string{"dies": "exit code 3, its last words: cannot find my database", "mute": "deadline"} {
		m := start(t, Options{Connect: 2 * time.Second}, fake(t, kind))
		if st := statusOf(t, m, Failed); !strings.Contains(st.Err.Error(), want) {
			t.Errorf("%s: got %v, want %s", kind, st.Err, want)
		}
	}
	m := start(t, Options{}, Config{Name: "x", Type: "stdio", Command: "no-such-program"})
	if st := statusOf(t, m, Failed); !errors.Is(st.Err, proc.ErrNotFound) {
		t.Errorf("got %v", st.Err)
	}
}

// Trap c: one that ignores the end of its input and SIGTERM goes all the same,
// with what it has started.
func TestStubborn(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "pid")
	m := start(t, Options{}, fake(t, "stubborn", "FAKE_PID="+file))
	statusOf(t, m, Connected)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, _ := strconv.Atoi(string(data))
	began := time.Now()
	m.Close()
	if took := time.Since(began); took > 6*time.Second {
		t.Errorf("took %s", took)
	}
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("%d is left: %v", pid, err)
	}
}

// A lost connection is made again; only what changes nothing is repeated.
func TestReconnect(t *testing.T) {
	t.Parallel()
	m := start(t, Options{}, fake(t, "breaks", "FAKE_ONCE="+filepath.Join(t.TempDir(), "once")))
	statusOf(t, m, Connected)
	if r, err := m.Call(t.Context(), "breaks", "look", json.RawMessage(`{}`), true); err != nil || r.Content[0].Text != "look {}" {
		t.Errorf("got %+v, %v, want the second try's", r, err)
	}
	n := start(t, Options{}, fake(t, "breaks", "FAKE_ONCE="+filepath.Join(t.TempDir(), "once")))
	statusOf(t, n, Connected)
	if _, err := n.Call(t.Context(), "breaks", "drop", json.RawMessage(`{}`), false); err == nil || !strings.Contains(err.Error(), "exit code 4") {
		t.Errorf("got %v, want why the connection was lost, and no second try", err)
	}
	if r, err := n.Call(t.Context(), "breaks", "drop", json.RawMessage(`{}`), false); err != nil || r.Content[0].Text != "drop {}" {
		t.Errorf("got %+v, %v: the next call connects again", r, err)
	}
}

func TestCallEnds(t *testing.T) {
	t.Parallel()
	m := start(t, Options{Call: 300 * time.Millisecond}, fake(t, "slow"))
	statusOf(t, m, Connected)
	if _, err := m.Call(t.Context(), "slow", "look", json.RawMessage(`{}`), true); err == nil || !strings.Contains(err.Error(), "did not answer within") {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Call(ctx, "slow", "look", json.RawMessage(`{}`), true); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// Only what the configuration names is in a server's environment.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	m := start(t, Options{}, fake(t, "plain", "NAMED=1"))
	statusOf(t, m, Connected)
	r, err := m.Call(t.Context(), "plain", "change", json.RawMessage(`{}`), false)
	if err != nil {
		t.Fatal(err)
	}
	var env []string
	if err := json.Unmarshal([]byte(r.Content[0].Text), &env); err != nil {
		t.Fatal(err)
	}
	for _, kv := range env {
		if name, _, _ := strings.Cut(kv, "="); !slices.Contains([]string{"PATH", "LARVA_FAKE_SERVER", "NAMED"}, name) {
			t.Errorf("got %s", name)
		}
	}
}

// Row 23: the list of enabled tools first, then disabled takes away.
func TestReport23(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ enabled, disabled, want string }{
		{"", "", "browse change drop look"}, {"look drop", "", "drop look"}, {"", "look", "browse change drop"}, {"look drop", "look", "drop"}, {"look", "look", ""}, {"nothing", "", ""},
	} {
		s := &server{c: Config{Enabled: strings.Fields(c.enabled), Disabled: strings.Fields(c.disabled)}}
		var got []string
		for _, name := range []string{"browse", "change", "drop", "look"} {
			if s.takes(name) {
				got = append(got, name)
			}
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("enabled %q, disabled %q: got %q, want %q", c.enabled, c.disabled, s, c.want)
		}
	}
}

// Ten servers begin at once, and none waits for another.
func TestManyServers(t *testing.T) {
	t.Parallel()
	var configs []Config
	for i := range 10 {
		c := fake(t, "plain")
		c.Name = fmt.Sprintf("s%d", i)
		configs = append(configs, c)
	}
	configs = append(configs, fake(t, "mute"))
	m := start(t, Options{}, configs...)
	began := time.Now()
	connected := 0
	for _, st := range m.Wait(t.Context(), 5*time.Second) {
		if st.State == Connected {
			connected++
		}
	}
	if took := time.Since(began); took > 6*time.Second || connected != 10 {
		t.Errorf("got %d connected after %s, want 10 within the bound", connected, took)
	}
}

// What has changed is read for a fresh context, not before.
func TestRefresh(t *testing.T) {
	t.Parallel()
	m := start(t, Options{}, fake(t, "grows"))
	before := len(statusOf(t, m, Connected).Tools)
	if m.Refresh(t.Context()) {
		t.Error("nothing has changed")
	}
	if _, err := m.Call(t.Context(), "grows", "look", json.RawMessage(`{}`), true); err != nil {
		t.Fatal(err)
	}
	if got := len(m.Status()[0].Tools); got != before {
		t.Errorf("got %d tools in the middle of the work, want %d", got, before)
	}
	for late := time.Now().Add(10 * time.Second); !m.Refresh(t.Context()); { // the notice comes beside the answer
		if time.Now().After(late) {
			t.Fatal("the change did not come")
		}
	}
	if got := len(m.Status()[0].Tools); got != before+1 {
		t.Errorf("got %d tools, want %d", got, before+1)
	}
}
