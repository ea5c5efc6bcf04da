package cli

import (
	"io"
	"os"

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
//	             stderr. Where stderr is a terminal it is a live view of the
//	             whole run (view.go); where stdout is that same terminal, the
//	             answer has been seen there and does not come again.
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
	Out  bool // stdout is a terminal
	Err  bool // stderr is a terminal
	Same bool // both are one terminal
	// Moving says that the terminal can draw in place and in colours. Without
	// it the view is plain lines.
	Moving bool
	// Size gives the terminal's columns and rows, 0 for unknown.
	Size func() (width, height int)
	// Interrupted is closed when the run is to end.
	Interrupted <-chan struct{}
	// Lost is called once, where a stream of events cannot be written any more:
	// nobody follows the run. nil is nothing to call.
	Lost func(error)
}

// viewOf finds out. NO_COLOR, ACCESSIBLE (a screen reader) and TERM=dumb get
// plain lines.
func viewOf(stdout, stderr io.Writer, environ []string) View {
	v := View{Out: isTerminal(stdout), Err: isTerminal(stderr)}
	v.Same = v.Out && v.Err && sameFile(stdout.(*os.File), stderr.(*os.File)) // isTerminal knows both are
	v.Moving = v.Err && lookup(environ, "NO_COLOR") == "" && !plainTerminal(environ)
	if v.Err {
		v.Size = func() (int, int) { return sizeOf(stderr.(*os.File)) }
	}
	return v
}

// NewRenderer builds the renderer of a form: text (also ""), json or
// stream-json.
func NewRenderer(form string, stdout, stderr io.Writer, v View) Renderer {
	out := &sink{w: stdout}
	switch {
	case form == formatJSON:
		return &jsonRenderer{out: out}
	case form == formatStream:
		out.lost = v.Lost
		return &streamRenderer{out: out}
	case v.Err:
		l := newLiveView(out, &sink{w: stderr}, v)
		l.start(v.Interrupted)
		return l
	}
	return &textRenderer{out: out, err: &sink{w: stderr}, clean: v.Out}
}

// sink keeps the first write error, tells of it and writes nothing after it: a
// closed pipe must not stop the run halfway through a tool.
type sink struct {
	w    io.Writer
	err  error
	lost func(error)
}

func (s *sink) write(text string) {
	if s.err != nil || text == "" {
		return
	}
	if _, s.err = io.WriteString(s.w, text); s.err != nil && s.lost != nil {
		s.lost(s.err)
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
