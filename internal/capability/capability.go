// Package capability holds families, postures and their lattice, and the
// table of what each tool and command needs (table_gen.go, generated from
// schema/capability.cue).
package capability

import "fmt"

// Posture is how much of a family a persona may use. The order is the
// lattice: none < undeclared < read_only < read_write < destructive.
type Posture int

// The postures. Undeclared is never written, only meant by leaving a family
// out: it grants reading inside the project and no more.
const (
	None Posture = iota
	Undeclared
	ReadOnly
	ReadWrite
	Destructive
)

var names = [...]string{"none", "undeclared", "read_only", "read_write", "destructive"}

func (p Posture) String() string {
	if p < 0 || int(p) >= len(names) {
		return fmt.Sprintf("posture(%d)", int(p))
	}
	return names[p]
}

// Parse reads a written posture.
func Parse(s string) (Posture, bool) {
	for i, n := range names {
		if n == s && Posture(i) != Undeclared {
			return Posture(i), true
		}
	}
	return None, false
}

// Need is one cell: a family and the posture a call needs of it.
type Need struct {
	Family  string  `json:"family"`
	Posture Posture `json:"posture"`
}

// Ceiling is a persona's declared capabilities; read-only after load.
type Ceiling map[string]Posture

// Of gives the family's posture, Undeclared where it is not declared.
func (c Ceiling) Of(family string) Posture {
	if p, ok := c[family]; ok {
		return p
	}
	return Undeclared
}

// Meet gives the lower of the two, family by family: a child never exceeds
// its parent.
func Meet(parent, child Ceiling) Ceiling {
	out := Ceiling{}
	for _, c := range []Ceiling{parent, child} {
		for f := range c {
			out[f] = min(parent.Of(f), child.Of(f))
			if out[f] == Undeclared {
				delete(out, f)
			}
		}
	}
	return out
}
