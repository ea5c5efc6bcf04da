package capability

import (
	"slices"
	"strings"
	"sync"
)

// Command is one row of the table without the words that decide more: for
// those who can only compare how a line begins, as the rules of other agents do.
type Command struct {
	Name  string // "ls", "git push"
	Needs []Need // of the plain command
	Safe  bool   // on the safe list
	// Bare says that Needs hold for the command without operands only; with
	// one it needs Beyond, unless one of the flags Unless is there.
	Bare   bool
	Beyond []Need
	Unless []string
	// Program says that an operand is a program: what it does, the line does not say.
	Program bool
	// Flags need more than Needs; "--" and single words may be among them.
	Flags []FlagNeeds
	// Other is what an unknown subcommand needs; nil: it is an operand.
	Other []Need
}

// FlagNeeds is what a call with one flag needs.
type FlagNeeds struct {
	Name  string
	Needs []Need
}

// Commands gives every row, subcommands behind their command, by name. The
// list is for reading.
var Commands = sync.OnceValue(func() []Command {
	var out []Command
	names := CommandNames()
	slices.Sort(names)
	for _, n := range names {
		out = flatten(out, n, commands()[n])
	}
	return out
})

func flatten(out []Command, name string, r *row) []Command {
	c := Command{Name: name, Needs: r.needs, Safe: r.safe, Program: r.program != "", Other: r.other}
	if r.over != nil {
		c.Bare, c.Beyond, c.Unless = true, Join(r.needs, r.over.needs), r.over.unless
	}
	for _, f := range r.flags {
		c.Flags = append(c.Flags, FlagNeeds{f.name, Join(r.needs, f.needs)})
	}
	slices.SortFunc(c.Flags, func(a, b FlagNeeds) int { return strings.Compare(a.Name, b.Name) })
	out = append(out, c)
	subs := make([]string, 0, len(r.sub))
	for s := range r.sub {
		subs = append(subs, s)
	}
	slices.Sort(subs)
	for _, s := range subs {
		out = flatten(out, name+" "+s, r.sub[s])
	}
	return out
}
