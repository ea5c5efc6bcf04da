package modeltest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// Reply is what a canned server answers to one request.
type Reply struct {
	Status int               // 0: 200
	Header map[string]string // Content-Type is text/event-stream where none is named
	Body   string
	// Then says what follows the body: "" the end, "cut" a closed connection,
	// "hang" silence until the client goes.
	Then string
}

// Server answers the nth request with the nth reply, and the last one again.
type Server struct {
	URL string

	mu      sync.Mutex
	bodies  [][]byte
	headers []http.Header
	paths   []string
}

// Serve starts a canned server for one test.
func Serve(t testing.TB, replies ...Reply) *Server {
	s := &Server{}
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		n := len(s.bodies)
		s.bodies = append(s.bodies, body)
		s.headers = append(s.headers, r.Header.Clone())
		s.paths = append(s.paths, r.URL.Path)
		s.mu.Unlock()
		replies[min(n, len(replies)-1)].write(w, r)
	}))
	t.Cleanup(h.Close)
	s.URL = h.URL
	return s
}

func (p Reply) write(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	for k, v := range p.Header {
		w.Header().Set(k, v)
	}
	if p.Status != 0 {
		w.WriteHeader(p.Status)
	}
	_, _ = io.WriteString(w, p.Body)
	w.(http.Flusher).Flush()
	switch p.Then {
	case "cut":
		panic(http.ErrAbortHandler)
	case "hang":
		<-r.Context().Done()
	}
}

// Count of requests so far.
func (s *Server) Count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.bodies)
}

// Body is the nth request's JSON, from 0.
func (s *Server) Body(t testing.TB, n int) map[string]any {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if n >= len(s.bodies) {
		t.Fatalf("the server has had %d requests, want more than %d", len(s.bodies), n)
	}
	var out map[string]any
	if err := json.Unmarshal(s.bodies[n], &out); err != nil {
		t.Fatalf("request %d is no JSON object: %v\n%s", n, err, s.bodies[n])
	}
	return out
}

// Bytes of the nth request's body, from 0.
func (s *Server) Bytes(t testing.TB, n int) []byte {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if n >= len(s.bodies) {
		t.Fatalf("the server has had %d requests, want more than %d", len(s.bodies), n)
	}
	return s.bodies[n]
}

// Header is the nth request's.
func (s *Server) Header(n int) http.Header {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.headers[n]
}

// Path is the nth request's.
func (s *Server) Path(n int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.paths[n]
}

// Cut is a stream without its last n events.
func Cut(stream string, n int) string {
	events := strings.SplitAfter(strings.TrimSuffix(stream, "\n\n"), "\n\n")
	return strings.Join(events[:len(events)-n], "")
}
