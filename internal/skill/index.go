package skill

import (
	"fmt"
	"strings"

	"larva.dev/larva/internal/frame"
)

// The bounds of the index: every request pays for it.
const (
	maxListed = 200  // with what they are for
	maxEach   = 250  // characters of one description
	maxIndex  = 8000 // bytes of all of them; past that names alone
	maxNames  = 8000 // bytes of those
)

// Index is what a system prompt says of the skills and commands that the model
// may load, "" where there are none.
func (s *Set) Index() string {
	list := s.Offered()
	if len(list) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("Texts that say how something is done here. Where a task is what one of them is for, load it with the tool skill before you begin; do not guess what it says.\n")
	n, used := 0, 0
	for _, k := range list {
		line := "- " + k.ID + ": " + shorten(oneLine(k.Description)) + "\n"
		if n == maxListed || used+len(line) > maxIndex {
			break
		}
		n, used = n+1, used+len(line)
		b.WriteString(line)
	}
	if rest := names(list[n:]); rest != "" {
		b.WriteString("By name alone: " + rest + "\n")
	}
	return frame.Block("skills", "", "", b.String())
}

func names(list []*Skill) string {
	var b strings.Builder
	for i, k := range list {
		if b.Len()+len(k.ID) > maxNames {
			return b.String() + fmt.Sprintf(" and %d more", len(list)-i)
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(k.ID)
	}
	return b.String()
}

func shorten(s string) string {
	if r := []rune(s); len(r) > maxEach {
		return strings.TrimSpace(string(r[:maxEach-1])) + "…"
	}
	return s
}
