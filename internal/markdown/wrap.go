package markdown

import (
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// look is how a run of text is drawn.
type look uint16

const (
	bold look = 1 << iota
	italic
	dim
	code
	head
	link
	struck
)

// span is text in one look. A newline in it is a hard break.
type span struct {
	text string
	look look
}

// sgr gives the parameters of a look.
func (l look) sgr() string {
	var codes []string
	for _, c := range []struct {
		l    look
		code string
	}{{bold, "1"}, {dim, "2"}, {italic, "3"}, {link, "4"}, {struck, "9"}, {code, "36"}, {head, "35"}} {
		if l&c.l != 0 {
			codes = append(codes, c.code)
		}
	}
	return strings.Join(codes, ";")
}

// paint puts the colours around one line's worth of text.
func (o Options) paint(s span) string {
	if !o.Color || s.look == 0 || s.text == "" {
		return s.text
	}
	return "\x1b[" + s.look.sgr() + "m" + s.text + "\x1b[0m"
}

// row is a line on its way.
type row struct {
	spans []span
	width int
}

func (r *row) add(text string, l look, width int) {
	r.width += width
	if n := len(r.spans); n > 0 && (r.spans[n-1].look == l || text == " " && r.spans[n-1].look&link == 0) {
		r.spans[n-1].text += text
		return
	}
	r.spans = append(r.spans, span{text, l})
}

func (r *row) string(o Options) string {
	var b strings.Builder
	for i, s := range r.spans {
		if i == len(r.spans)-1 {
			s.text = strings.TrimRight(s.text, " ")
		}
		b.WriteString(o.paint(s))
	}
	return b.String()
}

// word is what is never broken but where a line is too narrow for it.
type word struct {
	spans []span
	width int
	space *span // what stands before it where it does not begin a line
	brk   bool  // begins a new line
}

// fill breaks spans into lines of at most width columns.
func fill(spans []span, width int, o Options) []string {
	width = max(width, 1)
	var out []string
	var r row
	flush := func() {
		out = append(out, r.string(o))
		r = row{}
	}
	for _, w := range words(spans) {
		if w.brk {
			flush()
		}
		space := 0
		if w.space != nil && r.width > 0 {
			space = 1
		}
		switch {
		case r.width+space+w.width <= width:
		case r.width > 0:
			flush()
			space = 0
		}
		if space > 0 {
			r.add(" ", w.space.look, 1)
		}
		for _, s := range w.spans {
			if n := Width(s.text); r.width+n <= width { // nearly always
				r.add(s.text, s.look, n)
				continue
			}
			for g := displaywidth.StringGraphemes(s.text); g.Next(); {
				cw := clusterWidth(g.Value(), g.Width())
				if r.width > 0 && r.width+cw > width {
					flush()
				}
				r.add(g.Value(), s.look, cw)
			}
		}
	}
	if len(r.spans) > 0 || len(out) == 0 {
		flush()
	}
	return out
}

// words cuts spans at spaces, at hard breaks, and around wide characters:
// scripts without spaces break anywhere.
func words(spans []span) []word {
	var out []word
	var w word
	end := func() {
		if len(w.spans) > 0 || w.brk {
			out = append(out, w)
		}
		w = word{}
	}
	for _, s := range spans {
		from, at := 0, 0 // what stands between is one word's
		put := func() {
			if at > from {
				w.spans = append(w.spans, span{s.text[from:at], s.look})
				w.width += Width(s.text[from:at])
			}
		}
		for g := displaywidth.StringGraphemes(s.text); g.Next(); at += len(g.Value()) {
			c := g.Value()
			switch {
			case c == "\n":
				put()
				end()
				w.brk = true
			case c == " ":
				put()
				if !w.brk || len(w.spans) > 0 {
					end()
					w.space = &span{" ", s.look}
				}
			case g.Width() == 2:
				put()
				if len(w.spans) > 0 {
					end()
				}
				w.spans, w.width = append(w.spans, span{c, s.look}), clusterWidth(c, 2)
				end()
			default:
				continue
			}
			from = at + len(c)
		}
		put()
	}
	end()
	return out
}
