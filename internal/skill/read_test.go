package skill

import (
	"fmt"
	"strings"
	"testing"
)

// TestReport10 holds row 10 of the public reports: a description in any form of
// YAML is its text, never what marks the form.
func TestReport10(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, front, want string }{
		{"folded", "description: >\n  Use it\n  here.", "Use it here."},
		{"folded, stripped", "description: >-\n  Use it\n  here.", "Use it here."},
		{"literal", "description: |\n  Use it\n  here.", "Use it\nhere."},
		{"literal, stripped", "description: |-\n  Use it\n  here.", "Use it\nhere."},
		{"literal, kept", "description: |+\n  Use it\n  here.\n\n", "Use it\nhere."},
		{"folded, kept", "description: >+\n  Use it\n  here.\n\n", "Use it here."},
		{"indent named", "description: >2-\n   Use it\n   here.", "Use it\n here."},
		{"double quotes", `description: "Use it: here."`, "Use it: here."},
		{"single quotes", "description: 'Use it: it''s here.'", "Use it: it's here."},
		{"plain over lines", "description: Use it\n  here.", "Use it here."},
		{"a key inside", "description: >-\n  Use it\n  name: other\n  disable-model-invocation: true", "Use it name: other disable-model-invocation: true"},
		{"a comment behind", "description: Use it. # not this", "Use it."},
		{"a number", "description: 42", "42"},
	} {
		for _, eol := range []string{"\n", "\r\n"} {
			for _, bom := range []string{"", "\ufeff"} {
				text := bom + strings.ReplaceAll("---\nname: x\n"+c.front+"\n---\nBody\n", "\n", eol)
				k, p := Read([]byte(text), Skills, "x/SKILL.md", "x")
				if p != nil {
					t.Errorf("%s: got %v, want a skill", c.name, p)
					continue
				}
				got := k.Description
				if c.name == "indent named" {
					got, c.want = oneLine(got), oneLine(c.want)
				}
				if got != c.want || k.ID != "x" || !k.Offered() {
					t.Errorf("%s (%q, bom %t): got %q, offered %t, want %q offered", c.name, eol, bom != "", got, k.Offered(), c.want)
				}
			}
		}
	}
}

// The classes of files that are met in the wild, each as a small file of our
// own: what is read, whether the model is told of it, and how it is told.
func TestClasses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		class, kind string
		place       string
		text        string
		want        string // "id|description|hint|offered|class of the first notice", or "error|class"
	}{
		{"F1", "command", "x", "---\ndescription: D\nargument-hint: [path] [--fast]\n---\nB", "x|D|[path] [--fast]|true|"},
		{"F1", "command", "x", "---\nargument-hint: [a] | [b]\ndescription: D\n---\nB", "x|D|[a] | [b]|true|"},
		{"F1 and an unknown key behind it", "command", "x", "---\ndescription: D\nargument-hint: [a] [b]\nlicence: MIT\n---\nB", "x|D|[a] [b]|true|S8"},
		{"F2", "command", "x", "---\ndescription: Use for: audits\n---\nB", "x|Use for: audits||true|F2"},
		{"F2", "skill", "x", "---\nname: x\ndescription: Use for: audits\n---\nB", "x|Use for: audits||true|F2"},
		{"F3", "skill", "x", "---\nname: x\ndescription: Use it. Examples:\\n\\n<example>\\nuser: \"hi\"\n---\nB", "x|Use it. Examples:\n\n<example>\nuser: \"hi\"||true|F3"},
		{"F4", "skill", "x", "---\nname: x\ndescription: Use it.\nuser: \"a\" and b\n---\nB", "x|Use it.\nuser: \"a\" and b||false|F4"},
		{"F5", "command", "x", "---\ndescription: D\nallowed-tools: *\n---\nB", "x|D||true|F5"},
		{"F6, never closed", "skill", "x", "---\nname: x\ndescription: D\nB", "error|F6"},
		{"F6, never closed", "command", "x", "---\ndescription: D\nB", "error|F6"},
		{"F6, blank line first", "skill", "x", "\n---\nname: x\ndescription: D\n---\nB", "error|F6"},
		{"F6, blank line first", "command", "x", "\n---\ndescription: D\n---\nB", "error|F6"},
		{"S1, a list", "command", "x", "---\ndescription: D\nargument-hint: [file]\n---\nB", "x|D|[file]|true|"},
		{"S1, null", "command", "x", "---\ndescription: D\nargument-hint:\n---\nB", "x|D||true|"},
		{"S1, quoted", "command", "x", "---\ndescription: D\nargument-hint: \"[a] b\"\n---\nB", "x|D|[a] b|true|"},
		{"S1, block", "command", "x", "---\ndescription: D\nargument-hint: >-\n  [a]\n  b\n---\nB", "x|D|[a] b|true|"},
		{"S2, list", "command", "x", "---\ndescription: D\nallowed-tools: [Read, Grep]\n---\nB", "x|D||true|S8"},
		{"S2, commas in parentheses", "command", "x", "---\ndescription: D\nallowed-tools: Bash(git add:*, git commit:*), Read\n---\nB", "x|D||true|S8"},
		{"S3, others' names", "command", "x", "---\ndescription: D\nallowed-tools: search/codebase execute/runInTerminal\n---\nB", "x|D||true|S8"},
		{"S4", "command", "x", "---\ndescription: D\nmodel: GPT-4.1 | 'gpt-5'\n---\nB", "x|D||true|S8"},
		{"S5, spaces", "skill", "x", "---\nname: C# Expert v2.1\ndescription: D\n---\nB", "c-expert-v2-1|D||true|S5"},
		{"S5, differs", "skill", "other", "---\nname: x\ndescription: D\n---\nB", "x|D||true|S5"},
		{"S5, none", "skill", "My Skill", "---\ndescription: D\n---\nB", "my-skill|D||true|S5"},
		{"S5, no letters", "skill", "x", "---\nname: ☃\ndescription: D\n---\nB", "x|D||true|S5"},
		{"S5, too long", "skill", "x", "---\nname: " + strings.Repeat("a", 65) + "\ndescription: D\n---\nB", strings.Repeat("a", 64) + "|D||false|S5"},
		{"S5, a command's file", "command", "my cmd;x", "B", "my-cmd-x|B||false|S5"},
		{"S7", "skill", "x", "---\nname: x\ndescription: " + strings.Repeat("d", 1025) + "\n---\nB", "x|" + strings.Repeat("d", 1025) + "||true|S7"},
		{"S8", "skill", "x", "---\nname: x\ndescription: D\nvibe: calm\n---\nB", "x|D||true|S8"},
		{"S8, a count from 0", "command", "x", "---\ndescription: D\n---\nDo $0", "x|D||true|S8"},
		{"S9, joiners", "skill", "x", "---\nname: x\ndescription: 👨‍👩 D\n---\nB", "x|👨‍👩 D||true|"},
		{"S9, no UTF-8", "skill", "x", "---\nname: x\ndescription: \xff\n---\nB", "error|"},
		{"S9, NUL", "command", "x", "a\x00b", "error|"},
		{"S10", "skill", "x", "---\nname: x\ndescription: D\nhooks:\n  PreToolUse:\n    - matcher: \"*\"\n---\nB", "x|D||true|S8"},
		{"no frontmatter", "command", "x", "# Fix it\n\nNow.", "x|Fix it||false|"},
		{"no frontmatter", "skill", "x", "# Fix it", "error|"},
		{"no description", "command", "x", "---\nmodel: haiku\n---\n\nFix it\nNow.", "x|Fix it||false|S8"},
		{"no description", "skill", "x", "---\nname: x\n---\nB", "x|||false|"},
		{"nothing in it", "command", "x", " \n", "error|"},
		{"nothing below", "skill", "x", "---\nname: x\ndescription: D\n---\n", "error|"},
		{"a bracket open", "skill", "x", "---\nname: x\ndescription: [D\n---\nB", "x|[D||false|F1"},
		{"a quote open", "skill", "x", "---\nname: x\ndescription: \"D\n---\nB", "x|\"D||false|"},
		{"a brace open", "skill", "x", "---\nname: x\ndescription: {a: b\n---\nB", "x|{a: b||false|F2"},
		{"a block scalar with a wrong indent", "skill", "x", "---\nname: x\ndescription: >-\nno indent\n---\nB", "x|>-\nno indent||false|F4"},
		{"twice", "skill", "x", "---\nname: x\nname: y\ndescription: D\n---\nB", "x|D||false|F4"},
		{"not fields", "skill", "x", "---\n- a\n---\nB", "error|"},
	} {
		t.Run(c.class, func(t *testing.T) {
			t.Parallel()
			k, p := Read([]byte(c.text), Kind(c.kind), "f.md", c.place)
			got := ""
			switch {
			case p != nil:
				got = "error|" + p.Class
				if p.File != "f.md" || p.Line == 0 {
					t.Errorf("got place %s:%d, want the file and a line", p.File, p.Line)
				}
			default:
				class := ""
				if len(k.Notices) > 0 {
					class = k.Notices[0].Class
				}
				got = fmt.Sprintf("%s|%s|%s|%t|%s", k.ID, k.Description, k.Hint, k.Offered(), class)
				if !k.Runnable() {
					t.Error("got one that no person can run")
				}
			}
			if got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestFlags(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		line             string
		offered, runs    bool
		valid, ungranted bool
	}{
		{"", true, true, true, false},
		{"disable-model-invocation: true", false, true, true, false},
		{"disable-model-invocation: false", true, true, true, false},
		{"disable-model-invocation: yes", false, true, true, false},
		{`disable-model-invocation: "True"`, false, true, true, false},
		{"disable-model-invocation: no", true, true, true, false},
		{"disable-model-invocation:", true, true, true, false},
		{"disable-model-invocation: maybe", false, true, false, false},
		{"disable-model-invocation: [true]", false, true, false, false},
		{"disable_model_invocation: true", false, true, false, false},
		{"disableModelInvocation: true", false, true, false, false},
		{"user-invocable: false", true, false, true, false},
		{"user-invocable: off", true, false, true, false},
		{"user-invocable: true", true, true, true, false},
		{"user-invocable:", true, true, true, false},
		{"user-invocable: 7", false, true, false, false},
		{"allowed-tools: Bash(*)", true, true, true, true},
		{"disallowed-tools: Bash", true, true, true, true},
		{"x: [\n disable-model-invocation: true", false, true, false, false},
	} {
		k, p := Read([]byte("---\nname: x\ndescription: D\n"+c.line+"\n---\nB"), Skills, "f.md", "x")
		if p != nil {
			t.Errorf("%q: got %v, want a skill", c.line, p)
			continue
		}
		if k.Offered() != c.offered || k.Runnable() != c.runs || k.Valid() != c.valid || (len(k.Ungranted) > 0) != c.ungranted {
			t.Errorf("%q: got offered %t, runnable %t, valid %t, ungranted %v; want %t %t %t %t; notices %v", c.line,
				k.Offered(), k.Runnable(), k.Valid(), k.Ungranted, c.offered, c.runs, c.valid, c.ungranted, k.Notices)
		}
	}
}

// FuzzRead holds that reading ends in a text or in a reason, and that what says
// it is for the person alone is never offered, however it is broken.
func FuzzRead(f *testing.F) {
	f.Add("---\nname: x\ndescription: >-\n  D\n---\nB", true)
	f.Add("---\ndescription: Use: this\nargument-hint: [a] [b]\n---\nB $1", false)
	f.Add("\ufeff---\r\nname: x\r\ndisable-model-invocation: true\r\ndescription: [\r\n---\r\nB", true)
	f.Fuzz(func(t *testing.T, text string, isSkill bool) {
		kind := Commands
		if isSkill {
			kind = Skills
		}
		k, p := Read([]byte(text), kind, "f.md", "place")
		if (k == nil) == (p == nil) {
			t.Fatalf("got %v and %v, want one of them", k, p)
		}
		if p != nil {
			if p.Message == "" || p.Kind != Error {
				t.Fatalf("got problem %+v, want a reason", p)
			}
			return
		}
		if k.ID == "" || strings.ContainsAny(k.ID, " /\n\t`$") || strings.TrimSpace(k.body) == "" {
			t.Fatalf("got id %q and body %q", k.ID, k.body)
		}
		if k.Kind == Skills && len(k.ID) > maxName {
			t.Fatalf("got an id of %d bytes", len(k.ID))
		}
		front, _, closed := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(text, "\ufeff"), "---\n"), "\n---\n")
		if closed && strings.HasPrefix(front, "disable-model-invocation: true\n") && k.Offered() {
			t.Fatalf("got it offered to the model, want it not: %q", text)
		}
	})
}
