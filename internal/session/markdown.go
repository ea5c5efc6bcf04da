package session

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"larva.dev/larva/internal/event"
)

// rawPath is where a call's whole output lies beside the session, "" where
// none is kept.
func (s *Session) rawPath(call string) string {
	path := filepath.Join(strings.TrimSuffix(s.Path, ending)+".raw", rawName(call))
	if _, err := os.Lstat(path); err != nil {
		return ""
	}
	return path
}

// Markdown writes the transcript for a person. lines bounds each output and
// input, 0 writes them whole. Control characters are written as \u…, so that a
// tool's output cannot play with the reader's terminal.
func (t Transcript) Markdown(w io.Writer, lines int) error {
	m := &marking{w: bufio.NewWriter(w), lines: lines}
	s := t.Session
	m.line("# Session %s", s.ID)
	m.line("")
	m.line("- persona: %s (%s, %s)", s.Persona.ID, s.Persona.Variant, s.Persona.Digest)
	m.line("- model: %s", s.Model)
	m.line("- directory: %s", s.Cwd)
	m.line("- started: %s", s.Started.UTC().Format(time.RFC3339))
	m.line("- state: %s, %s%s", s.State, plural(s.Turns, "turn"), cost(s.CostUSD))
	if s.ForkedFrom != "" {
		m.line("- forked from: %s", s.ForkedFrom)
	}
	for _, step := range t.Steps {
		m.step(step)
	}
	return m.w.Flush()
}

func cost(usd *float64) string {
	if usd == nil {
		return ""
	}
	return fmt.Sprintf(", %.4f USD", *usd)
}

type marking struct {
	w     *bufio.Writer
	lines int
}

func (m *marking) line(format string, args ...any) {
	m.w.WriteString(clean(fmt.Sprintf(format, args...)))
	m.w.WriteByte('\n')
}

func (m *marking) step(s Step) {
	who := ""
	if s.Agent != "" {
		who = " of " + s.Agent
	}
	m.w.WriteByte('\n')
	switch s.Kind {
	case "run":
		m.line("## Run%s, %s: %s, mode %s", who, s.Time.Format(time.RFC3339), s.Init.Model, s.Init.Mode)
	case "prompt":
		m.line("### Prompt %d", s.Prompt)
		m.text(s.Text)
	case "note":
		m.line("### For the model%s, typed by nobody", who)
		m.text(s.Text)
	case "answer":
		m.line("### Answer%s", who)
		m.text(s.Text)
	case "call":
		m.call(s.Call, who)
	case "compacted":
		m.line("### The conversation was replaced by its summary%s", who)
		m.text(s.Text)
	case "undo":
		m.line("### Undone")
		m.text(s.Text)
	case "end":
		m.line("*End%s: %s, exit %d, %s%s*", who, s.End.StopReason, s.End.ExitCode, plural(s.End.Turns, "turn"), cost(s.End.CostUSD))
	default:
		m.line("*%s%s: %s*", s.Kind, who, s.Text)
	}
}

func (m *marking) text(s string) {
	m.w.WriteByte('\n')
	m.line("%s", strings.TrimRight(s, "\n"))
}

func (m *marking) call(c *Call, who string) {
	m.line("### Call %s%s: %s", c.ID, who, c.Tool)
	m.w.WriteByte('\n')
	input := pretty(c.Input)
	if c.Broken != "" {
		input = c.Broken
	}
	m.block("json", input)
	if c.Ran != nil {
		m.line("\nIt ran as:\n")
		m.block("json", pretty(c.Ran))
	}
	m.w.WriteByte('\n')
	m.line("Decision: %s", decision(c))
	m.w.WriteByte('\n')
	if c.Result == nil {
		m.line("No result: the run ended before the call did.")
		return
	}
	word := "Result"
	if c.Result.IsError {
		word = "Failed"
	}
	m.line("%s (%d ms, %s):\n", word, c.Result.MS, plural(int(c.Result.Bytes), "byte"))
	m.block("", c.Result.Output)
	if c.RawPath != "" {
		m.line("\nWhole output: %s", c.RawPath)
	}
}

// decision is one line: verdict, what decided, and what a person said.
func decision(c *Call) string {
	d := c.Decision
	if d == nil {
		if c.Result == nil {
			return "none is recorded"
		}
		return "none: the call was refused before (" + or(c.Result.Fault, "not run") + ")"
	}
	out := string(d.Verdict) + " by " + string(d.Stage)
	if d.Rule != "" {
		out += ", rule " + d.Rule
	}
	if d.Origin != "" {
		out += " (" + d.Origin + ")"
	}
	if d.Reason != "" {
		out += ": " + d.Reason
	}
	return out + said(c.Answer)
}

func said(a *event.Answer) string {
	switch {
	case a == nil:
		return ""
	case !a.Allow:
		return "; a person said no" + colon(a.Feedback)
	case a.Always:
		return "; a person said always"
	}
	return "; a person said yes"
}

func colon(s string) string {
	if s == "" {
		return ""
	}
	return ": " + s
}

func or(a, b string) string {
	if a == "" {
		return b
	}
	return a
}

// block fences text that may hold fences.
func (m *marking) block(lang, text string) {
	text = strings.TrimRight(text, "\n")
	if all := strings.Split(text, "\n"); m.lines > 0 && len(all) > m.lines {
		text = strings.Join(all[:m.lines], "\n") + fmt.Sprintf("\n[%d lines more]", len(all)-m.lines)
	}
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	m.line("%s%s\n%s\n%s", fence, lang, text, fence)
}

func pretty(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}

// clean writes what a terminal would obey as \u….
func clean(s string) string {
	if strings.IndexFunc(s, obeyed) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if obeyed(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

func obeyed(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < 0x20, r >= 0x7f && r < 0xa0, r == 0x2028, r == 0x2029, r == 0xfeff, r == 0x061c:
		return true
	}
	return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x200e || r == 0x200f
}

// Lines writes the session's own lines, and behind them one of type raw for
// each kept output.
func (s *Session) Lines(w io.Writer) error {
	out := bufio.NewWriter(w)
	write := func(e event.Event, id, parent int) error {
		line, err := appendEntry(nil, e, id, parent)
		if err != nil {
			return err
		}
		out.Write(line)
		return out.WriteByte('\n')
	}
	if err := write(event.Event{Time: s.Started, Body: s.first}, 1, 0); err != nil {
		return err
	}
	var raws []Raw
	last := 1
	for _, e := range s.Entries {
		if u, ok := e.Event.Body.(event.Unknown); ok {
			out.Write(u.Line)
			out.WriteByte('\n')
		} else if err := write(e.Event, e.ID, e.Parent); err != nil {
			return err
		}
		if b, ok := e.Event.Body.(event.ToolEnd); ok {
			if path := s.rawPath(b.ID); path != "" {
				raws = append(raws, Raw{ID: b.ID, Path: path})
			}
		}
		last = e.ID
	}
	for _, r := range raws {
		if info, err := os.Lstat(r.Path); err == nil {
			r.Bytes = info.Size()
		}
		if err := write(event.Event{Time: s.Started, Body: r}, last+1, last); err != nil {
			return err
		}
		last++
	}
	return out.Flush()
}

// Raw names a kept output in an export.
type Raw struct {
	ID    string `json:"id"`
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"`
}

// Type name of the entry.
func (Raw) Type() string { return "raw" }

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
