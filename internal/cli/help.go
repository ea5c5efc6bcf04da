package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"

	"larva.dev/larva/internal/diag"
)

// Version of this tree.
const Version = "0.1.0"

// errDone ends a command line that only asked for help or the version.
var errDone = errors.New("done")

type helpFlag bool

// IgnoreDefault marks that the flag acts only where it was typed.
func (helpFlag) IgnoreDefault() {}

// BeforeReset prints the help of what has been parsed so far, before anything
// is found missing.
func (helpFlag) BeforeReset(kc *kong.Context) error {
	if err := kong.DefaultHelpPrinter(helpOptions(), kc); err != nil {
		return err
	}
	if n := kc.Selected(); n != nil {
		printDoc(kc.Stdout, docOf(n))
	}
	return errDone
}

func helpOptions() kong.HelpOptions {
	return kong.HelpOptions{Compact: true, WrapUpperBound: 100, ValueFormatter: kong.DefaultHelpValueFormatter}
}

type versionFlag bool

func (versionFlag) IgnoreDefault() {}

// BeforeReset prints the version.
func (versionFlag) BeforeReset(kc *kong.Context) error {
	fmt.Fprintln(kc.Stdout, "larva "+Version)
	return errDone
}

// doc is what a command's --help says beyond its flags. Examples are whole
// command lines; testdata/script/help_*.txtar runs each and compares all it prints.
type doc struct {
	Long     string
	Examples []string
	Exits    []int
}

// documented is every leaf of the grammar.
type documented interface{ doc() doc }

func docOf(n *kong.Node) doc {
	if n.Target.IsValid() && n.Target.CanInterface() {
		if d, ok := n.Target.Interface().(documented); ok {
			return d.doc()
		}
	}
	return doc{}
}

func printDoc(w io.Writer, d doc) {
	if d.Long != "" {
		fmt.Fprintf(w, "\n%s\n", wrap(d.Long))
	}
	if len(d.Examples) > 0 {
		fmt.Fprint(w, "\nExamples:\n")
		for _, e := range d.Examples {
			fmt.Fprintf(w, "  %s\n", e)
		}
	}
	if len(d.Exits) > 0 {
		fmt.Fprint(w, "\nExit codes:\n")
		for _, c := range d.Exits {
			fmt.Fprintf(w, "  %-4d %s\n", c, exitWord(c))
		}
	}
}

// helpWidth is where prose breaks: kong's own guess where there is no terminal.
const helpWidth = 80

// wrap breaks prose at helpWidth; an indented line stays as it is.
func wrap(text string) string {
	var out []string
	for _, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		if strings.HasPrefix(line, " ") {
			out = append(out, line)
			continue
		}
		row := ""
		for _, word := range strings.Fields(line) {
			if row != "" && len(row)+1+len(word) > helpWidth {
				out = append(out, row)
				row = ""
			}
			if row != "" {
				row += " "
			}
			row += word
		}
		out = append(out, row)
	}
	return strings.Join(out, "\n")
}

// exitWord says an exit code in a few words.
func exitWord(code int) string {
	switch code {
	case diag.ExitOK:
		return "done"
	case diag.ExitFailed:
		return "the operation failed; an invalid persona too"
	case diag.ExitUsage:
		return "bad usage or unreadable input"
	case diag.ExitDenied:
		return "the run ended because of a denial or a hook"
	case diag.ExitBudget:
		return "the budget is spent"
	case diag.ExitMaxTurns:
		return "the turn limit was reached"
	case diag.ExitLoop:
		return "the model went in circles"
	case diag.ExitModel:
		return "the model's service failed, refused or was cut off"
	case diag.ExitSchema:
		return "the answer does not satisfy the JSON schema"
	case diag.ExitTimeLimit:
		return "the time limit was reached"
	case diag.ExitNotFound:
		return "the program to launch is missing"
	case diag.ExitInterrupted:
		return "interrupted"
	case diag.ExitTerminated:
		return "terminated"
	}
	return ""
}

// plainExits are those of a command that only reads or writes the disk;
// slowExits of one that may be interrupted while it waits.
func plainExits() []int { return []int{diag.ExitOK, diag.ExitFailed, diag.ExitUsage} }

func slowExits() []int { return append(plainExits(), diag.ExitInterrupted, diag.ExitTerminated) }
