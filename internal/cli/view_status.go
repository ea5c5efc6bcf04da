package cli

import (
	"fmt"
	"strings"
	"time"

	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/markdown"
)

// status is what the last line of the region tells.
type status struct {
	model, mode     string
	began           time.Time
	turn            int
	cost            *float64
	context, window int
}

func (s *status) spent(b event.Spent) {
	s.turn++
	s.cost = b.CostUSD
	s.context, s.window = b.ContextTokens, b.ContextWindow
}

// line fits the width: model, mode and turn go first.
func (s *status) line(now time.Time, width int) string {
	cost := ""
	if s.cost != nil {
		cost = fmt.Sprintf("$%.4f", *s.cost)
	}
	turn := ""
	if s.turn > 0 {
		turn = fmt.Sprintf("turn %d", s.turn)
	}
	parts := []string{escape(s.model), s.modeText(), turn, cost, s.contextText(), now.Sub(s.began).Truncate(time.Second).String()}
	line := joined(parts)
	for i := 0; i < 3 && markdown.Width(line) > width; i++ {
		parts[i] = ""
		line = joined(parts)
	}
	return markdown.Cut(line, width)
}

func (s *status) modeText() string {
	if s.mode == "" {
		return ""
	}
	return "mode " + escape(s.mode)
}

func (s *status) contextText() string {
	if s.context == 0 {
		return ""
	}
	if s.window == 0 {
		return thousands(s.context) + " tokens"
	}
	return fmt.Sprintf("context %d%% (%s of %s)", 100*s.context/s.window, thousands(s.context), thousands(s.window))
}

func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%.1fk", float64(n)/1000)
}

func joined(parts []string) string {
	var out []string
	for _, p := range parts {
		if p != "" {
			out = append(out, p)
		}
	}
	return strings.Join(out, " · ")
}
