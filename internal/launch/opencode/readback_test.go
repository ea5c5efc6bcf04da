package opencode

import (
	"slices"
	"strings"
	"testing"
)

func TestReadAgents(t *testing.T) {
	t.Parallel()
	found, err := ReadAgents(strings.NewReader("build (primary)\n  [\n  {\"permission\": \"*\", \"action\": \"allow\", \"pattern\": \"*\"}\n]\na b (all)\n[]\n"))
	if err != nil || len(found) != 2 || !slices.Equal(found["build"], Rules{{"*", "*", Allow}}) || found["a b"] == nil {
		t.Errorf("got %v %v", found, err)
	}
	for _, bad := range []string{"a (all)\n[\n", "a (all)\nno\n", "a (all)\n[]\na (all)\n[]\n"} {
		if _, err := ReadAgents(strings.NewReader(bad)); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

func TestWider(t *testing.T) {
	t.Parallel()
	planned := Rules{{"*", "*", Deny}, {"read", "*", Allow}, {"read", "*.env", Deny}, {"bash", "*", Deny}, {"bash", "git status *", Allow}, {"external_directory", "~/x/*", Ask}}
	defaults := Rules{{"*", "*", Allow}, {"external_directory", "*", Ask}}
	own := Rule{"external_directory", "/h/.local/share/opencode/tool-output/*", Allow}
	home := slices.Clone(planned)
	home[5].Pattern = "/h/x/*"
	for _, row := range []struct {
		name string
		then Rules
		want string
	}{
		{"as planned", Rules{own}, ""},
		{"stricter", Rules{own, {"read", "*", Deny}}, ""},
		{"one more tool", Rules{{"webfetch", "*", Allow}, own}, "webfetch *: allow, planned deny"},
		{"a pattern", Rules{{"bash", "rm *", Allow}, own}, "bash rm *: allow, planned deny"},
		{"a question", Rules{{"bash", "rm *", Ask}, own}, "bash rm *: ask, planned deny"},
		{"everything", Rules{{"*", "*", Allow}}, "* *: allow, planned deny"},
		{"a refusal lifted", Rules{{"read", "*", Allow}}, "read *.env: allow, planned deny"},
	} {
		got := Wider(slices.Concat(defaults, home, row.then), planned, "/h")
		if row.want == "" && len(got) > 0 || row.want != "" && !slices.Contains(got, row.want) {
			t.Errorf("%s: got %q, want %q", row.name, got, row.want)
		}
	}
	if got := Wider(defaults, planned, "/h"); len(got) == 0 {
		t.Error("OpenCode's own rules are not wider than the planned ones")
	}
	if got := (Rules{{"lab_*", "*", Ask}, {"lab_*", "x", Deny}, {"*_*", "*", Ask}}).Servers(); !slices.Equal(got, []string{"lab"}) {
		t.Errorf("servers: got %q", got)
	}
}
