package load

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"larva.dev/larva/internal/nearest"
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

// didYouMean is a hint naming the closest of names, "" when none is close.
func didYouMean(name string, names []string) string {
	if n := nearest.Name(name, names); n != "" {
		return fmt.Sprintf("did you mean %q?", n)
	}
	return ""
}
