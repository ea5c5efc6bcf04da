// Package pi plans a start of the real Pi with a persona, and makes the
// directory of settings that such a start has for itself.
package pi

import (
	"fmt"
	"slices"
	"strings"
)

// Modes are the ways in which a model may change its own persona.
var Modes = []string{"manual", "confirm", "auto", "free"}

// Call is what a command line of larva pi says.
type Call struct {
	Persona string   // empty where none was named
	Switch  string   // one of Modes; empty where none was named
	DryRun  bool     // print the plan and start nothing
	Help    bool     // -h or --help, and nothing else
	Args    []string // for Pi, in their order, without our own flags and without our "--"
}

// ArgsError is a command line that larva pi does not take.
type ArgsError struct{ Flag, What string }

func (e *ArgsError) Error() string { return e.Flag + ": " + e.What }

// ReadArgs takes our own flags out of a command line. They count up to the
// first "--", which is ours as well: Pi 0.84.1 refuses one. The form
// --flag=value is not ours and reaches Pi, which says that it knows no such flag.
func ReadArgs(args []string) (Call, error) {
	var c Call
	if len(args) == 1 && (args[0] == "-h" || args[0] == "--help") {
		return Call{Help: true}, nil
	}
	for i := 0; i < len(args); i++ {
		var to *string
		switch a := args[i]; a {
		case "--":
			c.Args = append(c.Args, args[i+1:]...)
			return c, c.check()
		case "--larva-dry-run":
			c.DryRun = true
			continue
		case "--persona":
			to = &c.Persona
		case "--agent-persona-switch":
			to = &c.Switch
		default:
			c.Args = append(c.Args, a)
			continue
		}
		if *to != "" {
			return Call{}, &ArgsError{args[i], "given twice"}
		}
		if i+1 == len(args) || args[i+1] == "--" || args[i+1] == "" {
			return Call{}, &ArgsError{args[i], "a value is missing"}
		}
		i++
		*to = args[i]
	}
	return c, c.check()
}

// check holds what remains to what Pi can take.
func (c Call) check() error {
	if c.Switch != "" && !slices.Contains(Modes, c.Switch) {
		return &ArgsError{"--agent-persona-switch", fmt.Sprintf("%q is none of %s", c.Switch, strings.Join(Modes, ", "))}
	}
	if slices.Contains(c.Args, "--") {
		return &ArgsError{"--", "a second one would reach Pi, which refuses it or drops the word behind it"}
	}
	return nil
}

// Interactive says whether these arguments open Pi's screen. It is a hint for
// what has to be known before Pi starts: the extension asks Pi itself.
func Interactive(args []string) bool {
	for i, a := range args {
		switch {
		case a == "-p", a == "--print", a == "--json":
			return false
		case a == "--mode" && i+1 < len(args) && args[i+1] != "interactive":
			return false
		}
	}
	return true
}
