package capability

import (
	"path"
	"slices"
	"strings"
)

// Arg is one word of a command as far as it is known before it runs.
type Arg struct {
	Value string // its value; up to the first unknown part where Known is false
	Known bool
	Glob  bool // a file pattern: it stands for some of the names it matches
	Many  bool // an unquoted expansion: it may become several words
}

// Use is what one simple command needs and which of its words are files.
type Use struct {
	Name     string // the row that was found: "git push"; "" for an unknown command
	Needs    []Need
	Known    bool // the command is in the table
	Reader   bool // needs nothing above read_only
	Safe     bool // on the safe list, and every word is known well enough to say so
	Operands []Operand
	Chdir    []int // words that move the directory operands are read from, in order
}

// Operand is a word, or a part of one, that may name a file.
type Operand struct {
	Index int    // in argv; -1: said by the table, not by the line
	Value string // the part that is the path
	Write bool   // the file may change
	// Sure is true where the word is a file for certain; else it may be
	// anything and is a file only if it looks like one.
	Sure  bool
	Known bool // false: only the beginning is known
	Glob  bool
}

// systemDirs hold the programs that the table speaks of. A name with another
// path is some other program.
var systemDirs = []string{"/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin", "/opt/homebrew/bin"}

// ShellNeeds says what a simple command needs, its wrappers taken off. A
// command that is not in the table may do anything: read_write inside a
// sandbox, destructive outside.
func ShellNeeds(argv []Arg, sandboxed bool) Use {
	unknown := Use{Needs: []Need{{"shell", Destructive}}}
	if sandboxed {
		unknown.Needs[0].Posture = ReadWrite
	}
	if len(argv) == 0 {
		return Use{Known: true, Reader: true, Safe: true}
	}
	name := argv[0].Value
	plain := argv[0].Known && !strings.Contains(name, "/")
	if dir, base := path.Split(name); argv[0].Known && slices.Contains(systemDirs, strings.TrimSuffix(dir, "/")) {
		name = base
	}
	r, ok := commands()[name]
	if !argv[0].Known || argv[0].Glob || !ok {
		u := unknown
		for i := range argv[1:] {
			u.Operands = append(u.Operands, loose(argv[i+1], i+1, true)...)
		}
		return u
	}
	s := scanner{argv: argv, name: name, use: Use{Known: true, Safe: plain}}
	s.row(r, 1)
	u := s.use
	u.Name = s.name
	u.Reader = Highest(u.Needs) <= ReadOnly
	u.Safe = u.Safe && s.safe && u.Reader
	return u
}

// scanner walks a command's words by a row of the table.
type scanner struct {
	argv []Arg
	name string
	use  Use
	safe bool
	// inPlace: a flag without a value made a reader change what it reads.
	inPlace bool
}

// row reads the words from index i on by row r.
func (s *scanner) row(r *row, i int) {
	s.use.Needs = Join(s.use.Needs, r.needs)
	s.safe = r.safe
	var operands []int
	skip := r.skip
	ended := false // by --
	for ; i < len(s.argv); i++ {
		a := s.argv[i]
		if !ended && a.Known && a.Value == "--" && !r.words {
			ended = true
			s.raise(r, "--", i) // git checkout -- FILE
			continue
		}
		isFlag := !ended && (strings.HasPrefix(a.Value, "-") && len(a.Value) > 1 || strings.HasPrefix(a.Value, "+") && len(a.Value) > 1)
		s.unsure(r, a, ended)
		if len(r.sub) > 0 && len(operands) == 0 && (!isFlag || r.sub[a.Value] != nil) {
			if s.descend(r, a, i) {
				return
			}
		}
		if !isFlag {
			if !ended {
				s.raise(r, a.Value, i) // a word that counts as a flag: the . of git checkout
			}
			operands = append(operands, i)
			continue
		}
		i = s.flag(r, i)
		if takesSkip(r, a.Value) {
			skip = 0
		}
	}
	s.operands(r, operands, skip)
}

// descend goes on with a subcommand. false: the word is an operand.
func (s *scanner) descend(r *row, a Arg, i int) bool {
	if sub, ok := r.sub[a.Value]; ok && a.Known && !a.Glob {
		needs := s.use.Needs
		s.use.Needs = without(needs, r.needs)
		s.name += " " + a.Value
		raised := Highest(s.use.Needs) > ReadOnly
		s.row(sub, i+1)
		s.safe = s.safe && !raised
		return true
	}
	if r.other == nil && (a.Known && !a.Glob) {
		return false
	}
	s.use.Needs = Join(s.use.Needs, r.other)
	if !a.Known || a.Glob {
		s.use.Needs = Join(s.use.Needs, worst(r))
	}
	s.safe = false
	for j := i; j < len(s.argv); j++ {
		s.use.Operands = append(s.use.Operands, loose(s.argv[j], j, true)...)
	}
	return true
}

// without drops the cells that are no more than base: a subcommand's row
// stands in place of its command's.
func without(needs, base []Need) []Need {
	var out []Need
	for _, n := range needs {
		if !slices.Contains(base, n) {
			out = append(out, n)
		}
	}
	return out
}

// worst is all that a row or its subcommands could need.
func worst(r *row) []Need {
	out := Join(nil, r.needs)
	for _, f := range r.flags {
		out = Join(out, f.needs)
	}
	if r.over != nil {
		out = Join(out, r.over.needs)
	}
	for _, s := range r.sub {
		out = Join(out, worst(s))
	}
	return Join(out, r.other)
}

// flag reads the flag at i with its value and gives the index of its last word.
func (s *scanner) flag(r *row, i int) int {
	a := s.argv[i]
	raised := s.raise(r, a.Value, i)
	name, value, attached := splitFlag(r, a)
	takes := slices.Contains(r.values, name)
	s.inPlace = s.inPlace || raised && !takes && r.files == ""
	last := i
	if takes && !attached && i+1 < len(s.argv) {
		last = i + 1
		v := s.argv[last]
		if v.Known || v.Glob || v.Many {
			s.unsure(r, v, false)
		}
		s.safe = s.safe && (v.Known || r.files == "none")
		if slices.Contains(r.chdir, name) {
			s.use.Chdir = append(s.use.Chdir, last)
		}
		s.use.Operands = append(s.use.Operands, operand(v.Value, v, last, raised, raised))
		s.use.Operands = append(s.use.Operands, inside(v, last, raised)...)
	}
	if attached && value != "" {
		if slices.Contains(r.chdir, name) { // only the separate form is followed
			s.use.Needs = Join(s.use.Needs, []Need{{"shell", ReadWrite}})
		}
		s.use.Operands = append(s.use.Operands, operand(value, a, i, raised, raised))
		v := a
		v.Value = value
		s.use.Operands = append(s.use.Operands, inside(v, i, raised)...)
	}
	return last
}

// splitFlag splits --name=value, and -xvalue where -x takes a value.
func splitFlag(r *row, a Arg) (name, value string, attached bool) {
	if n, v, ok := strings.Cut(a.Value, "="); ok && (strings.HasPrefix(n, "--") || r.words) {
		return n, v, true
	}
	if strings.HasPrefix(a.Value, "--") || r.words || len(a.Value) < 2 {
		return a.Value, "", false
	}
	for j := 1; j < len(a.Value); j++ {
		f := "-" + a.Value[j:j+1]
		if slices.Contains(r.values, f) {
			return f, a.Value[j+1:], j+1 < len(a.Value)
		}
		if a.Value[j] == '/' || a.Value[j] == '~' { // -I/usr/include of a command that the table knows less well
			return a.Value[:j], a.Value[j:], true
		}
	}
	return a.Value, "", false
}

// raise adds what a flag needs and says whether it did.
func (s *scanner) raise(r *row, word string, i int) bool {
	hit := false
	for _, f := range r.flags {
		if matches(r, f.name, word, s.argv[i].Known) {
			s.use.Needs = Join(s.use.Needs, f.needs)
			hit = true
		}
	}
	return hit
}

// matches says that a word is, holds or abbreviates a flag.
func matches(r *row, flag, word string, known bool) bool {
	if word == flag || flag == "+" && strings.HasPrefix(word, "+") {
		return true
	}
	if !known && strings.HasPrefix(flag, word) { // only its beginning is known
		return true
	}
	if r.words || !strings.HasPrefix(word, "-") {
		return false
	}
	if strings.HasPrefix(flag, "--") {
		n, _, _ := strings.Cut(word, "=")
		return len(n) > 2 && strings.HasPrefix(flag, n)
	}
	if strings.HasPrefix(word, "--") || len(flag) != 2 {
		return false
	}
	for j := 1; j < len(word); j++ {
		if word[j] == flag[1] {
			return true
		}
		if slices.Contains(r.values, "-"+word[j:j+1]) {
			return false
		}
	}
	return !known // the rest of the cluster is unknown
}

// unsure notes what a word of which too little is known means for the row.
func (s *scanner) unsure(r *row, a Arg, ended bool) {
	if !a.Known && r.files != "none" {
		s.safe = false
	}
	if !ended && (!a.Known && a.Value == "" || a.Many || a.Glob && mayBeFlag(a.Value)) {
		s.maybe(r, a)
	}
}

// maybe raises for a word that may turn out to be a flag: an unknown one, or
// a pattern that matches a file named like one.
func (s *scanner) maybe(r *row, a Arg) {
	for _, f := range r.flags {
		if a.Glob && r.words {
			if ok, _ := path.Match(a.Value, f.name); !ok {
				continue
			}
		}
		s.use.Needs = Join(s.use.Needs, f.needs)
	}
}

// mayBeFlag says that a file pattern may match a name that begins with a dash.
func mayBeFlag(pattern string) bool {
	return strings.HasPrefix(pattern, "*") || strings.HasPrefix(pattern, "?") || strings.HasPrefix(pattern, "[") || strings.HasPrefix(pattern, "-")
}

func takesSkip(r *row, word string) bool {
	long, _, _ := strings.Cut(word, "=")
	for _, f := range r.skipUnless {
		if word == f || strings.HasPrefix(long, "--") && brings(r, long) ||
			len(f) == 2 && !strings.HasPrefix(word, "--") && strings.HasPrefix(word, "-") && matches(r, f, word, true) {
			return true
		}
	}
	return false
}
