package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

func testApp(t *testing.T) (*App, where) {
	t.Helper()
	home := t.TempDir()
	dir := filepath.Join(home, "project")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	a := New(Options{Home: home, Dir: dir, Environ: []string{"HOME=" + home}})
	p, err := a.locate()
	if err != nil {
		t.Fatal(err)
	}
	return a, p
}

// plant writes a file and the directories above it.
func plant(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// awkward are rules that a TOML string has to escape.
var awkward = []string{"bash(git status *)", `bash(echo "a\b")`, "edit(src/ü x.go)", "bash(printf 'a\tb')"}

func TestRememberKeepsEveryRuleAndWhatElseIsThere(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]string{
		"no file":          "",
		"comments":         "# mine\nmode = \"plan\" # calm\n",
		"empty table":      "[permissions]\n# nothing yet\n",
		"other lists":      "[permissions]\ndeny = [\n  \"bash(rm *)\",\n]\n\n[limits]\nmax_turns = 3\n",
		"a list of ours":   "[permissions]\nallow = [\n  \"read\",\n]\n",
		"table at the end": "[limits]\nmax_turns = 3\n\n[permissions]\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, p := testApp(t)
			path := p.privateFile()
			if before != "" {
				plant(t, path, before)
			}
			for _, rule := range append(slices.Clone(awkward), awkward[0]) {
				if _, err := a.remember(context.Background(), p, rule); err != nil {
					t.Fatalf("%s: %v", rule, err)
				}
			}
			got, err := a.privateAllow(context.Background(), path)
			if err != nil {
				t.Fatal(err)
			}
			for _, rule := range awkward {
				if n := len(slices.DeleteFunc(slices.Clone(got), func(s string) bool { return s != rule })); n != 1 {
					t.Errorf("%s: stored %d times, want once", rule, n)
				}
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, line := range strings.Split(strings.TrimSpace(before), "\n") {
				if !strings.Contains(string(text), line) {
					t.Errorf("the line %q is gone from\n%s", line, text)
				}
			}
		})
	}
}

func TestRememberLeavesAnUnknownLayoutAlone(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]string{
		"one line":    "permissions = {allow = [\"read\"]}\n",
		"inline list": "[permissions]\nallow = [\"read\"]\n",
		"broken":      "[permissions\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, p := testApp(t)
			path := p.privateFile()
			plant(t, path, before)
			if _, err := a.remember(context.Background(), p, "bash(ls *)"); err == nil {
				t.Error("got nil, want an error that the file was left as it is")
			}
			if after, _ := os.ReadFile(path); string(after) != before {
				t.Errorf("got %q, want %q", after, before)
			}
			left, err := os.ReadDir(filepath.Dir(path))
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range left {
				if e.Name() != filepath.Base(path) && !strings.HasSuffix(e.Name(), ".lock") {
					t.Errorf("%s is left behind", e.Name())
				}
			}
		})
	}
}

func TestParallelAnswersAllSurvive(t *testing.T) {
	t.Parallel()
	a, p := testApp(t)
	var wg sync.WaitGroup
	errs := make([]error, 12)
	for i := range errs {
		wg.Add(1)
		go func() {
			defer wg.Done()
			_, errs[i] = a.remember(context.Background(), p, fmt.Sprintf("bash(tool%d *)", i))
		}()
	}
	wg.Wait()
	got, err := a.privateAllow(context.Background(), p.privateFile())
	if err != nil {
		t.Fatal(err)
	}
	for i, err := range errs {
		if err != nil || !slices.Contains(got, fmt.Sprintf("bash(tool%d *)", i)) {
			t.Errorf("rule %d: %v, stored %v", i, err, got)
		}
	}
}

func TestCommonDirIsTheSameForAllWorktrees(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for path, text := range map[string]string{
		"main/.git/HEAD":                   "ref: refs/heads/main\n",
		"main/.git/worktrees/wt/commondir": "../..\n",
		"wt/.git":                          "gitdir: " + filepath.Join(dir, "main/.git/worktrees/wt") + "\n",
	} {
		plant(t, filepath.Join(dir, path), text)
	}
	a, b := commonDir(filepath.Join(dir, "main")), commonDir(filepath.Join(dir, "wt"))
	if a != b || filepath.Base(a) != ".git" {
		t.Errorf("got %s and %s, want one .git", a, b)
	}
}
