package load

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/profile"
)

// told gives an error's problems, one a line, or its message.
func told(err error) string {
	if err == nil {
		return ""
	}
	e := diag.As(err)
	var b strings.Builder
	for _, p := range e.Problems {
		b.WriteString(p.String() + "\n")
	}
	if len(e.Problems) == 0 {
		b.WriteString(string(e.Code) + ": " + e.Message + "\n")
		if e.Hint != "" {
			b.WriteString("hint: " + e.Hint + "\n")
		}
	}
	return b.String()
}

func TestProfileFormats(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"c.cue":  "mode: \"plan\"\npermissions: {\n\tdeny: [\"bash(rm *)\",\n\t\t\"read(x)\"]\n}\nlimits: {usd: 5, time: \"30m\"}\nmodels: \"*\": \"script/s\"\n",
		"c.json": "{\"mode\": \"plan\",\n \"permissions\": {\n  \"deny\": [\"bash(rm *)\",\n  \"read(x)\"]},\n\n \"limits\": {\"usd\": 5, \"time\": \"30m\"},\n \"models\": {\"*\": \"script/s\"}}",
		"c.toml": "mode = \"plan\"\n[permissions]\ndeny = [\"bash(rm *)\",\n  \"read(x)\"]\n[limits]\nusd = 5\ntime = \"30m\"\n[models]\n\"*\" = \"script/s\"\n",
		"c.yaml": "mode: plan\npermissions:\n  deny: [\"bash(rm *)\",\n    read(x)]\n\nlimits: {usd: 5, time: 30m}\nmodels: {\"*\": script/s}\n",
	}
	dir := write(t, files)
	five := 5.0
	want := profile.Profile{Mode: "plan", Permissions: profile.Permissions{Deny: []string{"bash(rm *)", "read(x)"}},
		Limits: profile.Limits{USD: &five, Time: "30m"}, Models: map[string]string{"*": "script/s"}}
	for name := range files {
		l, err := Profile(context.Background(), name, untrusted(t, dir))
		if err != nil {
			t.Fatal(told(err))
		}
		if diff := cmp.Diff(want, l.Profile); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		for path, line := range map[string]string{"mode": ":1", "permissions.deny.0": ":3", "permissions.deny.1": ":4", "limits.usd": ":6"} {
			if got := l.Origins[path]; got != name+line {
				t.Errorf("%s: origin of %s: got %s, want %s", name, path, got, name+line)
			}
		}
		if l.File != name {
			t.Errorf("file %s", l.File)
		}
	}
}

func TestProfileMistakes(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{
		"config.toml": "mod = \"plan\"\nmodels = 5\n[permissions]\nallow = [\"bash(x)\", \"b (\"]\n[limits]\nmax_turns = 0\ntime = \"5x\"\nusd = \"5\"\n[[hooks.PreToolUse]]\nhooks = [{type = \"comand\"}]\n[providers.x]\nbase_url = \"ftp://x\"\n",
		"config.cue":  "mod: \"plan\"\nmodels: 5\npermissions: allow: [\"bash(x)\", \"b (\"]\nlimits: {max_turns: 0, time: \"5x\", usd: \"5\"}\nhooks: PreToolUse: [{hooks: [{type: \"comand\"}]}]\nproviders: x: base_url: \"ftp://x\"\n",
		"broken.cue":  "mode: {",
		"broken.toml": "mode = ",
		"list.json":   "[]",
		"two.cue":     "package profiles\n\nimport \"larva.dev/schema\"\n\nprofiles: a: schema.#Profile & {mode: \"plan\"}\nprofiles: b: schema.#Profile & {mode: \"paln\"}\n",
		"other.cue":   "package profiles\n\n_x: 1\n",
		"set.json":    `{"profiles": {"one": {"mode": "plan"}}, "mode": "yolo"}`,
		"p.md":        "---\nmode: plan\n---\n",
	})
	for _, c := range []struct{ file, name, want string }{
		{"config.toml", "", `config.toml:1:1: mod: unknown field (did you mean "mode"?)
config.toml:2:10: models: must be an object, got 5
config.toml:4:21: permissions.allow.1: must be tool or tool(pattern), got "b ("
config.toml:6:13: limits.max_turns: must be an integer from 1 to 1000000, got 0
config.toml:7:8: limits.time: must be a time like 90s, 30m or 1h30m, got "5x"
config.toml:8:7: limits.usd: must be a number, got "5" (write it without quotes)
config.toml:10:18: hooks.PreToolUse.0.hooks.0.type: must be one of "command", "prompt", "http", got "comand" (did you mean "command"?)
config.toml:11:12: providers.x.api: missing required field
config.toml:12:12: providers.x.base_url: must be an http or https URL, got "ftp://x"
`},
		{"config.cue", "", `config.cue:1:1: mod: unknown field (did you mean "mode"?)
config.cue:2:9: models: must be an object, got 5
config.cue:3:33: permissions.allow.1: must be tool or tool(pattern), got "b ("
config.cue:4:21: limits.max_turns: must be an integer from 1 to 1000000, got 0
config.cue:4:30: limits.time: must be a time like 90s, 30m or 1h30m, got "5x"
config.cue:4:41: limits.usd: must be a number, got "5" (write it without quotes)
config.cue:5:37: hooks.PreToolUse.0.hooks.0.type: must be one of "command", "prompt", "http", got "comand" (did you mean "command"?)
config.cue:6:15: providers.x.api: missing required field
config.cue:6:25: providers.x.base_url: must be an http or https URL, got "ftp://x"
`},
		{"broken.cue", "", "broken.cue:1:8: expected '}', found 'EOF'\n"},
		{"broken.toml", "", "broken.toml:1:7: expected value, not end of input\n"},
		{"list.json", "", "list.json:1:1: must be an object, got a list\n"},
		{"two.cue", "a", ""},
		{"two.cue", "b", "two.cue:6:39: profiles.b.mode: must be one of \"default\", \"accept-edits\", \"plan\", \"auto\", \"yolo\", got \"paln\" (did you mean \"plan\"?)\n"},
		{"two.cue", "c", "INVALID_INPUT: two.cue holds no profile named \"c\"\nhint: it holds \"a\", \"b\"\n"},
		{"other.cue", "", "INVALID_INPUT: other.cue holds several profiles: \"a\", \"b\"\nhint: name one of them\n"},
		{"set.json", "", "set.json:1:41: mode: unknown field beside profiles\n"},
		{"gone.cue", "", "gone.cue: no such file or directory\n"},
		{"p.md", "", "p.md: Markdown holds personas only\n"},
	} {
		_, err := ProfileNamed(context.Background(), c.file, c.name, Options{Dir: dir})
		got := told(err)
		noLeak(t, got)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s %s: %s", c.file, c.name, diff)
		}
	}
	var e *diag.Error
	if _, err := Profile(context.Background(), "config.toml", Options{Dir: dir}); !errors.As(err, &e) || e.Code != diag.ProfileInvalid || e.ExitCode() != diag.ExitFailed {
		t.Errorf("got %v", err)
	}
	if _, err := Profile(context.Background(), "broken.cue", Options{Dir: dir}); !errors.As(err, &e) || e.Code != diag.InvalidInput || e.ExitCode() != diag.ExitUsage {
		t.Errorf("got %v", err)
	}
}

func TestScenario(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{
		"s.cue":  "turns: [{when: turn: 1, text: \"hi\", calls: [{tool: \"read\", input: path: \"x\"}]}, {error: {status: 529, retry_after: 2}, repeat: true}]\n",
		"s.json": `{"turns": [{"when": {"turn": 1}, "text": "hi", "calls": [{"tool": "read", "input": {"path": "x"}}]}, {"error": {"status": 529, "retry_after": 2}, "repeat": true}]}`,
		"bad.yaml": "turns:\n- text: hi\n  repeat: yes\n- calls:\n  - tool: read\n  - input: {}\n" +
			"    tool: \" \"\n- when: {turn: 0}\n  txt: x\n",
		"bomb.cue": exponential,
	})
	want := profile.Scenario{Turns: []profile.Turn{
		{When: profile.When{Turn: 1}, Text: "hi", Calls: []profile.ScriptCall{{Tool: "read", Input: []byte(`{"path":"x"}`)}}},
		{Error: &profile.ScriptFailure{Status: 529, RetryAfter: 2}, Repeat: true},
	}}
	for _, name := range []string{"s.cue", "s.json"} {
		s, err := Scenario(context.Background(), name, untrusted(t, dir))
		if err != nil {
			t.Fatal(told(err))
		}
		if diff := cmp.Diff(want, s); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	_, err := Scenario(context.Background(), "bad.yaml", Options{Dir: dir})
	wantBad := `bad.yaml:3:11: turns.0.repeat: must be true or false, got "yes" (write true)
bad.yaml:7:11: turns.1.calls.1.tool: must not be blank, got " "
bad.yaml:8:16: turns.2.when.turn: must be an integer from 1 to 1000000, got 0
bad.yaml:9:3: turns.2.txt: unknown field (did you mean "text"?)
`
	if diff := cmp.Diff(wantBad, told(err)); diff != "" {
		t.Error(diff)
	}
	o := untrusted(t, dir)
	o.bounds = limits{wall: 500e6, memory: 512 << 20, output: 1 << 20}
	_, err = Scenario(context.Background(), "bomb.cue", o)
	var e *diag.Error
	if !errors.As(err, &e) || e.Code != diag.EvaluationLimit || e.ExitCode() != diag.ExitUsage {
		t.Errorf("got %v", err)
	}
}

func TestSchemaNames(t *testing.T) {
	t.Parallel()
	for _, name := range SchemaNames() {
		if data, err := SchemaCUE(name); err != nil || len(data) == 0 {
			t.Errorf("%s: %v", name, err)
		}
		if data, err := SchemaJSON(name); err != nil || len(data) == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := told(func() error { _, err := SchemaCUE("profil"); return err }()); got != "INVALID_INPUT: there is no schema named \"profil\"\nhint: did you mean \"profile\"?\n" {
		t.Errorf("got %s", got)
	}
}

// TestIDRule holds our words for ids to the schema's.
func TestIDRule(t *testing.T) {
	t.Parallel()
	for name, rule := range map[string]string{"persona-spec": idRule, "persona": variantRule} {
		data, err := SchemaCUE(name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(data), "@rule(\""+rule+"\")") {
			t.Errorf("%s does not say %q", name, rule)
		}
	}
}
