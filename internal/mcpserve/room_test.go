package mcpserve

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// TestRoom lets in as many as there is room for, the others in their order,
// and nobody while the client has much to read.
func TestRoom(t *testing.T) {
	t.Parallel()
	var r room
	ctx := context.Background()
	for range maxMaking {
		if err := r.enter(ctx); err != nil {
			t.Fatal(err)
		}
	}
	over, cancel := context.WithCancel(ctx)
	cancel()
	if r.enter(over) == nil {
		t.Errorf("got one more than %d, want it to wait", maxMaking)
	}
	r.full(true)
	for range maxMaking {
		r.leave()
	}
	if r.enter(over) == nil {
		t.Error("got an answer made for a client that does not read, want it to wait")
	}
	entered := make(chan error)
	go func() { entered <- r.enter(ctx) }()
	r.full(false)
	if err := <-entered; err != nil {
		t.Error(err)
	}
	r.leave()
	if r.making != 0 || len(r.queue) != 0 {
		t.Errorf("got %d inside and %d waiting, want nobody", r.making, len(r.queue))
	}
}

// TestRoomCrowd fills the room with callers who give up.
func TestRoomCrowd(t *testing.T) {
	t.Parallel()
	var r room
	done := make(chan struct{})
	for i := range 400 {
		go func() {
			defer func() { done <- struct{}{} }()
			ctx, cancel := context.WithCancel(context.Background())
			if i%3 == 0 {
				go cancel()
			}
			defer cancel()
			if r.enter(ctx) == nil {
				r.full(i%2 == 0)
				r.full(false)
				r.leave()
			}
		}()
	}
	for range 400 {
		<-done
	}
	if r.making != 0 || len(r.queue) != 0 {
		t.Errorf("got %d inside and %d waiting, want nobody", r.making, len(r.queue))
	}
}

// TestNotificationsCostNothing floods the connection with what means nothing
// here, which the SDK would keep.
func TestNotificationsCostNothing(t *testing.T) {
	t.Parallel()
	c := newConn(io.NopCloser(strings.NewReader("")), io.Discard)
	c.accept([]byte(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"larva_list"}}`))
	for range 1000 {
		for _, line := range []string{
			`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
			`{"jsonrpc":"2.0","method":"notifications/progress","params":{}}`,
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":8}}`,
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`,
			`{"jsonrpc":"2.0","method":"notifications/cancelled"}`,
			`{"jsonrpc":"2.0","id":9,"result":{}}`,
		} {
			c.accept([]byte(line))
		}
	}
	cancels := 0
	for _, m := range c.queue {
		if r, ok := m.(*jsonrpc.Request); ok && r.Method == "notifications/cancelled" {
			cancels++
		}
	}
	if want := 1 + maxGreetings + 1; len(c.queue) != want || cancels != 1 {
		t.Errorf("got %d messages with %d cancellations for the SDK, want %d with 1", len(c.queue), cancels, want)
	}
}

// TestErrorsAreShort sends what is wrong and long; the error does not send it
// back.
func TestErrorsAreShort(t *testing.T) {
	t.Parallel()
	c := greeted(t, Options{Registry: store(t)})
	long := strings.Repeat("1", 1<<20)
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":%s,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":1,"method":"%s"}`,
		`{"jsonrpc":"2.0","id":1,"method":"ping","params":"%s"}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%s}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"larva_%s"}}`,
		`{"jsonrpc":"%s","id":1,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":1,"method":%s}`,
	} {
		c.send(fmt.Sprintf(line, long))
		got := c.read()
		if r := parse(t, got); r.Error == nil || len(got) > 2000 {
			t.Errorf("%s: got %d bytes, want a short error", line, len(got))
		}
	}
}

// TestInitializeWithWrongTypes says that the parameters are at fault.
func TestInitializeWithWrongTypes(t *testing.T) {
	t.Parallel()
	c := serve(t, Options{Registry: store(t)})
	c.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":5}}`)
	if r := c.answered("1"); r.code() != -32602 {
		t.Errorf("got %+v, want -32602", r)
	}
}
