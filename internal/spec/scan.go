package spec

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

func (p *parser) text() (any, error) {
	s, err := p.str()
	if err != nil {
		return nil, err
	}
	return s, nil
}

// str reads a string; one without escapes stays a part of the input.
func (p *parser) str() (string, error) {
	p.i++
	start := p.i
	for p.i < len(p.s) {
		switch c := p.s[p.i]; {
		case c == '"':
			s := p.s[start:p.i]
			p.i++
			return s, nil
		case c == '\\':
			return p.escaped(start)
		case c < 0x20:
			return "", p.control()
		case c < utf8.RuneSelf:
			p.i++
		default:
			if err := p.rune(); err != nil {
				return "", err
			}
		}
	}
	return "", p.fail(start-1, "the string that starts here has no end")
}

// escaped reads on from the first backslash of the string that began at start.
func (p *parser) escaped(start int) (string, error) {
	var b strings.Builder
	b.Grow(p.i - start + strings.IndexByte(p.s[p.i:], '"') + 1) // all of it, unless quotes are escaped
	from := start
	for p.i < len(p.s) {
		switch c := p.s[p.i]; {
		case c == '"':
			b.WriteString(p.s[from:p.i])
			p.i++
			return b.String(), nil
		case c == '\\':
			b.WriteString(p.s[from:p.i])
			r, err := p.escape()
			if err != nil {
				return "", err
			}
			b.WriteRune(r)
			from = p.i
		case c < 0x20:
			return "", p.control()
		case c < utf8.RuneSelf:
			p.i++
		default:
			if err := p.rune(); err != nil {
				return "", err
			}
		}
	}
	return "", p.fail(start-1, "the string that starts here has no end")
}

func (p *parser) control() error {
	return p.fail(p.i, "the control character %s must be escaped inside a string", p.here(p.i))
}

func (p *parser) rune() error {
	r, n := utf8.DecodeRuneInString(p.s[p.i:])
	if r == utf8.RuneError && n == 1 {
		return p.fail(p.i, "the byte 0x%02x is not valid UTF-8", p.s[p.i])
	}
	p.i += n
	return nil
}

func (p *parser) escape() (rune, error) {
	at := p.i
	p.i++
	if p.i >= len(p.s) {
		return 0, p.fail(at, "the text ends inside an escape")
	}
	c := p.s[p.i]
	p.i++
	switch c {
	case '"', '\\', '/':
		return rune(c), nil
	case 'b':
		return '\b', nil
	case 'f':
		return '\f', nil
	case 'n':
		return '\n', nil
	case 'r':
		return '\r', nil
	case 't':
		return '\t', nil
	case 'u':
		return p.unicode(at)
	}
	return 0, p.fail(at, "\\%s is no JSON escape", strings.Trim(p.here(p.i-1), "'"))
}

// unicode reads what follows \u at offset at: one unit or a surrogate pair.
func (p *parser) unicode(at int) (rune, error) {
	r, ok := p.hex()
	if !ok {
		return 0, p.fail(at, "four hexadecimal digits should follow \\u")
	}
	if !utf16.IsSurrogate(r) {
		return r, nil
	}
	if strings.HasPrefix(p.s[p.i:], "\\u") {
		p.i += 2
		if low, ok := p.hex(); ok {
			if full := utf16.DecodeRune(r, low); full != utf8.RuneError {
				return full, nil
			}
		}
	}
	return 0, p.fail(at, "\\u%04x is half of a surrogate pair; its other half is missing", r)
}

func (p *parser) hex() (rune, bool) {
	if p.i+4 > len(p.s) {
		return 0, false
	}
	var r rune
	for _, c := range []byte(p.s[p.i : p.i+4]) {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	p.i += 4
	return r, true
}

// number reads a number and keeps its text.
func (p *parser) number() (any, error) {
	start := p.i
	if p.s[p.i] == '-' {
		p.i++
		if strings.HasPrefix(p.s[p.i:], "Infinity") {
			return nil, p.fail(start, "-Infinity is not a JSON number")
		}
	}
	whole := p.digits()
	switch {
	case whole == 0:
		return nil, p.fail(p.i, "a digit should stand here, not %s", p.here(p.i))
	case whole > 1 && p.s[p.i-whole] == '0':
		return nil, p.fail(start, "a number must not start with a zero")
	}
	float := false
	if p.i < len(p.s) && p.s[p.i] == '.' {
		float = true
		p.i++
		if p.digits() == 0 {
			return nil, p.fail(p.i, "a digit should stand after the decimal point, not %s", p.here(p.i))
		}
	}
	if p.i < len(p.s) && (p.s[p.i] == 'e' || p.s[p.i] == 'E') {
		float = true
		p.i++
		if p.i < len(p.s) && (p.s[p.i] == '+' || p.s[p.i] == '-') {
			p.i++
		}
		if p.digits() == 0 {
			return nil, p.fail(p.i, "a digit should stand in the exponent, not %s", p.here(p.i))
		}
	}
	n := Number(p.s[start:p.i])
	if !p.strict {
		return n, nil
	}
	if !float && whole > MaxIntDigits {
		return nil, p.fail(start, "an integer of %d digits; %d are allowed", whole, MaxIntDigits)
	}
	if f, _ := strconv.ParseFloat(string(n), 64); float && math.IsInf(f, 0) {
		return nil, p.fail(start, "the number %s is too large", clip(string(n)))
	}
	return n, nil
}

func (p *parser) digits() int {
	start := p.i
	for p.i < len(p.s) && p.s[p.i] >= '0' && p.s[p.i] <= '9' {
		p.i++
	}
	return p.i - start
}
