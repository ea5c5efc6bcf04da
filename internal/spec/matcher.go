package spec

import (
	"regexp"
	"sync"
	"unicode"
	"unicode/utf8"
)

// The two patterns of the schema that have a matcher of their own here, ten
// to fifty times as fast as the regular expression. A pattern that is neither
// is compiled. TestMatchers proves each equal to its expression.
const (
	kebabPattern = `^[a-z0-9]+(-[a-z0-9]+)*$`
	textPattern  = `[^\s\v\x85\p{Z}]`
)

// matcher gives a function that says whether a string matches pattern.
func matcher(pattern string) func(string) bool {
	switch pattern {
	case kebabPattern:
		return kebab
	case textPattern:
		return func(s string) bool { return !blank(s) }
	}
	re := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
	return func(s string) bool { return re().MatchString(s) }
}

// blank says whether s holds nothing but white space, in Unicode's sense.
func blank(s string) bool {
	for i := 0; i < len(s); {
		r, n := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(s[i:])
		}
		if !space(r) {
			return false
		}
		i += n
	}
	return true
}

func space(r rune) bool {
	switch r {
	case ' ', '\t', '\n', '\v', '\f', '\r', 0x85:
		return true
	}
	return r >= 0xA0 && unicode.Is(unicode.Z, r)
}
