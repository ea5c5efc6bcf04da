package command

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// peelEnv takes off env with its assignments.
func peelEnv(argv []Word) *peeled {
	p := &peeled{label: "env"}
	o := options{short: "uCSa", long: []string{"--unset", "--chdir", "--split-string", "--argv0"}}
	at, sure := o.skip(argv)
	for i := 1; i < at; i++ {
		v := argv[i].Value
		switch {
		case strings.HasPrefix(v, "-S") || strings.HasPrefix(v, "--s") || shortHas(v, 'S', o.short):
			return splitString(argv, i, v)
		case v == "-C" || v == "--chdir":
			if i+1 < at {
				p.chdir = &argv[i+1]
			}
		case strings.HasPrefix(v, "-C") || strings.HasPrefix(v, "--chdir=") || shortHas(v, 'C', o.short):
			p.lost = true
		case v == "-u" || v == "--unset" || strings.HasPrefix(v, "-u") || strings.HasPrefix(v, "--unset"):
			p.assigns = append(p.assigns, Assign{Name: "-u", Export: true})
			name := strings.TrimPrefix(v, "-u")
			if _, after, ok := strings.Cut(v, "="); ok {
				name = after
			} else if i+1 < at && (v == "-u" || strings.HasPrefix(v, "--")) {
				name = argv[i+1].Value
			}
			p.assigns = append(p.assigns, Assign{Name: name, Export: true})
		}
	}
	if !sure {
		p.dynamic = "cannot tell where the command behind env begins"
	}
	if at < len(argv) && argv[at].Value == "-" {
		at++
	}
	for at < len(argv) && assignment(argv[at]) {
		p.assigns = append(p.assigns, toAssign(argv[at]))
		at++
	}
	if at >= len(argv) {
		return nil
	}
	p.inner, p.at = argv[at:], at
	return p
}

// shortHas says that a cluster of short options holds c before one that takes
// the rest as its value.
func shortHas(v string, c byte, valued string) bool {
	if len(v) < 2 || v[0] != '-' || v[1] == '-' {
		return false
	}
	for i := 1; i < len(v); i++ {
		if v[i] == c {
			return true
		}
		if strings.IndexByte(valued, v[i]) >= 0 {
			return false
		}
	}
	return false
}

// splitString is env -S: a string that env itself splits into words.
func splitString(argv []Word, i int, v string) *peeled {
	s := ""
	rest := argv[i+1:]
	switch at := strings.IndexByte(v, 'S'); {
	case strings.HasPrefix(v, "--"):
		_, after, ok := strings.Cut(v, "=")
		if s = after; !ok && len(rest) > 0 {
			s, rest = rest[0].Value, rest[1:]
		}
	case at+1 < len(v):
		s = v[at+1:]
	case len(rest) > 0:
		s, rest = rest[0].Value, rest[1:]
	}
	script := static(strings.TrimSpace(s + " " + strings.Join(values(rest), " ")))
	return &peeled{label: "env -S", script: &script, dynamic: "env splits a string into a command"}
}

func assignment(w Word) bool {
	name, _, ok := strings.Cut(w.Value, "=")
	return ok && syntax.ValidName(name)
}

func toAssign(w Word) Assign {
	name, value, _ := strings.Cut(w.Value, "=")
	v := static(value)
	if !w.Static {
		v = unknownWord(w.Text)
	}
	return Assign{Name: name, Value: v, Export: true}
}
