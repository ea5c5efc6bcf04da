package spec

// Kind names what a Constraint asks of a value.
type Kind string

// The kinds. Those that say "string" or "list" ask nothing of other values:
// what a value may be is the business of Type and Enum alone.
const (
	Type     Kind = "type"      // the value is one of Values: object, list, string, bool, number, int
	Enum     Kind = "enum"      // the value is one of the strings of Values
	Pattern  Kind = "pattern"   // a string matches Arg (RE2, not anchored)
	MaxRunes Kind = "max_runes" // a string has at most Arg code points
	Min      Kind = "min"       // a number is Arg or more, compared as exact decimals
	Max      Kind = "max"       // a number is Arg or less
	MaxItems Kind = "max_items" // a list has at most Arg items
	Unique   Kind = "unique"    // a list holds no string twice
	Closed   Kind = "closed"    // an object has no key beside Values
	Required Kind = "required"  // the value is there; null is there, too
)

// Constraint is one row of the table that Check interprets, generated from
// schema/persona.cue.
type Constraint struct {
	// Path is where the value stands: "" is the spec itself, "a.b" a key of an
	// object, "a.*" each value of an object, "a[]" each item of a list.
	Path   string   `json:"path"`
	Kind   Kind     `json:"kind"`
	Arg    string   `json:"arg,omitempty"`
	Values []string `json:"values,omitempty"`
	// Code is the issue code of a value that does not satisfy the row.
	Code string `json:"code"`
	// Blank, where it is not "", is the issue code of a string of white space.
	Blank string `json:"blank,omitempty"`
	// Forbidden are keys that a Closed row refuses with a message of their own.
	Forbidden []string `json:"forbidden,omitempty"`
	// Rule says the row in words, for messages.
	Rule string `json:"rule,omitempty"`
}

// Constraints gives a copy of the table.
func Constraints() []Constraint { return append([]Constraint(nil), constraints[:]...) }
