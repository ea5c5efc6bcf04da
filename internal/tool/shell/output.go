package shell

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"larva.dev/larva/internal/proc"
	"larva.dev/larva/internal/tool"
)

// result is what the model reads of a command: its output, cleaned and cut,
// and how it ended where that is not plain success.
func result(r proc.Result, timeout time.Duration) tool.Result {
	head, tail := string(r.Stdout), ""
	if r.Truncated {
		head, tail = head[:keptOutput], head[keptOutput:]
	}
	var notes []string
	failed := true
	switch {
	case r.TimedOut:
		notes = append(notes, fmt.Sprintf("timed out after %s: the command and all that it started were ended", seconds(timeout)))
	case r.Cancelled:
		notes = append(notes, "interrupted: the command and all that it started were ended")
	case r.Signal != "":
		notes = append(notes, fmt.Sprintf("exit code %d (ended by %s)", r.Exit, r.Signal))
	case r.Exit != 0:
		notes = append(notes, fmt.Sprintf("exit code %d", r.Exit))
	default:
		failed = false
	}
	if !r.TimedOut && !r.Cancelled {
		notes = append(notes, remains(r)...)
	}
	out := shown(head, tail, r.Dropped, notes)
	out.IsError = failed
	return out
}

// shown is output as the model reads it, with notes behind it. Raw is the
// output as it was, where a part of it is not shown: cut, or no UTF-8. Escape
// sequences alone are no loss.
func shown(head, tail string, lost int64, notes []string) tool.Result {
	foot := ""
	for _, n := range notes {
		foot += "(" + n + ")\n"
	}
	raw := head
	if lost > 0 {
		raw += missing(lost) + tail
	}
	head, tail = clean(head), clean(tail)
	text := clip(head, tail, maxOutput-len(foot)-1, lost)
	var out tool.Result
	if lost > 0 || len(text) < len(head)+len(tail) || !utf8.ValidString(raw) {
		out.Raw = []byte(raw)
	}
	switch {
	case text == "" && foot == "":
		text = "(no output)\n"
	case text != "" && foot != "" && !strings.HasSuffix(text, "\n"):
		text += "\n"
	}
	out.Output = text + foot
	return out
}

func missing(bytes int64) string { return fmt.Sprintf("\n[… %d bytes left out …]\n", bytes) }

func remains(r proc.Result) []string {
	switch {
	case r.HeldPipe && r.Group != 0:
		return []string{"a background process is still running; its output is no longer read, so send it to a file. It ends with this run"}
	case r.HeldPipe:
		return []string{"a background process kept the output open; what it says now is not read"}
	case r.Group != 0:
		return []string{"a background process is still running. It ends with this run"}
	}
	return nil
}

func seconds(d time.Duration) string {
	return strings.TrimSuffix(fmt.Sprintf("%.1f", d.Seconds()), ".0") + " s"
}

// clip gives head and tail in at most limit bytes, two thirds of it for the
// beginning and one third for the end, cut between characters. lost is how
// many bytes are missing between the two already; where anything is missing, a
// line says how much.
func clip(head, tail string, limit int, lost int64) string {
	if len(head)+len(tail) <= limit && lost == 0 {
		return head + tail
	}
	if lost == 0 { // one text: its beginning and its end
		head, tail = head+tail, ""
	}
	const room = 60 // for the line between
	limit -= room
	h := min(limit*2/3, len(head))
	for h > 0 && h < len(head) && !utf8.RuneStart(head[h]) {
		h--
	}
	if tail == "" {
		head, tail = head[:h], head[h:]
	} else {
		lost += int64(len(head) - h)
		head = head[:h]
	}
	t := max(len(tail)-limit/3, 0)
	for t < len(tail) && !utf8.RuneStart(tail[t]) {
		t++
	}
	lost += int64(t)
	return head + missing(lost) + tail[t:]
}

// clean makes a terminal's output readable as text: no escape sequences, of a
// line that was redrawn its last state, no other control characters.
func clean(s string) string {
	s = strings.ToValidUTF8(stripEscapes(s), "\uFFFD")
	if !strings.ContainsFunc(s, control) {
		return s
	}
	var out strings.Builder
	out.Grow(len(s))
	for line := range strings.Lines(s) {
		body, end := line, ""
		if strings.HasSuffix(body, "\n") {
			body, end = body[:len(body)-1], "\n"
		}
		out.WriteString(redraw(strings.TrimRight(body, "\r")))
		out.WriteString(end)
	}
	return out.String()
}

func control(r rune) bool { return r < 0x20 && r != '\n' && r != '\t' || r == 0x7f }

// redraw keeps what stands behind the last carriage return, and lets a
// backspace take a character back.
func redraw(line string) string {
	if i := strings.LastIndexByte(line, '\r'); i >= 0 {
		line = line[i+1:]
	}
	if !strings.ContainsFunc(line, control) {
		return line
	}
	out := make([]rune, 0, len(line))
	for _, r := range line {
		switch {
		case r == '\b':
			out = out[:max(len(out)-1, 0)]
		case !control(r):
			out = append(out, r)
		}
	}
	return string(out)
}

// stripEscapes takes out terminal sequences: CSI (colours, cursor), OSC and
// the other strings (titles, links), and the two- and three-byte ones.
func stripEscapes(s string) string {
	if strings.IndexByte(s, 0x1b) < 0 {
		return s
	}
	var out strings.Builder
	out.Grow(len(s))
	for i := 0; i < len(s); {
		if s[i] != 0x1b {
			out.WriteByte(s[i])
			i++
			continue
		}
		i += escape(s[i:])
	}
	return out.String()
}

// escape gives the length of the sequence that s begins with. A sequence is
// never longer than its line, so a stray one hides no more than that.
func escape(s string) int {
	if len(s) < 2 {
		return 1
	}
	switch c := s[1]; {
	case c == '[':
		for i := 2; i < len(s); i++ {
			switch {
			case s[i] >= 0x40 && s[i] <= 0x7e:
				return i + 1
			case s[i] < 0x20 || s[i] > 0x7e:
				return i
			}
		}
		return len(s)
	case strings.IndexByte("]PX^_", c) >= 0:
		for i := 2; i < len(s); i++ {
			switch {
			case s[i] == 0x07:
				return i + 1
			case s[i] == 0x1b && i+1 < len(s) && s[i+1] == '\\':
				return i + 2
			case s[i] == '\n':
				return i
			}
		}
		return len(s)
	case c >= 0x20 && c <= 0x2f:
		if len(s) > 2 {
			return 3
		}
		return 2
	case c >= 0x30 && c <= 0x7e:
		return 2
	}
	return 1
}
