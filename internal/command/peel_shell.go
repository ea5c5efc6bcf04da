package command

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// shells run a script given with -c, or as a file, or on their input.
var shells = map[string]bool{"sh": true, "bash": true, "dash": true, "zsh": true, "ksh": true, "ash": true, "mksh": true,
	"rbash": true, "fish": true}

// peel takes the outermost wrapper off argv; nil where there is none. s holds
// the command's redirects and may be nil.
func peel(argv []Word, s *syntax.Stmt) *peeled {
	name := base(argv[0].Name())
	switch {
	case name == "":
		return nil
	case name == "env":
		return peelEnv(argv)
	case name == "find" || name == "gfind":
		return peelFind(argv)
	case name == "fd" || name == "fdfind":
		return peelFd(argv)
	case shells[name]:
		return peelShell(argv, s)
	case name == "eval":
		return peelEval(argv)
	case name == "." || name == "source":
		return &peeled{label: name, script: &Word{}, sameShell: true, dynamic: "runs a file as part of this shell",
			file: len(argv) > 1 && argv[1].Static}
	case name == "trap" && len(argv) > 2 && argv[1].Value != "-" && argv[1].Value != "":
		return &peeled{label: name, script: &argv[1], sameShell: true, dynamic: "sets a script that runs later"}
	case name == "alias" && len(argv) > 1:
		_, def, _ := strings.Cut(argv[1].Value, "=")
		d := static(def)
		return &peeled{label: name, script: &d, sameShell: true, dynamic: "gives a name another meaning"}
	case name == "git":
		return peelGit(argv)
	}
	if name == "mapfile" || name == "readarray" || name == "compgen" || name == "complete" {
		return peelCallback(name, argv)
	}
	if p := peelStringed(name, argv); p != nil {
		return p
	}
	o, ok := wrappers[name]
	if !ok {
		return nil
	}
	return peelPlain(name, argv, o)
}

// peelShell gives the script of a shell: behind -c, or in a here-document. A
// shell that runs a file stays what it is.
func peelShell(argv []Word, s *syntax.Stmt) *peeled {
	name := base(argv[0].Value)
	p := &peeled{label: name + " -c"}
	if name == "fish" {
		p.dynamic = "runs a script of another shell"
	}
	script := false
	for i := 1; i < len(argv); i++ {
		v := argv[i].Value
		if !argv[i].Static || argv[i].Glob {
			if argv[i].Split || script || v == "" || v[0] == '-' {
				return &peeled{label: p.label, script: &argv[i], dynamic: "runs a script that cannot be known before it runs"}
			}
			return nil // a file
		}
		if len(v) < 2 || v[0] != '-' && v[0] != '+' {
			if script {
				p.script = &argv[i]
				return p
			}
			if v == "-" {
				break
			}
			return nil // a file
		}
		if strings.HasPrefix(v, "--") {
			switch v {
			case "--norc", "--noprofile", "--posix", "--login", "--restricted", "--verbose":
				continue
			case "--":
				continue
			case "--version", "--help":
				return nil
			}
			p.dynamic = "starts with " + v
			if v == "--rcfile" || v == "--init-file" {
				i++
			}
			continue
		}
		script = script || v[0] == '-' && strings.Contains(v, "c")
		if strings.ContainsAny(v, "is") && v[0] == '-' {
			p.dynamic = "reads commands from its input"
		}
		if strings.HasSuffix(v, "o") || strings.HasSuffix(v, "O") {
			i++
		}
	}
	return fromInput(p, name, s)
}

// fromInput is a shell without a script of its own.
func fromInput(p *peeled, name string, s *syntax.Stmt) *peeled {
	p.label = name
	p.script = &Word{}
	if p.dynamic == "" {
		p.dynamic = "reads commands from its input"
	}
	if s == nil {
		return p
	}
	for _, r := range s.Redirs {
		switch r.Op {
		case syntax.WordHdoc:
			if v, ok := literalWord(r.Word); ok {
				script := static(v)
				p.script = &script
			}
		case syntax.Hdoc, syntax.DashHdoc:
			if r.Hdoc == nil {
				continue
			}
			if v, ok := heredoc(r); ok {
				script := static(v)
				p.script = &script
			}
		}
	}
	return p
}

// heredoc is the text of a here-document without expansions.
func heredoc(r *syntax.Redirect) (string, bool) {
	var b strings.Builder
	for _, p := range r.Hdoc.Parts {
		l, ok := p.(*syntax.Lit)
		if !ok {
			return "", false
		}
		b.WriteString(l.Value)
	}
	s := b.String()
	if r.Op == syntax.DashHdoc {
		lines := strings.Split(s, "\n")
		for i := range lines {
			lines[i] = strings.TrimLeft(lines[i], "\t")
		}
		s = strings.Join(lines, "\n")
	}
	return s, true
}

// readsScript says that a shell reads its script from its input.
func readsScript(words []Word) bool {
	if len(words) == 0 || !shells[base(words[0].Name())] {
		return false
	}
	p := peelShell(words, nil)
	return p != nil && p.label == base(words[0].Value)
}

func peelEval(argv []Word) *peeled {
	if len(argv) == 1 {
		return nil
	}
	p := &peeled{label: "eval", sameShell: true, dynamic: "eval runs text as a command"}
	p.script = &Word{}
	if !slices.ContainsFunc(argv, func(w Word) bool { return !w.Static }) {
		s := static(strings.Join(values(argv[1:]), " "))
		p.script = &s
	}
	return p
}
