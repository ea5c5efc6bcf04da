package oauth

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
)

// patience is how long a person may take to sign in.
const patience = 5 * time.Minute

// redirect waits on this machine for the browser to come back. It is open for
// one sign-in, answers one path, and takes the one answer that carries the
// state: any page could send a request here.
type redirect struct {
	address string
	srv     *http.Server
	served  chan struct{}

	mu    sync.Mutex
	state string
	got   chan answered
}

type answered struct {
	result *auth.AuthorizationResult
	err    error
}

func listen(ctx context.Context, port int) (*redirect, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, fmt.Errorf("the redirect of the sign-in: %w", err)
	}
	r := &redirect{address: "http://" + l.Addr().String() + "/callback", served: make(chan struct{}), got: make(chan answered, 1)}
	r.srv = &http.Server{Handler: r, ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second, MaxHeaderBytes: 32 << 10}
	go func() {
		defer close(r.served)
		r.srv.Serve(l)
	}()
	return r, nil
}

// close lets the last page be delivered and waits for the server's end.
func (r *redirect) close() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if r.srv.Shutdown(ctx) != nil {
		r.srv.Close()
	}
	<-r.served
}

// expect says which answer is meant; it comes before the browser does.
func (r *redirect) expect(state string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state = state
}

// wait gives what the browser brings back.
func (r *redirect) wait(ctx context.Context) (*auth.AuthorizationResult, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case a := <-r.got:
		return a.result, a.err
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return nil, fmt.Errorf("%w: nobody signed in within %v", ErrDenied, patience)
		}
		return nil, ctx.Err()
	}
}

func (r *redirect) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Content-Security-Policy", "default-src 'none'")
	h.Set("Connection", "close")
	if req.Method != http.MethodGet || req.URL.Path != "/callback" {
		http.Error(w, "nothing here", http.StatusNotFound)
		return
	}
	q := req.URL.Query()
	r.mu.Lock()
	ours := r.state != "" && q.Get("state") == r.state
	if ours {
		r.state = "" // once
	}
	r.mu.Unlock()
	if !ours {
		http.Error(w, "this answer belongs to no sign-in that is under way", http.StatusBadRequest)
		return
	}
	if code := q.Get("error"); code != "" {
		fmt.Fprint(w, page("Not signed in.", "The server has refused. You can close this page."))
		r.got <- answered{err: fmt.Errorf("%w: the authorization server says %q", ErrDenied, short(code))}
		return
	}
	if q.Get("code") == "" {
		http.Error(w, "no code", http.StatusBadRequest)
		r.got <- answered{err: errors.New("the authorization server sent no code")}
		return
	}
	fmt.Fprint(w, page("Signed in.", "You can close this page and go back to the terminal."))
	r.got <- answered{result: &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}}
}

func page(title, text string) string {
	return "<!doctype html><meta charset=utf-8><title>larva</title><h1>" + title + "</h1><p>" + text + "</p>\n"
}

func short(s string) string { return s[:min(len(s), 100)] }
