package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestPython runs the tests of the Python client, python/tests, against this
// program.
func TestPython(t *testing.T) {
	t.Parallel()
	python := python3(t)
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute)
	defer cancel()
	// -S: what is installed beside Python is no part of the client.
	cmd := exec.CommandContext(ctx, python, "-S", "-W", "error", "-m", "unittest", "discover", "-s", "tests", "-t", ".")
	cmd.Dir = filepath.Join("..", "..", "python")
	cmd.Env = []string{"HOME=" + t.TempDir(), "PATH=/usr/bin:/bin", "LARVA_BIN=" + larvaProgram(t), "PYTHONDONTWRITEBYTECODE=1", "CI=" + os.Getenv("CI")}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("python -m unittest: %v\n%s", err, out)
	}
	ran := regexp.MustCompile(`(?m)^Ran (\d+) tests`).FindSubmatch(out)
	if ran == nil {
		t.Fatalf("python -m unittest says not how many tests it ran:\n%s", out)
	}
	if strings.Contains(string(out), "skipped=") {
		t.Errorf("got skipped tests, want none:\n%s", out)
	}
	t.Logf("COUNT %s Python tests", ran[1])
}

// TestPythonSnippets runs the Python in the READMEs: each prints what the
// comments behind its prints say.
func TestPythonSnippets(t *testing.T) {
	t.Parallel()
	python, program := python3(t), larvaProgram(t)
	block, printed := regexp.MustCompile("(?s)```python\n(.*?)```"), regexp.MustCompile(`(?m)^ *print\(.*\)  # (.*)$`)
	for _, file := range []string{"README.md", "python/README.md"} {
		text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(file)))
		if err != nil {
			t.Fatal(err)
		}
		blocks := block.FindAllStringSubmatch(string(text), -1)
		if len(blocks) == 0 {
			t.Errorf("%s: got no Python, want some", file)
		}
		for _, b := range blocks {
			want := ""
			for _, m := range printed.FindAllStringSubmatch(b[1], -1) {
				want += m[1] + "\n"
			}
			if want == "" {
				t.Errorf("%s: got Python that prints nothing, want a comment behind a print:\n%s", file, b[1])
			}
			ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, python, "-S", "-W", "error", "-c", b[1])
			cmd.Env = []string{"HOME=" + t.TempDir(), "PATH=/usr/bin:/bin", "LARVA_BIN=" + program, "PYTHONPATH=" + absolute(t, "../../python"), "PYTHONDONTWRITEBYTECODE=1"}
			out, err := cmd.CombinedOutput()
			if err != nil || string(out) != want {
				t.Errorf("%s: got %q (%v), want %q", file, out, err, want)
			}
		}
	}
}

// python3 finds the Python that tests run; without one they fail in CI and are
// skipped, saying so, elsewhere.
func python3(t *testing.T) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the tests of the Python client are written for Unix processes")
	}
	path, err := exec.LookPath("python3")
	if err == nil {
		// A version manager's stand-in starts the real one each time, slowly.
		out, e := exec.Command(path, "-S", "-c", "import sys; print(sys.executable)").Output()
		if path, err = strings.TrimSpace(string(out)), e; err == nil && path != "" {
			return path
		}
	}
	if os.Getenv("CI") != "" {
		t.Fatalf("no python3: %v", err)
	}
	t.Skipf("no python3: %v", err)
	return ""
}

// larvaProgram is this test program under the name larva, for others to start.
func larvaProgram(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "larva")
	if err := os.Symlink(self, path); err != nil {
		t.Fatal(err)
	}
	return path
}
