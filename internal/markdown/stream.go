package markdown

import (
	"bytes"
	"strings"
)

// Piece is a part of the stream that will not change any more.
type Piece struct {
	Text string
	// Code marks a line of a fenced block, without its newline.
	Code bool
	// Gap says that an empty line stood before it.
	Gap bool
}

// maxBlock is where a block is cut, whole or not: what is unfinished is drawn
// again and again, so it has to stay small.
const maxBlock = 16 << 10

// Stream cuts text into pieces as it comes. Its work is linear in the text.
// The zero value is ready; it is for one goroutine.
type Stream struct {
	partial  []byte // the line that has no newline yet
	searched int    // how much of it is known to hold none
	block    strings.Builder
	kind     kind
	indent   int // of a list item's content
	blank    int // empty lines behind the block, which may belong to it
	fence    string
	gap      bool
	began    bool // something was written
}

type kind int

const (
	none kind = iota
	prose
	item
	quote
)

// Write takes more text and gives what it finished.
func (s *Stream) Write(text string) []Piece {
	var out []Piece
	s.partial = append(s.partial, text...)
	start := 0
	for {
		rest := s.partial[start:]
		end, skip := bytes.IndexByte(rest[s.searched:], '\n'), 1
		if end >= 0 {
			end += s.searched
		}
		if end > maxBlock || end < 0 && len(rest) > maxBlock {
			end, skip = cutAt(rest[:maxBlock]), 0
		}
		if end < 0 {
			s.searched = len(rest)
			break
		}
		out = s.line(out, strings.TrimSuffix(string(rest[:end]), "\r"))
		start, s.searched = start+end+skip, 0
	}
	if start > 0 {
		s.partial = append(s.partial[:0], s.partial[start:]...)
	}
	return out
}

// cutAt finds the end of a word, else of a character.
func cutAt(b []byte) int {
	for i := len(b) - 1; i > len(b)/2; i-- {
		if b[i] == ' ' {
			return i + 1
		}
	}
	i := len(b)
	for i > len(b)-4 && b[i-1]&0xc0 == 0x80 {
		i--
	}
	if i > len(b)-4 && b[i-1] >= 0xc0 {
		i--
	}
	return i
}

// Rest is what is unfinished, for showing it as it stands.
func (s *Stream) Rest() Piece {
	p := Piece{Text: s.block.String() + string(s.partial), Code: s.fence != "", Gap: s.gap}
	if p.Text == "" {
		p.Gap = false
	}
	return p
}

// Close gives what is left; the stream is ready for a new text.
func (s *Stream) Close() []Piece {
	var out []Piece
	if len(s.partial) > 0 {
		out = s.line(out, strings.TrimSuffix(string(s.partial), "\r"))
	}
	out = s.finish(out)
	*s = Stream{}
	return out
}

// line takes one whole line.
func (s *Stream) line(out []Piece, line string) []Piece {
	if s.fence != "" {
		if closesFence(line, s.fence) {
			s.fence = ""
			return out
		}
		return append(out, s.piece(line, true))
	}
	text := strings.TrimLeft(line, " \t")
	if text == "" {
		return s.empty(out)
	}
	indent := indentOf(line)
	if s.kind == item && indent >= s.indent {
		return s.add(out, line)
	}
	if s.blank > 0 {
		out = s.finish(out)
	}
	marker := 0
	if indent < 4 {
		if f := fenceOf(text); f != "" {
			out = s.finish(out)
			s.fence = f
			return out
		}
		if isHeading(text) {
			out = s.finish(out)
			return s.finish(s.add(out, line))
		}
		if isRule(text) {
			if s.kind == prose && text[0] == '-' { // an underlined heading
				return s.finish(s.add(out, line))
			}
			out = s.finish(out)
			return s.finish(s.add(out, line))
		}
		marker = s.markerOf(text)
	}
	switch {
	case marker > 0:
		out = s.finish(out)
		s.kind, s.indent = item, indent+marker
	case indent < 4 && text[0] == '>' && s.kind != quote:
		out = s.finish(out)
		s.kind = quote
	case s.kind == none:
		s.kind = prose
	}
	return s.add(out, line)
}

// empty takes an empty line. It ends all but a list item, which may go on.
func (s *Stream) empty(out []Piece) []Piece {
	if s.kind != item {
		out = s.finish(out)
		s.gap = s.began
		return out
	}
	s.blank++
	return out
}

// add puts a line behind the block.
func (s *Stream) add(out []Piece, line string) []Piece {
	if s.block.Len()+len(line) > maxBlock {
		k := s.kind
		out = s.finish(out)
		s.kind = k
	}
	for ; s.blank > 0; s.blank-- {
		s.block.WriteByte('\n')
	}
	s.block.WriteString(line)
	s.block.WriteByte('\n')
	return out
}

// finish ends the block.
func (s *Stream) finish(out []Piece) []Piece {
	blank := s.blank > 0
	if s.block.Len() > 0 {
		out = append(out, s.piece(strings.TrimRight(s.block.String(), "\n"), false))
		s.block.Reset()
	}
	s.gap = s.gap || blank
	s.kind, s.blank, s.indent = none, 0, 0
	return out
}

func (s *Stream) piece(text string, code bool) Piece {
	p := Piece{Text: text, Code: code, Gap: s.gap}
	s.gap, s.began = false, true
	return p
}

func indentOf(line string) int {
	n := 0
	for _, c := range []byte(line) {
		switch c {
		case ' ':
			n++
		case '\t':
			n += 4 - n%4
		default:
			return n
		}
	}
	return n
}

// fenceOf gives the run of characters that opens a code block, "" for none.
func fenceOf(text string) string {
	c := text[0]
	if c != '`' && c != '~' {
		return ""
	}
	n := runOf(text, c)
	if n < 3 || c == '`' && strings.Contains(text[n:], "`") {
		return ""
	}
	return text[:n]
}

func closesFence(line, fence string) bool {
	text := strings.TrimSpace(line)
	return indentOf(line) < 4 && len(text) >= len(fence) && runOf(text, fence[0]) == len(text)
}

func runOf(text string, c byte) int {
	n := 0
	for n < len(text) && text[n] == c {
		n++
	}
	return n
}

func isHeading(text string) bool {
	n := runOf(text, '#')
	return n > 0 && n < 7 && (n == len(text) || text[n] == ' ' || text[n] == '\t')
}

// isRule says whether the line is a thematic break.
func isRule(text string) bool {
	c := text[0]
	if c != '-' && c != '*' && c != '_' {
		return false
	}
	n := 0
	for i := range len(text) {
		switch text[i] {
		case c:
			n++
		case ' ', '\t':
		default:
			return false
		}
	}
	return n >= 3
}

// markerOf is markerOf of the line where it may begin an item here: inside a
// paragraph only a bullet or a 1 with text behind it does.
func (s *Stream) markerOf(text string) int {
	n := markerOf(text)
	if n == 0 || s.kind != prose {
		return n
	}
	if n > len(text) || text[0] >= '0' && text[0] <= '9' && !strings.HasPrefix(text, "1.") && !strings.HasPrefix(text, "1)") {
		return 0
	}
	return n
}

// markerOf gives how many columns a list marker and the space behind it take,
// 0 where there is none.
func markerOf(text string) int {
	n := 0
	switch c := text[0]; {
	case c == '-' || c == '*' || c == '+':
		n = 1
	case c >= '0' && c <= '9':
		for n < len(text) && n < 9 && text[n] >= '0' && text[n] <= '9' {
			n++
		}
		if n == len(text) || text[n] != '.' && text[n] != ')' {
			return 0
		}
		n++
	default:
		return 0
	}
	if n == len(text) {
		return n + 1
	}
	if text[n] != ' ' && text[n] != '\t' {
		return 0
	}
	spaces := runOf(text[n:], ' ')
	if spaces < 1 || spaces > 4 {
		spaces = 1
	}
	return n + spaces
}
