package definition

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"larva.dev/larva/internal/capability"
)

// Whatever a file says: it is read or refused without a panic; it never gets a
// tool whose name, in one of our spellings or Claude Code's, does not stand in a
// line of the frontmatter; and where some line looks like a list of tools it
// never gets all of them, unless "*" is written.
func FuzzRead(f *testing.F) {
	for _, front := range []string{
		"name: x\ndescription: Use for: audits\ntools: Read, Bash", "name: x\ndescription: d\ntools: *", "name: x\n tools: Read\ndescription: d",
		"name: x\ndescription: Use it.\nuser: \"a\" and b\n<commentary>\ntools: Read\ntools: Bash", "name: x\ndescription: d\ndisallowedTools: Bash,\nRead",
		"name: x\ndescription: d\ntools:\n  - Read\n  - Task(a, b)\nallowed-tools: [Read]", "name: x\ndescription: d\ntools: [Read, Grep", "a: &a {tools: Read}\n<<: *a\nname: x\ndescription: d",
		"name: x tools: Read\ndescription: d", "tools:Read\nname: x\ndescription: a: b", "\"tools\": Read\nname: x\ndescription: d", "? tools\n: Read\nname: x\ndescription: d",
		"name: x\ndescription: |\n  tools: all\n  of: them\ntools: mcp__a, mcp__b__c", "name: x\ndescription: d\nto\u200bols: Read", "name: x\r\ndescription: d\r\ntools: READ\r",
	} {
		f.Add([]byte("---\n" + front + "\n---\nBody.\n"))
	}
	f.Add([]byte("\n---\nname: x\n---\nBody"))
	f.Add([]byte("---\nname: x\ntools: Read\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, p := Read(data, Source{Shown: "a.md"})
		if (d == nil) == (p == nil) {
			t.Fatalf("got %v and %v", d, p)
		}
		if d == nil {
			return
		}
		front, _, _ := strings.Cut(string(data[3:]), "\n---")
		low := strings.ToLower(front)
		if d.Inherits() && !d.Denied && looksListed().MatchString(low) && !blockText(front) {
			t.Errorf("all tools, though a line looks like a list of tools:\n%s", front)
		}
		if d.Tools == nil {
			return
		}
		if d.Denied && (d.Tools.All || len(d.Tools.Names) > 0) {
			t.Errorf("denied, and it has %v", d.Tools)
		}
		if d.Tools.All && !strings.Contains(front, "*") {
			t.Errorf("all tools, and no * in\n%s", front)
		}
		for _, name := range d.Tools.Names {
			if !written(name, strings.ReplaceAll(low, "_", "")) {
				t.Errorf("it has %s, which is not written in\n%s", name, front)
			}
		}
		for _, c := range d.Ceiling() {
			if c.Posture > capability.Undeclared && !d.Tools.All && len(d.Tools.Names) == 0 {
				t.Errorf("no tools, and %s is %s", c.Family, c.Posture)
			}
		}
	})
}

func looksListed() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^(tools|allowed-tools|disallowedtools)[ \t]*:`)
}

// blockText says that a text in the frontmatter goes over several lines by
// YAML's own means, where a line that begins with tools: may be prose.
func blockText(front string) bool { return strings.ContainsAny(front, "|>\"'&*!?{[%") }

// written says that some word for the tool stands in the text.
func written(name, text string) bool {
	for word, names := range vocabulary() {
		if slices.Contains(names, name) && strings.Contains(text, word) {
			return true
		}
	}
	return strings.Contains(text, plain(name))
}
