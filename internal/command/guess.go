package command

import (
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

const maxGuesses = 48

// guesses lists what a command may turn out to be, beside argv itself: each
// level of wrappers, and both with variables replaced by the only value that
// the line gives them (nothing, where it gives none). For rules that forbid.
// s holds its redirects and may be nil. full says that there may be more.
func (w *walker) guesses(words, argv []Word, assigns []Assign, s *syntax.Stmt) (out [][]string, full bool) {
	g := &guesser{depth: w.depth, fuel: w.fuel, seen: map[string]bool{key(values(argv)): true}}
	g.levels(words, 0)
	if in := inputOf(s); in != "" && readsText(values(argv)) {
		g.code(in)
	}
	for _, a := range assigns {
		if a.Value.Static && runsText(a.Name) {
			g.parse(a.Value.Value)
		}
	}
	if slices.ContainsFunc(words, func(x Word) bool { return !x.Static }) {
		var out []Word
		for _, x := range words {
			for _, f := range x.fields() {
				out = append(out, static(f))
			}
		}
		if len(out) > 0 {
			g.levels(out, 0)
		}
	}
	return g.out, g.short || len(g.out) >= maxGuesses
}

type guesser struct {
	depth int
	fuel  *int
	seen  map[string]bool
	out   [][]string
	short bool // something was not looked into
}

// parseCost bounds the scripts that are guessed at in one line to some hundred.
const parseCost = 256

// values are the words' values, as written where they are not known.
func values(words []Word) []string {
	out := make([]string, len(words))
	for i, x := range words {
		out[i] = x.Text
		if x.Static {
			out[i] = x.Value
		}
	}
	return out
}

func key(v []string) string { return strings.Join(v, "\x00") }

func (g *guesser) add(v []string) {
	if len(v) == 0 {
		return
	}
	if k := key(v); !g.seen[k] && len(g.out) < maxGuesses {
		g.seen[k] = true
		g.out = append(g.out, v)
	}
}

func (g *guesser) levels(words []Word, depth int) {
	for len(words) > 0 && depth < maxScripts {
		g.add(values(words))
		g.hidden(values(words))
		g.reach(values(words))
		p := peel(words, nil)
		if p == nil {
			return
		}
		for _, inner := range p.each {
			g.levels(inner, depth+1)
		}
		if p.script != nil && p.script.Static && p.script.Value != "" {
			g.parse(p.script.Value)
		}
		words = p.inner
		depth++
	}
}

// hidden adds what a command runs by the text of its words: git's aliases and
// the commands that git is given, a script's $@, subscripts that are evaluated.
func (g *guesser) hidden(v []string) {
	name := base(v[0])
	if sub, ok := strings.CutPrefix(name, "git-"); ok && sub != "" {
		g.add(append([]string{"git", sub}, v[1:]...))
	}
	for i, a := range v[1:] {
		rest := v[i+2:]
		switch {
		case name == "git" && (a == "-c" || strings.HasPrefix(a, "-calias.")) && len(rest) > 0:
			kv := strings.TrimPrefix(a, "-c")
			if kv == "" {
				kv, rest = rest[0], rest[1:]
			}
			key, to, _ := strings.Cut(kv, "=")
			if strings.HasPrefix(strings.ToLower(key), "alias.") {
				if run, ok := strings.CutPrefix(to, "!"); ok {
					g.parse(run)
				}
				g.add(append(append([]string{"git"}, strings.Fields(to)...), rest[min(1, len(rest)):]...))
			}
		case name == "git" && a == "foreach":
			g.add(rest)
			g.parse(strings.Join(rest, " "))
		case name == "git" && (a == "-x" || a == "--exec") && len(rest) > 0:
			g.parse(rest[0])
		case name == "git" && strings.HasPrefix(a, "--exec="):
			g.parse(strings.TrimPrefix(a, "--exec="))
		case evaluators[name] && strings.Contains(a, "[$("):
			_, inner, _ := strings.Cut(a, "[$(")
			inner, _, _ = strings.Cut(inner, ")")
			g.parse(inner)
		case strings.HasSuffix(name, "sh") && strings.HasPrefix(a, "-") && strings.HasSuffix(a, "c") && len(rest) > 1:
			pairs := []string{`"$@"`, strings.Join(rest[2:], " "), "$@", strings.Join(rest[2:], " "), "$*", strings.Join(rest[2:], " ")}
			for n, arg := range rest[1:min(len(rest), 11)] {
				pairs = append(pairs, fmt.Sprintf(`"$%d"`, n), arg, fmt.Sprintf("$%d", n), arg)
			}
			g.parse(strings.NewReplacer(pairs...).Replace(rest[0]))
		}
	}
}

// parse adds the commands of a script.
func (g *guesser) parse(script string) {
	if strings.TrimSpace(script) == "" {
		return
	}
	// Each script costs more than its bytes: many small ones add up.
	if g.depth >= 3 || !spend(g.fuel, script) || g.fuel != nil && *g.fuel < parseCost {
		g.short = true
		return
	}
	*g.fuel -= parseCost
	l, err := parse(script, g.depth+1, g.fuel)
	if err != nil {
		return
	}
	for _, s := range l.Segments {
		if len(s.Argv) > 0 {
			g.add(values(s.Argv))
		}
		for _, more := range s.Guesses {
			g.add(more)
		}
	}
}

// fields is a guess at the words that a word becomes.
func (w Word) fields() []string {
	var out []string
	var cur strings.Builder
	open := false
	for _, p := range w.parts {
		if p.kind != unknown {
			cur.WriteString(p.text)
			open = true
			continue
		}
		if p.quoted {
			cur.WriteString(p.guess)
			open = true
			continue
		}
		for i, f := range strings.Split(strings.NewReplacer("\t", " ", "\n", " ").Replace(p.guess), " ") {
			if i > 0 && open {
				out = append(out, cur.String())
				cur.Reset()
				open = false
			}
			if f != "" {
				cur.WriteString(f)
				open = true
			}
		}
	}
	if open {
		out = append(out, cur.String())
	}
	return out
}

// guessParam is a guess at a parameter's value.
func (w *walker) guessParam(p *syntax.ParamExp) string {
	if p.Param == nil {
		return ""
	}
	if p.Exp != nil && p.Exp.Word != nil {
		switch p.Exp.Op {
		case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
			if _, ok := w.vars.value(p.Param.Value); !ok {
				s, _ := literalWord(p.Exp.Word)
				return s
			}
		}
	}
	if p.Param.Value == "IFS" && !w.vars.set("IFS") {
		return " "
	}
	s, _ := w.vars.value(p.Param.Value)
	return s
}

// guessSubst is the output of a substitution that only echoes text.
func guessSubst(c *syntax.CmdSubst) string {
	if len(c.Stmts) != 1 {
		return ""
	}
	s, _ := echoed(c.Stmts[0])
	return s
}

// echoed is what an echo or printf of static words prints.
func echoed(s *syntax.Stmt) (string, bool) {
	c, ok := s.Cmd.(*syntax.CallExpr)
	if ok && len(c.Args) == 1 && len(s.Redirs) == 1 {
		name, _ := literalWord(c.Args[0])
		in := inputOf(s)
		return in, base(name) == "cat" && in != ""
	}
	if !ok || len(s.Redirs) > 0 || len(c.Args) < 2 {
		return "", false
	}
	var words []string
	for _, a := range c.Args {
		v, ok := literalWord(a)
		if !ok {
			return "", false
		}
		words = append(words, v)
	}
	switch base(words[0]) {
	case "echo":
		for len(words) > 1 && (words[1] == "-n" || words[1] == "-e" || words[1] == "-E") {
			words = slices.Delete(words, 1, 2)
		}
		return strings.Join(words[1:], " "), true
	case "printf":
		if words[1] == "%s" && len(words) > 2 || words[1] == "%s\\n" && len(words) > 2 {
			return strings.Join(words[2:], ""), true
		}
		return strings.ReplaceAll(words[1], "\\n", "\n"), !strings.Contains(words[1], "%")
	}
	return "", false
}

// piped handles a static script piped into a shell: echo 'rm x' | sh. It says
// whether it has walked the right side.
func (w *walker) piped(c *syntax.BinaryCmd, in dirs) bool {
	script, ok := echoed(c.X)
	y, isCall := c.Y.Cmd.(*syntax.CallExpr)
	if !ok || !isCall || len(y.Args) == 0 || len(c.Y.Redirs) > 0 {
		return false
	}
	words := w.words(y.Args)
	if !readsScript(words) {
		return false
	}
	text := static(script)
	seg := Segment{Text: w.source(y, c.Y), Outer: words, Wrappers: []string{words[0].Value},
		Dynamic: "runs a script that is piped into it"}
	w.script(text, &peeled{}, words, seg, in, in)
	return true
}

// Values are the words' values; as written where they are not known.
func Values(words []Word) []string { return values(words) }
