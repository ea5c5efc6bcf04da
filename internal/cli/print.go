package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/spec"
)

// This file is all that knows how results and failures look. stdout is the
// result, stderr is talk; in the JSON form there is one line on stdout and
// nothing on stderr. Pretty and canonical JSON are ASCII; everything else
// that came from outside goes through escape.

// data prints {"data":v} on one line.
func (s *session) data(v any) error {
	b := append(spec.AppendCanonical([]byte(`{"data":`), v), '}', '\n')
	_, err := s.out.Write(b)
	return err
}

// result prints v in both forms: the envelope, or pretty JSON.
func (s *session) result(v any) error {
	if s.json() {
		return s.data(v)
	}
	_, err := s.out.Write(spec.AppendPretty(nil, v))
	return err
}

// line prints one line of text on stdout, its values escaped.
func (s *session) line(format string, values ...string) {
	fmt.Fprintf(s.out, format+"\n", escaped(values)...)
}

// say prints one line of talk on stderr, its values escaped.
func (s *session) say(format string, values ...string) {
	fmt.Fprintf(s.process.Stderr, format+"\n", escaped(values)...)
}

func escaped(values []string) []any {
	out := make([]any, len(values))
	for i, v := range values {
		out[i] = escape(v)
	}
	return out
}

// printJSONError prints {"error":…}, or the error event where a stream was asked for.
func (s *session) printJSONError(e *diag.Error) {
	if s.format == formatStream {
		e := event.Event{Seq: 1, Time: time.Now(), Body: event.Fault{Code: string(e.Code), Message: e.Message}}
		if line, err := e.AppendLine(nil); err == nil {
			_, _ = s.out.Write(append(line, '\n'))
		}
		return
	}
	b := append(spec.AppendCanonical([]byte(`{"error":`), envelope(e)), '}', '\n')
	_, _ = s.out.Write(b)
}

// envelope is a failure as every face shows it.
func envelope(e *diag.Error) map[string]any {
	details := e.Details
	if details == nil {
		details = map[string]any{}
	}
	return map[string]any{"code": string(e.Code), "numeric_code": e.Code.Number(), "message": e.Message, "details": details}
}

// printTextError prints "larva COMMAND: CODE: message", then one line a
// problem, then the hint.
func (s *session) printTextError(e *diag.Error) {
	who := "larva"
	if s.command != "" {
		who += " " + s.command
	}
	s.printFailure(who, e)
}

func (s *session) printFailure(who string, e *diag.Error) {
	for _, n := range e.Notices {
		fmt.Fprintf(s.process.Stderr, "notice: %s\n", escape(n))
	}
	printProblems(s.process.Stderr, who, e)
	if e.Hint != "" {
		fmt.Fprintf(s.process.Stderr, "hint: %s\n", escape(e.Hint))
	}
}

// printProblems prints "who: CODE: message". Problems with places have a line
// each, which editors can jump to. Of mistakes in a file the message is their
// count, and a lone one about the whole file is the message.
func printProblems(w io.Writer, who string, e *diag.Error) {
	message, places := e.Message, e.Problems
	if mistakes(e.Code) && len(places) > 0 {
		message = plural(len(places), "problem")
		if p := places[0]; len(places) == 1 && p.Line == 0 {
			if p.File == who {
				p.File = ""
			}
			message, places = p.String(), nil
		}
	}
	fmt.Fprintf(w, "%s: %s: %s\n", escape(who), e.Code, escape(message))
	for _, p := range places {
		fmt.Fprintln(w, escape(p.String()))
	}
}

// mistakes are the codes whose problems are all there is to say.
func mistakes(c diag.Code) bool {
	return c == diag.PersonaInvalid || c == diag.InvalidInput || c == diag.ProfileInvalid || c == diag.EvaluationLimit
}

// escape makes text from outside safe to print on one line: control
// characters, line and paragraph separators and the marks that turn the
// reading direction become \t, \n or \u…; everything else stays.
func escape(s string) string {
	if strings.IndexFunc(s, unsafeRune) < 0 && strings.ToValidUTF8(s, "") == s {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case unsafeRune(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func unsafeRune(r rune) bool {
	switch {
	case r < 0x20, r >= 0x7f && r < 0xa0: // C0, DEL, C1
		return true
	case r == 0x2028 || r == 0x2029 || r == 0xfeff:
		return true
	case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0x200e || r == 0x200f, r == 0x061c:
		return true
	}
	return false
}
