package file

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

const (
	// chunk is how much of a file is searched at a time.
	chunk = 1 << 20
	// maxSearchLine ends a line that has no end: the rest counts as another.
	maxSearchLine = 16 << 20
	// sniff is how much of a file decides whether it is binary; git looks at
	// the same.
	sniff = 8000
)

// matcher finds the lines that a pattern matches. The expression is rewritten
// so that no match can cross a line end, which lets it run over many lines at
// once: a match in the whole is then a match in its line, and the other way.
type matcher struct {
	re *regexp.Regexp
	// rough is for rg, which only chooses files: it matches in every line that
	// re matches in, and perhaps in others. "" where there is no such one.
	rough string
}

func compile(pattern string, fold bool) (*matcher, error) {
	flags := syntax.Perl &^ syntax.OneLine
	if fold {
		flags |= syntax.FoldCase
	}
	tree, err := syntax.Parse(pattern, flags)
	if err != nil {
		var se *syntax.Error
		if errors.As(err, &se) {
			return nil, fmt.Errorf("%s: %q (RE2 syntax)", se.Code, se.Expr)
		}
		return nil, err
	}
	tree, err = oneLine(tree)
	if err != nil {
		return nil, err
	}
	re, err := regexp.Compile(tree.String())
	if err != nil {
		return nil, err
	}
	return &matcher{re: re, rough: rough(tree)}, nil
}

// oneLine rewrites a parsed expression: nothing in it matches a newline, the
// ends of the text are the ends of the line, and a line may end in CRLF.
func oneLine(x *syntax.Regexp) (*syntax.Regexp, error) {
	for i, s := range x.Sub {
		n, err := oneLine(s)
		if err != nil {
			return nil, err
		}
		x.Sub[i] = n
	}
	switch x.Op {
	case syntax.OpLiteral:
		for _, r := range x.Rune {
			if r == '\n' {
				return nil, errors.New("it holds a line end, but lines are matched one by one")
			}
		}
	case syntax.OpCharClass:
		x.Rune = withoutNewline(x.Rune)
		if len(x.Rune) == 0 {
			return &syntax.Regexp{Op: syntax.OpNoMatch}, nil
		}
	case syntax.OpAnyChar:
		x.Op = syntax.OpAnyCharNotNL
	case syntax.OpBeginText:
		x.Op = syntax.OpBeginLine
	case syntax.OpEndLine, syntax.OpEndText:
		cr := &syntax.Regexp{Op: syntax.OpLiteral, Rune: []rune{'\r'}}
		maybe := &syntax.Regexp{Op: syntax.OpQuest, Sub: []*syntax.Regexp{cr}}
		return &syntax.Regexp{Op: syntax.OpConcat, Sub: []*syntax.Regexp{maybe, {Op: syntax.OpEndLine}}}, nil
	}
	return x, nil
}

func withoutNewline(ranges []rune) []rune {
	var out []rune
	for i := 0; i+1 < len(ranges); i += 2 {
		lo, hi := ranges[i], ranges[i+1]
		if lo > '\n' || hi < '\n' {
			out = append(out, lo, hi)
			continue
		}
		if lo < '\n' {
			out = append(out, lo, '\n'-1)
		}
		if hi > '\n' {
			out = append(out, '\n'+1, hi)
		}
	}
	return out
}

type hit struct {
	number int
	text   string
}

// fileHits are a file's first maxGrepPerFile matching lines.
type fileHits struct {
	lines []hit
	more  bool
	err   error
}

// file searches one open file, in memory bounded by a chunk and the longest
// line. size is how large it seems. errBinary is its error for a binary one.
func (m *matcher) file(ctx context.Context, f io.Reader, size int64) (r fileHits) {
	buf := make([]byte, 0, min(max(size+1, 512), chunk))
	number, top := 1, true
	for {
		if r.err = ctx.Err(); r.err != nil {
			return r
		}
		grown, err := fill(f, buf)
		buf = grown
		if err != nil && err != io.EOF {
			r.err = err
			return r
		}
		if top && bytes.IndexByte(buf[:min(sniff, len(buf))], 0) >= 0 {
			r.err = errBinary
			return r
		}
		if top {
			buf = buf[len(buf)-len(bytes.TrimPrefix(buf, []byte("\uFEFF"))):]
		}
		top = false
		done := len(buf)
		if err != io.EOF {
			if done = bytes.LastIndexByte(buf, '\n') + 1; done == 0 && len(buf) < maxSearchLine {
				continue
			} else if done == 0 {
				done = len(buf)
			}
		}
		m.lines(buf[:done], &number, &r)
		if r.more || err == io.EOF {
			return r
		}
		buf = append(buf[:0], buf[done:]...)
	}
}

// fill reads up to a chunk behind what buf holds.
func fill(f io.Reader, buf []byte) ([]byte, error) {
	for goal := len(buf) + chunk; len(buf) < goal; {
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
		n, err := f.Read(buf[len(buf):min(cap(buf), goal)])
		buf = buf[:len(buf)+n]
		if err != nil {
			return buf, err
		}
	}
	return buf, nil
}

// lines adds the matching lines of whole lines of text.
func (m *matcher) lines(text []byte, number *int, r *fileHits) {
	for len(text) > 0 {
		at := m.re.FindIndex(text)
		if at == nil || at[0] == len(text) && text[len(text)-1] == '\n' {
			// Behind the last newline there is no line for "^" to match.
			*number += bytes.Count(text, []byte("\n"))
			return
		}
		if len(r.lines) == maxGrepPerFile {
			r.more = true
			return
		}
		begin := bytes.LastIndexByte(text[:at[0]], '\n') + 1
		end, next := len(text), len(text)
		if i := bytes.IndexByte(text[at[0]:], '\n'); i >= 0 {
			end, next = at[0]+i, at[0]+i+1
		}
		*number += bytes.Count(text[:begin], []byte("\n"))
		r.lines = append(r.lines, hit{*number, shorten(text[begin:end])})
		if next > end {
			*number++
		}
		text = text[next:]
	}
}

// shorten makes a line fit to show.
func shorten(line []byte) string {
	line = bytes.TrimSuffix(line, []byte("\r"))
	cut := len(line)
	for i, n := 0, 0; i < len(line); n++ {
		if n == maxColumns {
			cut = i
			break
		}
		_, size := utf8.DecodeRune(line[i:])
		i += size
	}
	s := strings.ToValidUTF8(string(line[:cut]), "\uFFFD")
	if cut < len(line) {
		s += "…"
	}
	return s
}
