package mcpserve

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/loopback"
	"larva.dev/larva/internal/spec"
)

// Path is where the protocol is spoken over HTTP.
const Path = "/mcp"

const (
	// maxSessions bounds what clients that never say goodbye leave behind.
	maxSessions = 128
	// sessionTime is how long a client may be silent; its next request is told
	// that the session is gone, and it begins a new one.
	sessionTime = time.Hour
	// writeTime is how long one write may wait for a client that does not read.
	writeTime = time.Minute
	// sessionHeader names a client's session.
	sessionHeader = "Mcp-Session-Id"
)

// ServeHTTP serves clients on l, with the token always, until ctx ends; calls
// under way have a moment to end then. l is closed.
func (s *Server) ServeHTTP(ctx context.Context, l net.Listener, token string, allowRemote bool) error {
	s.addTools() // the SDK looks a tool up before the call
	watching, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		dropStart()
		s.follow(watching)
	})
	defer wg.Wait()
	defer stop()
	defer context.AfterFunc(ctx, s.end)()
	guard := loopback.Guard{Token: token, Addr: l.Addr(), AllowRemote: allowRemote, Refuse: refuseHTTP}
	if !allowRemote {
		guard.NoToken = elsewhere
	}
	err := loopback.Serve(ctx, l, guard.Wrap(s.handler()))
	s.end()
	s.closeSessions()
	return err
}

// elsewhere are the paths where nothing is: a client that looks there for a way
// to sign in is to hear that there is none, not that it needs a token.
func elsewhere(r *http.Request) bool { return r.URL.Path != Path }

// closeSessions ends what is left of the sessions; none has a request any
// more, and a call that hangs beyond its request is left behind.
func (s *Server) closeSessions() {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for session := range s.mcp.Sessions() {
			_ = session.Close()
		}
	}()
	select {
	case <-done:
	case <-time.After(grace):
	}
}

// refuseHTTP answers a request that the guard turns away.
func refuseHTTP(w http.ResponseWriter, _ *http.Request, status int, e *diag.Error) {
	answerHTTP(w, status, spec.AppendCanonical(nil, map[string]any{"error": envelope(e)}))
}

func answerHTTP(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", jsonType)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n')) // a client that has gone needs no answer
}

// handler is what stands behind the guard.
func (s *Server) handler() http.Handler {
	sdk := mcp.NewStreamableHTTPHandler(
		func(*http.Request) *mcp.Server { return s.mcp },
		&mcp.StreamableHTTPOptions{
			SessionTimeout: sessionTime, MaxRequestBodyBytes: maxFrame,
			DisableLocalhostProtection: true, // the guard's, which also knows the port
		})
	mux := http.NewServeMux()
	mux.HandleFunc(Path, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && !s.admit(w, r) {
			return
		}
		if err := loopback.Stream(w); err != nil { // answers may take as long as a person does
			refuseHTTP(w, r, http.StatusInternalServerError, diag.New(diag.Internal, "%v", err))
			return
		}
		id := r.Header.Get(sessionHeader)
		s.visits.begin(id)
		defer func() {
			if id == "" { // a new session's id stands in the answer
				id = w.Header().Get(sessionHeader)
			}
			s.visits.end(id, time.Now())
		}()
		sdk.ServeHTTP(patient{w, http.NewResponseController(w)}, r)
	})
	return mux
}

// admit reads a message whole, in the time that the listener gives it, and
// judges it as a line on stdio is judged. Where it is none, the answer has
// been written.
func (s *Server) admit(w http.ResponseWriter, r *http.Request) bool {
	if r.Header.Get(sessionHeader) == "" && s.sessions() >= maxSessions && !s.makeRoom() {
		w.Header().Set("Retry-After", "60")
		answerHTTP(w, http.StatusServiceUnavailable, refusal(&jsonrpc.Error{Code: rejected, Message: "there are too many sessions; end one with DELETE"}))
		return false
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxFrame))
	var tooLong *http.MaxBytesError
	switch {
	case errors.As(err, &tooLong):
		answerHTTP(w, http.StatusRequestEntityTooLarge, refusal(invalid(errTooLong.Error())))
		return false
	case err != nil:
		answerHTTP(w, http.StatusBadRequest, refusal(invalid("the message ends early")))
		return false
	}
	if e := judgeBody(body); e != nil {
		answerHTTP(w, http.StatusBadRequest, refusal(e))
		return false
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return true
}

// judgeBody is what stdio asks of a line, for a body, which may also be a batch of the older
// protocol; the SDK knows which that is.
func judgeBody(body []byte) *jsonrpc.Error {
	if e := wellFormed(body); e != nil {
		return e
	}
	if bytes.TrimSpace(body)[0] == '[' {
		return nil
	}
	_, e := message(body)
	return e
}

func (s *Server) sessions() (n int) {
	for range s.mcp.Sessions() {
		n++
	}
	return n
}

// patient writes to a client for as long as the answer goes on, but no single
// write waits for long.
type patient struct {
	http.ResponseWriter
	control *http.ResponseController
}

func (p patient) Write(b []byte) (int, error) {
	if err := p.control.SetWriteDeadline(time.Now().Add(writeTime)); err != nil {
		return 0, err
	}
	return p.ResponseWriter.Write(b)
}

// Unwrap leads http.ResponseController to the writer below.
func (p patient) Unwrap() http.ResponseWriter { return p.ResponseWriter }
