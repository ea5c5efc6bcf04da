package sandbox

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// gate is a proxy on a socket of its own, and a client that goes through it.
func gate(t *testing.T, allow []string, names map[string]string) (*proxy, *http.Client, string) {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "p")
	ln, err := net.Listen("unix", socket)
	if err != nil {
		t.Skip(err)
	}
	p := newProxy(ln, allow)
	t.Cleanup(p.close)
	p.resolve = func(_ context.Context, host string) ([]netip.Addr, error) {
		if ip, ok := names[host]; ok {
			return []netip.Addr{netip.MustParseAddr(ip)}, nil
		}
		return nil, errors.New("no such host")
	}
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{
		Proxy: func(*http.Request) (*url.URL, error) { return url.Parse("http://proxy.test") },
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		},
	}}
	return p, client, socket
}

func TestProxyPlain(t *testing.T) {
	t.Parallel()
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s %s %q", r.Method, r.Host, b, r.Header.Get("Proxy-Authorization"))
	}))
	defer up.Close()
	_, port, _ := net.SplitHostPort(up.Listener.Addr().String())
	p, client, _ := gate(t, []string{"127.0.0.1", "rebind.test", "localhost"}, map[string]string{"rebind.test": "127.0.0.1", "localhost": "127.0.0.1", "meta.test": "169.254.169.254"})
	for _, c := range []struct {
		url    string
		status int
		want   string
	}{
		{"http://127.0.0.1:" + port + "/", 200, "POST 127.0.0.1:" + port + ` body ""`},
		{"http://localhost:" + port + "/", 200, "POST localhost:" + port + ` body ""`},
		{"http://rebind.test:" + port + "/", 403, "leads to this machine"},
		{"http://other.test:" + port + "/", 403, "not in sandbox.allowed_domains"},
		{"http://169.254.169.254/latest/meta-data/", 403, "not in sandbox.allowed_domains"},
		{"http://[::1]:" + port + "/", 403, "not in"},
	} {
		req, err := http.NewRequest("POST", c.url, strings.NewReader("body"))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Proxy-Authorization", "secret")
		r, err := client.Do(req)
		if err != nil {
			t.Errorf("%s: %v", c.url, err)
			continue
		}
		b, _ := io.ReadAll(r.Body)
		r.Body.Close()
		if r.StatusCode != c.status || !strings.Contains(string(b), c.want) {
			t.Errorf("%s: got %d %q, want %d %q", c.url, r.StatusCode, b, c.status, c.want)
		}
	}
	if got, want := p.takeRefused(), []string{"169.254.169.254", "::1", "other.test", "rebind.test"}; !slices.Equal(got, want) {
		t.Errorf("refused: got %q, want %q", got, want)
	}
	if got := p.takeRefused(); len(got) != 0 {
		t.Errorf("refused twice: %q", got)
	}
}

func TestProxyTunnel(t *testing.T) {
	t.Parallel()
	up := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "through") }))
	defer up.Close()
	_, client, _ := gate(t, []string{"127.0.0.1"}, nil)
	client.Transport.(*http.Transport).TLSClientConfig = up.Client().Transport.(*http.Transport).TLSClientConfig
	r, err := client.Get(up.URL)
	if err != nil {
		t.Fatal(err)
	}
	b, _ := io.ReadAll(r.Body)
	r.Body.Close()
	if string(b) != "through" {
		t.Errorf("got %q, want through", b)
	}
	if _, err := client.Get("https://other.test/"); err == nil || !strings.Contains(err.Error(), "Forbidden") {
		t.Errorf("other.test: %v, want Forbidden", err)
	}
}

// TestProxyHostile sends what no client would. Each gets an error, and the
// proxy goes on.
func TestProxyHostile(t *testing.T) {
	t.Parallel()
	_, client, socket := gate(t, []string{"127.0.0.1"}, nil)
	for _, text := range []string{
		"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", "CONNECT 127.0.0.1:0 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
		"CONNECT evil.test:443 HTTP/1.1\r\nHost: 127.0.0.1:443\r\n\r\n", "GET ftp://127.0.0.1/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
		"GET http://evil.test/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", "\x00\x01\x02\r\n\r\n", "GET http://\x1b[31m/ HTTP/1.1\r\n\r\n",
		"CONNECT 127.0.0.1@evil.test:443 HTTP/1.1\r\n\r\n", "GET " + strings.Repeat("a", 1<<17),
	} {
		c, err := net.Dial("unix", socket)
		if err != nil {
			t.Fatal(err)
		}
		_ = c.SetDeadline(time.Now().Add(10 * time.Second))
		go func() { _, _ = io.WriteString(c, text) }()
		line, _ := bufio.NewReader(c).ReadString('\n')
		c.Close()
		if line != "" && !strings.HasPrefix(line, "HTTP/1.1 4") {
			t.Errorf("%.60q: got %q, want a refusal", text, line)
		}
	}
	up := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer up.Close()
	if r, err := client.Get(up.URL); err != nil || r.StatusCode != 200 {
		t.Errorf("afterwards: %v %v, want 200", r, err)
	}
}
