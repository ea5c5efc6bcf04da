package cli

import (
	"io"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/spec"
)

// Renderer shows a run as it goes. Event is called for each event in order,
// from one goroutine at a time; Close once, after the last.
//
// What goes where:
//
//	text         stdout gets the final answer and nothing else, byte for byte,
//	             once the run has ended. Refused calls and notices go to
//	             stderr. Where stderr is a terminal it is a live view: the
//	             model's text as it comes and a line a tool call. Where both
//	             are terminals the text streams to stdout, so that the answer
//	             is not seen twice.
//	json         stdout gets {"data":…} on one line; nothing on stderr.
//	stream-json  stdout gets each event on a line.
//
// Text from outside is cleaned of control characters on its way to a
// terminal; a pipe or file gets it as it is. A run that ends with an error
// (exit code 7) leaves the {"error":…} envelope to the caller; in a stream
// the error event has been written then.
type Renderer interface {
	Event(event.Event)
	// Close gives the first write error.
	Close() error
}

// View says what the two streams are.
type View struct {
	Out   bool // stdout is a terminal
	Err   bool // stderr is a terminal
	Color bool // colours on stderr are wanted
}

// viewOf finds out, honouring NO_COLOR and TERM=dumb.
func viewOf(stdout, stderr io.Writer, environ []string) View {
	v := View{Out: isTerminal(stdout), Err: isTerminal(stderr)}
	v.Color = v.Err && lookup(environ, "NO_COLOR") == "" && lookup(environ, "TERM") != "dumb"
	return v
}

// NewRenderer builds the renderer of a form: text (also ""), json or
// stream-json.
func NewRenderer(form string, stdout, stderr io.Writer, v View) Renderer {
	out := &sink{w: stdout}
	switch form {
	case formatJSON:
		return &jsonRenderer{out: out}
	case formatStream:
		return &streamRenderer{out: out}
	}
	return &textRenderer{out: out, err: &sink{w: stderr}, view: v, style: style{on: v.Color}}
}

// sink keeps the first write error and writes nothing after it: a closed pipe
// must not stop the run halfway through a tool.
type sink struct {
	w   io.Writer
	err error
}

func (s *sink) write(text string) {
	if s.err == nil && text != "" {
		_, s.err = io.WriteString(s.w, text)
	}
}

type jsonRenderer struct{ out *sink }

func (r *jsonRenderer) Event(e event.Event) {
	res, ok := e.Body.(event.Result)
	if !ok || res.ExitCode == diag.ExitModel {
		return
	}
	line := append(spec.AppendCanonical([]byte(`{"data":`), res), '}', '\n')
	r.out.write(string(line))
}

func (r *jsonRenderer) Close() error { return r.out.err }

type streamRenderer struct {
	out  *sink
	line []byte
}

func (r *streamRenderer) Event(e event.Event) {
	line, err := e.AppendLine(r.line[:0])
	if err != nil {
		r.out.err = err
		return
	}
	r.line = append(line, '\n')
	r.out.write(string(r.line))
}

func (r *streamRenderer) Close() error { return r.out.err }
