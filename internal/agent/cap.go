package agent

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxOutput is how many bytes of a result the model reads.
const maxOutput = 30_000

// capOutput keeps the first two thirds and the last third of what is too
// long, whole characters only, and says how much is left out. Bytes that are
// no UTF-8 become U+FFFD: the wire carries text.
func capOutput(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= maxOutput {
		return s
	}
	head, tail := maxOutput*2/3, len(s)-maxOutput/3
	for !utf8.RuneStart(s[head]) {
		head--
	}
	for !utf8.RuneStart(s[tail]) {
		tail++
	}
	return s[:head] + fmt.Sprintf("\n[… %d of %d bytes left out …]\n", tail-head, len(s)) + s[tail:]
}

func joinLines(a, b string) string {
	if a == "" {
		return b
	}
	return strings.TrimRight(a, "\n") + "\n" + b
}
