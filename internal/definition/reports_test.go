package definition

import (
	"fmt"
	"strings"
	"testing"
)

// descriptions that YAML does not read, or reads as something else, as people
// write them; those of several lines begin their further lines in column 0.
var (
	coloned = []string{
		"Use when needed. This includes: a, b", "Use for: audits", "a: b: c", "Trigger: \"x\": then y", "Use it - note: x # no comment", "Time 10:30: now",
		"{braces}: and more", "[a]: b", "'quoted': and on", "ends with colon:", "tools: are listed below: see", "Use this agent when: the user says \"tools: Bash\"",
	}
	exampled = []string{
		"Use it. Examples:\n<example>\nuser: \"hi\"\nassistant: \"yo\"\n</example>", "Use it.\n<example>\nContext: x\n</example>",
		"Use it.\nuser: \"a\" and b\n<commentary>\nuser: \"c\"\n</commentary>", "Use it. <example>user: x</example>\nassistant: runs it: now",
		"Use it.\n\n<example>\n\nuser: do: it\n</example>", "Use it.\n- one: two\n- three: four: five", "Use it.\n<example>\ntools: Bash, Write\n</example>", "Use it.\nTools: all of them\nuser: x: y",
	}
)

// neverWider reads an agent file whose list of tools is Read alone: it is
// either left out, and that is told, or it has no more than Read.
func neverWider(t *testing.T, descriptions []string) {
	t.Helper()
	loaded := 0
	for _, d := range descriptions {
		for _, tools := range []string{"tools: Read", "tools: [Read]", "tools:\n  - Read", "tools: \"Read\""} {
			for _, order := range []string{"name: x\ndescription: %[1]s\n%[2]s", "name: x\n%[2]s\ndescription: %[1]s", "%[2]s\nname: x\ndescription: %[1]s\ncolor: red", "description: %[1]s\nname: x\nmodel: haiku\n%[2]s"} {
				for _, end := range []string{"\n", "\r\n"} {
					front := fmt.Sprintf(order, d, tools)
					def, problem := Read([]byte(strings.ReplaceAll("---\n"+front+"\n---\nBody.\n", "\n", end)), Source{Shown: "a.md"})
					if problem != nil {
						if problem.Line == 0 || problem.String() == "" {
							t.Errorf("%q: left out without a word of where and why: %+v", front, problem)
						}
						continue
					}
					loaded++
					if got := toolsOf(def); got != "read" && got != "none" {
						t.Errorf("%q: got the tools %s, want read at most", front, got)
					}
					if got := toolsOf(def); got == "none" && said(def, nil) == "" {
						t.Errorf("%q: its tools are gone and nothing is said", front)
					}
					if def.Description == "" || def.Prompt != "Body." || def.ID != "x" {
						t.Errorf("%q: got %q, %q, %q: loaded with fields empty", front, def.ID, def.Description, def.Prompt)
					}
				}
			}
		}
	}
	if all := len(descriptions) * 32; loaded < all/2 {
		t.Errorf("got %d of %d read: a colon is no reason to lose an agent", loaded, all)
	}
}

// A colon in an unquoted description neither loses the agent nor its list.
func TestReport07(t *testing.T) { t.Parallel(); neverWider(t, coloned) }

// Nor does an example that goes on in the first column.
func TestReport08(t *testing.T) { t.Parallel(); neverWider(t, exampled) }
