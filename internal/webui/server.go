package webui

import (
	"context"
	"net"
	"net/http"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/load"
	"larva.dev/larva/internal/loopback"
	"larva.dev/larva/internal/ops"
	"larva.dev/larva/internal/watch"
	"larva.dev/larva/internal/webui/page"
)

// Options is what a server needs. Ops, Root, Token and Listener are required.
type Options struct {
	Ops *ops.Service
	// Root is the registry's directory, which is watched.
	Root  string
	Token string
	// Listener is closed by Serve.
	Listener net.Listener
	// Load says how CUE that comes in is evaluated: only Self counts, and it
	// should be set, since nobody has read that text.
	Load load.Options
	// Say takes one line about what the operator should know: a fault of ours,
	// or of the watching. It is called from many goroutines. nil is allowed.
	Say func(line string)
}

// Serve answers until ctx ends; then requests on their way end, streams too,
// and it gives nil. It starts the watching of the registry and waits for it.
func Serve(ctx context.Context, o Options) error {
	s, err := newServer(o)
	if err != nil {
		_ = o.Listener.Close()
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		watch.Watch(ctx, o.Root, watch.Options{Ready: s.hub.ready, Changed: s.hub.changed, Trouble: func(err error) {
			s.say("changes by other programs are seen with a delay: " + err.Error())
		}})
	}()
	err = loopback.Serve(ctx, o.Listener, s.handler())
	cancel()
	<-watched
	return err
}

// server answers requests. It is read-only after newServer but for the hub.
type server struct {
	Options
	routes router
	files  map[string]asset
	index  asset
	hub    *hub
	// evaluating bounds how many texts are read at once: each may take a child
	// process with a gigabyte.
	evaluating chan struct{}
}

func newServer(o Options) (*server, error) {
	s := &server{Options: o, hub: newHub(), evaluating: make(chan struct{}, maxEvaluating)}
	s.routes = newRouter(table)
	s.index = newAsset("index.html", page.Index(o.Token))
	var err error
	s.files, err = assets(page.Assets())
	return s, err
}

func (s *server) say(line string) {
	if s.Say != nil {
		s.Say(line)
	}
}

// handler is everything in its order: headers, the guard, the catching of
// faults, the routes.
func (s *server) handler() http.Handler {
	guard := loopback.Guard{
		Token:   s.Token,
		Addr:    s.Listener.Addr(),
		NoToken: s.open,
		Entry:   func(r *http.Request) bool { return r.URL.Path == "/" },
		Refuse: func(w http.ResponseWriter, _ *http.Request, status int, e *diag.Error) {
			writeError(w, status, e)
		},
	}
	return headers(s.caught(guard.Wrap(http.HandlerFunc(s.route))))
}

// open says which requests need no token: those that change nothing. What
// they tell is what the files tell the same person, and pages of other sites
// are kept out by Host, Origin and the lack of CORS headers.
func (s *server) open(r *http.Request) bool {
	m := s.routes.match(r.Method, r.URL.EscapedPath())
	return m.route == nil || !m.route.token
}

// headers are those of every answer. Nothing here may be kept, framed, or
// read by a page of another origin.
func headers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

// caught turns a fault of ours into an answer; the server lives on.
func (s *server) caught(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begun := &begun{ResponseWriter: w}
		defer func() {
			switch v := recover(); {
			case v == nil:
			case v == http.ErrAbortHandler:
				panic(v)
			default:
				s.say("a fault of larva itself: " + r.Method + " " + r.URL.EscapedPath() + ": " + faultText(v))
				if begun.yes {
					panic(http.ErrAbortHandler) // half an answer must not pass for a whole one
				}
				writeError(w, http.StatusInternalServerError, diag.New(diag.Internal, "a fault of larva itself"))
			}
		}()
		next.ServeHTTP(begun, r)
	})
}

// begun remembers whether an answer was begun.
type begun struct {
	http.ResponseWriter
	yes bool
}

func (b *begun) WriteHeader(status int) {
	b.yes = true
	b.ResponseWriter.WriteHeader(status)
}

func (b *begun) Write(p []byte) (int, error) {
	b.yes = true
	return b.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController reach the connection.
func (b *begun) Unwrap() http.ResponseWriter { return b.ResponseWriter }
