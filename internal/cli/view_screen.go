package cli

import (
	"slices"
	"strings"

	"larva.dev/larva/internal/markdown"
)

// scrollback is the end of what a terminal shows. Lines go into it once and
// stay; below them stands a region that is drawn again in its place. Nothing of the
// terminal is switched (no other screen, no raw mode, the cursor stays
// visible), so there is nothing to restore, however the process ends.
type scrollback struct {
	out  *sink
	size func() (width, height int)

	region []string
	widths []int // of the region's lines
	drawn  int   // the terminal's width then
}

// smallest is the terminal that has room for a region.
const (
	smallestWidth  = 20
	smallestHeight = 4
)

// room is how many columns and rows a region may take. The last column stays
// free: terminals do not agree on what happens there.
func (s *scrollback) room() (width, rows int) {
	w, h := s.size()
	if w <= 0 {
		w, h = 80, 0
	}
	if w < smallestWidth || h < smallestHeight {
		return max(w-1, 1), 0
	}
	return w - 1, h - 1
}

// draw puts lines into the scrollback and the region below them, in one write.
// A region's line is cut to the width.
func (s *scrollback) draw(lines, region []string) {
	w, _ := s.size()
	width, rows := s.room()
	region = region[max(0, len(region)-rows):]
	cut := make([]string, len(region))
	for i, l := range region {
		cut[i] = markdown.Cut(l, width)
	}
	if len(lines) == 0 && w == s.drawn && slices.Equal(cut, s.region) {
		return
	}
	var b strings.Builder
	b.WriteString(s.erase(w))
	for _, l := range lines {
		b.WriteString(l)
		b.WriteByte('\n')
	}
	b.WriteString(strings.Join(cut, "\n"))
	if len(cut) > 0 {
		b.WriteByte('\r') // a narrower terminal breaks the lines anew: the first column is where it can be found again
	}
	s.out.write(b.String())
	s.region, s.drawn = cut, w
	s.widths = s.widths[:0]
	for _, l := range cut {
		s.widths = append(s.widths, markdown.Width(l))
	}
}

// erase goes to where the region begins and wipes its rows, one by one: some
// terminals take "all below" for "scroll all away" where that is the whole
// screen. A terminal that has become narrower has broken the region's lines
// into several rows.
func (s *scrollback) erase(width int) string {
	if len(s.region) == 0 {
		return ""
	}
	up, below := 0, 0
	for i, w := range s.widths {
		rows := 1 + max(0, w-1)/max(width, 1)
		if i == len(s.widths)-1 {
			below = rows - 1
			break
		}
		up += rows
	}
	if below > 0 { // the cursor stands in the first of the last line's rows
		return "\r" + strings.Repeat("\x1b[1B", below) + wipe(up+below)
	}
	return "\r" + wipe(up)
}

func wipe(up int) string { return "\x1b[2K" + strings.Repeat("\x1b[1A\x1b[2K", up) }
