package command

import (
	"slices"
	"strings"
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
	file      bool // what it runs is a file, as any program is
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
	"numactl":  {short: "NmCPpilw", opaque: true}, "cpulimit": {short: "lpePc", opaque: true}, "rlwrap": {opaque: true},
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
