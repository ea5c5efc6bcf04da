package script

import (
	"fmt"
	"strconv"
	"strings"
)

// maxExpanded bounds what one answer's templates may grow to, in bytes.
const maxExpanded = 16 << 20

// template is a text with holes. There are three forms of hole and no others:
// {{user}}, {{result N}}, {{line N (result N)}}. What fills a hole is copied
// once and never read as a template again.
type template []piece

type piece struct {
	text   string // as it is, where hole is false
	hole   bool
	result int // from 1; 0 is the user's text
	line   int // from 1; 0 is all lines
}

const forms = "write {{user}}, {{result N}} or {{line N (result N)}}, numbers from 1"

// parse reads a template.
func parse(s string) (template, error) {
	var out template
	for s != "" {
		start := strings.Index(s, "{{")
		if start < 0 {
			return append(out, piece{text: s}), nil
		}
		if start > 0 {
			out = append(out, piece{text: s[:start]})
		}
		rest := s[start+2:]
		end := strings.Index(rest, "}}")
		if end < 0 {
			return nil, fmt.Errorf("{{ without }}: %s", forms)
		}
		p, ok := parseHole(rest[:end])
		if !ok {
			return nil, fmt.Errorf("%s is no template: %s", head("{{"+rest[:end]+"}}"), forms)
		}
		out = append(out, p)
		s = rest[end+2:]
	}
	return out, nil
}

func parseHole(s string) (piece, bool) {
	s = strings.NewReplacer("(", " ( ", ")", " ) ").Replace(s)
	f := strings.Fields(s)
	p := piece{hole: true}
	switch {
	case len(f) == 1 && f[0] == "user":
		return p, true
	case len(f) == 2 && f[0] == "result":
		return p, count(f[1], &p.result)
	case len(f) == 6 && f[0] == "line" && f[2] == "(" && f[3] == "result" && f[5] == ")":
		return p, count(f[1], &p.line) && count(f[4], &p.result)
	}
	return p, false
}

// count reads a number from 1 without a sign or leading zeros.
func count(s string, to *int) bool {
	n, err := strconv.Atoi(s)
	*to = n
	return err == nil && n > 0 && strconv.Itoa(n) == s
}

// expand fills the holes; room is what all texts of an answer may still grow.
func (t template) expand(at moment, room *int) (string, error) {
	var b strings.Builder
	for _, p := range t {
		s, err := p.value(at)
		if err != nil {
			return "", err
		}
		if *room -= len(s); *room < 0 {
			return "", fmt.Errorf("the answer grows beyond %d MiB", maxExpanded>>20)
		}
		b.WriteString(s)
	}
	return b.String(), nil
}

// value is a piece's text. A result that is not there is an error; a line that
// is not there is empty, as outputs differ in length from place to place.
func (p piece) value(at moment) (string, error) {
	if !p.hole {
		return p.text, nil
	}
	if p.result == 0 {
		return at.user, nil
	}
	if p.result > len(at.batch) {
		return "", fmt.Errorf("{{result %d}}: the last batch has %d results", p.result, len(at.batch))
	}
	out := at.batch[p.result-1].Output
	if p.line == 0 {
		return out, nil
	}
	for n := 1; ; n++ {
		line, rest, more := strings.Cut(out, "\n")
		if n == p.line {
			return strings.TrimSuffix(line, "\r"), nil
		}
		if !more {
			return "", nil
		}
		out = rest
	}
}
