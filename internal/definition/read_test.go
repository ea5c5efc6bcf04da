package definition

import (
	"strings"
	"testing"
)

// said is a definition's problems in one text, a line each.
func said(d *Definition, p *Problem) string {
	if p != nil {
		return p.Kind + ": " + p.String()
	}
	var out []string
	for _, n := range d.Notices {
		out = append(out, n.String())
	}
	return strings.Join(out, "\n")
}

// toolsOf shows what a definition may use.
func toolsOf(d *Definition) string {
	show := func(t *Tools) string {
		switch {
		case t == nil:
			return "unsaid"
		case t.All:
			return "*"
		case len(t.Names) == 0:
			return "none"
		}
		s := strings.Join(t.Names, " ")
		if t.Spawn != nil {
			s += " spawn " + strings.Join(t.Spawn, " ")
		}
		return s
	}
	s := show(d.Tools)
	if d.Disallowed != nil {
		s += " without " + show(d.Disallowed)
	}
	return s
}

// Each reproduction of the failure classes: what is read, and that it is told.
func TestClasses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		front, tools, description, told string // parts of what is told, by |
	}{
		"F1":                   {"name: x\ndescription: d\nargument-hint: [path] [--fast]\ntools: Read", "read", "d", "a.md:4:16: argument-hint: is no YAML (brackets|[F1]"},
		"F2":                   {"name: x\ndescription: Use for: audits\ntools: Read, Bash", "bash bash_kill bash_output read", "Use for: audits", "a.md:3:14: description: is no YAML (a colon outside quotes)|[F2]"},
		"F3":                   {"name: x\ndescription: Use it. Examples:\\n\\n<example>\\nContext: x\\nuser: \"hi\"\ntools: Grep", "grep", "Use it. Examples:\n\n<example>\nContext: x\nuser: \"hi\"", "[F3]"},
		"F4":                   {"name: x\ndescription: Use it.\nuser: \"a\" and b\n<commentary>\nuser: \"c\"\ncolor: red\ntools: Read", "read", "Use it.\nuser: \"a\" and b\n<commentary>\nuser: \"c\"", "a.md:3:14|[F4]"},
		"F4 after the tools":   {"name: x\ndescription: Use it.\ntools: Read, Grep\nuser: \"a\" and b\n<commentary>\nuser: \"c\"", "grep read", "Use it.", "a.md:4:8: tools: the lines below it look like fields|[F4]"},
		"F5":                   {"name: x\ndescription: d\ntools: *", "*", "d", `write "*"|"*" gives every tool|[F5]`},
		"list in F2":           {"name: x\ndescription: a: b: c\ntools:\n  - Read\n  - Glob\nmodel: haiku", "glob read", "a: b: c", "[F2]"},
		"twice":                {"name: x\ndescription: d\ntools: Read\ntools: Bash", "none", "d", "a.md:5:1: tools: this line looks like tools|no tools"},
		"indented":             {"name: x\n  tools: Read\ndescription: d", "none", "d", "a.md:3:1: tools: this line looks like tools"},
		"no space":             {"name: x\ntools:Read\ndescription: d", "none", "d", "this line looks like tools"},
		"no-break space":       {"name: x\ntools:\u00a0Read\ndescription: d", "none", "d", "this line looks like tools"},
		"other case":           {"name: x\ndescription: a: b\nTools: Read", "none", "a: b\nTools: Read", "this line looks like tools"},
		"buried":               {"name: x tools: Read\ndescription: d", "none", "d", "tools stands in it"},
		"other case, YAML":     {"name: x\ndescription: d\nTools: Read", "none", "d", "a.md:4:8: Tools: looks like tools and is not it"},
		"slip of a key":        {"name: x\ndescription: d\ntoosl: Read", "none", "d", "toosl: looks like tools"},
		"OpenCode permission":  {"name: x\ndescription: d\npermissions:\n  bash: deny", "none", "d", "permissions: restricts the agent in another program's words"},
		"map":                  {"name: x\ndescription: d\ntools:\n  bash: false", "none", "d", "a.md:5:3: tools: cannot be read (an object), so the agent gets no tools|[S2]"},
		"null":                 {"name: x\ndescription: d\ntools:", "none", "d", "tools: cannot be read (null)"},
		"boolean":              {"name: x\ndescription: d\ntools: true", "none", "d", "tools: cannot be read (true)"},
		"forbidden, then more": {"name: x\ndescription: d\ndisallowedTools: Read,\nBash", "none", "d", "disallowedTools: cannot be read"},
		"broken list":          {"name: x\ndescription: d\ntools: [Read, Grep", "none", "d", "tools: cannot be read"},
		"broken list, more":    {"name: x\ndescription: d\ntools: [Read, Grep\nmodel: opus", "none", "d", "tools: cannot be read"},
		"nested":               {"name: x\ndescription: d\nmetadata:\n  tools: Read", "none", "d", "metadata: tools stands inside of it"},
		"a server's":           {"name: x\ndescription: d\nmcp-servers:\n  tools: Read", "unsaid", "d", "mcp-servers: has no effect"},
		"empty list":           {"name: x\ndescription: d\ntools: []", "none", "d", "names no tool that larva has"},
		"nobody said":          {"name: x\ndescription: d", "unsaid", "d", ""},
		"unknown token":        {"name: x\ndescription: d\ntools: Read, search/codebase, Bsh", "read", "d", `"search/codebase" is the name of no tool that larva knows (it looks like another program's)|"Bsh" is the name of no tool|did you mean bash?|[S3]`},
		"not a tool of ours":   {"name: x\ndescription: d\ntools: Read, NotebookEdit", "read", "d", "larva has no such tool"},
		"spellings":            {"name: x\ndescription: d\ntools: READ, Multi_Edit, todowrite, web_Fetch, LS", "glob multi_edit read todo_write web_fetch", "d", ""},
		"Claude's":             {"name: x\ndescription: d\ntools: Edit, Write, WebFetch, WebSearch", "edit multi_edit web_fetch web_search write write_files", "d", ""},
		"spaces":               {"name: x\ndescription: d\ntools: Read Grep  Glob", "glob grep read", "d", ""},
		"list of lists":        {"name: x\ndescription: d\ntools: [\"Read, Grep\", 3]", "grep read", "d", "holds something that is no name"},
		"servers":              {"name: x\ndescription: d\ntools: mcp__github, mcp__files__read, mcp__web__*", "mcp__files__read mcp__github mcp__web", "d", ""},
		"task":                 {"name: x\ndescription: d\ntools: Task(Code Reviewer, explore), Read", "read task task_send task_stop task_wait spawn code-reviewer explore", "d", ""},
		"part":                 {"name: x\ndescription: d\ntools: Bash(git log:*), Read", "read", "d", "would give a part of a tool|write Bash alone"},
		"disallowed":           {"name: x\ndescription: d\ndisallowedTools: Bash, Write", "unsaid without bash bash_kill bash_output write write_files", "d", ""},
		"disallowed part":      {"name: x\ndescription: d\ndisallowedTools: Bash(rm *)", "unsaid without bash bash_kill bash_output", "d", "the whole tool is taken away"},
		"disallowed unknown":   {"name: x\ndescription: d\ntools: Read\ndisallowedTools: Bsh", "none without none", "d", "could forbid anything, so the agent gets no tools"},
		"disallowed null":      {"name: x\ndescription: d\ndisallowedTools:", "none", "d", "disallowedTools: cannot be read"},
		"allowed-tools":        {"name: x\ndescription: d\nallowed-tools: Read", "read", "d", "it is read as tools"},
		"both lists":           {"name: x\ndescription: d\ntools: Read, Bash\nallowed-tools: Read, Grep", "read", "d", "it is read as tools"},
		"mode unread":          {"name: x\ndescription: d\ntools: Read\npermissionMode: paln", "none", "d", `the mode "paln" cannot be read`},
		"isolation unread":     {"name: x\ndescription: d\nisolation: container", "none", "d", `the isolation "container" cannot be read`},
		"unknown keys":         {"name: x\ndescription: d\nemoji: x\nversion: 1.0", "unsaid", "d", "a.md:4:8: emoji: is not known here|a.md:5:10: version: is not known here|[S8]"},
		"a date":               {"name: x\ndescription: d\nversion: 2026-01-01\ntools: Read", "read", "d", "version: is no value here (a date is not a value here) and was taken as text"},
		"secret":               {"name: x\ndescription: d\nmcp-servers: {a: {headers: {Authorization: \"${{ secrets.X }}\"}}}", "unsaid", "d", "mcp-servers: has no effect"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, end := range []string{"\n", "\r\n"} {
				text := strings.ReplaceAll("---\n"+c.front+"\n---\nBody.\n", "\n", end)
				d, p := Read([]byte(text), Source{Shown: "a.md"})
				if p != nil {
					t.Fatalf("got %s", said(d, p))
				}
				if got := toolsOf(d); got != c.tools {
					t.Errorf("tools: got %s, want %s\n%s", got, c.tools, said(d, p))
				}
				if d.Description != c.description {
					t.Errorf("description: got %q, want %q", d.Description, c.description)
				}
				if d.Prompt != "Body." {
					t.Errorf("prompt: got %q", d.Prompt)
				}
				told := said(d, p)
				for _, want := range strings.Split(c.told, "|") {
					if !strings.Contains(told, want) {
						t.Errorf("told: got\n%s\nwant %s", told, want)
					}
				}
				if c.told == "" && told != "" {
					t.Errorf("told: got\n%s\nwant nothing", told)
				}
			}
		})
	}
}

func TestNoDefinition(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"docs":               {"# Agents\n\nHere they are.\n", "skipped: a.md:1: there is no frontmatter"},
		"empty":              {"", "skipped: a.md:1: there is no frontmatter"},
		"a page":             {"---\ntitle: Agents\nlayout: page\n---\nText.\n", "skipped: a.md:1:1: the frontmatter has neither a name nor a description"},
		"F6 never closed":    {"---\nname: x\ndescription: d\ntools: Read\n\nBody.\n", "error: a.md:1:1: the frontmatter that starts here has no end (close it with a line of ---) [F6]"},
		"F6 blank line":      {"\n---\nname: x\ndescription: d\n---\nBody.\n", "error: a.md:1:1: blank lines stand before the frontmatter"},
		"no description":     {"---\nname: x\n---\nBody.\n", "error: a.md:2:1: description: there is no description"},
		"no prompt":          {"---\nname: x\ndescription: d\n---\n \n", "error: a.md:1:1: nothing stands below the frontmatter"},
		"no id":              {"---\nname: 专家\ndescription: d\n---\nBody.\n", ""},
		"a list":             {"---\n- name: x\n---\nBody.\n", "error: a.md:2:1: the frontmatter must be fields"},
		"not UTF-8":          {"---\nname: \xff\n---\nBody.\n", "error: a.md:2:7: the byte 0xff is not valid UTF-8"},
		"prose in the fence": {"---\n[there: x\n---\nBody.\n", "error: a.md:2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, p := Read([]byte(c.text), Source{Shown: "a.md"})
			if c.want == "" {
				if p != nil || d.ID != "a" {
					t.Errorf("got %v, %v, want the id of the file", d, p)
				}
				return
			}
			if p == nil || !strings.HasPrefix(said(d, p), c.want) {
				t.Errorf("got %s, want %s", said(d, p), c.want)
			}
		})
	}
}

func TestSlug(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"code-reviewer": "code-reviewer", "C# Expert": "c-sharp-expert", "powershell-5.1-expert": "powershell-5-1-expert",
		"UX / UI Designer!": "ux-ui-designer", "C++": "c-plus-plus", "  a__b ": "a-b", "专家": "", "🎨 Painter": "painter"} {
		if got := Slug(name); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}
