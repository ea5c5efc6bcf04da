package load

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"larva.dev/larva/internal/spec"
)

// maxShown is how many bytes of a value a message quotes: enough to recognise
// it, short enough for one line.
const maxShown = 60

// clip shortens s to maxShown bytes on a character's border.
func clip(s string) string {
	if len(s) <= maxShown {
		return s
	}
	n := maxShown
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// kindOf names a tree value's kind with its article.
func kindOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case string:
		return "a string"
	case spec.Number:
		if v.IsFloat() {
			return "a decimal number"
		}
		return "an integer"
	case []any:
		return "a list"
	}
	return "an object"
}

// shown is a tree value in a message: its kind and, where it is short, itself.
func shown(v any) string {
	switch v := v.(type) {
	case string:
		return "the string " + strconv.QuoteToGraphic(clip(v))
	case spec.Number:
		return "the number " + clip(string(v))
	case bool:
		return strconv.FormatBool(v)
	}
	return kindOf(v)
}

// quoted is a value in a message where its kind is not in question.
func quoted(v any) string {
	switch v := v.(type) {
	case string:
		return strconv.QuoteToGraphic(clip(v))
	case spec.Number:
		return clip(string(v))
	case bool:
		return strconv.FormatBool(v)
	}
	return kindOf(v)
}

// oneOf lists names for a message.
func oneOf(names []string) string {
	q := make([]string, len(names))
	for i, n := range names {
		q[i] = strconv.Quote(n)
	}
	return strings.Join(q, ", ")
}

// didYouMean is a hint naming the closest of names, "" when none is close: at
// most a third of the longer name may differ.
func didYouMean(name string, names []string) string {
	if n := nearest(name, names); n != "" {
		return fmt.Sprintf("did you mean %q?", n)
	}
	return ""
}

func nearest(name string, names []string) string {
	if len(name) > 64 {
		return "" // no name of ours is that long, and the distance is quadratic
	}
	folded := strings.ToLower(strings.ReplaceAll(name, "-", "_"))
	best, least := "", 1<<30
	for _, n := range names {
		most := max(len(name), len(n)) / 3
		d := distance(folded, strings.ToLower(strings.ReplaceAll(n, "-", "_")), most)
		if d <= most && d < least {
			best, least = n, d
		}
	}
	return best
}

// distance is the number of edits between a and b, a swap of neighbours being
// one; anything above most is as good as far.
func distance(a, b string, most int) int {
	if d := len(a) - len(b); d > most || -d > most {
		return most + 1
	}
	two, one := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range one {
		one[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(one[j]+1, row[j-1]+1, one[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], two[j-2]+1)
			}
		}
		two, one = one, row
	}
	return one[len(b)]
}
