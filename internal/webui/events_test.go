package webui

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"larva.dev/larva/internal/load"
	"larva.dev/larva/internal/ops"
	"larva.dev/larva/internal/registry"
	"larva.dev/larva/internal/spec"
	"larva.dev/larva/internal/watch"
)

func TestNews(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		give []watch.Change
		want news
	}{
		{"one", []watch.Change{{Added: []string{"a"}}}, news{"a": "added"}},
		{"new and changed is new", []watch.Change{{Added: []string{"a"}}, {Changed: []string{"a"}}}, news{"a": "added"}},
		{"come and gone", []watch.Change{{Added: []string{"a"}}, {Removed: []string{"a"}}}, news{"a": "removed"}},
		{"gone and come", []watch.Change{{Removed: []string{"a"}}, {Added: []string{"a"}}}, news{"a": "changed"}},
		{"gone, come, gone", []watch.Change{{Removed: []string{"a"}}, {Added: []string{"a"}}, {Removed: []string{"a"}}}, news{"a": "removed"}},
		{"several", []watch.Change{{Added: []string{"a"}, Removed: []string{"b"}, Changed: []string{"c"}}}, news{"a": "added", "b": "removed", "c": "changed"}},
	}
	for _, tt := range tests {
		n := news{}
		for _, ch := range tt.give {
			n.add(ch)
		}
		if !reflect.DeepEqual(n, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.name, n, tt.want)
		}
	}
}

// TestHub: a listener that does not listen holds nobody up, and hears all at
// once when it does.
func TestHub(t *testing.T) {
	t.Parallel()
	h := newHub()
	slow, ok := h.join()
	if !ok {
		t.Fatal("got no place, want one")
	}
	h.ready()
	for i := range 1000 {
		h.changed(watch.Change{Changed: []string{fmt.Sprintf("p-%d", i%10)}})
	}
	<-slow.wake
	if ready, n := h.take(slow); !ready || len(n) != 10 {
		t.Errorf("got %v and %d, want ready and 10 ids", ready, len(n))
	}
	if ready, n := h.take(slow); ready || len(n) != 0 {
		t.Errorf("again: got %v and %v, want nothing", ready, n)
	}
	late, _ := h.join()
	<-late.wake
	if ready, n := h.take(late); !ready || len(n) != 0 {
		t.Errorf("late: got %v and %v, want ready alone", ready, n)
	}
	for range maxClients - 2 {
		if _, ok := h.join(); !ok {
			t.Fatal("got no place below the limit")
		}
	}
	if _, ok := h.join(); ok {
		t.Error("got a place above the limit")
	}
	h.leave(late)
	if _, ok := h.join(); !ok {
		t.Error("got no place after one left")
	}
}

// live is a whole server: listener, watching, stop.
type live struct {
	url  string
	root string
	stop func() error
}

func serveLive(t *testing.T) live {
	t.Helper()
	root := filepath.Join(t.TempDir(), "registry")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() {
		served <- Serve(ctx, Options{Ops: &ops.Service{Registry: registry.Open(root)}, Root: root, Token: token, Listener: l,
			Load: load.Options{Self: []string{os.Args[0], evalVerb}}})
	}()
	var stopped bool
	stop := func() error {
		if stopped {
			return nil
		}
		stopped = true
		cancel()
		return <-served
	}
	t.Cleanup(func() { _ = stop() })
	return live{"http://" + l.Addr().String(), root, stop}
}

// listen opens the stream of events; next gives one at a time, without the
// comments.
func (s live) listen(t *testing.T) (next func() string) {
	t.Helper()
	resp, err := http.Get(s.url + "/api/events")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("got %d %v, want a stream of events", resp.StatusCode, resp.Header)
	}
	lines := bufio.NewScanner(resp.Body)
	return func() string {
		t.Helper()
		var event []string
		for lines.Scan() {
			line := lines.Text()
			switch {
			case line == "" && len(event) > 0:
				return strings.Join(event, "\n")
			case strings.HasPrefix(line, "event:") || strings.HasPrefix(line, "data:"):
				event = append(event, line)
			}
		}
		return "end"
	}
}

// visit opens a stream and leaves; it gives the status.
func (s live) visit(t *testing.T) int {
	t.Helper()
	resp, err := http.Get(s.url + "/api/events")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode
}

// TestEvents: what another registry of the same directory does is heard.
func TestEvents(t *testing.T) {
	t.Parallel()
	s := serveLive(t)
	next := s.listen(t)
	if got := next(); got != "event: ready\ndata: {}" {
		t.Fatalf("got %q, want ready", got)
	}
	other := registry.Open(s.root)
	o, err := spec.ParseObject([]byte(clerk))
	if err != nil {
		t.Fatal(err)
	}
	patch, _ := spec.ParseObject([]byte(`{"model":"n"}`))
	for _, step := range []struct {
		do   func() error
		want string
	}{
		{func() error { _, err := other.Register(o, ""); return err }, `{"added":["tide-clerk"],"changed":[],"removed":[]}`},
		{func() error { _, err := other.Update("tide-clerk", patch, ""); return err }, `{"added":[],"changed":["tide-clerk"],"removed":[]}`},
		{func() error { return other.Delete("tide-clerk") }, `{"added":[],"changed":[],"removed":["tide-clerk"]}`},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		if got, want := next(), "event: change\ndata: "+step.want; got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
}

// TestStop: streams end with the server, and one that a client has left makes
// room again.
func TestStop(t *testing.T) {
	t.Parallel()
	s := serveLive(t)
	next := s.listen(t)
	next()
	for range maxClients + 8 {
		for s.visit(t) == http.StatusServiceUnavailable { // those that left are not noticed yet
		}
	}
	start := time.Now()
	if err := s.stop(); err != nil {
		t.Errorf("got %v, want nil", err)
	}
	if got := next(); got != "end" {
		t.Errorf("got %q, want the end of the stream", got)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("took %s, want about a second at most", took)
	}
}
