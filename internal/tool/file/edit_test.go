//go:build unix

package file

import (
	"os"
	"strings"
	"testing"
)

func TestEdit(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, text string
		old, new   string
		all        bool
		want       string // "" where it fails
		say        string
	}{
		{"one", "a\nb\nc\n", "b", "B", false, "a\nB\nc\n", "edited f: replaced 1 occurrence, the first at line 2"},
		{"delete", "a\nb\n", "b\n", "", false, "a\n", "line 2"},
		{"all", "x x\nx\n", "x", "y", true, "y y\ny\n", "replaced 3 occurrences, the first at line 1"},
		{"all of one", "x", "x", "y", true, "y", "replaced 1 occurrence"},
		{"twice", "x\nx\n", "x", "y", false, "", "occurs 2 times"},
		{"none", "x\n", "y", "z", false, "", "old_string is not in the file; read it again"},
		{"spaces", "if x {\n\t\ty\n}\n", "if x {\n    y\n}", "z", false, "", "other spaces or indentation"},
		{"line numbers", "one\ntwo\n", "     1\tone\n     2\ttwo\n", "z", false, "", "leave out the line numbers"},
		{"empty", "x", "", "y", false, "", "old_string is empty"},
		{"identical", "x", "x", "x", false, "", "are the same"},
		{"CRLF kept", "a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz", false, "x\r\ny\r\nz\r\nc\r\n", "line 1"},
		{"CRLF, one line", "a\r\nb\r\n", "b", "p\nq", false, "a\r\np\r\nq\r\n", "line 2"},
		{"CRLF given", "a\r\nb\r\n", "a\r\nb", "c\r\nd", false, "c\r\nd\r\n", "line 1"},
		{"CRLF given for LF", "a\nb\n", "a\r\nb", "c", false, "c\n", "line 1"},
		{"only line ends differ", "a\r\nb\r\n", "a\nb", "a\r\nb", false, "", "the same but for line ends"},
		{"mixed stays", "a\r\nb\nc\nd\n", "c\nd", "e\nf", false, "a\r\nb\ne\nf\n", "line 3"},
		{"no regular expression", "a.c abc", "a.c", "$1", false, "$1 abc", "line 1"},
		{"binary", "a\x00b", "a", "b", false, "", "binary"},
		{"UTF-8", "käse\n", "ä", "a", false, "kase\n", "line 1"},
		{"BOM kept", "\uFEFFx\n", "x", "y", false, "\uFEFFy\n", "line 1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, Options{})
			b.put("proj/f", tt.text)
			b.do("read", args{"path": "f"})
			if tt.name == "binary" { // cannot be read; pretend
				fi, err := os.Stat(b.path("proj/f"))
				if err != nil {
					t.Fatal(err)
				}
				b.tools["edit"].(editTool).d.note(b.path("proj/f"), fi)
			}
			r := b.do("edit", args{"path": "f", "old_string": tt.old, "new_string": tt.new, "replace_all": tt.all})
			want := tt.want
			if want == "" {
				want = tt.text
			}
			if r.IsError != (tt.want == "") || !strings.Contains(r.Output, tt.say) || b.get("proj/f") != want {
				t.Errorf("got %q error %v file %q, want %q and file %q", r.Output, r.IsError, b.get("proj/f"), tt.say, want)
			}
		})
	}
}

func TestEditRefusals(t *testing.T) {
	t.Parallel()
	b := newBench(t, Options{})
	b.put("proj/f", "x\n")
	b.put("proj/d/f", "")
	e := args{"path": "f", "old_string": "x", "new_string": "y"}
	b.fails("edit", e, "f has not been read in this run")
	b.do("read", args{"path": "f"})
	b.put("proj/f", "x, longer\n")
	b.fails("edit", e, "changed since")
	b.do("read", args{"path": "f"})
	if r := b.do("edit", e); r.IsError {
		t.Errorf("got %q", r.Output)
	}
	b.ok("edit", args{"path": "f", "old_string": "y", "new_string": "z"}, "edited f: replaced 1 occurrence, the first at line 1") // our own edit is known
	b.fails("edit", args{"path": "none", "old_string": "a", "new_string": "b"}, "no such file")
	b.fails("edit", args{"path": "d", "old_string": "a", "new_string": "b"}, "directory")
}

func FuzzExchange(f *testing.F) {
	f.Add("a\nb\n", "a", "b", false)
	f.Add("a\r\nb\r\n", "a\nb", "c\nd", true)
	f.Add("\r\n\n\r", "\n", "\r\n", true)
	f.Fuzz(func(t *testing.T, text, old, new string, all bool) {
		if old == "" || old == new {
			return
		}
		e, err := exchange(text, old, new, all)
		if err != nil {
			return
		}
		if e.times < 1 || !all && e.times != 1 || e.line < 1 || e.line > 1+strings.Count(text, "\n") {
			t.Errorf("got %+v", e)
		}
		if strings.Contains(text, "\r\n") && strings.Count(text, "\r\n") == strings.Count(text, "\n") && !strings.Contains(old, "\r") && !strings.HasPrefix(old, "\n") && !strings.Contains(new, "\r") && !strings.HasPrefix(new, "\n") {
			if strings.Count(e.text, "\r\n") != strings.Count(e.text, "\n") {
				t.Errorf("%q with %q by %q: %q mixes line ends", text, old, new, e.text)
			}
		}
	})
}
