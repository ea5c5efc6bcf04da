package load

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/profile"
)

var someEvents = []string{"PreToolUse", "Stop"}

func settingsFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "settings.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestClaudeHooks(t *testing.T) {
	t.Parallel()
	path := settingsFile(t, `{
  "model": "opus", "permissions": {"allow": ["Bash"]}, "env": {"X": "1"},
  "hooks": {
    "PreToolUse": [
      {"hooks": []},
      {"matcher": "Bash", "hooks": [
        {"type": "agent", "prompt": "p"},
        {"type": "command", "command": "./a.sh", "timeout": 5, "shell": "bash"},
        {"type": "command", "command": "dir", "shell": "powershell"},
        {"type": "http", "url": "https://x.test/", "asyncRewake": true}
      ]}
    ],
    "Later": [{"hooks": [{"type": "command", "command": "x"}]}],
    "Stop": [{"hooks": [{"type": "teleport"}]}]
  }
}`)
	l, err := ClaudeHooks(path, someEvents, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := profile.Profile{Hooks: map[string][]profile.Hooks{"PreToolUse": {{Matcher: "Bash", Hooks: []profile.Hook{
		{Type: "command", Command: "./a.sh", Timeout: 5}, {Type: "http", URL: "https://x.test/"}}}}}}
	if diff := cmp.Diff(l.Profile, want); diff != "" {
		t.Errorf("hooks: got- want+\n%s", diff)
	}
	origins := map[string]string{"hooks.PreToolUse.0.hooks.0": path + ":8", "hooks.PreToolUse.0.hooks.1": path + ":10"}
	if diff := cmp.Diff(l.Origins, origins); diff != "" {
		t.Errorf("origins: got- want+\n%s", diff)
	}
	notices := strings.ReplaceAll(strings.Join(l.Notices, "\n"), path, "F")
	for _, part := range []string{"F:7: larva does not run hooks of type \"agent\"", "F:9: larva runs hooks in bash only", "F:10: \"asyncRewake\" of a hook has no effect",
		"F:13: larva has no event \"Later\"", "F:14: a hook of type \"teleport\" is not known"} {
		if !strings.Contains(notices, part) {
			t.Errorf("no notice %q in:\n%s", part, notices)
		}
	}
	if len(l.Notices) != 5 {
		t.Errorf("got %d notices, want 5:\n%s", len(l.Notices), notices)
	}
}

// What cannot be read is an error with its place: a hook is never dropped in
// silence, and never run without what narrows it.
func TestClaudeHooksBad(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"hooks": {"Stop": [`:                    "the text ends",
		`[]`:                                      "must be an object",
		`{"hooks": []}`:                           "must be an object of hooks by event",
		`{"hooks": {"Stop": {}}}`:                 "must be a list",
		`{"hooks": {"Stop": [1]}}`:                "must be an object with a matcher",
		`{"hooks": {"Stop": [{"hooks": {}}]}}`:    "must be a list",
		`{"hooks": {"Stop": [{"hooks": ["x"]}]}}`: "must be an object",
		`{"hooks": {"PreToolUse": [{"matcher": 1, "hooks": []}]}}`:                                                    "must be a string",
		`{"hooks": {"PreToolUse": [{"matchr": "Bash", "hooks": [{"type":"command","command":"x"}]}]}}`:                `did you mean "matcher"`,
		`{"hooks": {"Stop": [{"hooks": [{"type":"command","command":1}]}]}}`:                                          "command",
		`{"hooks": {"Stop": [{"hooks": [{"type":"command","command":"x","if":["bash"]}]}]}}`:                          "if",
		`{"hooks": {"Stop": [{"hooks": [{"type":"command","command":"x","timeout":-1}]}]}}`:                           "seconds",
		`{"hooks": {"Stop": [{"hooks": [{"type":"command","command":"x","on_error":"explode"}]}]}}`:                   "on_error",
		`{"hooks": {"Stop": [{"hooks": [{"type":"command","command":"x"}]}], "Stop": []}}`:                            "second time",
		`{"hooks": {"Stop": [{"hooks": [{"type":"http","url":"ftp://x"}]}]}}`:                                         "http or https",
		`{"hooks": {"Stop": [{"hooks": [{"type":"http","url":"https://x.test","allowedEnvVars":["A-B"]}]}]}}`:         "names of environment variables",
		"{\"hooks\": {\"Stop\": [{\"hooks\": [{\"type\":\"command\",\"command\":\"x\"}], \"unless\": \"edit(x)\"}]}}": "unknown field",
	} {
		_, err := ClaudeHooks(settingsFile(t, text), someEvents, Options{})
		var e *diag.Error
		if !errors.As(err, &e) || e.Code != diag.ProfileInvalid || len(e.Problems) == 0 || e.Problems[0].Line == 0 || !strings.Contains(e.Problems[0].String(), want) {
			t.Errorf("%s: got %v, want PROFILE_INVALID with a place and %q", text, err, want)
		}
	}
}

func TestClaudeHooksOff(t *testing.T) {
	t.Parallel()
	l, err := ClaudeHooks(settingsFile(t, `{"disableAllHooks": true, "hooks": {"Stop": [{"hooks": [{"type":"command","command":"x"}]}]}}`), someEvents, Options{})
	if err != nil || len(l.Profile.Hooks) != 0 || len(l.Notices) != 1 {
		t.Errorf("got %v, %v, %q; want no hooks and a notice", l.Profile.Hooks, err, l.Notices)
	}
}

func TestMCPServers(t *testing.T) {
	t.Parallel()
	got, err := MCPServers(settingsFile(t, `{"mcpServers": {
  "a": {"command": "x", "args": ["${A}"]},
  "b": {"type": "http", "url": "https://x.test", "odd": 1}
}}`), Options{})
	if err != nil || len(got) != 2 || got[0].Name != "a" || got[0].Line != 2 || got[1].Line != 3 || got[1].Server.URL != "https://x.test" ||
		string(got[0].Raw) != `{"args":["${A}"],"command":"x"}` {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := MCPServers(settingsFile(t, `{"mcpServers": 1}`), Options{}); err == nil {
		t.Error("a number: got no error")
	}
}

func FuzzClaudeHooks(f *testing.F) {
	f.Add(`{"hooks": {"Stop": [{"hooks": [{"type":"command","command":"x"}]}]}}`)
	f.Add(`{"hooks": {"PreToolUse": [{"matcher":"Bash","hooks": [{"type":"http","url":"https://x.test"}]}]}}`)
	f.Fuzz(func(t *testing.T, text string) {
		l, err := ClaudeHooks(settingsFile(t, text), someEvents, Options{})
		if err != nil {
			return
		}
		for ev, groups := range l.Profile.Hooks {
			for _, g := range groups {
				if len(g.Hooks) == 0 || ev != "PreToolUse" && ev != "Stop" {
					t.Errorf("event %q with %v", ev, g)
				}
			}
		}
	})
}
