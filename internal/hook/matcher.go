package hook

import (
	"fmt"
	"regexp"
	"strings"
)

// subjectless are events that a matcher has nothing to compare with: a hook
// of theirs always fires, whatever its matcher says.
func subjectless(event string) bool {
	switch event {
	case UserPromptSubmit, Stop, StopFailure, Notification:
		return true
	}
	return false
}

// matcher reads a matcher. Names and | lists are compared whole; anything else
// is a regular expression that has to match all of the subject. Case counts in
// neither, and a tool is met under our name and under Claude Code's.
func matcher(text string) (func(subject string) bool, error) {
	if text == "" || text == "*" {
		return func(string) bool { return true }, nil
	}
	if strings.Trim(strings.ToLower(text), "abcdefghijklmnopqrstuvwxyz0123456789_|") == "" {
		names := strings.Split(text, "|")
		return func(subject string) bool {
			for _, s := range spellings(subject) {
				for _, n := range names {
					if strings.EqualFold(n, s) {
						return true
					}
				}
			}
			return false
		}, nil
	}
	// On its own first: "a)|(?:b" is no expression, and would be two halves of
	// one inside our brackets.
	_, err := regexp.Compile(text)
	var re *regexp.Regexp
	if err == nil {
		re, err = regexp.Compile(`(?is)\A(?:` + text + `)\z`)
	}
	if err != nil {
		return func(string) bool { return true }, fmt.Errorf("the matcher %q is no regular expression: %v", text, err)
	}
	return func(subject string) bool {
		for _, s := range spellings(subject) {
			if re.MatchString(s) {
				return true
			}
		}
		return false
	}, nil
}

// claudes are Claude Code's names of tools where they are more than ours in
// other case and without underscores. Its Write is our write_files too: a
// guard of every write must not miss the one that writes several files.
var claudes = map[string][]string{
	"task":               {"Agent"},
	"ask_user":           {"AskUserQuestion"},
	"bash_kill":          {"KillShell", "KillBash"},
	"write_files":        {"Write"},
	"list_mcp_resources": {"ListMcpResourcesTool"},
	"read_mcp_resource":  {"ReadMcpResourceTool"},
	"task_wait":          {"TaskOutput"},
}

// spellings are the names that a matcher meets of one subject. CamelCase is
// what Claude Code's name of a tool would be.
func spellings(subject string) []string {
	if strings.HasPrefix(subject, "mcp__") || !strings.ContainsRune(subject, '_') {
		return append([]string{subject}, claudes[subject]...)
	}
	return append([]string{subject, strings.ReplaceAll(subject, "_", "")}, claudes[subject]...)
}
