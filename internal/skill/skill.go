// Package skill knows the texts that a person or a project keeps ready for a
// model: skills (a directory with SKILL.md) and custom commands (a Markdown
// file). It finds and reads them, words the index that stands in a system
// prompt, and puts arguments into them. It runs nothing and grants nothing.
package skill

import (
	"sort"
	"strings"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/nearest"
)

// Kind tells a skill from a custom command.
type Kind string

// The kinds.
const (
	Skills   Kind = "skill"
	Commands Kind = "command"
)

// Origin says whose text it is.
type Origin string

// The origins.
const (
	BuiltIn  Origin = "built-in"
	Personal Origin = "personal"
	Project  Origin = "project"
)

// Skill is one skill or custom command.
type Skill struct {
	// ID is what it is called by. A command below a directory has the directory
	// before its name: team:review.
	ID string
	// Plain is a command's name without its directories; of a skill it is ID.
	Plain string
	Name  string // as written
	// Description says what it is for; of a command without one its first line
	// stands in.
	Description string
	Hint        string // what arguments it takes, as written
	Kind        Kind
	Origin      Origin
	// UserOnly says that the model is neither told of it nor given it.
	UserOnly bool
	// ModelOnly says that a person cannot run it by /name.
	ModelOnly bool
	// Disabled says that a profile switches it off.
	Disabled bool
	// Ungranted are keys that would say what it may use, as written. They have no
	// effect: every call is judged like any other.
	Ungranted []string

	Path  string // of the file; "" for what comes with the binary
	Shown string // the file as messages name it
	Line  int    // of the name, else 1
	Dir   string // where a skill's other files lie; "" for a command
	Level int    // the index of its root in what Find was given; higher ones win
	Size  int    // bytes of Body
	// Notices tell of what was healed, dropped or breaks the format.
	Notices []Problem

	body string // kept for what has no file
	real string // Path with links followed
}

// Problem is one thing to tell of a file. Class is that of the import
// contract, F1 to S10, "" where none fits.
type Problem struct {
	Class string `json:"class,omitempty"`
	Kind  string `json:"kind"` // note, invalid or error
	diag.Problem
}

// The kinds of problem: Invalid breaks the format, and the text is used as far
// as the message says; Error gives neither a skill nor a command.
const (
	Note    = "note"
	Invalid = "invalid"
	Error   = "error"
)

// String is the one-line form with the class behind it.
func (p Problem) String() string {
	if p.Class == "" {
		return p.Problem.String()
	}
	return p.Problem.String() + " [" + p.Class + "]"
}

// Valid says that nothing breaks the format.
func (s *Skill) Valid() bool {
	for _, n := range s.Notices {
		if n.Kind != Note {
			return false
		}
	}
	return true
}

// Offered says that the model is told of it.
func (s *Skill) Offered() bool { return !s.UserOnly && !s.Disabled }

// Runnable says that a person can run it by /name.
func (s *Skill) Runnable() bool { return !s.ModelOnly && !s.Disabled }

// Set is everything that was found.
type Set struct {
	// All are in the order of the roots, the lowest precedence first, then by
	// path; those that another one shadows too.
	All []Skill
	// Problems are files that give none.
	Problems []Problem

	best map[string]*Skill // by ID
	// plain are commands by the name without directories: the highest one.
	plain map[string]*Skill
	fold  map[string]*Skill // by any of the names in lower case
}

// settle says which one each name means.
func (s *Set) settle() {
	s.best, s.plain, s.fold = map[string]*Skill{}, map[string]*Skill{}, map[string]*Skill{}
	put := func(m map[string]*Skill, name string, k *Skill) {
		if have := m[name]; have == nil || k.Level > have.Level {
			m[name] = k
		}
	}
	for i := range s.All {
		k := &s.All[i]
		put(s.best, k.ID, k)
		put(s.plain, k.Plain, k)
	}
	for _, m := range []map[string]*Skill{s.plain, s.best} {
		for name, k := range m {
			s.fold[strings.ToLower(name)] = k
		}
	}
}

// Get finds one by the name that a person or a model says: its ID, else a
// command's name without directories, else either in whatever case.
func (s *Set) Get(name string) *Skill {
	if s == nil {
		return nil
	}
	for _, m := range []map[string]*Skill{s.best, s.plain} {
		if k := m[name]; k != nil {
			return k
		}
	}
	return s.fold[strings.ToLower(name)]
}

// ShadowedBy is the one that has its name instead, nil for none.
func (s *Set) ShadowedBy(k *Skill) *Skill {
	if b := s.best[k.ID]; b != nil && b != k {
		return b
	}
	return nil
}

// Best lists what the names mean, by ID.
func (s *Set) Best() []*Skill {
	if s == nil {
		return nil
	}
	out := make([]*Skill, 0, len(s.best))
	for _, k := range s.best {
		out = append(out, k)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].ID < out[j].ID })
	return out
}

// Offered lists what the model is told of, the nearest first: the project's,
// the person's, each by ID.
func (s *Set) Offered() []*Skill {
	var out []*Skill
	for _, k := range s.Best() {
		if k.Offered() {
			out = append(out, k)
		}
	}
	rank := map[Origin]int{Project: 0, Personal: 1, BuiltIn: 2}
	sort.SliceStable(out, func(i, j int) bool { return rank[out[i].Origin] < rank[out[j].Origin] })
	return out
}

// Nearest is the name of one of these that name may have meant, "" for none.
func Nearest(name string, list []*Skill) string {
	names := make([]string, 0, len(list))
	for _, k := range list {
		names = append(names, k.ID)
		if k.Plain != k.ID {
			names = append(names, k.Plain)
		}
	}
	return nearest.Name(name, names)
}
