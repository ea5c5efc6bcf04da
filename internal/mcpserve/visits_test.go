package mcpserve

import (
	"testing"
	"time"
)

// TestVisits picks the session that has been silent for longest, and none
// that is in use.
func TestVisits(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	v := visits{quiet: time.Minute}
	v.end("a", start)
	v.end("b", start.Add(time.Second))
	v.end("c", start.Add(2*time.Second))
	v.begin("a")
	all := []string{"c", "b", "a", "new"}
	for _, tt := range []struct {
		after time.Duration
		want  string
	}{{time.Minute, ""}, {time.Minute + time.Second, "b"}, {time.Hour, "b"}} {
		if got := v.quietest(all, start.Add(tt.after)); got != tt.want {
			t.Errorf("after %v: got %q, want %q", tt.after, got, tt.want)
		}
	}
	v.end("a", start.Add(time.Second/2))
	if got := v.quietest([]string{"a", "c"}, start.Add(time.Hour)); got != "a" {
		t.Errorf("got %q, want a, which is used no more", got)
	}
	if len(v.seen) != 2 {
		t.Errorf("got %v remembered, want a and c", v.seen)
	}
	v.begin("")
	v.end("", start)
	if len(v.seen) != 2 {
		t.Errorf("got %v remembered, want nothing of no session", v.seen)
	}
}

// TestHTTPGoodbye begins sessions and ends none, as many clients do.
func TestHTTPGoodbye(t *testing.T) {
	t.Parallel()
	s := New(Options{Registry: store(t)})
	s.visits.quiet = 0
	url, _ := listenWith(t, s)
	first := ""
	for i := range maxSessions + 20 {
		status, header, text := post(t, url, hello)
		if status != 200 {
			t.Fatalf("session %d: got %d %s, want it served", i, status, text)
		}
		if first == "" {
			first = header.Get(sessionHeader)
		}
	}
	if got := s.sessions(); got > maxSessions {
		t.Errorf("got %d sessions, want at most %d", got, maxSessions)
	}
	if status, _, _ := post(t, url, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, sessionHeader, first); status != 404 {
		t.Errorf("got %d, want 404 for the session that made room", status)
	}
}
