package definition

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"larva.dev/larva/internal/capability"
	"larva.dev/larva/internal/nearest"
)

// Tools is a set of tools by larva's names.
type Tools struct {
	// All is every tool there is: "*" was written.
	All bool
	// Names are tools, and mcp__server for all of a server's; sorted.
	Names []string
	// Spawn are the ids that Task(a, b) names; nil where Task is not bound.
	Spawn []string
}

// Has says whether the tool of that exact name is in the set.
func (t *Tools) Has(name string) bool {
	if t.All || slices.Contains(t.Names, name) {
		return true
	}
	if !strings.HasPrefix(name, "mcp__") && !strings.HasPrefix(name, "browser_") {
		return false
	}
	for _, n := range t.Names {
		star := strings.HasSuffix(n, "*")
		n = strings.TrimSuffix(n, "*")
		switch {
		case strings.EqualFold(n, name):
			return true
		case star && hasPrefixFold(name, n):
			return true
		case strings.HasPrefix(n, "mcp__") && !star && hasPrefixFold(name, n+"__"):
			return true
		}
	}
	return false
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// vocabulary maps a name, in lower case and without underscores, to our tools.
// What reads or stops what another tool has started goes with it, and so does a
// second form of the same change: an edit is several edits, a write several
// files. An empty list is a tool that Claude Code has and larva has not.
var vocabulary = sync.OnceValue(func() map[string][]string {
	m := map[string][]string{}
	for _, n := range capability.ToolNames() {
		m[plain(n)] = []string{n}
	}
	for n, to := range map[string][]string{
		"bash": {"bash", "bash_output", "bash_kill"}, "edit": {"edit", "multi_edit"}, "write": {"write", "write_files"},
		"task": {"task", "task_wait", "task_stop", "task_send"}, "agent": {"task", "task_wait", "task_stop", "task_send"},
		"ls": {"glob"}, "killshell": {"bash_kill"}, "killbash": {"bash_kill"}, "taskoutput": {"task_wait", "bash_output"},
		"askuserquestion": {"ask_user"}, "slashcommand": {"skill"}, "listmcpresourcestool": {"list_mcp_resources"},
		"readmcpresourcetool": {"read_mcp_resource"}, "toolsearch": {"tool_search"}, "todoread": {"todo_write"},
		"notebookedit": {}, "notebookread": {}, "enterplanmode": {}, "enterworktree": {}, "exitworktree": {}, "sendmessage": {},
		"taskcreate": {}, "taskget": {}, "tasklist": {}, "taskupdate": {}, "structuredoutput": {}, "monitor": {}, "powershell": {},
		"croncreate": {}, "crondelete": {}, "cronlist": {}, "teamcreate": {}, "teamdelete": {}, "config": {}, "workflow": {},
	} {
		m[n] = to
	}
	return m
})

// plain is a name without what does not count: case and underscores.
func plain(s string) string { return strings.ToLower(strings.ReplaceAll(s, "_", "")) }

// verdict is what one token of a list means.
type verdict struct {
	token string
	names []string
	all   bool
	spawn []string
	// why says what is wrong with it, "" where nothing is.
	why, hint string
	// known says that it names a tool, be it one that larva does not have.
	known bool
	// part says that it names a part of what a tool does.
	part bool
}

var tokenForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([A-Za-z][A-Za-z0-9_.-]*\*?)(?:\(([^()]*)\))?$`)
})

var mcpForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?i:mcp)__(\*|[A-Za-z0-9][A-Za-z0-9_.-]*?)(?:__(\*|[A-Za-z0-9_.-]+))?$`)
})

// judge reads one token.
func judge(token string) verdict {
	v := verdict{token: token}
	if token == "*" {
		v.all, v.known = true, true
		return v
	}
	if m := mcpForm().FindStringSubmatch(token); m != nil {
		v.known = true
		v.names = []string{"mcp__" + token[len("mcp__"):]}
		if strings.HasSuffix(token, "__*") && m[1] != "*" {
			v.names[0] = strings.TrimSuffix(v.names[0], "__*")
		}
		return v
	}
	m := tokenForm().FindStringSubmatch(token)
	if m == nil {
		return v.unknown()
	}
	if lower := strings.ToLower(m[1]); strings.HasPrefix(lower, "browser_") && len(lower) > len("browser_") && m[2] == "" {
		v.known, v.names = true, []string{lower}
		return v
	}
	names, ok := vocabulary()[plain(m[1])]
	if !ok {
		return v.unknown()
	}
	v.known, v.names = true, names
	if len(names) == 0 {
		v.why = "larva has no such tool"
	}
	if !strings.Contains(token, "(") {
		return v
	}
	if slices.Contains(names, "task") {
		v.task(m[2])
		return v
	}
	v.part = true
	return v
}

func (v verdict) unknown() verdict {
	v.why = "is the name of no tool that larva knows"
	if strings.ContainsAny(v.token, "/") {
		v.why += " (it looks like another program's)"
	}
	names := slices.Clone(capability.ToolNames())
	slices.Sort(names)
	if n := nearest.Name(v.token, names); n != "" {
		v.hint = "did you mean " + n + "?"
	}
	return v
}

// task reads who may be spawned. A name that gives no id is nobody's.
func (v *verdict) task(list string) {
	for _, name := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' }) {
		if id := Slug(strings.TrimSpace(name)); id != "" && !slices.Contains(v.spawn, id) {
			v.spawn = append(v.spawn, id)
		}
	}
	if len(v.spawn) == 0 {
		v.names, v.why = nil, "names nobody that may be spawned"
	}
}

// split cuts a list at commas and spaces outside parentheses.
func split(s string) []string {
	var out []string
	depth, from := 0, 0
	cut := func(to int) {
		if t := strings.TrimSpace(s[from:to]); t != "" {
			out = append(out, t)
		}
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '(':
			depth++
		case c == ')':
			depth--
		case depth <= 0 && (c == ',' || c == ' ' || c == '\t' || c == '\n' || c == '\r'):
			cut(i)
			from = i + 1
		}
	}
	cut(len(s))
	return out
}

// add puts a token's tools into the set.
func (t *Tools) add(v verdict) {
	t.All = t.All || v.all
	for _, n := range v.names {
		if !slices.Contains(t.Names, n) {
			t.Names = append(t.Names, n)
		}
	}
	t.Spawn = append(t.Spawn, v.spawn...)
	slices.Sort(t.Names)
	slices.Sort(t.Spawn)
	t.Spawn = slices.Compact(t.Spawn)
}
