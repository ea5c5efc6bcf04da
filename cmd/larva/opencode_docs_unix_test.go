//go:build unix

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"larva.dev/larva/internal/cli"
)

// standIn is an OpenCode that lists what larva planned, and is done with
// anything else.
const standIn = `import json, os, sys

config = json.loads(os.environ.get("OPENCODE_CONFIG_CONTENT", "{}"))
if sys.argv[1:] == ["--version"]:
    print("1.18.33")
elif sys.argv[1:] == ["agent", "list"]:
    for name, agent in json.load(open(config["plugin"][0][1]["plan"]))["agents"].items():
        rules = []
        for permission, to in agent["entry"]["permission"].items():
            for pattern, action in (to.items() if isinstance(to, dict) else [("*", to)]):
                rules.append({"permission": permission, "pattern": pattern, "action": action})
        print(name + " (all)")
        print(json.dumps(rules))
else:
    with open(os.environ["HOME"] + "/started", "a") as f: # its streams are the caller's own
        print(sys.argv[1:], sorted(config.get("agent", {})), file=f)
`

var (
	docsBlock = regexp.MustCompile("(?s)```(?:sh)?\n(.*?)```")
	docsJSON  = regexp.MustCompile("(?s)```json\n(.*?)```")
)

// TestOpencodeDocs runs each command of docs/opencode.md and gives each of its
// files to a start, with a stand-in for OpenCode.
func TestOpencodeDocs(t *testing.T) {
	t.Parallel()
	python := python3(t)
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "opencode.md"))
	if err != nil {
		t.Fatal(err)
	}
	home, dir := t.TempDir(), t.TempDir()
	put := func(path, text string, mode os.FileMode) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	put(filepath.Join(home, "bin", "opencode"), "#!"+python+"\n"+standIn, 0o700)
	put(filepath.Join(dir, "p.json"), `{"spec_version":"0.1.0","id":"code-reviewer","description":"Reviews.","prompt":"Review.","model":"fast-model","capabilities":{"filesystem":"read_only"}}`, 0o600)
	larva := func(args ...string) (string, int) {
		var out lockedBuffer
		code := cli.Main(t.Context(), cli.Process{Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out,
			Environ: []string{"HOME=" + home, "PATH=" + filepath.Join(home, "bin") + ":/usr/bin:/bin"}, Dir: dir, Self: []string{larvaProgram(t)}})
		return out.String(), code
	}
	if out, code := larva("register", "p.json"); code != 0 {
		t.Fatalf("register: exit %d\n%s", code, out)
	}
	files := docsJSON.FindAllStringSubmatch(string(text), -1)
	if len(files) != 2 {
		t.Fatalf("the page shows %d files, want a model map and a tool policy", len(files))
	}
	put(docsPath(t, string(text), home, "model-map"), files[0][1], 0o600)
	put(filepath.Join(home, ".config", "opencode", "tool-policy.json"), files[1][1], 0o600)
	ran := 0
	for _, block := range docsBlock.FindAllStringSubmatch(string(text), -1) {
		for line := range strings.Lines(block[1]) {
			line, _, _ = strings.Cut(line, "#")
			words := docsWords(line)
			if len(words) < 2 || words[0] != "larva" {
				continue
			}
			ran++
			out, code := larva(words[1:]...)
			if code != 0 {
				t.Errorf("%s: exit %d\n%s", strings.TrimSpace(line), code, out)
			}
			if words[1] == "doctor" && !strings.Contains(out, "[OK] code-reviewer") {
				t.Errorf("%s: got\n%s", strings.TrimSpace(line), out)
			}
		}
	}
	if ran < 5 {
		t.Errorf("the page shows %d commands, want 5 at least", ran)
	}
	started, err := os.ReadFile(filepath.Join(home, "started"))
	want := "[] ['code-reviewer']\n['--agent', 'code-reviewer'] ['code-reviewer']\n['run', '--agent', 'code-reviewer', 'Look at the last commit.'] ['code-reviewer']\n"
	if string(started) != want {
		t.Errorf("OpenCode was started with\n%s(%v), want\n%s", started, err, want)
	}
}

// docsPath is where the page says that a file lies.
func docsPath(t *testing.T, page, home, name string) string {
	t.Helper()
	m := regexp.MustCompile("`~/([^`]*" + name + "[^`]*)`").FindStringSubmatch(page)
	if m == nil {
		t.Fatalf("the page does not say where the %s lies", name)
	}
	return filepath.Join(home, m[1])
}

// docsWords splits a line with plain quotes; what may be left out is.
func docsWords(line string) []string {
	var out []string
	for i, part := range strings.Split(line, `"`) {
		if i%2 == 1 {
			out = append(out, part)
			continue
		}
		for _, w := range strings.Fields(part) {
			if !strings.HasPrefix(w, "[") {
				out = append(out, w)
			}
		}
	}
	return out
}
