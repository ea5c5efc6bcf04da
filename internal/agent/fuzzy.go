package agent

import "strings"

// blur gives s with every word for which is holds as "#". A word is letters
// and digits, with . : - + _ inside.
func blur(s string, is func(word string) (with string, ok bool)) string {
	if !strings.ContainsAny(s, "0123456789") {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		if !alnum(s[i]) {
			b.WriteByte(s[i])
			i++
			continue
		}
		k := i + 1
		for k < len(s) && (alnum(s[k]) || k+1 < len(s) && strings.IndexByte(".:-+_", s[k]) >= 0 && alnum(s[k+1])) {
			k++
		}
		if with, ok := is(s[i:k]); ok {
			b.WriteString(with)
		} else {
			b.WriteString(s[i:k])
		}
		i = k
	}
	return b.String()
}

func alnum(c byte) bool { return digit(c) || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
func digit(c byte) bool { return c >= '0' && c <= '9' }
func hex(c byte) bool   { return digit(c) || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' }

// minHex is the shortest run of hex digits that counts as an id: git's short
// form of a commit.
const minHex = 6

// isVolatile blurs numbers, times, dates, addresses, durations and ids whole,
// and in any other word its digits: temp12.txt becomes temp#.txt.
func isVolatile(w string) (string, bool) {
	if !strings.ContainsAny(w, "0123456789") {
		return "", false
	}
	if numeric(w) || duration(w) || id(w) {
		return "#", true
	}
	var b strings.Builder
	for i := 0; i < len(w); i++ {
		if !digit(w[i]) {
			b.WriteByte(w[i])
		} else if i == 0 || !digit(w[i-1]) {
			b.WriteByte('#')
		}
	}
	return b.String(), true
}

// isMoment blurs clock times, seconds since 1970 and random ids, and no other
// number.
func isMoment(w string) (string, bool) {
	clock := strings.Count(w, ":") >= 2 && numeric(w)
	epoch := len(w) >= 10 && strings.Trim(w, "0123456789") == ""
	uuid := len(w) == 36 && strings.Count(w, "-") == 4 && id(w)
	return "#", clock || epoch || uuid
}

// numeric is a number, a date, a time, a version or an address: digits with
// separators, T and Z of a timestamp too.
func numeric(w string) bool {
	for i := 0; i < len(w); i++ {
		if !digit(w[i]) && strings.IndexByte(".:-+_TZ", w[i]) < 0 {
			return false
		}
	}
	return digit(w[0])
}

// duration is numbers with units: 1m2.3s, 15ms, 2h. Sizes such as 12kB count
// too.
func duration(w string) bool {
	for w != "" {
		n := 0
		for n < len(w) && (digit(w[n]) || w[n] == '.' || w[n] == ':') {
			n++
		}
		u := n
		for u < len(w) && !digit(w[u]) {
			u++
		}
		switch strings.ToLower(w[n:u]) {
		case "ns", "us", "ms", "s", "m", "h", "d", "sec", "secs", "min", "mins", "b", "k", "kb", "kib", "mb", "mib", "g", "gb", "gib":
		default:
			return false
		}
		if n == 0 {
			return false
		}
		w = w[u:]
	}
	return true
}

// id is a run of hex digits long enough for no word, in groups or not.
func id(w string) bool {
	digits, hexes := 0, 0
	w = strings.TrimPrefix(strings.TrimPrefix(w, "0x"), "0X")
	for i := 0; i < len(w); i++ {
		switch {
		case hex(w[i]):
			hexes++
			if digit(w[i]) {
				digits++
			}
		case w[i] == '-' || w[i] == ':':
		default:
			return false
		}
	}
	return digits > 0 && hexes >= minHex
}
