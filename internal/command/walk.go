package command

import (
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// walker goes through a file's statements in order and collects segments.
type walker struct {
	text    string
	vars    *vars
	out     *Line
	err     error
	scripts int      // depth of bash -c
	depth   int      // depth of guesses inside guesses
	fuel    *int     // bytes that may still be spent on scripts
	outer   []Word   // of the script that this walker reads
	wraps   []string // around every segment of it
	opaque  bool
	dynamic string // why nothing in here is sure, "" where it is
	assigns []Assign
}

// dirs are the directories that the shell may be in. None means that this
// point is not reached.
type dirs []Dir

// result says where the shell is after a statement that went well, and after
// one that failed.
type result struct{ ok, bad dirs }

func (r result) all() dirs { return union(r.ok, r.bad) }

func same(d dirs) result { return result{d, d} }

func union(a, b dirs) dirs {
	out := slices.Clone(a)
	seen := map[string]bool{}
	for _, d := range a {
		seen[d.key()] = true
	}
	for _, d := range b {
		if k := d.key(); !seen[k] {
			seen[k] = true
			out = append(out, d)
		}
	}
	if len(out) > maxDirs {
		return dirs{{Unknown: true}}
	}
	return out
}

func (d Dir) key() string {
	var b strings.Builder
	if d.Unknown {
		b.WriteString("?")
	}
	for _, s := range d.Steps {
		b.WriteString("\x00" + s.Text)
	}
	for _, f := range d.Failed {
		b.WriteString("\x01")
		for _, s := range f {
			b.WriteString("\x00" + s.Text)
		}
	}
	return b.String()
}

// enter is where a cd goes when it works and when it fails.
func (in dirs) enter(target Word, known bool) result {
	var r result
	for _, d := range in {
		if !known || d.Unknown {
			r.ok = append(r.ok, Dir{Unknown: true})
			r.bad = append(r.bad, d)
			continue
		}
		steps := append(slices.Clone(d.Steps), target)
		r.ok = append(r.ok, Dir{Steps: steps, Failed: d.Failed})
		r.bad = append(r.bad, Dir{Steps: d.Steps, Failed: append(slices.Clone(d.Failed), steps)})
	}
	r.ok, r.bad = union(r.ok, nil), union(r.bad, nil)
	return r
}

// slice is a node's source text.
func (w *walker) slice(n syntax.Node) string {
	return w.between(n.Pos().Offset(), n.End().Offset())
}

func (w *walker) between(from, to uint) string {
	if from >= to || to > uint(len(w.text)) {
		return ""
	}
	return w.text[from:to]
}

// list walks statements one after the other.
func (w *walker) list(stmts []*syntax.Stmt, in dirs) result {
	r := same(in)
	for _, s := range stmts {
		r = w.stmt(s, in)
		if all := r.all(); len(all) > 0 {
			in = all
		}
		if w.err != nil {
			return r
		}
	}
	return r
}

// spend takes a script's bytes off what is left.
func spend(fuel *int, script string) bool {
	if fuel == nil || *fuel < len(script) {
		return false
	}
	*fuel -= len(script)
	return true
}

// apart walks statements whose cd does not reach the rest: a subshell.
func (w *walker) apart(stmts []*syntax.Stmt, in dirs) result {
	w.list(stmts, in)
	return same(in)
}

func (w *walker) stmt(s *syntax.Stmt, in dirs) result {
	if call, ok := s.Cmd.(*syntax.CallExpr); ok {
		r := w.call(call, s, in)
		return w.after(s, in, r)
	}
	if d, ok := s.Cmd.(*syntax.DeclClause); ok {
		w.declare(d, s, in)
		return same(in)
	}
	if len(s.Redirs) > 0 || s.Cmd == nil {
		w.redirects(s, in)
	}
	return w.after(s, in, w.command(s.Cmd, in))
}

func (w *walker) after(s *syntax.Stmt, in dirs, r result) result {
	if s.Background || s.Coprocess {
		return same(in)
	}
	if s.Negated {
		r.ok, r.bad = r.bad, r.ok
	}
	return r
}

// command walks a compound command.
func (w *walker) command(c syntax.Command, in dirs) result {
	switch c := c.(type) {
	case nil:
		return same(in)
	case *syntax.Block:
		return w.list(c.Stmts, in)
	case *syntax.Subshell:
		return w.apart(c.Stmts, in)
	case *syntax.BinaryCmd:
		return w.binary(c, in)
	case *syntax.IfClause:
		return w.branch(c, in)
	case *syntax.WhileClause:
		return w.loop(append(slices.Clone(c.Cond), c.Do...), in)
	case *syntax.ForClause:
		if it, ok := c.Loop.(*syntax.WordIter); ok && it.Name != nil {
			w.alters(w.slice(it), []string{it.Name.Value}, in)
		}
		w.nested(c.Loop, in)
		return w.loop(c.Do, in)
	case *syntax.CaseClause:
		w.nested(c.Word, in)
		out := in
		for _, item := range c.Items {
			for _, p := range item.Patterns {
				w.nested(p, in)
			}
			out = union(out, w.list(item.Stmts, in).all())
		}
		return same(out)
	case *syntax.FuncDecl:
		body := in
		if w.vars.chdir {
			body = union(in, dirs{{Unknown: true}})
		}
		w.stmt(c.Body, body)
		return same(in)
	case *syntax.TimeClause:
		if c.Stmt == nil {
			return same(in)
		}
		return w.stmt(c.Stmt, in)
	case *syntax.CoprocClause:
		if c.Name != nil {
			w.alters(w.slice(c.Name), []string{c.Name.Lit()}, in)
		}
		w.stmt(c.Stmt, in)
		return same(in)
	case *syntax.ArithmCmd, *syntax.LetClause, *syntax.TestClause:
		w.bare(c, in)
		return same(in)
	}
	w.err = fmt.Errorf("shell line: %T is not understood", c)
	return same(in)
}

// alters emits the variables that a construct sets, where programs may read
// them.
func (w *walker) alters(text string, names []string, in dirs) {
	if a := changed(names); len(a) > 0 {
		w.emit(Segment{Text: text, Assigns: a}, in)
	}
}

// bare emits a segment for a construct that is a command of its own: (( )),
// let and [[ ]]. The shell runs it itself and it changes variables at most.
func (w *walker) bare(c syntax.Command, in dirs) {
	name := "[["
	switch c.(type) {
	case *syntax.ArithmCmd:
		name = "(("
	case *syntax.LetClause:
		name = "let"
	}
	word := static(name)
	w.emit(Segment{Text: w.slice(c), Argv: []Word{word}, Outer: []Word{word}, Dynamic: w.evil(c)}, in)
	w.nested(c, in)
}

func (w *walker) binary(c *syntax.BinaryCmd, in dirs) result {
	if c.Op == syntax.Pipe || c.Op == syntax.PipeAll {
		w.stmt(c.X, in)
		if !w.piped(c, in) {
			from := len(w.out.Segments)
			w.stmt(c.Y, in)
			w.fed(c.X, from)
		}
		return same(in)
	}
	x := w.stmt(c.X, in)
	start := x.ok
	if c.Op == syntax.OrStmt {
		start = x.bad
	}
	if len(start) == 0 { // not reached; judged all the same
		w.stmt(c.Y, in)
		return x
	}
	y := w.stmt(c.Y, start)
	if c.Op == syntax.OrStmt {
		return result{union(x.ok, y.ok), y.bad}
	}
	return result{y.ok, union(x.bad, y.bad)}
}

// fed adds what xargs makes of a text that is surely piped into it to the
// guesses of the segments from index from on.
func (w *walker) fed(x *syntax.Stmt, from int) {
	text, ok := echoed(x)
	if !ok {
		return
	}
	for i := from; i < len(w.out.Segments); i++ {
		s := &w.out.Segments[i]
		if readsText(values(s.Argv)) {
			g := &guesser{depth: w.depth, fuel: w.fuel, seen: map[string]bool{}, out: s.Guesses}
			g.code(text)
			s.Guesses, s.Unread = g.out, s.Unread || g.short || len(g.out) >= maxGuesses
		}
		if !slices.Contains(s.Wrappers, "xargs") || len(s.Guesses) >= maxGuesses {
			continue
		}
		var argv []string
		for _, a := range s.Argv {
			if a.Static {
				argv = append(argv, a.Value)
			}
		}
		s.Guesses = append(s.Guesses, append(argv, strings.Fields(text)...))
	}
}

func (w *walker) branch(c *syntax.IfClause, in dirs) result {
	r := same(in)
	if len(c.Cond) > 0 {
		r = w.list(c.Cond, in)
	}
	yes, no := r.ok, r.bad
	if len(yes) == 0 {
		yes = in
	}
	if len(no) == 0 {
		no = in
	}
	out := w.list(c.Then, yes).all()
	if c.Else != nil {
		return same(union(out, w.branch(c.Else, no).all()))
	}
	return same(union(out, no))
}

// loop walks a body that may run again from where it ended.
func (w *walker) loop(body []*syntax.Stmt, in dirs) result {
	if !w.vars.chdir || !changes(body) {
		w.list(body, in)
		return same(in)
	}
	in = union(in, dirs{{Unknown: true}})
	return same(union(in, w.list(body, in).all()))
}

// changes says that a cd stands in the statements.
func changes(body []*syntax.Stmt) bool {
	v := &vars{byName: map[string]*variable{}}
	for _, s := range body {
		syntax.Walk(s, func(n syntax.Node) bool {
			if c, ok := n.(*syntax.CallExpr); ok {
				v.call(c)
			}
			return true
		})
	}
	return v.chdir
}

// nested walks the substitutions inside a word or another node.
func (w *walker) nested(n syntax.Node, in dirs) {
	if n == nil || w.err != nil {
		return
	}
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			w.apart(n.Stmts, in)
			return false
		case *syntax.ProcSubst:
			w.apart(n.Stmts, in)
			return false
		}
		return true
	})
}

// emit adds a segment.
func (w *walker) emit(s Segment, in dirs) {
	if w.err != nil {
		return
	}
	if len(w.out.Segments) >= MaxSegments {
		w.err = fmt.Errorf("shell line: more than %d commands", MaxSegments)
		return
	}
	s.Wrappers = append(slices.Clone(w.wraps), s.Wrappers...)
	if w.outer != nil {
		s.Outer = w.outer
	}
	s.Assigns = append(slices.Clone(w.assigns), s.Assigns...)
	s.Opaque = s.Opaque || w.opaque
	if s.Dynamic == "" {
		s.Dynamic = w.dynamic
	}
	if s.Dirs == nil {
		s.Dirs = in
	}
	if len(s.Dirs) == 0 {
		s.Dirs = []Dir{{Unknown: true}}
	}
	w.out.Segments = append(w.out.Segments, s)
}
