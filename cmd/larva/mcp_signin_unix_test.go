//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"larva.dev/larva/internal/mcpclient/oauthtest"
)

// browserVerb starts this test program as the browser of a person who says yes.
const browserVerb = "follow-redirects"

// everything starts server-everything with a transport over HTTP and gives its
// address. The program takes a port's number only, which another may have taken
// since it was free: then it is tried again.
func everything(t *testing.T, transport string) *url.URL {
	t.Helper()
	program := absolute(t, filepath.Join("..", "..", "scripts", "peers", "node_modules", ".bin", "mcp-server-everything"))
	if _, err := os.Stat(program); err != nil {
		lacking(t, "server-everything is not fetched: run `make peers`")
	}
	for range 3 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		address := l.Addr().String()
		l.Close()
		if listens(t, program, transport, address) {
			return &url.URL{Scheme: "http", Host: address}
		}
	}
	t.Fatalf("server-everything %s does not start", transport)
	return nil
}

// listens starts the program and says whether it came to listen.
func listens(t *testing.T, program, transport, address string) bool {
	t.Helper()
	_, port, _ := net.SplitHostPort(address)
	cmd := exec.CommandContext(t.Context(), peerNode(t), program, transport)
	cmd.Env = []string{"HOME=" + t.TempDir(), "PORT=" + port}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	said := bufio.NewReader(stderr)
	for {
		line, err := said.ReadString('\n')
		switch {
		case err != nil || strings.Contains(line, "EADDRINUSE") || strings.Contains(line, "already in use"):
			return false
		case strings.Contains(line, "port "+port):
			go said.WriteTo(discard{}) // ends with the program
			return true
		}
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

// TestSignIn puts the real server-everything, over HTTP and as an event stream,
// behind an authorization server: a run goes on without a server that wants a
// sign-in, login makes one with a browser that only follows redirects, runs use
// and renew it, logout takes it back. No token is anywhere but in mcp-auth/.
func TestSignIn(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	for path, to := range map[string]*url.URL{"/mcp": everything(t, "streamableHttp"), "/": everything(t, "sse")} {
		mux.Handle(path, &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }})
	}
	a := oauthtest.New(t, mux)
	home, bin := t.TempDir(), t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	put := func(path, text string, mode os.FileMode) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), mode)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"xdg-open", "open"} {
		put(filepath.Join(bin, name), "#!/bin/sh\nexec '"+self+"' "+browserVerb+" \"$1\"\n", 0o700)
	}
	put(filepath.Join(home, ".config", "larva", "config.cue"), `models: "*": "script/demo"
permissions: allow: ["mcp__web", "mcp__old"]
servers: {
	web: {type: "http", url: "`+a.URL+`/mcp"}
	old: {type: "sse", url: "`+a.URL+`/sse"}
}
scripts: demo: turns: [
	{when: turn: 1, calls: [
		{tool: "mcp__web__get-sum", input: {a: 2, b: 40}},
		{tool: "mcp__old__echo", input: message: "over the old wire"},
	]},
	{when: turn: 2, text: "{{result 1}} {{result 2}}"},
]
`, 0o600)
	put(filepath.Join(home, "p.json"), `{"spec_version":"0.1.0","id":"p","description":"d","prompt":"p","model":"m","capabilities":{"mcp":"read_write"}}`, 0o600)
	larva := func(want int, args ...string) string {
		t.Helper()
		cmd := &exec.Cmd{Path: self, Args: append([]string{"larva"}, args...), Dir: home, Env: []string{"HOME=" + home, "PATH=" + bin + ":/usr/bin:/bin"}}
		out, _ := cmd.CombinedOutput()
		if got := cmd.ProcessState.ExitCode(); got != want {
			t.Fatalf("%v: got exit %d, want %d\n%s", args, got, want, out)
		}
		return string(out)
	}
	has := func(text string, wants ...string) {
		t.Helper()
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("%q is not in\n%.3000s", want, text)
			}
		}
	}
	asked := func(want string) {
		t.Helper()
		if got := a.Asked(); got != want {
			t.Errorf("the authorization server was asked %q, want %q", got, want)
		}
	}
	const done = "The sum of 2 and 40 is 42. Echo: over the old wire"
	larva(0, "register", "p.json")
	has(larva(1, "server", "tools"), "old: needs-auth", "web: needs-auth", "larva server login web")
	asked("") // in the background nobody is asked

	has(larva(0, "server", "login", "web"), "sign in at web in your browser: "+a.URL+"/authorize?", "signed in at web")
	has(larva(0, "server", "login", "old", "--json"), `"signed_in":true`)
	asked("register authorize code register authorize code")
	has(larva(0, "run", "p", "go"), done)
	asked("")
	tokens := tokensIn(t, filepath.Join(home, ".config", "larva", "mcp-auth"))
	if len(tokens) != 4 {
		t.Fatalf("got %d tokens, want 4", len(tokens))
	}

	a.Set(func() { clear(a.Access) })
	has(larva(0, "run", "p", "go"), done)
	asked("refresh refresh") // each rotated, and written down
	has(larva(0, "run", "p", "go"), done)
	asked("")
	tokens = append(tokens, tokensIn(t, filepath.Join(home, ".config", "larva", "mcp-auth"))...)

	has(larva(0, "server", "logout", "web"), "signed out of web")
	has(larva(0, "server", "logout", "old", "--json"), `"removed":true`, `"revoked":true`)
	asked("revoke-refresh_token revoke-access_token revoke-refresh_token revoke-access_token")
	has(larva(0, "server", "logout", "web"), "nobody was signed in at web")
	a.Set(func() { a.Deny = true })
	has(larva(1, "server", "login", "web"), "sign-in was refused", "access_denied")
	has(larva(0, "run", "p", "go"), "MCP server web wants you to sign in: larva server login web", "there is no tool")
	unwritten(t, home, tokens)
}

// tokensIn gives the tokens that are kept.
func tokensIn(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var kept struct {
			Access  string `json:"access_token"`
			Refresh string `json:"refresh_token"`
		}
		if err := json.Unmarshal(data, &kept); err != nil {
			t.Fatal(err)
		}
		out = append(out, kept.Access, kept.Refresh)
	}
	return out
}

// unwritten fails where a file below dir holds one of the words.
func unwritten(t *testing.T, dir string, words []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		for _, w := range words {
			if w == "" || strings.Contains(string(data), w) {
				t.Errorf("%s holds a token", path)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
