package command

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// call walks one simple command: the segments it is, then what is nested in
// its words.
func (w *walker) call(c *syntax.CallExpr, s *syntax.Stmt, in dirs) result {
	seg := Segment{Text: w.source(c, s), Redirects: w.redirs(s.Redirs), Dynamic: w.evil(c)}
	for _, a := range c.Assigns {
		seg.Assigns = append(seg.Assigns, w.assign(a, false))
	}
	seg.Assigns = append(seg.Assigns, changed(hidden(s.Redirs))...)
	words := w.words(c.Args)
	r := same(in)
	switch {
	case len(words) > 0:
		seg.Outer = words
		r = w.simple(words, seg, s, in)
	case len(c.Args) > 0: // a brace expansion into nothing cannot be
		w.err = fmt.Errorf("shell line: an empty command")
	case len(seg.Redirects) > 0 || len(seg.Assigns) > 0:
		w.guess(&seg, nil, nil)
		w.emit(seg, in)
	}
	for _, a := range c.Assigns {
		w.nested(a, in)
	}
	for _, a := range c.Args {
		w.nested(a, in)
	}
	w.nestedRedirs(s.Redirs, in)
	return r
}

// source is the text from the command's first character to its last, without
// here-documents.
func (w *walker) source(c syntax.Node, s *syntax.Stmt) string {
	from, to := c.Pos().Offset(), c.End().Offset()
	for _, r := range s.Redirs {
		from = min(from, r.Pos().Offset())
		to = max(to, r.Word.End().Offset())
	}
	return w.between(from, to)
}

func (w *walker) assign(a *syntax.Assign, export bool) Assign {
	out := Assign{Export: export}
	if a.Name != nil {
		out.Name = a.Name.Value
	}
	switch {
	case a.Value != nil && a.Index == nil && !a.Append:
		out.Value = w.word(a.Value)
	case a.Value == nil && a.Array == nil && a.Index == nil:
		out.Value = static("")
	default:
		out.Value = unknownWord(w.slice(a))
	}
	return out
}

// declare emits declare, export, local, readonly, typeset as assignments.
func (w *walker) declare(d *syntax.DeclClause, s *syntax.Stmt, in dirs) {
	seg := Segment{Text: w.source(d, s), Redirects: w.redirs(s.Redirs), Dynamic: w.evil(d)}
	words := []Word{static(d.Variant.Value)}
	export := d.Variant.Value == "export"
	for _, a := range d.Args {
		if a.Name == nil && a.Value != nil { // an option, or a word that becomes something at run time
			opt := w.word(a.Value)
			if opt.Static && strings.HasPrefix(opt.Value, "-") {
				export = export || strings.Contains(opt.Value, "x")
				if strings.Contains(opt.Value, "n") && seg.Dynamic == "" {
					seg.Dynamic = "gives a variable a second name"
				}
				continue
			}
			words = append(words, opt)
			seg.Dynamic = "declares what cannot be known before it runs"
		}
	}
	for _, a := range d.Args {
		if a.Name != nil && !a.Naked {
			seg.Assigns = append(seg.Assigns, w.assign(a, export))
		}
	}
	if len(seg.Assigns) == 0 {
		seg.Argv, seg.Outer = words, words
	}
	w.guess(&seg, seg.Outer, nil)
	w.emit(seg, in)
	w.nested(d, in)
	w.nestedRedirs(s.Redirs, in)
}

// words reads argument words, brace expansions spread out.
func (w *walker) words(args []*syntax.Word) []Word {
	var out []Word
	for _, a := range args {
		text := w.slice(a)
		split := &syntax.Word{Parts: slices.Clone(a.Parts)} // SplitBraces alters its word
		if strings.Count(text, "{") > maxBraceSets {
			u := unknownWord(text)
			u.Brace = true
			out = append(out, u)
			continue
		}
		if !syntax.SplitBraces(split) {
			out = append(out, w.word(a))
			continue
		}
		n := 0
		start := len(out)
		for one, err := range expand.BracesSeq(nil, split) {
			if n++; err != nil || n > maxBraces {
				u := unknownWord(text)
				u.Brace = true
				out = append(out[:start], u)
				break
			}
			if len(one.Parts) == 0 || len(one.Parts) == 1 && one.Lit() == "" && w.emptyLit(one) {
				continue // {a,}: nothing is no word
			}
			word := w.word(one)
			word.Brace, word.Text = true, text
			out = append(out, word)
		}
	}
	return out
}

func (w *walker) emptyLit(word *syntax.Word) bool {
	l, ok := word.Parts[0].(*syntax.Lit)
	return ok && l.Value == ""
}

// simple takes the wrappers off a command and emits it.
func (w *walker) simple(words []Word, seg Segment, s *syntax.Stmt, in dirs) result {
	argv, here := words, in
	for {
		if seg.Dynamic == "" {
			seg.Dynamic = w.unsure(argv[0], seg.Wrappers)
		}
		seg.Unread = seg.Unread || !argv[0].guessed()
		p := peel(argv, s)
		if p == nil {
			break
		}
		if len(seg.Wrappers) >= maxWrappers {
			seg.Dynamic = "is wrapped too deep"
			break
		}
		if p.dynamic != "" && seg.Dynamic == "" {
			seg.Dynamic = p.dynamic
		}
		seg.Opaque = seg.Opaque || p.opaque || strings.Contains(argv[0].Value, "/")
		if p.chdir != nil {
			_, known := p.chdir.Resolve(Vars{"h", "t", "c"})
			here = here.enter(*p.chdir, known).ok
		}
		if p.lost {
			here = dirs{{Unknown: true}}
		}
		seg.Assigns = append(seg.Assigns, p.assigns...)
		if p.keep {
			w.keep(argv, p, seg, s, here)
			return same(in)
		}
		seg.Wrappers = append(slices.Clone(seg.Wrappers), p.label)
		if p.script != nil {
			return w.script(*p.script, p, argv, seg, in, here)
		}
		argv = p.inner
		seg.Lead += p.at
	}
	names, unsure := sets(argv)
	seg.Assigns = append(seg.Assigns, changed(names)...)
	if seg.Dynamic == "" {
		seg.Dynamic = unsure
	}
	seg.Argv, seg.Outer = argv, words
	w.guess(&seg, words, s)
	w.emit(seg, here)
	return w.move(argv, seg, in)
}

// guess fills in what a segment may turn out to be. More than is kept is as
// good as unread.
func (w *walker) guess(seg *Segment, words []Word, s *syntax.Stmt) {
	full := false
	seg.Guesses, full = w.guesses(words, seg.Argv, seg.Assigns, s)
	seg.Unread = seg.Unread || full
}

// keep emits a command that runs others beside its own work, and those.
func (w *walker) keep(argv []Word, p *peeled, seg Segment, s *syntax.Stmt, in dirs) {
	own := seg
	own.Argv = argv
	w.guess(&own, seg.Outer, s)
	w.emit(own, in)
	for _, inner := range p.each {
		sub := Segment{Text: text(inner), Outer: seg.Outer, Assigns: seg.Assigns, Opaque: seg.Opaque,
			Wrappers: append(slices.Clone(seg.Wrappers), p.label), Dynamic: seg.Dynamic}
		here := in
		if p.eachLost {
			here = dirs{{Unknown: true}}
		}
		w.simple(inner, sub, s, here)
	}
}

// script emits the segments of a script given as a word: bash -c, eval.
func (w *walker) script(text Word, p *peeled, argv []Word, seg Segment, in, here dirs) result {
	whole := func(why string) result {
		if seg.Dynamic == "" {
			seg.Dynamic = why
		}
		seg.Argv = argv
		seg.Unread = !p.file
		w.guess(&seg, seg.Outer, nil)
		w.emit(seg, here)
		if p.sameShell {
			return same(union(in, dirs{{Unknown: true}}))
		}
		return same(in)
	}
	if !text.Static {
		return whole("runs a script that cannot be known before it runs")
	}
	if w.scripts >= maxScripts || !spend(w.fuel, text.Value) {
		return whole("nests scripts too deep")
	}
	if err := check(text.Value); err != nil {
		return whole("runs a script that cannot be parsed")
	}
	f, err := parseFile(text.Value)
	if err != nil {
		return whole("runs a script that cannot be parsed")
	}
	if len(f.Stmts) == 0 {
		return whole(p.dynamic)
	}
	if len(seg.Redirects) > 0 {
		w.emit(Segment{Text: seg.Text, Outer: seg.Outer, Redirects: seg.Redirects, Wrappers: seg.Wrappers, Dynamic: seg.Dynamic}, here)
	}
	sub := &walker{text: text.Value, vars: join(w.vars, scan(f)), out: w.out, scripts: w.scripts + 1,
		depth: w.depth, fuel: w.fuel, outer: seg.Outer, wraps: append(slices.Clone(w.wraps), seg.Wrappers...),
		opaque: w.opaque || seg.Opaque, dynamic: w.dynamic, assigns: append(slices.Clone(w.assigns), seg.Assigns...)}
	if sub.dynamic == "" {
		sub.dynamic = seg.Dynamic
	}
	if w.outer != nil {
		sub.outer = w.outer
	}
	from := len(w.out.Segments)
	r := sub.list(f.Stmts, here)
	w.err = sub.err
	if strings.Contains(text.Value, "$") && from < len(w.out.Segments) {
		g := &guesser{depth: w.depth, fuel: w.fuel, seen: map[string]bool{}}
		g.hidden(values(argv))
		first := &w.out.Segments[from]
		first.Guesses = append(first.Guesses, g.out...)
	}
	if p.sameShell {
		return r
	}
	return same(in)
}

// unsure says why a command word cannot be trusted to mean a program's name.
func (w *walker) unsure(word Word, wrappers []string) string {
	switch {
	case word.Brace:
		return "its command word is a brace expansion"
	case word.Ansi:
		return "its command word is ANSI-quoted"
	case word.Glob:
		return "its command word is a file pattern"
	case !word.Static:
		return "its command word is a variable or another expansion"
	case word.Value == "":
		return "its command word is empty"
	case w.vars.funcs[word.Value]:
		return "its command is a function that this line defines"
	case w.vars.set("PATH") && !strings.Contains(word.Value, "/") && !builtins[word.Value]:
		return "this line changes PATH"
	}
	return ""
}

// builtins are commands that PATH has no say in.
var builtins = map[string]bool{"cd": true, "echo": true, "printf": true, "test": true, "[": true, "true": true, "false": true,
	":": true, "pwd": true, "exit": true, "return": true, "set": true, "shift": true, "read": true, "wait": true, "unset": true}

// move is where the shell stands after a command.
func (w *walker) move(argv []Word, seg Segment, in dirs) result {
	name := argv[0].Name()
	if !slices.ContainsFunc(seg.Wrappers, func(s string) bool { return s != "command" && s != "builtin" }) {
		switch name {
		case "cd", "pushd":
			if w.vars.funcs[name] {
				break
			}
			target, known := cdTarget(argv)
			if w.vars.set("CDPATH") {
				known = false
			}
			return in.enter(target, known)
		case "popd":
			return result{union(in, dirs{{Unknown: true}}), in}
		case "exit", "return":
			if !w.vars.funcs[name] {
				return result{}
			}
		}
	}
	if w.vars.chdir && (name == "" || w.vars.funcs[name]) || name == "." || name == "source" {
		return same(union(in, dirs{{Unknown: true}}))
	}
	return same(in)
}

// cdTarget is the directory word of a cd; without one it is the home.
func cdTarget(argv []Word) (Word, bool) {
	for i, a := range argv[1:] {
		if a.Static && len(a.Value) > 1 && a.Value[0] == '-' {
			if a.Value == "--" && i+2 < len(argv) {
				a = argv[i+2]
			} else {
				if strings.Contains(a.Value, "P") { // follows links before it takes .. off
					return a, false
				}
				continue
			}
		}
		_, known := a.Resolve(Vars{"h", "t", "c"})
		if a.Static && (a.Value == "-" || a.Value == "" || a.Glob || strings.HasPrefix(a.Value, "+")) {
			known = false
		}
		return a, known
	}
	return Word{Text: "~", parts: []part{{kind: home, text: "~"}}}, argv[0].Value == "cd"
}

func text(words []Word) string {
	var b []string
	for _, x := range words {
		b = append(b, x.Text)
	}
	return strings.Join(b, " ")
}

func base(name string) string {
	if strings.Contains(name, "/") {
		return path.Base(name)
	}
	return name
}

// join adds what an outer line sets to what a script in it sets.
func join(outer, inner *vars) *vars {
	out := &vars{byName: map[string]*variable{}, funcs: map[string]bool{}, chdir: outer.chdir || inner.chdir}
	for _, v := range []*vars{outer, inner} {
		for n, x := range v.byName {
			y := out.byName[n]
			if y == nil {
				y = &variable{numbers: true}
				out.byName[n] = y
			}
			y.values = append(y.values, x.values...)
			y.unknown = y.unknown || x.unknown
			y.numbers = y.numbers && x.numbers
		}
		for f := range v.funcs {
			out.funcs[f] = true
		}
	}
	return out
}
