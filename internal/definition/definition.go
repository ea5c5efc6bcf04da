// Package definition finds and reads agent files of Claude Code's kind:
// Markdown with a frontmatter of name, description, tools and more, whose body
// is the system prompt. It gives plain values and knows nothing of a run.
//
// What restricts an agent (tools, allowed-tools, disallowedTools,
// permissionMode, isolation) and cannot be read leaves it without any tool, and
// a note says so: a repair never gives more than any reading of the file does.
package definition

import (
	"slices"
	"strings"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/load"
	"larva.dev/larva/internal/profile"
	"larva.dev/larva/internal/spec"
)

// Origin says whose a definition is.
type Origin string

// The origins. A project's definition counts only once it is trusted, which is
// for others to find out.
const (
	Personal Origin = "personal"
	Project  Origin = "project"
	BuiltIn  Origin = "built-in"
)

// Definition is one agent file as it was read. Read-only.
type Definition struct {
	ID   string // a persona id made of Name
	Name string // as written
	// Description and Prompt are never blank. Prompt is the text below the
	// frontmatter without its last newline.
	Description, Prompt string
	// Tools are those that it may use; nil where the file names none, which
	// means all that whoever calls it has.
	Tools *Tools
	// Disallowed are taken away from those; nil for none.
	Disallowed *Tools
	// Model is a label as written, "" where none was.
	Model string
	// Mode is permissionMode in larva's word, "" where none was: a ceiling on
	// the run's mode, never a way to raise it.
	Mode string
	// MaxTurns bounds it; 0: not said.
	MaxTurns int
	Skills   []string
	// Isolation is "worktree" or "".
	Isolation  string
	Background bool
	Effort     string
	Color      string
	// Extra holds every other key of the file, as it was written: where it came
	// from, no more. Never nil.
	Extra *spec.Object
	// Denied says that a restriction could not be read, so that Tools is empty.
	Denied bool

	Path   string // the file; "" for a built-in
	Shown  string // the file as messages name it
	Line   int    // of the name, else 1
	Origin Origin
	// Level is the index of its directory in what Find was given; higher ones win.
	Level int
	// Raw is the whole file, the bytes that were read.
	Raw []byte
	// Notices tell of everything that was healed, dropped or left without effect,
	// sorted by line.
	Notices []Problem

	front *load.Front
}

// Problem is one thing to tell of an agent file. Class is that of the import
// contract, F1 to S10, "" where none fits.
type Problem struct {
	Class string `json:"class,omitempty"`
	// Kind: "note", or "skipped" (no agent, left alone) or "error" (an agent
	// that cannot be read) where the file gives no definition.
	Kind string `json:"kind"`
	// Denies says that for this the agent gets no tools.
	Denies bool `json:"denies,omitempty"`
	diag.Problem
}

// The kinds of problem.
const (
	Note    = "note"
	Skipped = "skipped"
	Error   = "error"
)

// String is the one-line form with the class behind it.
func (p Problem) String() string {
	if p.Class == "" {
		return p.Problem.String()
	}
	return p.Problem.String() + " [" + p.Class + "]"
}

// Inherits says that neither list names a tool, so that a child gets what its
// parent has.
func (d *Definition) Inherits() bool { return d.Tools == nil && d.Disallowed == nil }

// Allows says whether it may use the tool of that exact name, as far as the
// file's own lists say.
func (d *Definition) Allows(tool string) bool {
	if d.Tools != nil && !d.Tools.Has(tool) {
		return false
	}
	return d.Disallowed == nil || !d.Disallowed.Has(tool)
}

// Marked says that the file has a key that an agent file has and a PersonaSpec
// has not.
func (d *Definition) Marked() bool {
	return d.front != nil && slices.ContainsFunc(d.front.Root.Members, func(m spec.Member) bool {
		return load.Guards(m.Key, guarded) != "" || slices.Contains(marks, m.Key)
	})
}

// marks are the keys of Claude Code's that restrict nothing.
var marks = []string{"mcpServers", "mcp-servers", "skills", "hooks", "memory", "maxTurns", "background", "effort", "color", "initialPrompt"}

// HasHooks says that the file names hooks.
func (d *Definition) HasHooks() bool { return d.front != nil && d.front.Root.Has("hooks") }

// Hooks reads the hooks as a layer that holds nothing else.
func (d *Definition) Hooks(events []string) (profile.Layer, error) {
	if !d.HasHooks() {
		return profile.Layer{}, nil
	}
	l, err := d.front.Hooks(events)
	l.Name, l.File, l.Project = "definition "+d.ID, d.Shown, d.Origin == Project
	return l, err
}

// Persona is the definition as a PersonaSpec.
//
// Its capabilities come from its tools: each family gets the highest posture
// that a listed tool needs, every other family is none. Where the file has no
// list of tools nothing is declared: what was not written grants reading inside
// the project, and all else is a question, as for every persona that leaves a
// family out. A child of a task gets its parent's ceiling there instead, see
// Inherits. Who it may spawn is what Task(a, b) names; Task alone is anybody,
// and without it nobody is.
func (d *Definition) Persona() *spec.Object {
	o := &spec.Object{}
	o.Set("id", d.ID)
	o.Set("description", d.Description)
	o.Set("prompt", d.Prompt)
	model := d.Model
	if model == "" {
		model = "inherit"
	}
	o.Set("model", model)
	caps := &spec.Object{}
	for _, c := range d.Ceiling() {
		caps.Set(c.Family, c.Posture.String())
	}
	o.Set("capabilities", caps)
	if d.Tools != nil && d.Allows("task") {
		if ids := d.Tools.Spawn; len(ids) > 0 {
			list := make([]any, len(ids))
			for i, id := range ids {
				list[i] = id
			}
			o.Set("can_spawn", list)
		} else if slices.Contains(d.Tools.Names, "task") {
			o.Set("can_spawn", true)
		}
	}
	o.Set("spec_version", spec.Version)
	return o
}

// Slug makes a persona id of a name: lower case, what is no letter or digit of
// ASCII a hyphen, # and + in words. It is "" where nothing is left.
func Slug(name string) string {
	name = strings.NewReplacer("#", " sharp ", "+", " plus ").Replace(strings.ToLower(name))
	var b strings.Builder
	gap := false
	for _, r := range name {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			if gap && b.Len() > 0 {
				b.WriteByte('-')
			}
			gap = false
			b.WriteRune(r)
			continue
		}
		gap = true
	}
	return b.String()
}
