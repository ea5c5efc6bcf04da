// Package tool is the first of the two seams: an extension adds tools to a
// Registry. A tool states facts about a call through Effects, permission
// judges them, and only the loop runs it.
package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"sort"

	"larva.dev/larva/internal/capability"
)

// Spec is what the model is told about a tool.
type Spec struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"input_schema"` // a JSON Schema object
	// Parallel says that calls may run beside other parallel ones.
	Parallel bool `json:"-"`
	// Endless says that a call may take as long as the run: it ends with ctx.
	Endless bool `json:"-"`
	// MaxOutput is how many bytes of a result the model reads; 0 means the
	// common 30,000. A tool that names more keeps to it by itself.
	MaxOutput int `json:"-"`
	// Hidden keeps the tool out of what the model is offered: it is reached
	// through a Standin.
	Hidden bool `json:"-"`
}

// Call is one validated request for a tool. Input is a JSON object that fits
// the tool's schema.
type Call struct {
	ID    string
	Tool  string
	Input json.RawMessage
}

// Result is what the model reads. A tool's failure is a Result with IsError;
// a Go error from Run means that our own machinery broke.
type Result struct {
	Output  string
	IsError bool
	Fault   string // unknown_tool, invalid_json, invalid_arguments; "" for a call that ran
	// Images are shown to the model beside the text.
	Images []Image
	// Raw is the whole output where Output is only a part of it; the loop keeps
	// it for raw_output. nil: Output is all there is.
	Raw []byte
}

// Image is a picture in a result.
type Image struct {
	MediaType string // image/png, image/jpeg, image/gif, image/webp
	Data      []byte
}

// Fail is a failed result.
func Fail(format string, args ...any) Result {
	return Result{Output: fmt.Sprintf(format, args...), IsError: true}
}

// Effects are the facts that permission judges. They are stated without
// changing anything; looking at links on disk is allowed.
type Effects struct {
	Needs    []capability.Need
	ReadOnly bool   // changes nothing and opens no connection
	Network  bool   // opens a connection
	Touches  bool   // false for tools that touch nothing outside the run (todo_write, ask_user): they need nothing
	Command  string // the shell line, for bash
	Paths    []Path
	// Saves are further files, absolute, that undo keeps before the call runs;
	// paths that are written need not be named here again.
	Saves []string
	// Unwalled says that a shell line asks to run outside the sandbox.
	Unwalled bool
	// Subject is what a rule's pattern is matched against where there is
	// neither a path nor a command: "domain:go.dev", a persona id, a skill name.
	Subject string
}

// Path is a file that a call names.
type Path struct {
	Given string // as written
	Abs   string // absolute and clean, links not followed
	Real  string // after links; for a new file its deepest existing parent's target joined with the rest
	Write bool
	// Outside is true when Real or Abs lies under none of the roots.
	Outside bool
	// Segment is the index of the simple command that names it; 0 for file tools.
	Segment int
	// Unknown marks a shell word whose value cannot be known before it runs;
	// Given is its text, Abs and Real are "".
	Unknown bool
	// Redirect marks the target of a shell redirect.
	Redirect bool
}

// Tool does one thing for the model. Effects and Run get input that fits
// Spec().Schema. Run must honour ctx and return within its own limits.
type Tool interface {
	Spec() Spec
	Effects(Call) Effects
	Run(context.Context, Call) (Result, error)
}

// Starter is a Tool that counts its calls: Starts is called for each permitted
// call just before its Run, in the order of the calls, also where they then
// run side by side.
type Starter interface{ Starts(Call) }

// Standin is a Tool whose calls stand for calls of another one: For gives that
// call, which is validated, judged and run in its place, or says why there is
// none. Its own Effects and Run are never asked.
type Standin interface {
	For(Call) (Call, *Result)
}

// Registry is the set of tools of one run. It is filled before the loop
// starts and read-only after.
type Registry struct {
	byName map[string]Tool
}

// Add puts tools in; a name twice is an error.
func (r *Registry) Add(tools ...Tool) error {
	if r.byName == nil {
		r.byName = map[string]Tool{}
	}
	for _, t := range tools {
		n := t.Spec().Name
		if _, ok := r.byName[n]; ok {
			return fmt.Errorf("tool %s: added twice", n)
		}
		r.byName[n] = t
	}
	return nil
}

// Get finds a tool by its exact name.
func (r *Registry) Get(name string) (Tool, bool) {
	t, ok := r.byName[name]
	return t, ok
}

// All are the tools by name, the hidden ones too.
func (r *Registry) All() []Tool {
	names := make([]string, 0, len(r.byName))
	for n := range r.byName {
		names = append(names, n)
	}
	sort.Strings(names)
	out := make([]Tool, len(names))
	for i, n := range names {
		out[i] = r.byName[n]
	}
	return out
}

// Specs lists all tools that are not hidden by name, a stable prefix for the model.
func (r *Registry) Specs() []Spec {
	out := make([]Spec, 0, len(r.byName))
	for _, t := range r.byName {
		if s := t.Spec(); !s.Hidden {
			out = append(out, s)
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}
