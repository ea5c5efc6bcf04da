package mcpserve

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"larva.dev/larva/internal/registry"
)

// TestBadFrames sends what is no request; each gets an error and the server
// lives.
func TestBadFrames(t *testing.T) {
	t.Parallel()
	const syntax, request, params, method = -32700, -32600, -32602, -32601
	for _, tt := range []struct {
		name, line string
		code       int
		id         string // of the answer; "" is null
	}{
		{"text", "Starting up…", syntax, ""},
		{"half a message", `{"jsonrpc":"2.0","id":1,"method":"pi`, syntax, ""},
		{"two messages", `{"jsonrpc":"2.0","id":1,"method":"ping"}{"jsonrpc":"2.0","id":2,"method":"ping"}`, syntax, ""},
		{"something behind it", `{"jsonrpc":"2.0","id":1,"method":"ping"} x`, syntax, ""},
		{"byte order mark", "\ufeff" + `{"jsonrpc":"2.0","id":1,"method":"ping"}`, syntax, ""},
		{"no UTF-8", `{"jsonrpc":"2.0","id":1,"method":"` + "\xff\xfe" + `"}`, syntax, ""},
		{"NUL", "\x00", syntax, ""},
		{"NaN", `{"jsonrpc":"2.0","id":NaN,"method":"ping"}`, syntax, ""},
		{"deep", strings.Repeat("[", 20000), syntax, ""},
		{"number", "1", request, ""},
		{"null", "null", request, ""},
		{"string", `"ping"`, request, ""},
		{"empty object", "{}", request, ""},
		{"empty batch", "[]", request, ""},
		{"batch", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, request, ""},
		{"no version", `{"id":1,"method":"ping"}`, request, ""},
		{"old version", `{"jsonrpc":"1.0","id":1,"method":"ping"}`, request, ""},
		{"version is a number", `{"jsonrpc":2.0,"id":1,"method":"ping"}`, request, ""},
		{"method is a number", `{"jsonrpc":"2.0","id":1,"method":7}`, request, ""},
		{"id is an object", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, request, ""},
		{"id is a list", `{"jsonrpc":"2.0","id":[1],"method":"ping"}`, request, ""},
		{"id is true", `{"jsonrpc":"2.0","id":true,"method":"ping"}`, request, ""},
		{"id is null", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, request, ""},
		{"id is a fraction", `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, request, ""},
		{"id is too large", `{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, request, ""},
		{"id is half a character", `{"jsonrpc":"2.0","id":"\ud83d","method":"ping"}`, request, ""},
		{"neither call nor answer", `{"jsonrpc":"2.0","id":1}`, request, ""},
		{"method in capitals", `{"jsonrpc":"2.0","id":1,"METHOD":"ping"}`, request, ""},
		{"unknown method", `{"jsonrpc":"2.0","id":1,"method":"tools/frobnicate"}`, method, "1"},
		{"empty method", `{"jsonrpc":"2.0","id":1,"method":""}`, method, "1"},
		{"our own method", `{"jsonrpc":"2.0","id":1,"method":"larva/call","params":{"name":"larva_clear"}}`, method, "1"},
		{"unknown tool", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"larva_assemble"}}`, params, "1"},
		{"tool of another server", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list"}}`, params, "1"},
		{"no tool", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}`, params, "1"},
		{"tool is a number", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":5}}`, params, "1"},
		{"parameters are a list", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":["larva_list"]}`, params, "1"},
		{"no parameters", `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`, request, "1"},
		{"initialize again", strings.Replace(hello, `"hello"`, "1", 1), request, "1"},
		{"a notification as a call", `{"jsonrpc":"2.0","id":1,"method":"notifications/initialized"}`, request, "1"},
		{"cursor of another server", `{"jsonrpc":"2.0","id":1,"method":"resources/list","params":{"cursor":"!"}}`, params, "1"},
		{"resource elsewhere", `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"file:///etc/passwd"}}`, params, "1"},
		{"resource above", `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"persona://../../etc/passwd"}}`, params, "1"},
		{"resource escaped", `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"persona://%2e%2e%2fx"}}`, params, "1"},
		{"no such prompt", `{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"persona"}}`, params, "1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := greeted(t, Options{Registry: store(t)})
			c.send(tt.line)
			r := parse(t, c.read())
			want := tt.id
			if want == "" {
				want = "null"
			}
			if r.code() != tt.code || string(r.ID) != want {
				t.Errorf("got code %d id %s %+v, want %d %s", r.code(), r.ID, r.Error, tt.code, want)
			}
			c.send(`{"jsonrpc":"2.0","id":"alive","method":"ping"}`)
			if r := c.answered(`"alive"`); r.Error != nil {
				t.Errorf("got %+v, want a server that lives", r.Error)
			}
		})
	}
}

// TestSilent sends what gets no answer at all.
func TestSilent(t *testing.T) {
	t.Parallel()
	c := greeted(t, Options{Registry: store(t)})
	c.send("", "   ", "\r",
		`{"jsonrpc":"2.0","method":"notifications/frobnicate"}`,
		`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"larva_clear","arguments":{"confirm":"CLEAR REGISTRY"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}`,
		`{"jsonrpc":"2.0","id":5,"result":{}}`,
		// An answer is never answered, or two peers would go on for ever.
		`{"jsonrpc":"2.0","result":{}}`,
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"the message is no JSON value"}}`,
		`{"jsonrpc":"2.0","id":{},"result":{}}`,
		`{"jsonrpc":"2.0","id":5,"error":"text"}`,
		`{"jsonrpc":"1.0","id":5,"error":{}}`,
		`{"jsonrpc":"2.0","id":"alive","method":"ping"}`)
	if got := c.read(); got != `{"jsonrpc":"2.0","id":"alive","result":{}}` {
		t.Errorf("got %s, want the answer to ping alone", got)
	}
}

// TestBeforeInitialize asks too early.
func TestBeforeInitialize(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{Registry: store(t)})
	c.send(ask(1, "list", "{}"))
	if r := c.answered("1"); r.code() != -32600 {
		t.Errorf("got %+v, want -32600", r)
	}
}

// TestIDs are answered as they were sent.
func TestIDs(t *testing.T) {
	t.Parallel()
	c := greeted(t, Options{Registry: store(t)})
	for _, id := range []string{`0`, `-1`, `9007199254740991`, `""`, `"a\"b\\c"`, `"ü\u0000"`, `1.0`, `"1"`} {
		c.send(ask(id, "list", "{}"))
		if r := parse(t, c.read()); r.Error != nil || r.Result.IsError || !sameJSON(t, string(r.ID), id) {
			t.Errorf("got %s %+v, want the answer of %s", r.ID, r, id)
		}
	}
}

// TestSameIDTwice refuses the second of two calls of one id.
func TestSameIDTwice(t *testing.T) {
	t.Parallel()
	r := store(t)
	hold := make(chan struct{})
	c := greeted(t, Options{Registry: r, Writable: func(string) error { <-hold; return nil }})
	c.send(ask(1, "variant_delete", `{"id":"a","variant":"b"}`), ask(1, "list", "{}"))
	if got := parse(t, c.read()); got.code() != -32600 || string(got.ID) != "null" {
		t.Errorf("got %+v, want -32600", got)
	}
	close(hold)
	if got := c.answered("1"); got.envelopeCode() != "PERSONA_NOT_FOUND" {
		t.Errorf("got %+v, want the first call's answer", got)
	}
}

// TestEndOfInput answers everything that was asked before the input ended.
func TestEndOfInput(t *testing.T) {
	t.Parallel()
	r := store(t)
	c := serve(t, Options{Registry: r})
	var lines []string
	for i := range 20 {
		lines = append(lines, ask(i, "register", fmt.Sprintf(`{"spec":%s}`, persona(fmt.Sprintf("p-%02d", i)))))
	}
	lines = append(lines, ask(20, "list", "{}"))
	go func() {
		_, _ = io.WriteString(c.in, hello+"\n"+strings.Join(lines, "\n"))
		c.in.Close()
	}()
	got, err := c.rest()
	if err != nil || len(got) != 22 {
		t.Fatalf("got %d answers %v, want 22", len(got), err)
	}
	for i, line := range got[1:] {
		if r := parse(t, line); string(r.ID) != fmt.Sprint(i) || r.Result.IsError {
			t.Errorf("got %s, want the answer of %d: changes keep their order", line, i)
		}
	}
	if n := strings.Count(got[21], `\"id\":`); n != 20 {
		t.Errorf("got %d personas, want the 20 that were sent before", n)
	}
}

// TestNothing ends at once without input.
func TestNothing(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{Registry: store(t)})
	c.in.Close()
	if got, err := c.rest(); err != nil || got != nil {
		t.Errorf("got %q %v, want nothing", got, err)
	}
}

// TestOrder lets a call that changes something wait for those before it, and
// those behind it wait for it; readers run side by side.
func TestOrder(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	entered := make(chan struct{}, 1)
	c := greeted(t, Options{Registry: store(t), Writable: func(string) error {
		entered <- struct{}{}
		<-hold
		return nil
	}})
	c.send(ask(1, "register", `{"spec":`+persona("a")+`}`), ask(2, "resolve", `{"id":"a"}`),
		`{"jsonrpc":"2.0","id":3,"method":"resources/read","params":{"uri":"persona://a"}}`,
		`{"jsonrpc":"2.0","id":4,"method":"ping"}`)
	<-entered
	if r := parse(t, c.read()); string(r.ID) != "4" {
		t.Errorf("got %s first, want 4: ping waits for nobody", r.ID)
	}
	close(hold)
	for range 3 {
		if r := parse(t, c.read()); r.Error != nil || r.Result.IsError {
			t.Errorf("got %+v, want what was registered before", r)
		}
	}
}

// TestCancel ends a call that waits.
func TestCancel(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	c := greeted(t, Options{Registry: store(t), Writable: func(string) error { <-hold; return nil }})
	c.send(ask(1, "register", `{"spec":`+persona("a")+`}`), ask(2, "resolve", `{"id":"a"}`),
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2,"reason":"changed my mind"}}`)
	if r := c.answered("2"); r.Error == nil {
		t.Errorf("got %+v, want an error", r)
	}
	close(hold)
	if r := c.answered("1"); r.Result.IsError {
		t.Errorf("got %+v, want the first call's result", r)
	}
}

// TestHangUp loses nothing where the client goes in the middle of a call.
func TestHangUp(t *testing.T) {
	t.Parallel()
	r := store(t)
	hold := make(chan struct{})
	entered := make(chan struct{})
	c := greeted(t, Options{Registry: r, Writable: func(string) error { close(entered); <-hold; return nil }})
	c.send(ask(1, "register", `{"spec":`+persona("a")+`}`))
	<-entered
	c.in.Close()
	close(hold)
	if _, err := c.rest(); err != nil {
		t.Errorf("got %v, want a clean end", err)
	}
	if _, err := r.Resolve("a", "", nil); err != nil {
		t.Errorf("got %v, want the persona that was on its way", err)
	}
}

// TestNobodyReads ends without an error where the client stops reading.
func TestNobodyReads(t *testing.T) {
	t.Parallel()
	theirIn, in := io.Pipe()
	out, theirOut := io.Pipe()
	out.Close()
	done := make(chan error, 1)
	go func() { done <- New(Options{Registry: store(t)}).Serve(t.Context(), theirIn, theirOut) }()
	_, _ = io.WriteString(in, hello+"\n")
	select {
	case err := <-done:
		if err != nil {
			t.Errorf("got %v, want a clean end", err)
		}
	case <-time.After(patience):
		t.Error("the server goes on, want its end")
	}
	in.Close()
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, fmt.Errorf("no space left on device") }

// TestCannotWrite says why it ends.
func TestCannotWrite(t *testing.T) {
	t.Parallel()
	in := io.NopCloser(strings.NewReader(hello + "\n"))
	err := New(Options{Registry: store(t)}).Serve(t.Context(), in, fullDisk{})
	if err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("got %v, want the reason", err)
	}
}

// TestStop ends with the context, whatever the client does.
func TestStop(t *testing.T) {
	t.Parallel()
	theirIn, in := io.Pipe()
	defer in.Close()
	out, theirOut := io.Pipe()
	go func() { _, _ = io.Copy(io.Discard, out) }()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- New(Options{Registry: store(t)}).Serve(ctx, theirIn, theirOut) }()
	_, _ = io.WriteString(in, hello+"\n")
	cancel()
	select {
	case err := <-done:
		if err != nil {
			t.Errorf("got %v, want nil", err)
		}
	case <-time.After(patience):
		t.Error("the server goes on, want its end")
	}
}

// TestLargeArguments takes ten megabytes, and refuses what is beyond the limit
// without keeping it.
func TestLargeArguments(t *testing.T) {
	t.Parallel()
	c := greeted(t, Options{Registry: store(t)})
	big := strings.Repeat("word ", 2<<20)
	go c.send(ask(1, "register", `{"spec":`+strings.Replace(persona("a"), "Name files", big, 1)+`}`))
	if r := c.answered("1"); r.Error != nil || r.Result.IsError {
		t.Errorf("got %+v, want 10 MB stored", r.Error)
	}
	c.send(ask(2, "resolve", `{"id":"a"}`))
	if r := c.answered("2"); !strings.Contains(string(r.Result.StructuredContent), big) {
		t.Errorf("got %d bytes, want the 10 MB back", len(r.Result.StructuredContent))
	}
	go c.send(ask(3, "validate", `{"spec":{"prompt":"`+strings.Repeat("x", maxFrame)+`"}}`))
	if r := parse(t, c.read()); r.code() != -32600 || string(r.ID) != "null" {
		t.Errorf("got %+v, want -32600", r)
	}
	c.send(ask(4, "list", "{}"))
	if r := c.answered("4"); r.Result.IsError {
		t.Errorf("got %+v, want a server that lives", r)
	}
}

// TestFlood answers more calls than it takes in at once.
func TestFlood(t *testing.T) {
	t.Parallel()
	c := greeted(t, Options{Registry: store(t, "a")})
	const n = 5 * maxCalls
	go func() {
		for i := range n {
			c.send(ask(i, "resolve", `{"id":"a"}`))
		}
	}()
	seen := map[string]bool{}
	for range n {
		r := parse(t, c.read())
		if r.Error != nil || r.Result.IsError || seen[string(r.ID)] {
			t.Fatalf("got %+v, want one result for each call", r)
		}
		seen[string(r.ID)] = true
	}
}

// TestBatch answers a batch together, for clients whose protocol has them.
func TestBatch(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{Registry: store(t)})
	c.send(strings.Replace(hello, "2025-11-25", "2025-03-26", 1))
	c.read()
	c.send(`[]`)
	if r := parse(t, c.read()); r.code() != -32600 {
		t.Errorf("got %+v, want -32600", r)
	}
	c.send(`[{"jsonrpc":"2.0","method":"notifications/initialized"}]`,
		`[`+ask(1, "list", "{}")+`,`+ask(1, "list", "{}")+`,7,{"jsonrpc":"2.0","id":2,"method":"ping"}]`)
	got := c.read()
	for _, want := range []string{`"result":{}`, `\"jsonrpc\"`, `-32600`, `"structuredContent":{"result":[]}`} {
		if want != `\"jsonrpc\"` && !strings.Contains(got, want) {
			t.Errorf("got %s, want %s in it", got, want)
		}
	}
	if got[0] != '[' || strings.Count(got, `"jsonrpc"`) != 4 {
		t.Errorf("got %s, want four answers in a list", got)
	}
}

// TestTwoServers serve one registry; each sees what the other wrote.
func TestTwoServers(t *testing.T) {
	t.Parallel()
	root := store(t).Root()
	a, b := greeted(t, Options{Registry: registry.Open(root)}), greeted(t, Options{Registry: registry.Open(root)})
	for i := range 10 {
		a.send(ask(i, "register", `{"spec":`+persona(fmt.Sprintf("a-%d", i))+`}`))
		b.send(ask(i, "register", `{"spec":`+persona(fmt.Sprintf("b-%d", i))+`}`))
	}
	for i := range 10 {
		for _, c := range []*raw{a, b} {
			if r := c.answered(fmt.Sprint(i)); r.Result.IsError {
				t.Errorf("got %+v, want both to write", r)
			}
		}
	}
	a.send(ask(100, "list", "{}"))
	b.send(ask(100, "list", "{}"))
	first, second := a.answered("100"), b.answered("100")
	if d := cmp.Diff(first.Result, second.Result); d != "" || strings.Count(first.Result.Content[0].Text, `"id"`) != 20 {
		t.Errorf("got %s\nand other by %s, want the same 20", first.Result.Content[0].Text, d)
	}
}

// TestCorrupt serves on while the registry breaks under it.
func TestCorrupt(t *testing.T) {
	t.Parallel()
	r := store(t, "a", "b")
	c := greeted(t, Options{Registry: r})
	breakPersona(t, r, "a")
	c.send(ask(1, "list", "{}"), ask(2, "resolve", `{"id":"b"}`), ask(3, "resolve", `{"id":"a"}`),
		`{"jsonrpc":"2.0","id":4,"method":"resources/list"}`, `{"jsonrpc":"2.0","id":5,"method":"prompts/list"}`,
		`{"jsonrpc":"2.0","id":6,"method":"resources/read","params":{"uri":"persona://a"}}`)
	got := map[string]string{}
	for range 6 {
		line := c.read()
		got[string(parse(t, line).ID)] = line
	}
	for id, want := range map[string]string{
		"1": `REGISTRY_CORRUPT`, "2": `"id":"b"`, "3": `REGISTRY_CORRUPT`, "4": `"uri":"persona://b"`, "5": `"name":"b"`, "6": `REGISTRY_CORRUPT`,
	} {
		if !strings.Contains(got[id], want) {
			t.Errorf("%s: got %s, want %s in it", id, got[id], want)
		}
	}
	if strings.Contains(got["4"]+got["5"], `persona://a"`) {
		t.Errorf("got %s, want the broken one left out", got["4"])
	}
	c.send(ask(7, "delete", `{"id":"a"}`), ask(8, "list", "{}"))
	if r := c.answered("8"); r.Result.IsError {
		t.Errorf("got %+v, want a list without the broken one", r)
	}
}

// TestSendThenRead is for a client that reads only once it has sent all.
func TestSendThenRead(t *testing.T) {
	t.Parallel()
	c := greeted(t, Options{Registry: store(t, "a")})
	const n = 3000
	for i := range n {
		c.send(ask(i, "resolve", `{"id":"a"}`))
	}
	for range n {
		if r := parse(t, c.read()); r.Error != nil || r.Result.IsError {
			t.Fatalf("got %+v, want a result", r)
		}
	}
}

// TestStopWhileNobodyReads ends with the context although its output is stuck.
func TestStopWhileNobodyReads(t *testing.T) {
	t.Parallel()
	theirIn, in := io.Pipe()
	defer in.Close()
	out, theirOut := io.Pipe()
	defer out.Close()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- New(Options{Registry: store(t)}).Serve(ctx, theirIn, theirOut) }()
	_, _ = io.WriteString(in, hello+"\n")
	cancel()
	select {
	case <-done:
	case <-time.After(patience):
		t.Error("the server goes on, want its end")
	}
}
