package definition

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The files of testdata/agents, written after those of public collections: what
// becomes of each stands in testdata/agents.golden.
func TestFixtures(t *testing.T) {
	t.Parallel()
	defs, problems := Find([]Dir{{Path: filepath.Join("testdata", "agents"), Shown: "agents", Root: "testdata", Origin: Project}})
	var b strings.Builder
	for i := range defs {
		d := &defs[i]
		fmt.Fprintf(&b, "%s (%s)\n  tools: %s\n  ceiling: %s\n  model: %s\n", d.ID, d.Shown, toolsOf(d), ceiling(d), d.Model)
		for _, n := range d.Notices {
			fmt.Fprintf(&b, "  %s\n", n)
		}
	}
	for _, p := range problems {
		fmt.Fprintf(&b, "%s: %s\n", p.Kind, p)
	}
	golden := filepath.Join("testdata", "agents.golden")
	if os.Getenv("LARVA_UPDATE") != "" {
		if err := os.WriteFile(golden, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got := b.String(); got != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	files, err := filepath.Glob(filepath.Join("testdata", "agents", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	if got := len(defs) + len(problems); got != len(files) {
		t.Errorf("got %d definitions and problems, want one of each of %d files", got, len(files))
	}
}

// As many files of each class as public collections had, 271 in all, made by
// varying the reproductions: each is no YAML, each is read, and what its fields
// are is known.
func TestRecovers(t *testing.T) {
	t.Parallel()
	total, read := 0, 0
	for _, class := range []struct {
		name  string
		count int
		make  func(i int) (front, description string)
	}{
		{"F1", 201, func(i int) (string, string) {
			hint := []string{"[path] [--fast]", "[a] | [b]", "[file] <n>", "[--all] [--only NAME] text"}[i%4]
			return fmt.Sprintf("description: Command %d\nargument-hint: %s", i, hint), fmt.Sprintf("Command %d", i)
		}},
		{"F2", 20, func(i int) (string, string) {
			s := fmt.Sprintf("Use for: job %d. Not for: others", i)
			return "description: " + s, s
		}},
		{"F3", 35, func(i int) (string, string) {
			s := fmt.Sprintf("Use it %d. Examples:\\n\\n<example>\\nContext: x\\nuser: \"hi\"\\n</example>", i)
			return "description: " + s, strings.ReplaceAll(s, `\n`, "\n")
		}},
		{"F4", 13, func(i int) (string, string) {
			s := fmt.Sprintf("Use it.\nuser: \"a%d\" and b\n<commentary>\nuser: \"c\"\nassistant: \"d: e\"", i)
			return "description: " + s, s
		}},
		{"F5", 2, func(int) (string, string) { return "description: d\nallowed-tools: *", "d" }},
	} {
		for i := range class.count {
			total++
			front, description := class.make(i)
			tools := []string{"", "\ntools: Read, Grep", "\ntools:\n  - Read\n  - Grep"}[i%3]
			if class.name == "F5" {
				tools = ""
			}
			text := "---\nname: agent-" + fmt.Sprint(i) + "\n" + front + tools + "\nmodel: sonnet\n---\nBody.\n"
			d, p := Read([]byte(text), Source{Shown: "a.md"})
			want := map[bool]string{true: "unsaid", false: "grep read"}[tools == ""]
			if class.name == "F5" {
				want = "*"
			}
			switch {
			case p != nil:
				t.Errorf("%s %d: got %s\n%s", class.name, i, p, text)
			case d.Description != description || d.Model != "sonnet" || d.ID != "agent-"+fmt.Sprint(i) || toolsOf(d) != want:
				t.Errorf("%s %d: got %q, %s, %s, %s; want %q and %s\n%s", class.name, i, d.Description, d.Model, d.ID, toolsOf(d), description, want, text)
			case !strings.Contains(said(d, nil), "is no YAML"):
				t.Errorf("%s %d: got no word that it is no YAML\n%s", class.name, i, text)
			default:
				read++
			}
		}
	}
	if total != 271 {
		t.Errorf("got %d files, want 271", total)
	}
	t.Logf("COUNT %d of %d frontmatters that are no YAML are read", read, total)
}
