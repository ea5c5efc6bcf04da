package loopback

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"larva.dev/larva/internal/diag"
)

func TestListen(t *testing.T) {
	t.Parallel()
	tests := []struct {
		addr   string
		remote bool
		bad    string // part of the message; "" is fine
	}{
		{addr: "127.0.0.1:0"},
		{addr: "localhost:0"},
		{addr: "LocalHost:0"},
		{addr: ":0"},
		{addr: "127.8.9.10:0"},
		{addr: "0.0.0.0:0", remote: true},
		{addr: "0.0.0.0:0", bad: "not an address of this machine alone"},
		{addr: "[::]:0", bad: "not an address of this machine alone"},
		{addr: "[::ffff:10.0.0.1]:0", bad: "not an address of this machine alone"},
		{addr: "192.0.2.1:0", bad: "not an address of this machine alone"},
		{addr: "example.com:0", bad: "not an address of this machine alone"},
		{addr: "localhost.example.com:0", bad: "not an address of this machine alone"},
		{addr: "127.0.0.1", bad: "HOST:PORT"},
		{addr: "127.0.0.1:http", bad: "number from 0 to 65535"},
		{addr: "127.0.0.1:65536", bad: "number from 0 to 65535"},
		{addr: "127.0.0.1:-1", bad: "number from 0 to 65535"},
		{addr: "127.0.0.1:+80", bad: "number from 0 to 65535"},
		{addr: "127.0.0.1:", bad: "number from 0 to 65535"},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%s,%v", tt.addr, tt.remote), func(t *testing.T) {
			t.Parallel()
			l, err := Listen(t.Context(), tt.addr, tt.remote)
			if tt.bad != "" {
				if e := diag.As(err); err == nil || e.ExitCode() != diag.ExitUsage || !strings.Contains(e.Message, tt.bad) || e.Details["address"] != tt.addr {
					t.Fatalf("got %v, want bad usage with %q", err, tt.bad)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			a := netip.MustParseAddrPort(l.Addr().String())
			if !tt.remote && !a.Addr().Unmap().IsLoopback() {
				t.Errorf("got %s, want a loopback address", a)
			}
			if strings.HasPrefix(tt.addr, "0.0.0.0") && !a.Addr().Is4() {
				t.Errorf("got %s, want no more than IPv4, which was asked for", a)
			}
		})
	}
}

func TestListenTaken(t *testing.T) {
	t.Parallel()
	l, err := Listen(t.Context(), "127.0.0.1:0", false)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, err = Listen(t.Context(), l.Addr().String(), false)
	if e := diag.As(err); err == nil || e.Code != diag.Internal || e.ExitCode() != 1 || !strings.Contains(e.Message, l.Addr().String()) || e.Hint == "" {
		t.Errorf("got %v, want INTERNAL, exit 1, naming the address, with a hint", err)
	}
}

func TestToken(t *testing.T) {
	t.Parallel()
	a, fresh, err := Token("")
	if err != nil || !fresh || len(a) != 64 {
		t.Errorf("got %q %v %v, want 64 digits, fresh", a, fresh, err)
	}
	if b, _, _ := Token(""); a == b {
		t.Errorf("got %s twice, want two tokens", a)
	}
	if got, fresh, err := Token("s3cret"); got != "s3cret" || fresh || err != nil {
		t.Errorf("got %q %v %v, want the one that was set", got, fresh, err)
	}
	for _, bad := range []string{"two words", "line\nbreak", "ümlaut", "\x00", strings.Repeat("x", 4097)} {
		if _, _, err := Token(bad); err == nil || diag.As(err).ExitCode() != diag.ExitUsage || strings.Contains(err.Error(), bad) {
			t.Errorf("%.10q: got %v, want bad usage that does not print it", bad, err)
		}
	}
}

func TestHasToken(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, value string
		want        bool
	}{
		{"Authorization", "Bearer tok", true},
		{"Authorization", "bearer  tok", true},
		{"X-Larva-Token", "tok", true},
		{"Authorization", "tok", false},
		{"Authorization", "Basic tok", false},
		{"Authorization", "Bearer toK", false},
		{"Authorization", "Bearer", false},
		{"Authorization", "Bearer tok ", false},
		{"X-Larva-Token", "", false},
		{"X-Other", "tok", false},
	} {
		r := httptest.NewRequest("POST", "/", nil)
		r.Header.Set(tt.name, tt.value)
		if got := HasToken(r, "tok"); got != tt.want {
			t.Errorf("%s: %q: got %v, want %v", tt.name, tt.value, got, tt.want)
		}
	}
	if HasToken(httptest.NewRequest("POST", "/", nil), "") {
		t.Error("an empty token let a request in")
	}
}

// guarded serves a guard on a fake address and gives the answer's status.
func guarded(g Guard, method, path, host string, headers ...string) int {
	g.Addr = &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7400}
	g.Token = "tok"
	g.Refuse = func(w http.ResponseWriter, _ *http.Request, status int, _ *diag.Error) { w.WriteHeader(status) }
	r := httptest.NewRequest(method, path, nil)
	r.Host = host
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	g.Wrap(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})).ServeHTTP(w, r)
	return w.Code
}

func TestGuard(t *testing.T) {
	t.Parallel()
	reads := func(r *http.Request) bool { return r.Method == "GET" }
	page := func(r *http.Request) bool { return r.URL.Path == "/" }
	const us, auth, tok = "127.0.0.1:7400", "Authorization", "Bearer tok"
	tests := []struct {
		name   string
		guard  Guard
		method string
		path   string
		host   string
		header []string
		want   int
	}{
		{"token", Guard{}, "GET", "/", us, []string{auth, tok}, 200},
		{"no token", Guard{}, "GET", "/", us, nil, 401},
		{"wrong token", Guard{}, "GET", "/", us, []string{auth, "Bearer x"}, 401},
		{"read", Guard{NoToken: reads}, "GET", "/", us, nil, 200},
		{"write", Guard{NoToken: reads}, "POST", "/", us, nil, 401},
		{"localhost", Guard{NoToken: reads}, "GET", "/", "localhost:7400", nil, 200},
		{"Localhost", Guard{NoToken: reads}, "GET", "/", "LOCALHOST:7400", nil, 200},
		{"::1", Guard{NoToken: reads}, "GET", "/", "[::1]:7400", nil, 200},
		{"other loopback", Guard{NoToken: reads}, "GET", "/", "127.1.2.3:7400", nil, 200},
		{"other port", Guard{NoToken: reads}, "GET", "/", "127.0.0.1:7401", nil, 403},
		{"no port", Guard{NoToken: reads}, "GET", "/", "127.0.0.1", nil, 403},
		{"rebound name", Guard{NoToken: reads}, "GET", "/", "evil.example:7400", nil, 403},
		{"rebound name with token", Guard{NoToken: reads}, "POST", "/", "evil.example:7400", []string{auth, tok}, 403},
		{"name that begins like ours", Guard{NoToken: reads}, "GET", "/", "localhost.evil.example:7400", nil, 403},
		{"name that begins like our address", Guard{NoToken: reads}, "GET", "/", "127.0.0.1.evil.example:7400", nil, 403},
		{"number", Guard{NoToken: reads}, "GET", "/", "2130706433:7400", nil, 403},
		{"short address", Guard{NoToken: reads}, "GET", "/", "127.1:7400", nil, 403},
		{"all addresses", Guard{NoToken: reads}, "GET", "/", "0.0.0.0:7400", nil, 403},
		{"empty host", Guard{NoToken: reads}, "GET", "/", "", nil, 403},
		{"user in host", Guard{NoToken: reads}, "GET", "/", "127.0.0.1:7400@evil.example", nil, 403},
		{"same origin", Guard{}, "POST", "/", us, []string{auth, tok, "Origin", "http://127.0.0.1:7400", "Sec-Fetch-Site", "same-origin"}, 200},
		{"cross origin", Guard{}, "POST", "/", us, []string{auth, tok, "Origin", "https://evil.example"}, 403},
		{"origin null", Guard{}, "POST", "/", us, []string{auth, tok, "Origin", "null"}, 403},
		{"origin on another port", Guard{}, "POST", "/", us, []string{auth, tok, "Origin", "http://127.0.0.1:3000"}, 403},
		{"origin by another name", Guard{}, "POST", "/", us, []string{auth, tok, "Origin", "http://localhost:7400"}, 403},
		{"origin https", Guard{}, "POST", "/", us, []string{auth, tok, "Origin", "https://127.0.0.1:7400"}, 403},
		{"empty origin", Guard{}, "POST", "/", us, []string{auth, tok, "Origin", ""}, 403},
		{"two origins", Guard{}, "POST", "/", us, []string{auth, tok, "Origin", "http://127.0.0.1:7400", "Origin", "https://evil.example"}, 403},
		{"cross site", Guard{NoToken: reads}, "GET", "/", us, []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"same site is another port", Guard{NoToken: reads}, "GET", "/", us, []string{"Sec-Fetch-Site", "same-site"}, 403},
		{"typed address", Guard{NoToken: reads}, "GET", "/", us, []string{"Sec-Fetch-Site", "none"}, 200},
		{"link elsewhere", Guard{NoToken: reads, Entry: page}, "GET", "/", us, []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, 200},
		{"frame elsewhere", Guard{NoToken: reads, Entry: page}, "GET", "/", us, []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "iframe"}, 403},
		{"link to data", Guard{NoToken: reads, Entry: page}, "GET", "/api", us, []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, 403},
		{"form elsewhere", Guard{Entry: page}, "POST", "/", us, []string{auth, tok, "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, 403},
		{"remote", Guard{AllowRemote: true}, "POST", "/", "box.example:7400", []string{auth, tok}, 200},
		{"remote, no token", Guard{AllowRemote: true, NoToken: reads}, "GET", "/", "box.example:7400", nil, 401},
		{"remote behind TLS", Guard{AllowRemote: true}, "POST", "/", "box.example", []string{auth, tok, "Origin", "https://box.example"}, 200},
		{"remote, cross origin", Guard{AllowRemote: true}, "POST", "/", "box.example:7400", []string{auth, tok, "Origin", "https://evil.example"}, 403},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := guarded(tt.guard, tt.method, tt.path, tt.host, tt.header...); got != tt.want {
				t.Errorf("got %d, want %d", got, tt.want)
			}
		})
	}
}

// TestServeStops holds Serve to its word: a stream ends with ctx, and so does
// a peer that never says what it wants.
func TestServeStops(t *testing.T) {
	t.Parallel()
	l, err := Listen(t.Context(), "127.0.0.1:0", false)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	served := make(chan error, 1)
	go func() {
		served <- Serve(ctx, l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if err := Stream(w); err != nil {
				t.Errorf("got %v, want a stream", err)
			}
			fmt.Fprintln(w, "begun")
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
			fmt.Fprintln(w, "ended")
		}))
	}()
	silent, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	fmt.Fprint(silent, "GET / HTTP/1.1\r\nHost: ")
	resp, err := http.Get("http://" + l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body := bufio.NewReader(resp.Body)
	if line, err := body.ReadString('\n'); line != "begun\n" {
		t.Fatalf("got %q %v, want begun", line, err)
	}
	start := time.Now()
	cancel()
	if rest, err := io.ReadAll(body); string(rest) != "ended\n" {
		t.Errorf("got %q %v, want ended", rest, err)
	}
	if err := <-served; err != nil {
		t.Errorf("got %v, want nil", err)
	}
	if took := time.Since(start); took > graceTime+5*time.Second {
		t.Errorf("took %s, want at most the grace time", took)
	}
	if _, err := net.Dial("tcp", l.Addr().String()); err == nil {
		t.Error("the listener still stands")
	}
}

// TestSlowPeer: a peer that sends its header a byte at a time is cut off, and
// nobody waits for it meanwhile.
func TestSlowPeer(t *testing.T) {
	t.Parallel()
	l, err := Listen(t.Context(), "127.0.0.1:0", false)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- Serve(ctx, l, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})) }()
	defer func() { cancel(); <-served }()
	start := time.Now()
	slow := make([]net.Conn, 50)
	for i := range slow {
		if slow[i], err = net.Dial("tcp", l.Addr().String()); err != nil {
			t.Fatal(err)
		}
		defer slow[i].Close()
		fmt.Fprint(slow[i], "POST / HTTP/1.1\r\nHost: ")
	}
	resp, err := http.Get("http://" + l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if took := time.Since(start); took > headerTime {
		t.Errorf("an honest request took %s, want less than a slow one's limit", took)
	}
	go func() { // one of them keeps sending
		for ctx.Err() == nil {
			if _, err := slow[0].Write([]byte("x")); err != nil {
				return
			}
			select {
			case <-ctx.Done():
			case <-time.After(100 * time.Millisecond):
			}
		}
	}()
	for _, c := range slow {
		_ = c.SetReadDeadline(start.Add(headerTime + 10*time.Second))
		if _, err := io.ReadAll(c); err != nil && !strings.Contains(err.Error(), "reset") {
			t.Fatalf("got %v, want the connection's end", err)
		}
	}
}

// TestBigHeader: a header beyond the limit is refused.
func TestBigHeader(t *testing.T) {
	t.Parallel()
	l, err := Listen(t.Context(), "127.0.0.1:0", false)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- Serve(ctx, l, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})) }()
	defer func() { cancel(); <-served }()
	for _, path := range []string{"/" + strings.Repeat("a", 1<<20), "/"} {
		req, err := http.NewRequest("GET", "http://"+l.Addr().String()+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if path == "/" {
			req.Header.Set("X-Long", strings.Repeat("a", 1<<20))
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			continue // cut off while it still sends: refused as well
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
			t.Errorf("got %d, want 431", resp.StatusCode)
		}
	}
}
