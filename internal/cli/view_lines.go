package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/markdown"
)

// What the view folds to.
const (
	maxDiff     = 20 // lines of a diff
	maxThinking = 3  // lines of reasoning
	maxTodos    = 20
	maxRunning  = 6   // calls in the region
	keptThought = 600 // characters of reasoning that are kept for its lines
)

// call is one that runs.
type call struct {
	key, agent string
	text       string // tool and subject
	input      json.RawMessage
	began      time.Time
}

// ended gives the lines of a call's end.
func (v *liveView) ended(agent string, b event.ToolEnd) []string {
	c := v.forget(agent, b.ID)
	label := v.label(agent)
	if d := b.Decision; d != nil && d.Verdict == event.Deny {
		return v.wrapped(label, "✗ denied:", v.style.red, denialText(*d))
	}
	text, ran := escape(b.Tool), c != nil
	var ch *change
	if ran {
		text = c.text
		ch = changeOf(b.Tool, c.input)
	}
	facts := v.facts(b)
	mark := v.style.green("✓")
	if b.IsError {
		mark = v.style.red("✗")
	} else if ch != nil {
		facts = append([]string{ch.stat()}, facts...)
	}
	line := label + mark + " " + text + v.style.dim(" · "+strings.Join(facts, " · "))
	if b.IsError {
		return []string{line + v.style.red(" · "+firstLine(b.Output))}
	}
	return append([]string{line}, v.below(agent, b, c, ch)...)
}

// below is what stands under a call that went well: the todo list, or the
// diff where the person has not just seen it in a question.
func (v *liveView) below(agent string, b event.ToolEnd, c *call, ch *change) []string {
	switch {
	case c == nil:
		return nil
	case b.Tool == "todo_write":
		return v.todos(c.input)
	case ch != nil && !v.asked[agent+"\x00"+b.ID]:
		return indented(ch.draw(v.style, maxDiff))
	}
	return nil
}

// wrapped breaks a line of ours at words; the head is painted, what follows is
// set in.
func (v *liveView) wrapped(label, head string, paint func(string) string, text string) []string {
	if !v.moving {
		return []string{label + paint(head) + " " + text}
	}
	width, _ := v.screen.room()
	lines := markdown.Wrap(head+" "+text, width-markdown.Width(label)-2)
	lines[0] = label + paint(head) + strings.TrimPrefix(lines[0], head)
	for i := range lines[1:] {
		lines[i+1] = "  " + lines[i+1]
	}
	return lines
}

func indented(lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = "    " + l
	}
	return out
}

// facts of a call that was not refused: time, size, why it was allowed.
func (v *liveView) facts(b event.ToolEnd) []string {
	if b.Decision == nil {
		if b.Fault != "" {
			return []string{escape(b.Fault)}
		}
		return []string{"not run"}
	}
	out := []string{took(b.MS)}
	if b.Bytes > 0 {
		out = append(out, size(b.Bytes))
	}
	for _, i := range b.Images {
		out = append(out, escape(i.MediaType)+" "+size(i.Bytes))
	}
	why := string(b.Decision.Stage)
	if b.Decision.Rule != "" {
		why += " " + escape(b.Decision.Rule)
	}
	by := "allowed"
	if isQuestion(b.Decision.Stage) {
		by = "allowed by you"
	}
	return append(out, by+" ("+why+")")
}

func took(ms int64) string {
	d := time.Duration(ms) * time.Millisecond
	if d >= 10*time.Second {
		d = d.Round(time.Second)
	}
	return d.String()
}

func size(n int) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1000_000:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}

// todos draws the list that a todo_write call sets.
func (v *liveView) todos(input json.RawMessage) []string {
	var in struct {
		Todos []struct{ Content, Status string } `json:"todos"`
	}
	if json.Unmarshal(input, &in) != nil {
		return nil
	}
	var out []string
	for i, t := range in.Todos {
		if i == maxTodos {
			out = append(out, v.style.dim(fmt.Sprintf("… %d more", len(in.Todos)-i)))
			break
		}
		text := shorten(escape(t.Content), 2*maxCallText)
		switch t.Status {
		case "completed":
			out = append(out, v.style.dim("☑ "+text))
		case "in_progress":
			out = append(out, v.style.yellow("▶ "+text))
		default:
			out = append(out, "☐ "+text)
		}
	}
	return indented(out)
}

func (v *liveView) hook(agent string, b event.Hook) string {
	text := fmt.Sprintf("hook %s %s · %s", escape(b.Event), shorten(escape(b.Name), maxCallText), escape(b.Effect))
	if b.Exit > 0 {
		text += fmt.Sprintf(" · exit %d", b.Exit)
	}
	text += " · " + took(b.MS)
	switch b.Effect {
	case "deny", "block", "halt", "error":
		return v.label(agent) + v.style.red(text)
	}
	return v.label(agent) + v.style.dim(text)
}

// thought is the reasoning that comes: its first lines and how much there was.
type thought struct {
	began time.Time
	head  strings.Builder
	runes int
	on    bool
}

func (t *thought) write(text string, now time.Time) {
	if !t.on {
		*t = thought{began: now, on: true}
	}
	if room := keptThought - t.head.Len(); room > 0 {
		t.head.WriteString(strings.ToValidUTF8(text[:min(room, len(text))], ""))
	}
	t.runes += len(text)
}

// lines folds it.
func (t *thought) lines(s style, width int) []string {
	lines := markdown.Render(strings.TrimSpace(t.head.String()), markdown.Options{Width: width - 2})
	more := t.runes > keptThought || len(lines) > maxThinking
	lines = lines[:min(len(lines), maxThinking)]
	out := make([]string, len(lines))
	for i, l := range lines {
		if more && i == len(lines)-1 {
			l = markdown.Cut(l, max(width-20, 10)) + fmt.Sprintf(" … (%s)", size(t.runes))
		}
		out[i] = s.dim("┊ " + l)
	}
	return out
}

// generatedLine says what was put into the person's mouth: of the reports of
// background tasks whose they are.
func generatedLine(text string) string {
	var ids []string
	for _, l := range strings.Split(text, "\n") {
		if rest, ok := strings.CutPrefix(l, `<task-notification id="`); ok {
			if id, _, ok := strings.Cut(rest, `"`); ok {
				ids = append(ids, escape(id))
			}
		}
	}
	if len(ids) == 0 {
		return firstLine(text)
	}
	return "the report of " + strings.Join(ids, ", ")
}
