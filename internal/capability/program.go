package capability

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// program raises a command whose operand is a program: sed and awk print
// unless their script writes files or runs commands.
func (s *scanner) program(r *row, list []int) {
	var texts []Arg
	for i, a := range s.argv {
		if i == 0 {
			continue
		}
		name, value, attached := splitFlag(r, a)
		if strings.HasPrefix(a.Value, "-") && brings(r, name) {
			if attached {
				a.Value = value
				texts = append(texts, a)
			} else if i+1 < len(s.argv) {
				texts = append(texts, s.argv[i+1])
			}
		}
	}
	if len(texts) == 0 && len(list) > 0 {
		texts = append(texts, s.argv[list[0]])
	}
	for _, t := range texts {
		ok := t.Known && !t.Glob
		switch r.program {
		case "sed":
			ok = ok && printingSed(t.Value)
		case "awk":
			ok = ok && printingAwk(t.Value)
		}
		if !ok {
			s.use.Needs = Join(s.use.Needs, []Need{{"shell", ReadWrite}})
		}
	}
}

// brings says that a flag, abbreviated or not, brings a program.
func brings(r *row, name string) bool {
	return slices.ContainsFunc(r.skipUnless, func(f string) bool {
		return f == name || strings.HasPrefix(name, "--") && len(name) > 2 && strings.HasPrefix(f, name)
	})
}

var sedPart = sync.OnceValue(func() *regexp.Regexp {
	const addr = `(?:[0-9]+(?:~[0-9]+)?|\$|/(?:[^/\\\n]|\\.)*/I?)`
	return regexp.MustCompile(`^\s*(?:` + addr + `(?:,\s*(?:[+~]?[0-9]+|` + addr + `))?)?\s*!?\s*` +
		`(?:[pdqQ=lnNDPhHgGx][0-9]*|s/(?:[^/\\\n]|\\.)*/(?:[^/\\\n]|\\.)*/[gpiI0-9]*|s\|(?:[^|\\\n]|\\.)*\|(?:[^|\\\n]|\\.)*\|[gpiI0-9]*|` +
		`s#(?:[^#\\\n]|\\.)*#(?:[^#\\\n]|\\.)*#[gpiI0-9]*|s,(?:[^,\\\n]|\\.)*,(?:[^,\\\n]|\\.)*,[gpiI0-9]*|y/(?:[^/\\\n]|\\.)*/(?:[^/\\\n]|\\.)*/)?\s*` +
		`(?:[;\n]|$)`)
})

// printingSed says that a script is made of commands that neither write files
// nor run programs. What it does not understand is not.
func printingSed(script string) bool {
	for script != "" {
		m := sedPart().FindString(script)
		if m == "" {
			return false
		}
		script = script[len(m):]
	}
	return true
}

// printingAwk says that a program cannot reach files, pipes or programs.
func printingAwk(program string) bool {
	for _, bad := range []string{"system", "|", ">", "getline", "@", "close", "printf >", "fflush", "ARGV", "ENVIRON", "PROCINFO"} {
		if strings.Contains(program, bad) {
			return false
		}
	}
	return true
}
