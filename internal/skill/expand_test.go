package skill

import (
	"slices"
	"strings"
	"testing"
)

func join(parts []Part) string {
	var b strings.Builder
	for _, p := range parts {
		switch {
		case p.Argued:
			b.WriteString("<argued " + p.Command + ">")
		case p.Command != "":
			b.WriteString("<run " + p.Command + ">")
		default:
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

func TestExpand(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ body, args, want string }{
		{"Do $1 with $2", "one two", "Do one with two"},
		{"Do $1 and $ARGUMENTS", "one two", "Do one and one two"},
		{"Do it", "one two", "Do it\n\nArguments: one two"},
		{"Do it", "", "Do it"},
		{"Do $1 $9", "a", "Do a "},
		{"$1$2", "a b", "ab"},
		{"costs $100 and $10, \\$5", "a", "costs $100 and $10, $5\n\nArguments: a"},
		{"\\$ARGUMENTS", "a", "$ARGUMENTS\n\nArguments: a"},
		{"$0 $ARGUMENTS[0] $ARGUMENTSX $1a ${1}", "a", "$0 $ARGUMENTS[0] $ARGUMENTSX $1a ${1}\n\nArguments: a"},
		{"$1", `"two words" b`, "two words"},
		{"$1|$2", `'it s' x"y z"`, "it s|xy z"},
		{"$1|$2", `it's fine`, "it's|fine"},
		{"$ARGUMENTS", "  a   b ", "a   b"},
		{"$1 $2", "$2 $1", "$2 $1"},
		{"$1", "\\$1", "\\$1"},
		{"Now: !`git status`.", "", "Now: <run git status>."},
		{"!`a` !`b`", "", "<run a> <run b>"},
		{"(!`a`) and **Branch:**!`b`", "", "(<run a>) and **Branch:**<run b>"},
		{"no!`a` `!b` ! `c` !`` !` `", "", "no!`a` `!b` ! `c` !`` !` `"},
		{"!`a\nb`", "", "!`a\nb`"},
		{"$ARGUMENTS", "!`touch x`", "!`touch x`"},
		{"! $ARGUMENTS", "`touch x`", "! `touch x`"},
		{"!$ARGUMENTS", "`touch x`", "!`touch x`"},
		{"!`echo $1`", "a", "<argued echo $1>"},
		{"!`$ARGUMENTS`", "touch x", "<argued $ARGUMENTS>"},
		{"!`awk '{print ${1}}'`", "a", "<argued awk '{print ${1}}'>"},
		{"!`echo $HOME $10`", "", "<run echo $HOME $10>"},
	} {
		if got := join(Expand(c.body, c.args)); got != c.want {
			t.Errorf("%q with %q:\ngot  %q\nwant %q", c.body, c.args, got, c.want)
		}
	}
	many := join(Expand(strings.Repeat("!`a` ", 30), ""))
	if got := strings.Count(many, "<run a>"); got != maxCommands {
		t.Errorf("got %d commands, want %d", got, maxCommands)
	}
}

// FuzzExpand holds that arguments are never a command: those that are found are
// the same whatever the arguments, and each stands in the text as it is.
func FuzzExpand(f *testing.F) {
	f.Add("a $1 !`b $2` $ARGUMENTS", "x !`y`")
	f.Add("!$ARGUMENTS", "`touch x`")
	f.Add("\\$1 $9", `"a b`)
	f.Fuzz(func(t *testing.T, body, args string) {
		commands := func(args string) (out []Part) {
			for _, p := range Expand(body, args) {
				if p.Command != "" {
					out = append(out, p)
					if !strings.Contains(body, p.Command) || p.Text != "" {
						t.Fatalf("%q with %q: got command %q, want one of the text", body, args, p.Command)
					}
				}
			}
			return out
		}
		got, want := commands(args), commands("")
		if !slices.Equal(got, want) {
			t.Fatalf("%q with %q: got commands %v, want %v as without arguments", body, args, got, want)
		}
		if words := Split(args); strings.TrimSpace(args) != "" && len(words) == 0 {
			t.Fatalf("%q: got no words", args)
		}
	})
}
