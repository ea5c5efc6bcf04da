package prompt

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Mention is one @path that a person typed.
type Mention struct {
	Path string // as typed, without quotes, range and trailing punctuation
	From int    // first line, from 1; 0: the whole file
	To   int    // last line; 0: to the end
}

// maxMentions is how many files one prompt may attach: more is a listing's job.
const maxMentions = 20

var (
	lineRange   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(.*)#L(\d{1,9})(?:-L?(\d{1,9}))?$`) })
	rangeBehind = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^#L\d{1,9}(-L?\d{1,9})?`) })
)

// Mentions finds the @path words of a prompt: at its start or after white
// space or an opening bracket, quoted where the path holds spaces, with #L10
// or #L10-40 for lines. Each is named once, in order, twenty at most. Whether
// such a file exists is not looked at: what does not exist is prose.
func Mentions(text string) []Mention {
	var out []Mention
	seen := map[Mention]bool{}
	for i := 0; i < len(text) && len(out) < maxMentions; {
		if text[i] != '@' || !opens(text[:i]) {
			i++
			continue
		}
		word, n := take(text[i+1:])
		i += 1 + n
		m := parse(word)
		if m.Path == "" || seen[m] {
			continue
		}
		seen[m] = true
		out = append(out, m)
	}
	return out
}

// opens says that a mention may begin behind this text.
func opens(before string) bool {
	r, size := utf8.DecodeLastRuneInString(before)
	return size == 0 || unicode.IsSpace(r) || strings.ContainsRune("([{", r)
}

// take reads one word, quoted or not, and gives how many bytes it took.
func take(rest string) (word string, n int) {
	if strings.HasPrefix(rest, `"`) {
		if end := strings.IndexAny(rest[1:], "\"\n"); end >= 0 && rest[1+end] == '"' {
			n = end + 2
			word = rest[1 : 1+end]
			if m := rangeBehind().FindString(rest[n:]); m != "" {
				return word + m, n + len(m)
			}
			return word, n
		}
	}
	n = strings.IndexFunc(rest, unicode.IsSpace)
	if n < 0 {
		n = len(rest)
	}
	return strings.TrimRight(rest[:n], `.,;:!?)]}'"`+"`"), n
}

func parse(word string) Mention {
	m := lineRange().FindStringSubmatch(word)
	if m == nil {
		return Mention{Path: word}
	}
	from, _ := strconv.Atoi(m[2]) // nine digits at most
	to, _ := strconv.Atoi(m[3])
	if m[3] == "" {
		to = from
	}
	if from == 0 || to < from {
		return Mention{Path: word}
	}
	return Mention{Path: m[1], From: from, To: to}
}
