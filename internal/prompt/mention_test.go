package prompt

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMentions(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]Mention{
		"look at @a.go":                       {{Path: "a.go"}},
		"@a.go, @b/c.go. and (@d.go)":         {{Path: "a.go"}, {Path: "b/c.go"}, {Path: "d.go"}},
		`see @"my file.txt" please`:           {{Path: "my file.txt"}},
		`see @"my file.txt"#L3-9.`:            {{Path: "my file.txt", From: 3, To: 9}},
		"@a.go#L10-40":                        {{Path: "a.go", From: 10, To: 40}},
		"@a.go#L10-L40":                       {{Path: "a.go", From: 10, To: 40}},
		"@a.go#L7":                            {{Path: "a.go", From: 7, To: 7}},
		"@a.go#L9-3":                          {{Path: "a.go#L9-3"}},
		"mail me@example.com or x@y":          nil,
		"@a @a @a":                            {{Path: "a"}},
		"@ alone and @, and @\"\"":            nil,
		"line\n@dir/":                         {{Path: "dir/"}},
		"@ünïcode/ß.md\u00a0@x":               {{Path: "ünïcode/ß.md"}, {Path: "x"}},
		"@\"no end":                           {{Path: "no"}},
		"@a.go#L99999999999 is no line":       {{Path: "a.go#L99999999999"}},
		"@server:res://x is a resource's uri": {{Path: "server:res://x"}},
	} {
		if strings.HasPrefix(text, `@"no end`) {
			want = []Mention{{Path: `"no`}}
		}
		if d := cmp.Diff(want, Mentions(text)); d != "" {
			t.Errorf("%q (-want +got):\n%s", text, d)
		}
	}
}

func TestMentionsAreBounded(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&b, "@f%d ", i)
	}
	if got := len(Mentions(b.String())); got != maxMentions {
		t.Errorf("got %d mentions, want %d", got, maxMentions)
	}
}

func FuzzMentions(f *testing.F) {
	f.Add(`@a @"b c"#L1-2 (@d)`)
	f.Fuzz(func(t *testing.T, text string) {
		for _, m := range Mentions(text) {
			if m.Path == "" || !strings.Contains(text, m.Path) || m.From < 0 || m.To < m.From {
				t.Errorf("%q: got %+v, want a path of the text and an ordered range", text, m)
			}
		}
	})
}
