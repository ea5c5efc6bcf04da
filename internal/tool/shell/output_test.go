package shell

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestClean(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain\n": "plain\n", "a\tb": "a\tb", "": "",
		"\x1b[1;31mx\x1b[m": "x", "\x1b[?25lx\x1b[?25h": "x", "\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\": "link",
		"\x1b]0;t\x07x": "x", "\x1b": "", "x\x1b[": "x", "\x1b[31": "", "\x1b]never ends\nnext": "\nnext",
		"\x1b[é": "é", "\x1bMx": "x", "\x1b(Bx": "x", "\x1b\x1b[0mx": "x",
		"1\r2\r3": "3", "1\r2\r\nx\r\r\n": "2\nx\n", "abc\b\bX": "aX", "N\bNA\bA": "NA", "\b\bx": "x",
		"a\x07b\x00c\x7f": "abc", "ünï\r\n": "ünï\n", "bad\xff": "bad\uFFFD",
	} {
		if got := clean(in); got != want {
			t.Errorf("clean(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestClip(t *testing.T) {
	t.Parallel()
	if got := clip("head", "tail", 100, 0); got != "headtail" {
		t.Errorf("got %q", got)
	}
	if got, want := clip("head", "tail", 100, 7), "head\n[… 7 bytes left out …]\ntail"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	long := strings.Repeat("ä", 500)
	for limit := 100; limit < 400; limit++ {
		for _, tt := range [][2]string{{long, ""}, {long, long}, {"x", long}, {long, "y"}, {"", long}} {
			for _, lost := range []int64{0, 12345678901} {
				got := clip(tt[0], tt[1], limit, lost)
				if len(got) > limit || !utf8.ValidString(got) || !strings.Contains(got, "left out") {
					t.Fatalf("limit %d of %d+%d: got %d bytes %q", limit, len(tt[0]), len(tt[1]), len(got), got)
				}
			}
		}
	}
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{"\x1b[31mx", "\x1b]0;a\x07", "a\rb\n", "\b", "\xff\x1b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := clean(s)
		if strings.ContainsFunc(got, control) || !utf8.ValidString(got) {
			t.Errorf("clean(%q) = %q holds control characters", s, got)
		}
		if strings.Count(s, "\n") < strings.Count(got, "\n") {
			t.Errorf("clean(%q) = %q has more lines", s, got)
		}
		if plain := !strings.ContainsFunc(s, control) && utf8.ValidString(s); plain && got != s {
			t.Errorf("clean(%q) = %q, want it as it is", s, got)
		}
	})
}
