package cli

import (
	"fmt"
	"strings"

	"larva.dev/larva/internal/event"
)

// How much of a call a question shows. A call that is longer says how much is
// left out, since what is not seen must not be waved through unknowingly; its
// end is shown too, where what matters likes to hide.
const (
	maxShown     = 4000 // bytes
	maxShownRows = 60
)

// questionText is what the person decides on: the whole call, why it is a
// question, and what an "always" would keep. All of it may come from the model
// or a repository, so control characters are made visible.
func questionText(q event.Question, s style) string {
	d := q.Decision
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s %s:\n%s", s.yellow(escape(d.Tool)), wants(d), indent(callDetail(d, s)))
	if d.Reason != "" {
		fmt.Fprintf(&b, "Asked because: %s [%s]\n", escape(d.Reason), escape(stageText(d)))
	}
	if len(d.Segments) > 1 {
		for _, seg := range d.Segments {
			if seg.Verdict != event.Allow {
				fmt.Fprintf(&b, "  not yet allowed: %s [%s]\n", escape(seg.Text), escape(string(seg.Stage)))
			}
		}
	}
	b.WriteString(keptText(q))
	return b.String() + "\n"
}

func wants(d event.Decision) string {
	if changeOf(d.Tool, d.Input) != nil {
		about := listed(d.Tool, d.Input)
		if about == "" {
			about = mainArgument(d.Input)
		}
		return "wants to change " + escape(about)
	}
	if d.Tool == "exit_plan_mode" {
		return "hands in a plan"
	}
	return "wants to run"
}

// stageText is the stage, with the rule and its place where one decided.
func stageText(d event.Decision) string {
	text := string(d.Stage)
	if d.Rule != "" {
		text += ", rule " + d.Rule
	}
	if d.Origin != "" {
		text += ", " + d.Origin
	}
	return text
}

func keptText(q event.Question) string {
	rules := kept(q)
	if len(rules) == 0 || len(rules) == 1 && q.KeptIn == "" {
		return ""
	}
	where := "here"
	if q.KeptIn != "" {
		where = "in " + q.KeptIn
	}
	text := "Always would keep " + escape(where) + ":\n"
	for _, r := range rules {
		text += "  " + escape(r) + "\n"
	}
	return text
}

// callDetail is the call in full, as far as it is shown: the diff of an edit,
// a shell line as it is, any other input as JSON.
func callDetail(d event.Decision, s style) string {
	if c := changeOf(d.Tool, d.Input); c != nil {
		return middleOut(c.draw(s, len(c.lines)))
	}
	return middleOut(strings.Split(clean(mainOf(d)), "\n"))
}

// middleOut keeps the first and last lines where there are too many, and the
// beginning and end of a line that is too long.
func middleOut(lines []string) string {
	bytes := 0
	for _, l := range lines {
		bytes += len(l) + 1
	}
	if len(lines) <= maxShownRows && bytes <= maxShown {
		return strings.Join(lines, "\n")
	}
	head, tail, used := 0, 0, 0
	for used < maxShown && head+tail < maxShownRows && head+tail < len(lines) {
		next := lines[head]
		if head >= 2*(tail+1) { // two of the beginning for one of the end
			next = lines[len(lines)-1-tail]
			tail++
		} else {
			head++
		}
		used += min(len(next), maxShown/4) + 1
	}
	hidden := 0
	for _, l := range lines[head : len(lines)-tail] {
		hidden += len(l) + 1
	}
	out := shortLines(lines[:head])
	if n := len(lines) - head - tail; n > 0 {
		out = append(out, fmt.Sprintf("… %s, %d bytes not shown …", plural(n, "line"), hidden))
	}
	return strings.Join(append(out, shortLines(lines[len(lines)-tail:])...), "\n")
}

// shortLines takes the middle out of lines that alone fill the question.
func shortLines(lines []string) []string {
	const most = maxShown / 4
	out := make([]string, len(lines))
	for i, l := range lines {
		if len(l) > most+100 {
			head, tail := strings.ToValidUTF8(l[:most*2/3], ""), strings.ToValidUTF8(l[len(l)-most/3:], "")
			l = fmt.Sprintf("%s … %d bytes not shown … %s", head, len(l)-len(head)-len(tail), tail)
		}
		out[i] = l
	}
	return out
}

func indent(s string) string {
	return "  " + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n  ") + "\n"
}
