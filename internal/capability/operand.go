package capability

import (
	"slices"
	"strings"
)

// operands judges the words that are no flags.
func (s *scanner) operands(r *row, list []int, skip int) {
	if r.over != nil && len(list) > r.over.most && !s.has(r.over.unless) {
		s.use.Needs = Join(s.use.Needs, r.over.needs)
	}
	if r.program != "" {
		s.program(r, list)
	}
	for n, i := range list {
		a := s.argv[i]
		switch {
		case r.files == "none", n < skip:
			continue
		case r.files == "script" && i == 1 && a.Known && !a.Glob: // behind a flag it may be anything
			s.use.Operands = append(s.use.Operands, operand(a.Value, a, i, false, true))
		case r.files == "write", r.files == "script", r.files == "last" && n == len(list)-1 && n > 0:
			s.use.Operands = append(s.use.Operands, operand(a.Value, a, i, true, true))
			for _, o := range inside(a, i, true) {
				o.Sure = o.Sure || o.Write && strings.HasSuffix(a.Value, "="+o.Value) // of=FILE
				s.use.Operands = append(s.use.Operands, o)
			}
		default:
			// The second operand of uniq and xxd is what they write.
			write := r.over != nil && n > 0 && n >= r.over.most && slices.ContainsFunc(r.over.needs, func(x Need) bool { return x == Need{"shell", ReadWrite} }) && r.files == ""
			write = write || s.inPlace
			s.use.Operands = append(s.use.Operands, operand(a.Value, a, i, write, true))
			s.use.Operands = append(s.use.Operands, inside(a, i, write)...)
		}
	}
	if Highest(s.use.Needs) > ReadOnly {
		for _, w := range r.writes {
			s.use.Operands = append(s.use.Operands, Operand{Index: -1, Value: w, Write: true, Sure: true, Known: true})
		}
	}
}

func (s *scanner) has(flags []string) bool {
	for _, a := range s.argv[1:] {
		if a.Value == "--" {
			return false
		}
		n, _, _ := strings.Cut(a.Value, "=")
		if a.Known && slices.Contains(flags, n) {
			return true
		}
	}
	return false
}

func operand(value string, a Arg, i int, write, sure bool) Operand {
	return Operand{Index: i, Value: value, Write: write, Sure: sure, Known: a.Known, Glob: a.Glob}
}

// loose reads a word of a command that the table does not know.
func loose(a Arg, i int, write bool) []Operand {
	v := a
	if strings.HasPrefix(a.Value, "-") {
		if _, after, ok := strings.Cut(a.Value, "="); ok {
			v.Value = after
		} else if at := strings.IndexAny(a.Value, "/~."); at > 0 {
			v.Value = a.Value[at:]
		} else {
			return nil
		}
	}
	return append([]Operand{operand(v.Value, v, i, write, false)}, inside(v, i, write)...)
}

// inside finds paths within a word: name=path, @path, rev:path, file://path.
func inside(a Arg, i int, write bool) []Operand {
	var out []Operand
	add := func(s string, w bool) {
		if s != "" {
			out = append(out, operand(s, a, i, w, false))
		}
	}
	v := a.Value
	if at := strings.Index(v, "file://"); at >= 0 {
		add(v[at+len("file://"):], write)
		return out
	}
	if strings.Contains(v, "://") {
		return nil
	}
	if k, after, ok := strings.Cut(v, "="); ok {
		add(strings.TrimPrefix(after, "@"), write && k != "if")
	}
	if at := strings.LastIndexByte(v, ':'); at >= 0 {
		add(v[at+1:], write)
	}
	if strings.HasPrefix(v, "@") {
		add(v[1:], write)
	}
	return out
}

// WithoutGlobals gives a command without the flags before its subcommand, for
// rules that forbid: git -C x push is git push. A command without subcommands
// stays as it is.
func WithoutGlobals(argv []string) []string {
	if len(argv) < 2 || !strings.HasPrefix(argv[1], "-") {
		return argv
	}
	r, ok := commands()[argv[0]]
	values := []string(nil)
	switch {
	case ok && len(r.sub) > 0:
		values = r.values
	case argv[0] == "docker" || argv[0] == "podman" || argv[0] == "kubectl" || argv[0] == "helm" || argv[0] == "gh":
		values = []string{"-H", "-c", "-l", "--host", "--context", "--config", "-n", "--namespace", "--kubeconfig", "-s", "-R", "--repo"}
	default:
		return argv
	}
	i := 1
	for i < len(argv) && strings.HasPrefix(argv[i], "-") {
		if slices.Contains(values, argv[i]) {
			i++
		}
		i++
	}
	if i >= len(argv) {
		return argv
	}
	return append([]string{argv[0]}, argv[i:]...)
}
