package hook

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/profile"
)

func TestAllowedURL(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		entry, url string
		want       bool
	}{
		{"https://hooks.test/a", "https://hooks.test/a", true},
		{"https://hooks.test/a", "https://HOOKS.test/a", true},
		{"https://hooks.test", "https://hooks.test/", true},
		{"https://hooks.test:443/a", "https://hooks.test/a", true},
		{"https://hooks.test/a", "https://hooks.test/ab", false},
		{"https://hooks.test/a", "https://hooks.test/a?x=1", false},
		{"https://hooks.test/a?x=1", "https://hooks.test/a?x=1", true},
		{"https://hooks.test/a", "http://hooks.test/a", false},
		{"https://hooks.test/a", "https://hooks.test:8443/a", false},
		{"https://hooks.test/*", "https://hooks.test/any/thing?x=1", true},
		{"https://hooks.test/a/*", "https://hooks.test/a/b", true},
		{"https://hooks.test/a/*", "https://hooks.test/ab", false},
		{"https://hooks.test/a/*", "https://hooks.test/a/../b", false},
		{"https://hooks.test/a/*", "https://hooks.test/a/%2e%2e/b", false},
		{"https://hooks.test/a/*", "https://hooks.test/a/%2fb", false},
		{"https://hooks.test/*", "https://hooks.test.evil.test/", false},
		{"https://hooks.test/*", "https://evil.test/hooks.test/", false},
		{"https://hooks.test/*", "https://hooks.test@evil.test/", false},
		{"https://hooks.test/*", "https://user@hooks.test/", false},
		{"https://*.hooks.test/*", "https://a.hooks.test/x", true},
		{"https://*.hooks.test/*", "https://hooks.test/x", false},
		{"https://*.hooks.test/*", "https://evilhooks.test/x", false},
		{"https://hooks.test*", "https://hooks.test.evil.test/", false},
		{"", "https://hooks.test/", false},
		{"http://127.0.0.1:80/*", "http://127.0.0.1/x", true},
	} {
		if got := AllowedURL([]string{c.entry}, c.url); got != c.want {
			t.Errorf("%s names %s: got %v, want %v", c.entry, c.url, got, c.want)
		}
	}
	if AllowedURL(nil, "https://hooks.test/") {
		t.Error("an empty list allows")
	}
}

func TestMetadataAddresses(t *testing.T) {
	t.Parallel()
	for _, a := range []string{"169.254.169.254:80", "[fe80::1%lo]:80", "100.100.100.200:80", "[fd00:ec2::254]:80", "0.0.0.0:80", "[::]:80",
		"224.0.0.1:80", "[::ffff:169.254.169.254]:80", "no address"} {
		if refuseAddress(a) == nil {
			t.Errorf("%s: got no error", a)
		}
	}
	for _, a := range []string{"127.0.0.1:8080", "[::1]:8080", "10.0.0.1:443", "93.184.216.34:443"} {
		if err := refuseAddress(a); err != nil {
			t.Errorf("%s: %v", a, err)
		}
	}
}

func TestHTTPHooks(t *testing.T) {
	t.Parallel()
	denial := pre(`"permissionDecision":"deny","permissionDecisionReason":"from afar"`)
	var got http.Header
	var body Payload
	mux := http.NewServeMux()
	mux.HandleFunc("/deny", func(w http.ResponseWriter, r *http.Request) {
		got = r.Header
		data, _ := io.ReadAll(r.Body)
		_ = json.Unmarshal(data, &body)
		io.WriteString(w, denial)
	})
	mux.HandleFunc("/fail", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", 500) })
	mux.HandleFunc("/failing-deny", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500); io.WriteString(w, denial) })
	mux.HandleFunc("/moved", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/deny", http.StatusFound) })
	mux.HandleFunc("/flood", func(w http.ResponseWriter, _ *http.Request) {
		for range 100 {
			io.WriteString(w, strings.Repeat("x", 10_000))
		}
	})
	mux.HandleFunc("/html", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "<html>gateway</html>") })
	mux.HandleFunc("/stall", func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body) // only then does the server see that the client left
		<-r.Context().Done()
	})
	mux.HandleFunc("/cut", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		io.WriteString(w, "{")
	})
	srv := httptest.NewServer(mux)
	defer srv.Close()
	for _, c := range []struct {
		url, loud string
		want      event.Verdict
	}{
		{srv.URL + "/deny", "", event.Deny},
		{srv.URL + "/fail", "status 500", ""},
		{srv.URL + "/failing-deny", "status 500", event.Deny},
		{srv.URL + "/moved", "status 302", ""},
		{srv.URL + "/flood", "more than", ""},
		{srv.URL + "/html", "", ""},
		{srv.URL + "/stall", "longer than", ""},
		{srv.URL + "/cut", "broke off", ""},
		{srv.URL + "/../deny", "allowed_urls", ""},
		{"http://127.0.0.1:1/x?key=sesame", "allowed_urls", ""},
		{"http://169.254.169.254/latest", "metadata", ""},
	} {
		h := Hook{Event: PreToolUse, Hook: profile.Hook{Type: "http", URL: c.url, Timeout: 0.5,
			Headers: map[string]string{"Authorization": "Bearer ${TOKEN}", "X-Both": "$TOKEN-$TOKEN"}, AllowedEnvVars: []string{"TOKEN"}}}
		_, p, heard := build(t, func(o *Options) {
			o.AllowedURLs = []string{srv.URL + "/*", "http://169.254.169.254/*"}
			o.Environ = []string{"TOKEN=t1", "OTHER=o"}
		}, h)
		began := time.Now()
		b := p.BeforeTool[0](context.Background(), call)
		if b.Says.Verdict != c.want || time.Since(began) > 5*time.Second {
			t.Errorf("%s: got %q after %v, want %q", c.url, b.Says.Verdict, time.Since(began), c.want)
		}
		said := strings.Join(heard.notices, "\n")
		if (said != "") != (c.loud != "") || !strings.Contains(said, c.loud) {
			t.Errorf("%s: said %q, want %q", c.url, said, c.loud)
		}
		if strings.Contains(said, "t1") || strings.Contains(said, "sesame") {
			t.Errorf("%s: a secret was said: %q", c.url, said)
		}
	}
	if got.Get("Authorization") != "Bearer t1" || got.Get("X-Both") != "t1-t1" || body.Event != PreToolUse || body.ToolName != "bash" {
		t.Errorf("the service got %v and %+v", got, body)
	}
}
