package markdown

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestRender(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, in string
		width    int
		want     []string
	}{
		{"paragraph", "one two\nthree **four** `five`", 12, []string{"one two", "three four", "five"}},
		{"gaps are as written", "# A\ntext\n\n\n\nmore", 0, []string{"A", "text", "", "more"}},
		{"setext", "Title\n---\nx", 0, []string{"Title", "x"}},
		{"bullets", "- a\n- b **c**\n  - d\n\n    e\n- f", 0, []string{"• a", "• b c", "  • d", "", "    e", "• f"}},
		{"numbers go on", "1. a\n2. b\n\n3. c", 0, []string{"1. a", "2. b", "", "3. c"}},
		{"a list ends", "- a\n\ntext", 0, []string{"• a", "", "text"}},
		{"hanging indent", "- one two three", 9, []string{"• one two", "  three"}},
		{"tasks", "- [ ] a\n- [x] b", 0, []string{"☐ a", "☑ b"}},
		{"a year begins no list", "It was\n2019. Then", 0, []string{"It was 2019. Then"}},
		{"fence", "x\n```go\nfunc  a() {\n\n\tb\n```\ny", 0, []string{"x", "  func  a() {", "  ", "      b", "y"}},
		{"open fence", "~~~\na\n```\n", 0, []string{"  a", "  ```"}},
		{"fence in an item", "- a:\n  ```\n  x  y\n  ```\n- b", 0, []string{"• a:", "    x  y", "• b"}},
		{"indented code", "    a\n    b", 0, []string{"  a", "  b"}},
		{"quote", "> a\nb\n> - c", 0, []string{"│ a b", "│ • c"}},
		{"rule", "a\n\n***\nb", 4, []string{"a", "", "────────", "b"}},
		{"link", "[go](https://go.dev) <https://go.dev> [https://a.b](https://evil.c)", 0, []string{"go (https://go.dev) https://go.dev https://a.b (https://evil.c)"}},
		{"image", "![alt](a.png)", 0, []string{"image: alt (a.png)"}},
		{"escapes", `\*a\* &amp; &lt;b&gt; \&amp; c\d`, 0, []string{`*a* & <b> &amp; c\d`}},
		{"html", "<b>x</b> y\n\n<div>\nz\n</div>", 0, []string{"<b>x</b> y", "", "<div>", "z", "</div>"}},
		{"hard break", "a  \nb\\\nc", 0, []string{"a", "b", "c"}},
		{"wide", "日本語のテキスト", 8, []string{"日本語の", "テキスト"}},
		{"emoji", "ab 👍🏽 cd", 8, []string{"ab 👍🏽", "cd"}},
		{"long word", "abcdefghijkl mno", 8, []string{"abcdefgh", "ijkl mno"}},
		{"table", "| a | bb |\n|---|--:|\n| 日本 | 1 |\n| c | **22** |", 0, []string{"a    │ bb", "─────┼───", "日本 │  1", "c    │ 22"}},
		{"wide table", "| name | what |\n|---|---|\n| abcdef | long text here |", 16, []string{"name: abcdef", "what: long", "  text here"}},
		{"no table", "a | b\n\nc", 0, []string{"a | b", "", "c"}},
		{"crlf", "a\r\n\r\nb\r\n", 0, []string{"a", "", "b"}},
		{"empty", "", 0, nil},
		{"blank", "\n\n", 0, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if d := cmp.Diff(Render(tt.in, Options{Width: tt.width}), tt.want); d != "" {
				t.Errorf("(-got +want):\n%s", d)
			}
		})
	}
}

func TestColour(t *testing.T) {
	t.Parallel()
	got := Render("# T\n\n**a *b*** `c`\n```\nd\n```", Options{Color: true})
	want := []string{"\x1b[1;4;35mT\x1b[0m", "", "\x1b[1ma \x1b[0m\x1b[1;3mb \x1b[0m\x1b[36mc\x1b[0m", "  \x1b[36md\x1b[0m"}
	if d := cmp.Diff(got, want); d != "" {
		t.Errorf("(-got +want):\n%s", d)
	}
}

// Text that would drive a terminal, in every place where text can stand.
func TestHostile(t *testing.T) {
	t.Parallel()
	for _, evil := range []string{"\x1b]0;owned\x07", "\x1b]52;c;aGk=\x07", "\x1b[2J", "\x1b]8;;http://x\x1b\\", "\u009b31m", "&#27;[2J", "&#x1b;]0;x&#7;", "&#x9b;2J", "\u202egnp", "\r", "\x00", "\xff\xfe", "\b\b\b", "&#10;x", "&#x202e;a", "\x1bP+q\x1b\\"} {
		for _, place := range []string{"%s", "# %s", "- %s", "1. %s", "> %s", "```%s\n%s\n```", "    %s", "`%s`", "[%s](%s)", "![%s](%s)", "<http://x/%s>", "<b %s>", "<div>\n%s\n</div>", "| %s | b |\n|---|---|\n| a | %s |", "**%s**", "[a](<%s> \"%s\")", `\%s`} {
			in := strings.ReplaceAll(place, "%s", evil)
			for _, l := range Render(in, Options{Width: 30}) {
				if i := strings.IndexFunc(l, obeyed); i >= 0 {
					t.Errorf("%q: line %q holds a control character", in, l)
				}
			}
		}
	}
}

// A stream is cut the same way however it comes.
func FuzzStream(f *testing.F) {
	for _, s := range []string{"# a\n\n- b\n  c\n\n  d\n- e\n```\nx\n```\n> q\nr\n\n---\n1) z", "a\r\n\n\n\tb", "- \n-\n\n\n  x", "| a |\n|--|\n", strings.Repeat("x", 20000)} {
		f.Add(s, uint8(3))
	}
	f.Fuzz(func(t *testing.T, s string, step uint8) {
		var whole, parts Stream
		want := append(whole.Write(s), whole.Close()...)
		var got []Piece
		for rest := s; rest != ""; {
			n := min(len(rest), int(step)+1)
			got = append(got, parts.Write(rest[:n])...)
			if n := len(parts.partial) + parts.block.Len(); n > 2*maxBlock+2 {
				t.Fatalf("%d bytes are unfinished", n)
			}
			rest = rest[n:]
		}
		got = append(got, parts.Close()...)
		if d := cmp.Diff(got, want); d != "" {
			t.Fatalf("in steps of %d (-got +want):\n%s", int(step)+1, d)
		}
		for _, p := range want {
			for _, l := range p.Lines(Options{Width: 20}) {
				if i := strings.IndexFunc(l, obeyed); i >= 0 {
					t.Fatalf("%q gives %q", s, l)
				}
				if !p.Code && !strings.HasPrefix(l, "  ") && !strings.Contains(l, "│") && Width(l) > 22 {
					t.Fatalf("%q gives %q, %d columns wide", p.Text, l, Width(l))
				}
			}
		}
	})
}

// Work stays linear: hostile blocks of the largest size are drawn at once, and
// long streams in small steps too.
func TestHostileSizes(t *testing.T) {
	t.Parallel()
	for _, s := range []string{">", "> ", "- ", "[", "[a](", "*", "**a", "_a", "`", "``a", "<", "![", "\\", "&", "|", "| a ", "1. ", "a\n", "\t", "日", "[a]: b\n", "<a ", "*a_ ", "- a\n  "} {
		began := time.Now()
		Render(strings.Repeat(s, maxBlock/len(s)), Options{Width: 40})
		if d := time.Since(began); d > 3*time.Second {
			t.Errorf("%q repeated: %s", s, d)
		}
	}
}

func TestCut(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		in    string
		width int
		want  string
	}{{"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"日本語", 5, "日本…"}, {"日本語", 4, "日…"}, {"a", 0, ""}, {"日", 1, "…"}, {"👩‍👩‍👧x", 3, "…"},
		{"\x1b[2mabc\x1b[0m", 3, "\x1b[2mabc\x1b[0m"}, {"\x1b[2mabcd\x1b[0m", 3, "\x1b[2mab…\x1b[0m"}} {
		if got := Cut(tt.in, tt.width); got != tt.want {
			t.Errorf("Cut(%q, %d): got %q, want %q", tt.in, tt.width, got, tt.want)
		}
	}
}

func BenchmarkStream(b *testing.B) {
	text := strings.Repeat("Some words of a paragraph with **bold** and `code`.\n\n- item one\n- item two\n\n```go\nfunc x() {}\n```\n\n", 10_000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		var s Stream
		for rest := text; rest != ""; rest = rest[min(8, len(rest)):] {
			for _, p := range s.Write(rest[:min(8, len(rest))]) {
				p.Lines(Options{Width: 80, Color: true})
			}
		}
		s.Close()
	}
}
