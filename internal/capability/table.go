package capability

import (
	"strings"
	"sync"
)

// ToolRow is what each call of a tool needs.
type ToolRow struct {
	Needs    []Need
	ReadOnly bool // changes nothing, opens no connection
	Network  bool // opens a connection
	Touches  bool // touches something outside the run
}

// row is what a command or subcommand needs; see #CommandNeeds.
type row struct {
	needs      []Need
	safe       bool
	flags      []flag
	values     []string
	chdir      []string
	words      bool
	files      string // "" is read
	skip       int
	skipUnless []string
	over       *over
	program    string
	writes     []string
	sub        map[string]*row
	other      []Need // nil: an unknown subcommand is an operand
}

type flag struct {
	name  string
	needs []Need
}

type over struct {
	most   int
	unless []string
	needs  []Need
}

// The table is built on first use: a run that starts no command pays nothing.
var (
	commands = sync.OnceValue(commandRows)
	tools    = sync.OnceValue(toolRows)
)

// Tool gives the row of a tool by its exact name. Browser tools share one.
func Tool(name string) (ToolRow, bool) {
	if r, ok := tools()[name]; ok {
		return r, true
	}
	if strings.HasPrefix(name, "browser_") && len(name) > len("browser_") {
		r := ToolRow{Needs: []Need{{"browser", ReadWrite}}, Touches: true}
		if name == "browser_navigate" {
			r.Network = true
		}
		return r, true
	}
	return ToolRow{}, false
}

// ToolNames lists the table's tools in no order.
func ToolNames() []string {
	var out []string
	for n := range tools() {
		out = append(out, n)
	}
	return out
}

// CommandNames lists the table's commands in no order.
func CommandNames() []string {
	var out []string
	for n := range commands() {
		out = append(out, n)
	}
	return out
}

// Join is the higher of the two, family by family.
func Join(a, b []Need) []Need {
	out := append([]Need(nil), a...)
next:
	for _, n := range b {
		for i := range out {
			if out[i].Family == n.Family {
				out[i].Posture = max(out[i].Posture, n.Posture)
				continue next
			}
		}
		out = append(out, n)
	}
	return out
}

// Highest is the highest posture of all cells, None for none.
func Highest(needs []Need) Posture {
	h := None
	for _, n := range needs {
		h = max(h, n.Posture)
	}
	return h
}
