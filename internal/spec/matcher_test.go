package spec

import (
	"regexp"
	"testing"
	"unicode"
)

// Each matcher of its own is equal to its regular expression: over every code
// point alone, and over short strings of telling bytes.
func TestMatchers(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{kebabPattern, textPattern} {
		re, own := regexp.MustCompile(pattern), matcher(pattern)
		n := 0
		try := func(s string) {
			n++
			if got, want := own(s), re.MatchString(s); got != want {
				t.Errorf("%s on %q: got %v, want %v", pattern, s, got, want)
			}
		}
		for r := rune(0); r <= unicode.MaxRune; r++ {
			try(string(r))
		}
		letters := []string{"a", "z", "0", "9", "-", "A", " ", "\n", "\v", "\u0085", "\u00a0", "é", "\xff", "_", "\u2028"}
		var words func(prefix string, depth int)
		words = func(prefix string, depth int) {
			try(prefix)
			if depth == 0 {
				return
			}
			for _, l := range letters {
				words(prefix+l, depth-1)
			}
		}
		words("", 4)
		if n < 1_000_000 {
			t.Errorf("%s: got %d strings tried, want over a million", pattern, n)
		}
	}
}

// The schema's patterns are those that have a matcher of their own.
func TestMatchersAreUsed(t *testing.T) {
	t.Parallel()
	seen := 0
	for _, c := range constraints {
		if c.Kind != Pattern {
			continue
		}
		seen++
		if c.Arg != kebabPattern && c.Arg != textPattern {
			t.Errorf("%s: pattern %s has no matcher of its own", c.Path, c.Arg)
		}
	}
	if seen == 0 {
		t.Error("the table has no pattern")
	}
}

func TestMatcherCompiles(t *testing.T) {
	t.Parallel()
	m := matcher(`^x+$`)
	if !m("xx") || m("xy") {
		t.Errorf("got %v, %v, want true, false", m("xx"), m("xy"))
	}
}
