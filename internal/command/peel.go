package command

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// peeled is one wrapper taken off a command.
type peeled struct {
	label     string
	inner     []Word   // the command inside
	at        int      // where it begins
	script    *Word    // or the script inside
	sameShell bool     // the script runs in this very shell
	keep      bool     // the wrapper is a command itself and is judged as one
	each      [][]Word // keep: the commands that it runs besides
	eachLost  bool     // those run in directories that cannot be known
	assigns   []Assign
	chdir     *Word
	lost      bool
	opaque    bool
	dynamic   string
}

// options says which options of a wrapper take a value, and how many operands
// stand before the command.
type options struct {
	short    string   // short options with a value
	long     []string // long options whose value is the next word
	operands int
	opaque   bool // more power, another place or another system: see Segment.Opaque
}

// wrappers run their remaining words as a command. The transparent ones are
// those that change nothing about it but time, signals or buffering.
var wrappers = map[string]options{
	"command": {}, "builtin": {}, "nohup": {}, "exec": {short: "a"},
	"nice":    {short: "n", long: []string{"--adjustment"}},
	"timeout": {short: "ks", long: []string{"--kill-after", "--signal"}, operands: 1},
	"stdbuf":  {short: "ioe", long: []string{"--input", "--output", "--error"}},
	"time":    {short: "of", long: []string{"--output", "--format"}},
	"setsid":  {},
	"ionice":  {short: "cnpPu", long: []string{"--class", "--classdata", "--pid"}},
	"xargs": {short: "adEILnPs", long: []string{"--arg-file", "--delimiter", "--max-lines", "--max-args", "--max-procs",
		"--max-chars", "--process-slot-var"}},

	"sudo": {short: "ugpChDRTrt", long: []string{"--user", "--group", "--prompt", "--close-from", "--host", "--chdir",
		"--chroot", "--command-timeout", "--role", "--type"}, opaque: true},
	"doas": {short: "uC", opaque: true}, "pkexec": {long: []string{"--user"}, opaque: true},
	"runuser": {short: "ugG", long: []string{"--user", "--group"}, opaque: true},
	"gosu":    {operands: 1, opaque: true}, "su-exec": {operands: 1, opaque: true},
	"chroot":  {operands: 1, opaque: true},
	"busybox": {opaque: true}, "toybox": {opaque: true},
	"strace":   {short: "aebEIoOpPsSuUX", opaque: true},
	"ltrace":   {short: "aeFlnopsuxX", opaque: true},
	"unshare":  {opaque: true},
	"nsenter":  {short: "tSG", opaque: true},
	"setpriv":  {opaque: true},
	"fakeroot": {opaque: true}, "eatmydata": {opaque: true}, "chronic": {opaque: true}, "unbuffer": {opaque: true},
	"caffeinate": {short: "tw", opaque: true}, "xvfb-run": {short: "efnpsw", opaque: true},
	"chrt":            {short: "TPD", operands: 1, opaque: true},
	"taskset":         {operands: 1, opaque: true},
	"prlimit":         {opaque: true},
	"flock":           {short: "wE", long: []string{"--timeout", "--conflict-exit-code"}, operands: 1, opaque: true},
	"systemd-run":     {short: "pEuMGH", opaque: true},
	"systemd-inhibit": {opaque: true}, "dbus-run-session": {opaque: true}, "firejail": {opaque: true},
	"bwrap": {opaque: true}, "proxychains": {opaque: true}, "proxychains4": {opaque: true}, "torsocks": {opaque: true},
	"parallel": {short: "jaISNnLsCd", opaque: true},
}

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
		return &peeled{label: name, script: &Word{}, sameShell: true, dynamic: "runs a file as part of this shell"}
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

// skip is the index of the first word behind a wrapper's options and
// operands. sure is false where a word on the way may be something else.
func (o options) skip(argv []Word) (at int, sure bool) {
	i, sure := 1, true
	for i < len(argv) {
		v := argv[i].Value
		if !argv[i].Static || argv[i].Glob {
			sure = !argv[i].Split && v != "" && v[0] != '-'
			break
		}
		if v == "--" {
			i++
			break
		}
		if len(v) < 2 || v[0] != '-' {
			break
		}
		if strings.HasPrefix(v, "--") {
			if slices.Contains(o.long, v) {
				i++
			}
		} else if at := strings.IndexAny(v[1:], o.short); o.short != "" && at == len(v)-2 {
			i++
		}
		if i < len(argv) && argv[i].Split { // its value may bring more words
			return min(i+1, len(argv)), false
		}
		i++
	}
	for n := 0; n < o.operands && i < len(argv); n++ {
		sure = sure && (argv[i].Static || argv[i].Number || !argv[i].Split)
		i++
	}
	return min(i, len(argv)), sure
}

func peelPlain(name string, argv []Word, o options) *peeled {
	if name == "command" && len(argv) > 1 && (strings.HasPrefix(argv[1].Value, "-v") || strings.HasPrefix(argv[1].Value, "-V")) {
		return nil
	}
	at, sure := o.skip(argv)
	p := &peeled{label: name, opaque: o.opaque}
	for at < len(argv) && (name == "sudo" || name == "doas") && assignment(argv[at]) {
		p.assigns = append(p.assigns, toAssign(argv[at]))
		at++
	}
	if at >= len(argv) {
		return nil
	}
	p.inner, p.at = argv[at:], at
	if !sure {
		p.dynamic = "cannot tell where the command behind " + name + " begins"
	}
	for _, a := range argv[1:at] {
		v := a.Value
		switch {
		case name == "time" && (strings.HasPrefix(v, "-o") || strings.HasPrefix(v, "--o")):
			p.opaque = true
		case name == "sudo" && (strings.HasPrefix(v, "-s") || strings.HasPrefix(v, "-i") || strings.HasPrefix(v, "-e")):
			p.dynamic = "runs a shell or an editor as somebody else"
		case name == "sudo" && (strings.HasPrefix(v, "-D") || strings.HasPrefix(v, "--chdir")):
			p.lost = true
		}
	}
	if name == "chroot" || name == "nsenter" || name == "bwrap" {
		p.lost = true
	}
	if name == "xargs" {
		p.inner = xargsWords(argv[1:at], p.inner)
	}
	if name == "parallel" {
		if len(p.inner) == 1 && p.inner[0].Static {
			p.keep, p.script, p.inner = true, &p.inner[0], nil
			return p
		}
		p.inner = append(slices.Clone(p.inner), unknownWord("{}"))
	}
	return p
}

// xargsWords is the command with the words that xargs reads: in place of the
// replacement text, else behind it.
func xargsWords(opts, inner []Word) []Word {
	repl := ""
	for i, o := range opts {
		switch v := o.Value; {
		case v == "-I" && i+1 < len(opts):
			repl = opts[i+1].Value
		case strings.HasPrefix(v, "-I"):
			repl = v[2:]
		case v == "-i" || v == "--replace":
			repl = "{}"
		case strings.HasPrefix(v, "-i"):
			repl = v[2:]
		case strings.HasPrefix(v, "--replace="):
			repl = v[len("--replace="):]
		}
	}
	if repl == "" {
		return append(slices.Clone(inner), unknownWord("{}"))
	}
	return replace(inner, repl)
}

// replace marks the words that hold text put in at run time.
func replace(inner []Word, repl string) []Word {
	out := slices.Clone(inner)
	for i, x := range out {
		before, _, ok := strings.Cut(x.Value, repl)
		if !ok {
			continue
		}
		out[i] = Word{Text: x.Text, Value: before, parts: []part{{kind: lit, text: before, quoted: true},
			{kind: unknown, text: repl, quoted: true}}}
	}
	return out
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

// peelFind gives the commands behind -exec and its kin.
func peelFind(argv []Word) *peeled {
	p := &peeled{label: "find -exec", keep: true}
	for i := 1; i < len(argv); i++ {
		switch argv[i].Value {
		case "-exec", "-execdir", "-ok", "-okdir":
			p.eachLost = p.eachLost || strings.HasSuffix(argv[i].Value, "dir")
			end := i + 1
			for end < len(argv) && argv[end].Value != ";" && !(argv[end].Value == "+" && argv[end-1].Value == "{}") {
				end++
			}
			if inner := argv[i+1 : end]; len(inner) > 0 {
				p.each = append(p.each, replace(inner, "{}"))
			}
			i = end
		}
	}
	if p.each == nil {
		return nil
	}
	return p
}

// peelFd gives the command behind -x and -X.
func peelFd(argv []Word) *peeled {
	for i := 1; i < len(argv); i++ {
		switch argv[i].Value {
		case "-x", "-X", "--exec", "--exec-batch":
			inner := slices.Clone(argv[i+1:])
			if n := slices.IndexFunc(inner, func(w Word) bool { return w.Value == ";" }); n >= 0 {
				inner = inner[:n]
			}
			if len(inner) == 0 {
				return nil
			}
			return &peeled{label: "fd -x", keep: true, each: [][]Word{append(replace(inner, "{"), unknownWord("{}"))}}
		}
	}
	return nil
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

// peelGit finds the commands that git itself is told to run.
func peelGit(argv []Word) *peeled {
	for i := 1; i < len(argv); i++ {
		v := argv[i].Value
		switch {
		case v == "run" && argv[i-1].Value == "bisect" && i+1 < len(argv):
			return &peeled{label: "git bisect run", keep: true, each: [][]Word{argv[i+1:]}}
		case (v == "foreach" || v == "-x" || v == "--exec") && i+1 < len(argv):
			return &peeled{label: "git " + v, keep: true, script: &argv[len(argv)-1]}
		case strings.HasPrefix(v, "--exec="):
			s := static(v[len("--exec="):])
			return &peeled{label: "git --exec", keep: true, script: &s}
		case v == "-c" && i+1 < len(argv):
			if _, cmd, ok := strings.Cut(argv[i+1].Value, "=!"); ok {
				s := static(cmd)
				return &peeled{label: "git -c", keep: true, script: &s}
			}
		}
	}
	return nil
}

// peelCallback is a builtin that runs the script behind -C.
func peelCallback(name string, argv []Word) *peeled {
	for i := 1; i < len(argv); i++ {
		v := argv[i].Value
		p := &peeled{label: name, sameShell: true, dynamic: "runs a script of its own"}
		switch {
		case shortHas(v, 'C', "dnOsucoAFGPSWX") && strings.HasSuffix(v, "C") && i+1 < len(argv):
			p.script = &argv[i+1]
			return p
		case shortHas(v, 'C', "dnOsucoAFGPSWX"), !argv[i].Static && argv[i].Split:
			p.script = &Word{}
			return p
		}
	}
	return nil
}

// peelStringed finds commands whose argument is a script for another shell.
// They are judged as what they are; only rules that forbid look inside.
func peelStringed(name string, argv []Word) *peeled {
	one := func(i int) *peeled {
		return &peeled{label: name, keep: true, script: &argv[i]}
	}
	switch name {
	case "su", "script", "flock", "runuser", "xterm":
		for i := 1; i+1 < len(argv); i++ {
			if v := argv[i].Value; v == "-c" || v == "--command" {
				return one(i + 1)
			}
		}
	case "watch", "ssh", "tmux", "screen", "entr", "hyperfine", "nodemon", "concurrently":
		if len(argv) < 2 {
			return nil
		}
		rest := argv[1:]
		for len(rest) > 0 && strings.HasPrefix(rest[0].Value, "-") {
			rest = rest[1:]
		}
		if name == "ssh" && len(rest) > 0 {
			rest = rest[1:]
		}
		if len(rest) > 0 {
			s := static(strings.Join(values(rest), " "))
			return &peeled{label: name, keep: true, script: &s, each: nil}
		}
	}
	return nil
}
