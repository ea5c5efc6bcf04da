package opencode

import (
	"encoding/json"
	"strings"
	"testing"
)

func words(m Meant) string {
	var out []string
	for _, w := range m.Calls {
		out = append(out, w.Tool+" "+string(w.Input))
	}
	return strings.Join(out, "; ")
}

func TestTranslate(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ tool, args, want, wrong string }{
		{"bash", `{"command":"ls -l","description":"d"}`, `bash {"command":"ls -l"}`, ""},
		{"read", `{"filePath":"a.txt","offset":3}`, `read {"path":"/p/a.txt"}`, ""},
		{"read", `{"filePath":"/etc/passwd"}`, `read {"path":"/etc/passwd"}`, ""},
		{"read", `{"filePath":"~/x"}`, `read {"path":"/p/~/x"}`, ""},
		{"lsp", `{"filePath":"a.go"}`, `read {"path":"/p/a.go"}`, ""},
		{"list", `{}`, `glob {"path":"/p","pattern":"*"}`, ""},
		{"glob", `{"pattern":"*","path":null}`, `glob {"path":"/p","pattern":"**"}`, ""},
		{"grep", `{"pattern":"(","path":"sub"}`, `grep {"path":"/p/sub","pattern":"."}`, ""},
		{"write", `{"filePath":"a","content":"x"}`, `write {"content":"","path":"/p/a"}`, ""},
		{"edit", `{"filePath":"../a","oldString":"x"}`, `edit {"new_string":"b","old_string":"a","path":"/a"}`, ""},
		{"webfetch", `{"url":"https://a.example/x"}`, `web_fetch {"url":"https://a.example/x"}`, ""},
		{"task", `{"subagent_type":"b","prompt":"p"}`, `task {"description":"","prompt":"","subagent_type":"b"}`, ""},
		{"skill", `{"name":"s"}`, `skill {"name":"s"}`, ""},
		{"todowrite", `{"todos":[]}`, `todo_write {}`, ""},
		{"invalid", `{"tool":"x"}`, `todo_write {}`, ""},
		{"lab_x_y", `{"a":1}`, `mcp__lab__x_y {}`, ""},
		{"my_lab_x", `{}`, `mcp__my_lab__x {}`, ""},
		{"apply_patch", `{"patchText":"*** Begin Patch\n*** Update File: a\n*** Move to: ../b\n+*** Add File: no\n *** Delete File: c\n*** End Patch"}`,
			`write {"content":"","path":"/p/a"}; write {"content":"","path":"/b"}; write {"content":"","path":"/p/c"}`, ""},
		{"apply_patch", `{"patchText":"*** Begin Patch"}`, "", "names no file"},
		{"apply_patch", `{"patchText":"*** Add File:  "}`, "", "without a name"},
		{"other_x", `{}`, "", "no tool that larva knows"},
		{"lab_", `{}`, "", "no tool that larva knows"},
		{"list_x", `{}`, "", "no tool that larva knows"}, // a server called list
		{"", `{}`, "", "no tool that larva knows"},
		{"read", `{"filePath":7}`, "", "filePath is no text"},
		{"read", `[]`, "", "no object"},
		{"read", `null`, "", "no object"},
		{"read", ``, "", "no object"},
	} {
		m, err := Translate(Asked{row.tool, json.RawMessage(row.args), "/p"}, []string{"lab", "my.lab", "list"})
		if row.wrong != "" {
			if err == nil || !strings.Contains(err.Error(), row.wrong) {
				t.Errorf("%s %s: got %q %v, want an error with %q", row.tool, row.args, words(m), err, row.wrong)
			}
			continue
		}
		if err != nil || words(m) != row.want {
			t.Errorf("%s %s:\ngot  %s %v\nwant %s", row.tool, row.args, words(m), err, row.want)
		}
	}
}

// TestAsks: a question is OpenCode's own only where each of its patterns is.
func TestAsks(t *testing.T) {
	t.Parallel()
	rules := Rules{{"*", "*", Deny}, {"bash", "*", Ask}, {"bash", "ls *", Allow}, {"bash", "rm *", Deny}, {"webfetch", "*", Ask}, {"lab_*", "*", Ask}}
	for _, row := range []struct {
		tool, args string
		want       bool
	}{
		{"bash", `{"command":"make test"}`, true},
		{"bash", `{"command":"make test","workdir":"sub"}`, false},
		{"bash", `{"command":"ls -l"}`, false},
		{"bash", `{"command":"rm x"}`, false},
		{"bash", `{"command":"make && rm x"}`, false},
		{"bash", `{"command":"make $(rm x)"}`, false},
		{"bash", `{"command":"make 'x'"}`, false},
		{"bash", `{"command":""}`, false},
		{"webfetch", `{"url":"https://a.example"}`, true},
		{"lab_x", `{}`, true},
		{"websearch", `{"query":"x"}`, false},
		{"read", `{"filePath":"a"}`, false},
	} {
		m, err := Translate(Asked{row.tool, json.RawMessage(row.args), "/p"}, []string{"lab"})
		if err != nil || m.Asks(rules) != row.want {
			t.Errorf("%s %s: got %v %v, want %v", row.tool, row.args, m.Asks(rules), err, row.want)
		}
	}
}

func FuzzTranslate(f *testing.F) {
	f.Add("bash", `{"command":"ls"}`)
	f.Add("apply_patch", `{"patchText":"*** Add File: x"}`)
	f.Add("lab_x", `{}`)
	f.Fuzz(func(t *testing.T, tool, args string) {
		m, err := Translate(Asked{tool, json.RawMessage(args), "/p"}, []string{"lab"})
		if err == nil && len(m.Calls) == 0 {
			t.Errorf("%s %s is nothing, and no error", tool, args)
		}
		for _, w := range m.Calls {
			if !json.Valid(w.Input) || w.Tool == "" {
				t.Errorf("%s %s: %q %q", tool, args, w.Tool, w.Input)
			}
		}
	})
}

func TestModelMap(t *testing.T) {
	t.Parallel()
	m, err := ReadModelMap([]byte(`{"models":{"a/b":{"provider":"p","model_id":"m"}},"prefix_rules":[{"from_prefix":"x/","to_provider":"q","to_model_id_prefix":""},{"from_prefix":"x/y","to_provider":"r","to_model_id_prefix":"z-"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for model, want := range map[string]string{"a/b": "p/m", "x/n": "q/n", "x/yes": "r/z-es", "a/bc": "", "": ""} {
		if got, ok := m.Lookup(model); got != want || ok != (want != "") {
			t.Errorf("%q: got %q %v, want %q", model, got, ok, want)
		}
	}
	for _, bad := range []string{``, `{}`, `[]`, `{"models":{}}`, `{"models":{},"prefix_rules":[],"x":1}`, `{"models":{"a":{"provider":"p"}},"prefix_rules":[]}`,
		`{"models":{},"prefix_rules":[{"from_prefix":"a"}]}`, `{"models":{},"prefix_rules":[]} {}`} {
		if _, err := ReadModelMap([]byte(bad)); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}

func TestCheckPolicy(t *testing.T) {
	t.Parallel()
	for _, good := range []string{`{}`, `{"agents":{}}`, `{"$schema":"x","agents":{"a":{"deny":["*"],"allow":["read"]},"b":{}}}`} {
		if err := CheckPolicy([]byte(good)); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for _, bad := range []string{``, `[]`, `null`, `null x`, `{"agents":[]}`, `{"agents":{"a":null}}`, `{"agents":{"a":{"denny":[]}}}`, `{"agents":{"a":{"deny":"x"}}}`, `{"agents":{"a":{"deny":[""]}}}`, `{"agent":{}}`, `{} {}`} {
		if err := CheckPolicy([]byte(bad)); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}
