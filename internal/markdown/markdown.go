// Package markdown turns a model's Markdown into lines for a terminal: a
// stream is cut into blocks as it comes, so that each block is drawn once,
// when it is whole.
//
// Lines hold no control character but the colours that this room adds: what a
// terminal would obey is made visible, also where it hides in a character
// reference. Goldmark parses; its extensions and a syntax highlighter stay
// out, since their tables cost every start of the program 2 and 25 ms.
package markdown

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
)

// Options of Render. The zero value is 80 columns without colours.
type Options struct {
	Width int // columns of a line; below 8 it is 8
	Color bool
}

const (
	defaultWidth = 80
	leastWidth   = 8
)

func (o Options) width() int {
	if o.Width == 0 {
		return defaultWidth
	}
	return max(o.Width, leastWidth)
}

// Render gives the whole text as lines without newlines. Lines of code blocks
// may be wider than the width: what is copied from them must stay whole.
func Render(text string, o Options) []string {
	var s Stream
	var out []string
	for _, p := range append(s.Write(text), s.Close()...) {
		out = append(out, p.Lines(o)...)
	}
	return out
}

// Wrap breaks plain text at words into lines of at most width columns, at
// least one.
func Wrap(text string, width int) []string {
	return fill([]span{{text: visible(text)}}, max(width, leastWidth), Options{})
}

// Width is how many columns s, a line of this room's, takes at most: terminals differ on joined
// emoji, and a line that is thought too short breaks what is drawn below it.
func Width(s string) int {
	n := 0
	for n < len(s) && s[n] >= ' ' && s[n] < 0x7f {
		n++
	}
	if n == len(s) {
		return n
	}
	n = 0
	for _, t := range tokens(s) {
		n += t.width
	}
	return n
}

type token struct {
	text  string
	width int
}

// tokens cuts s into what takes columns together and this room's colours,
// which take none.
func tokens(s string) []token {
	var out []token
	for s != "" {
		i := strings.Index(s, "\x1b[")
		if i < 0 {
			i = len(s)
		}
		for g := displaywidth.StringGraphemes(s[:i]); g.Next(); {
			out = append(out, token{g.Value(), clusterWidth(g.Value(), g.Width())})
		}
		s = s[i:]
		if end := strings.IndexByte(s, 'm'); end >= 0 {
			out = append(out, token{text: s[:end+1]})
			s = s[end+1:]
		} else if s != "" {
			out = append(out, token{text: s})
			break
		}
	}
	return out
}

func clusterWidth(cluster string, joined int) int {
	if len(cluster) == 1 {
		return joined
	}
	apart := 0
	for _, r := range cluster {
		apart += displaywidth.Rune(r)
	}
	return max(joined, apart)
}

// Cut shortens s, a line of this room's, to at most width columns; what was
// cut ends in an ellipsis, and in the plain look.
func Cut(s string, width int) string {
	if Width(s) <= width {
		return s
	}
	if width < 1 {
		return ""
	}
	n := 0
	var b strings.Builder
	for _, t := range tokens(s) {
		if n+t.width > width-1 {
			break
		}
		n += t.width
		b.WriteString(t.text)
	}
	b.WriteString("…")
	if strings.Contains(s, "\x1b") {
		b.WriteString("\x1b[0m")
	}
	return b.String()
}

// visible makes what a terminal would obey or hide readable: control
// characters, separators and the marks that turn the reading direction. Tabs
// become four spaces, newlines stay.
func visible(s string) string {
	if strings.IndexFunc(s, obeyed) < 0 && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n':
			b.WriteByte('\n')
		case r == '\t':
			b.WriteString("    ")
		case obeyed(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func obeyed(r rune) bool {
	switch {
	case r < 0x20, r >= 0x7f && r < 0xa0:
		return true
	case r == 0x2028, r == 0x2029, r == 0xfeff, r == 0x061c, r == 0x200e, r == 0x200f:
		return true
	}
	return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}
