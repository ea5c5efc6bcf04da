package spec

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// AppendCanonical appends v's canonical JSON: keys sorted by code point,
// no white space, ASCII only, integers as written, floats in the shortest
// form that reads back (registry contract §2). v is a tree value or any Go
// value that encoding/json takes; such a value's numbers keep the form that
// encoding/json or the value gave them. What has no JSON form (NaN, Infinity,
// a failing Marshaler) becomes null, and raw JSON that does not parse becomes
// a string of its text, so the result always is one valid JSON value.
func AppendCanonical(dst []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...)
	case bool:
		return strconv.AppendBool(dst, v)
	case string:
		return appendASCII(dst, v)
	case Number:
		return appendNumber(dst, string(v))
	case *Object:
		if v == nil {
			return append(dst, "null"...)
		}
		return appendSorted(dst, v.Members)
	case []any:
		return appendList(dst, v)
	case map[string]any:
		if v == nil {
			return append(dst, "null"...)
		}
		return appendSorted(dst, mapMembers(v))
	}
	return appendGo(dst, v)
}

// appendGo takes the Go values that are no tree values themselves.
func appendGo(dst []byte, v any) []byte {
	switch v := v.(type) {
	case int:
		return strconv.AppendInt(dst, int64(v), 10)
	case int64:
		return strconv.AppendInt(dst, v, 10)
	case uint64:
		return strconv.AppendUint(dst, v, 10)
	case float64:
		return appendFloat(dst, v)
	case json.Number:
		return appendNumber(dst, string(v))
	case []string:
		return appendList(dst, v)
	case []*Object:
		return appendList(dst, v)
	case json.RawMessage:
		return AppendCanonical(dst, fromRaw(v))
	}
	tree, err := ToTree(v)
	if err != nil {
		return append(dst, "null"...)
	}
	return AppendCanonical(dst, tree)
}

func appendList[T any](dst []byte, list []T) []byte {
	dst = append(dst, '[')
	for i, v := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendCanonical(dst, v)
	}
	return append(dst, ']')
}

func appendSorted(dst []byte, members []Member) []byte {
	dst = append(dst, '{')
	var few [manyKeys]int
	for i, at := range sortedIndex(members, few[:0]) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendASCII(dst, members[at].Key)
		dst = append(dst, ':')
		dst = AppendCanonical(dst, members[at].Value)
	}
	return append(dst, '}')
}

// manyKeys is where sorting by insertion stops to be the fastest.
const manyKeys = 24

// sortedIndex gives the members' indexes in key order, in room where it fits.
// Go compares strings by bytes, which for UTF-8 is the order of code points.
func sortedIndex(members []Member, room []int) []int {
	for i := range members {
		room = append(room, i)
	}
	if len(room) > manyKeys {
		slices.SortFunc(room, func(a, b int) int { return strings.Compare(members[a].Key, members[b].Key) })
		return room
	}
	for i := 1; i < len(room); i++ {
		for j := i; j > 0 && members[room[j]].Key < members[room[j-1]].Key; j-- {
			room[j], room[j-1] = room[j-1], room[j]
		}
	}
	return room
}

func mapMembers(m map[string]any) []Member {
	list := make([]Member, 0, len(m))
	for k, v := range m {
		list = append(list, Member{k, v})
	}
	slices.SortFunc(list, func(a, b Member) int { return strings.Compare(a.Key, b.Key) })
	return list
}

// IsFloat says whether n is written as a float: 1.0 and 1e3 are, 1 is not.
func (n Number) IsFloat() bool { return strings.ContainsAny(string(n), ".eE") }

func appendNumber(dst []byte, n string) []byte {
	if !Number(n).IsFloat() {
		if n == "-0" {
			n = "0"
		}
		return append(dst, n...)
	}
	f, _ := strconv.ParseFloat(n, 64)
	return appendFloat(dst, f)
}

// appendFloat writes f as Python's repr does: positional from 1e-4 up to
// 1e16, always with a point or an exponent.
func appendFloat(dst []byte, f float64) []byte {
	a := math.Abs(f)
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return append(dst, "null"...)
	case a != 0 && (a < 1e-4 || a >= 1e16):
		return strconv.AppendFloat(dst, f, 'e', -1, 64)
	}
	from := len(dst)
	dst = strconv.AppendFloat(dst, f, 'f', -1, 64)
	for _, c := range dst[from:] {
		if c == '.' {
			return dst
		}
	}
	return append(dst, ".0"...)
}

const hexDigits = "0123456789abcdef"

// appendASCII writes s as a JSON string of ASCII characters. Bytes that are no
// UTF-8 (only a caller's own string can hold them) become U+FFFD.
func appendASCII(dst []byte, s string) []byte {
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c < 0x7f && c != '"' && c != '\\' {
			i++
			continue
		}
		dst = append(dst, s[from:i]...)
		if c < utf8.RuneSelf {
			dst = appendEscape(dst, c)
			i++
		} else {
			r, n := utf8.DecodeRuneInString(s[i:])
			dst = appendRune(dst, r)
			i += n
		}
		from = i
	}
	dst = append(dst, s[from:]...)
	return append(dst, '"')
}

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	return appendUnit(dst, uint16(c))
}

func appendRune(dst []byte, r rune) []byte {
	if r < 0x10000 {
		return appendUnit(dst, uint16(r))
	}
	r -= 0x10000
	dst = appendUnit(dst, uint16(0xd800+(r>>10)))
	return appendUnit(dst, uint16(0xdc00+(r&0x3ff)))
}

func appendUnit(dst []byte, u uint16) []byte {
	return append(dst, '\\', 'u', hexDigits[u>>12], hexDigits[u>>8&15], hexDigits[u>>4&15], hexDigits[u&15])
}
