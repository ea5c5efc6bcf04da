package file

import (
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// rawByte stands in a tree for a byte that is no character, until the tree has
// become text: Go's dialect has no word for it. It is no character that text
// holds.
const rawByte = '\U0010FFFE'

// rough gives a rewritten expression (see oneLine) in rg's dialect, widened
// where the two differ: Go takes a byte that is no UTF-8 for U+FFFD, which "."
// and many a class match, and rg matches characters alone; and the byte order
// mark that we take off a file's beginning is there for rg. tree is not used
// after.
func rough(tree *syntax.Regexp) string {
	wide, ok := widen(tree)
	if !ok {
		return ""
	}
	return forRust(wide.String())
}

func widen(x *syntax.Regexp) (*syntax.Regexp, bool) {
	for i, s := range x.Sub {
		n, ok := widen(s)
		if !ok {
			return nil, false
		}
		x.Sub[i] = n
	}
	switch x.Op {
	case syntax.OpLiteral:
		for _, r := range x.Rune {
			if r == utf8.RuneError || r == rawByte {
				return nil, false // the byte or the character, in a row with others
			}
		}
	case syntax.OpAnyCharNotNL:
		return either(x, rawByte), true
	case syntax.OpCharClass:
		for i := 0; i+1 < len(x.Rune); i += 2 {
			if x.Rune[i] <= utf8.RuneError && utf8.RuneError <= x.Rune[i+1] {
				return either(x, rawByte), true
			}
		}
	case syntax.OpBeginLine:
		return either(x, '\uFEFF'), true
	}
	return x, true
}

func either(x *syntax.Regexp, r rune) *syntax.Regexp {
	or := &syntax.Regexp{Op: syntax.OpLiteral, Rune: []rune{r}}
	return &syntax.Regexp{Op: syntax.OpAlternate, Sub: []*syntax.Regexp{x, or}}
}

// forRust makes Go's word boundaries, which know ASCII letters only, the same
// in Rust's dialect, and rawByte what it stands for. Everything else that
// Regexp.String writes means the same in both.
func forRust(pattern string) string {
	const raw = `\x{10FFFE}`
	var out strings.Builder
	for i := 0; i < len(pattern); i++ {
		if pattern[i] != '\\' || i+1 == len(pattern) {
			out.WriteByte(pattern[i])
			continue
		}
		if strings.HasPrefix(strings.ToUpper(pattern[i:min(i+len(raw), len(pattern))]), strings.ToUpper(raw)) {
			out.WriteString(`(?-u:[\x80-\xFF])`)
			i += len(raw) - 1
			continue
		}
		i++
		switch c := pattern[i]; c {
		case 'b', 'B':
			out.WriteString(`(?-u:\` + string(c) + `)`)
		default:
			out.WriteByte('\\')
			out.WriteByte(c)
		}
	}
	return out.String()
}
