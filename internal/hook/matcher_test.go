package hook

import (
	"strings"
	"testing"

	"larva.dev/larva/internal/profile"
)

func TestMatcher(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ matcher, yes, no string }{
		{"", "bash write anything mcp__a__b", ""},
		{"*", "bash write", ""},
		{"bash", "bash", "bash_output ba"},
		{"Bash", "bash", "bash_output"},
		{"BASH", "bash", "read"},
		{"Ba", "", "bash"},
		{"Edit", "edit", "multi_edit notebook_edit"},
		{"edit|Write", "edit write write_files", "multi_edit read"},
		{"write", "write write_files", "edit"},
		{"MultiEdit", "multi_edit", "edit"},
		{"multi_edit", "multi_edit", "multiedit2"},
		{"WebFetch|WebSearch", "web_fetch web_search", "web"},
		{"Agent", "task", "task_wait"},
		{"Task", "task", "task_wait"},
		{"AskUserQuestion", "ask_user", "ask"},
		{"Ba.*", "bash bash_output", "read"},
		{"^Bash$", "bash", "bash_output"},
		{"mcp__.*", "mcp__git__push mcp__a-b__c", "bash"},
		{"mcp__git__push", "mcp__git__push", "mcp__git__push2"},
		{"mcp__my-server__.*", "mcp__my-server__x", "mcp__my__x"},
		{"startup|resume", "startup resume", "fork start"},
		{"a.b|c", "axb c", "axbc ax"},
		{"Bash(echo *)", "", "bash"},
	} {
		m, err := matcher(c.matcher)
		if err != nil {
			t.Errorf("%q: %v", c.matcher, err)
			continue
		}
		for _, s := range strings.Fields(c.yes) {
			if !m(s) {
				t.Errorf("%q does not match %s, want a match", c.matcher, s)
			}
		}
		for _, s := range strings.Fields(c.no) {
			if m(s) {
				t.Errorf("%q matches %s, want none", c.matcher, s)
			}
		}
	}
}

// What cannot be understood is an error with its place, and never a hook that
// does not fire.
func TestBadHooks(t *testing.T) {
	t.Parallel()
	command := profile.Hook{Type: "command", Command: "true"}
	with := func(edit func(*profile.Hook)) profile.Hook {
		h := command
		edit(&h)
		return h
	}
	for name, c := range map[string]struct {
		h    Hook
		want string
	}{
		"open bracket":    {Hook{Hook: command, Event: PreToolUse, Matcher: "("}, "no regular expression"},
		"two halves":      {Hook{Hook: command, Event: PreToolUse, Matcher: "a)|(?:b"}, "no regular expression"},
		"lookahead":       {Hook{Hook: command, Event: PreToolUse, Matcher: "(?!Bash).*"}, "no regular expression"},
		"bad rule":        {Hook{Hook: with(func(h *profile.Hook) { h.If = "nosuch(x)" }), Event: PreToolUse}, "cannot be read"},
		"bad domain":      {Hook{Hook: with(func(h *profile.Hook) { h.If = "web_fetch(x)" }), Event: PreToolUse}, "cannot be read"},
		"if without call": {Hook{Hook: with(func(h *profile.Hook) { h.If = "bash" }), Event: Stop}, "only hooks about tools"},
		"no command":      {Hook{Hook: profile.Hook{Type: "command"}, Event: Stop}, "needs command"},
		"no prompt":       {Hook{Hook: profile.Hook{Type: "prompt"}, Event: Stop}, "needs prompt"},
		"no url":          {Hook{Hook: profile.Hook{Type: "http"}, Event: Stop}, "needs url"},
		"other type":      {Hook{Hook: profile.Hook{Type: "agent"}, Event: Stop}, "no hook is of type"},
		"other event":     {Hook{Hook: command, Event: "BeforeTool"}, "no event"},
		"async block":     {Hook{Hook: with(func(h *profile.Hook) { h.Async, h.OnError = true, "block" }), Event: PreToolUse}, "async"},
		"secret header": {Hook{Hook: profile.Hook{Type: "http", URL: "https://x.test", Headers: map[string]string{"A": "$TOKEN"}}, Event: Stop},
			"allowedEnvVars does not name"},
	} {
		c.h.Name, c.h.Origin = "n", "dir/config.cue:7"
		bad := Check(c.h)
		if len(bad) != 1 || !strings.Contains(bad[0].Message, c.want) || bad[0].File != "dir/config.cue" || bad[0].Line != 7 {
			t.Errorf("%s: got %v, want one problem at dir/config.cue:7 that says %q", name, bad, c.want)
		}
		if _, err := New(Options{Hooks: []Hook{c.h}}); err == nil {
			t.Errorf("%s: New gave no error", name)
		}
	}
}
