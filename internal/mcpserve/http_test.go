package mcpserve

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"larva.dev/larva/internal/loopback"
)

// listen serves over HTTP until the test ends, and gives the address and what
// stops the server early.
func listen(t *testing.T, o Options) (url string, stop func()) {
	t.Helper()
	return listenWith(t, New(o))
}

func listenWith(t *testing.T, s *Server) (url string, stop func()) {
	t.Helper()
	l, err := loopback.Listen(t.Context(), "127.0.0.1:0", false)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.ServeHTTP(ctx, l, "tok", false) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("got %v, want a clean end", err)
			}
		case <-time.After(patience):
			t.Error("the server goes on, want its end")
		}
	}
	t.Cleanup(stop)
	return "http://" + l.Addr().String() + Path, stop
}

// post sends one body. headers are pairs; those of a client are there already.
func post(t *testing.T, url, body string, headers ...string) (status int, header http.Header, text string) {
	t.Helper()
	return request(t, http.MethodPost, url, body, append([]string{"Authorization", "Bearer tok"}, headers...)...)
}

func request(t *testing.T, method, url, body string, headers ...string) (status int, header http.Header, text string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			req.Host = headers[i+1]
		}
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, res.Header, string(data)
}

// TestHTTPGate keeps out who has no token or comes from elsewhere, and judges
// bodies as stdio judges lines.
func TestHTTPGate(t *testing.T) {
	t.Parallel()
	url, _ := listen(t, Options{Registry: store(t)})
	base := strings.TrimSuffix(url, Path)
	port := url[strings.LastIndex(url, ":"):strings.LastIndex(url, "/")]
	const auth, tok = "Authorization", "Bearer tok"
	for _, tt := range []struct {
		name, method, url, body string
		headers                 []string
		status                  int
		text                    string
	}{
		{"no token", "POST", url, hello, nil, 401, "REQUEST_REFUSED"},
		{"wrong token", "POST", url, hello, []string{auth, "Bearer tol"}, 401, "REQUEST_REFUSED"},
		{"token in the address", "POST", url + "?token=tok", hello, nil, 401, "REQUEST_REFUSED"},
		{"basic", "POST", url, hello, []string{auth, "Basic tok"}, 401, "REQUEST_REFUSED"},
		{"listening without token", "GET", url, "", nil, 401, "REQUEST_REFUSED"},
		{"another host", "POST", url, hello, []string{auth, tok, "Host", "evil.example"}, 403, "REQUEST_REFUSED"},
		{"another name for us", "POST", url, hello, []string{auth, tok, "Host", "localhost" + port}, 200, `"serverInfo"`},
		{"another origin", "POST", url, hello, []string{auth, tok, "Origin", "https://evil.example"}, 403, "REQUEST_REFUSED"},
		{"our origin", "POST", url, hello, []string{auth, tok, "Origin", base}, 200, `"serverInfo"`},
		{"sign in", "GET", base + "/.well-known/oauth-protected-resource", "", nil, 404, "not found"},
		{"elsewhere", "GET", base + "/", "", []string{auth, tok}, 404, "not found"},
		{"below", "POST", url + "/x", hello, []string{auth, tok}, 404, "not found"},
		{"form", "POST", url, hello, []string{auth, tok, "Content-Type", "text/plain"}, 415, "application/json"},
		{"no list of what is accepted", "POST", url, hello, []string{auth, tok, "Accept", "text/html"}, 400, "Accept"},
		{"text", "POST", url, "Starting up…", []string{auth, tok}, 400, "-32700"},
		{"nothing", "POST", url, "", []string{auth, tok}, 400, "-32700"},
		{"no UTF-8", "POST", url, "\"\xff\"", []string{auth, tok}, 400, "-32700"},
		{"two messages", "POST", url, hello + hello, []string{auth, tok}, 400, "-32700"},
		{"no request", "POST", url, "{}", []string{auth, tok}, 400, "-32600"},
		{"null id", "POST", url, strings.Replace(hello, `"hello"`, "null", 1), []string{auth, tok}, 400, "-32600"},
		{"too large", "POST", url, strings.Repeat(" ", maxFrame+1), []string{auth, tok}, 413, "-32600"},
		{"no such session", "POST", url, hello, []string{auth, tok, sessionHeader, "x"}, 404, "session"},
		{"another method", "PUT", url, hello, []string{auth, tok}, 405, "Method"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			status, header, text := request(t, tt.method, tt.url, tt.body, tt.headers...)
			if status != tt.status || !strings.Contains(text, tt.text) {
				t.Errorf("got %d %s, want %d and %s", status, text, tt.status, tt.text)
			}
			if status == 401 && !strings.HasPrefix(header.Get("WWW-Authenticate"), "Bearer") {
				t.Errorf("got %v, want a challenge", header)
			}
			if strings.Contains(text, "tok\"") {
				t.Errorf("got %s, want no token", text)
			}
		})
	}
}

// withToken adds the token to a client's requests.
type withToken struct{}

func (withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer tok")
	return http.DefaultTransport.RoundTrip(r)
}

func connectHTTP(t *testing.T, url string, o *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, o)
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{
		Endpoint: url, HTTPClient: &http.Client{Transport: withToken{}}, MaxRetries: -1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// TestHTTPClient does over HTTP what the other tests do over stdio, with two
// clients at once.
func TestHTTPClient(t *testing.T) {
	t.Parallel()
	r := store(t, "a")
	changed := make(chan func([]string), 1)
	url, _ := listen(t, Options{Registry: r, Watch: func(ctx context.Context, c func([]string)) {
		changed <- c
		<-ctx.Done()
	}})
	updated := make(chan string, 9)
	answer := "decline"
	s := connectHTTP(t, url, &mcp.ClientOptions{
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: answer}, nil
		},
		ResourceUpdatedHandler: func(_ context.Context, req *mcp.ResourceUpdatedNotificationRequest) { updated <- req.Params.URI },
	})
	other := connectHTTP(t, url, &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}})
	if err := s.Subscribe(t.Context(), &mcp.SubscribeParams{URI: "persona://a"}); err != nil {
		t.Fatal(err)
	}
	if got, bad := callTool(t, other, "larva_list", nil); bad || len(got["result"].([]any)) != 1 {
		t.Errorf("got %v, want a list of one", got)
	}
	if got, bad := callTool(t, other, "larva_resolve", map[string]any{"id": "x"}); !bad || got["code"] != "PERSONA_NOT_FOUND" {
		t.Errorf("got %v, want PERSONA_NOT_FOUND", got)
	}
	if got, bad := callTool(t, s, "larva_delete", map[string]any{"id": "a"}); !bad || got["code"] != "REGISTRY_DELETE_FAILED" {
		t.Errorf("got %v, want a persona that is kept", got)
	}
	answer = "accept"
	if got, bad := callTool(t, s, "larva_delete", map[string]any{"id": "a"}); bad {
		t.Errorf("got %v, want it deleted", got)
	}
	(<-changed)([]string{"a"})
	if got := await(t, updated); got != "persona://a" {
		t.Errorf("got %s, want persona://a", got)
	}
	big := map[string]any{"spec": map[string]any{"prompt": strings.Repeat("word ", 2<<20)}}
	if got, bad := callTool(t, other, "larva_validate", big); bad || got["valid"] != false {
		t.Errorf("got %v, want a report on 10 MB", got)
	}
}

// TestHTTPStops while a client listens and another is asked.
func TestHTTPStops(t *testing.T) {
	t.Parallel()
	r := store(t, "a")
	url, stop := listen(t, Options{Registry: r})
	asked := make(chan struct{})
	s := connectHTTP(t, url, &mcp.ClientOptions{
		ElicitationHandler: func(ctx context.Context, _ *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			close(asked)
			<-ctx.Done()
			return nil, ctx.Err()
		}})
	deleted := make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		_, err := s.CallTool(ctx, &mcp.CallToolParams{Name: "larva_delete", Arguments: map[string]any{"id": "a"}})
		deleted <- err
	}()
	await(t, asked)
	stop()
	cancel()
	await(t, deleted)
	if _, err := r.Resolve("a", "", nil); err != nil {
		t.Errorf("got %v, want the persona kept", err)
	}
}

// TestHTTPSessions are bounded where all are in use.
func TestHTTPSessions(t *testing.T) {
	t.Parallel()
	s := New(Options{Registry: store(t)})
	s.visits.quiet = time.Hour
	url, _ := listenWith(t, s)
	var id string
	for range maxSessions {
		status, header, text := post(t, url, hello)
		if id = header.Get(sessionHeader); status != 200 || id == "" {
			t.Fatalf("got %d %s, want a session", status, text)
		}
	}
	status, header, text := post(t, url, hello)
	if status != 503 || header.Get("Retry-After") == "" || !strings.Contains(text, "too many sessions") {
		t.Errorf("got %d %s, want 503", status, text)
	}
	if status, _, text := post(t, url, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, sessionHeader, id); status != 200 {
		t.Errorf("got %d %s, want those that are there served", status, text)
	}
	if status, _, text := request(t, http.MethodDelete, url, "", "Authorization", "Bearer tok", sessionHeader, id); status != 204 {
		t.Errorf("got %d %s, want it ended", status, text)
	}
	if status, _, text := post(t, url, hello); status != 200 {
		t.Errorf("got %d %s, want room for one", status, text)
	}
}
