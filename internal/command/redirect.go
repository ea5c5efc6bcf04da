package command

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// redirects emits the redirects of a compound command as a segment of their
// own, if one of them reaches a file.
func (w *walker) redirects(s *syntax.Stmt, in dirs) {
	list := w.redirs(s.Redirs)
	sets := changed(hidden(s.Redirs))
	if len(list) > 0 || len(sets) > 0 || s.Cmd == nil {
		var text []string
		for _, r := range s.Redirs {
			text = append(text, w.between(r.Pos().Offset(), r.Word.End().Offset()))
		}
		w.emit(Segment{Text: strings.Join(text, " "), Redirects: list, Assigns: sets}, in)
	}
	w.nestedRedirs(s.Redirs, in)
}

func (w *walker) nestedRedirs(list []*syntax.Redirect, in dirs) {
	for _, r := range list {
		w.nested(r.Word, in)
		if r.Hdoc != nil {
			w.nested(r.Hdoc, in)
		}
	}
}

// redirs reads redirects; those that reach no file are left out.
func (w *walker) redirs(list []*syntax.Redirect) []Redirect {
	var out []Redirect
	for _, r := range list {
		write := true
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
			continue
		case syntax.RdrIn, syntax.DplIn:
			write = false
		}
		t := w.word(r.Word)
		if r.Op == syntax.DplIn || r.Op == syntax.DplOut {
			if t.Number || t.Static && descriptor(t.Value) {
				continue
			}
		}
		if t.Static && !t.Glob && !t.Ansi && Stream(t.Value) {
			continue
		}
		out = append(out, Redirect{Op: r.Op.String(), Target: t, Write: write})
	}
	return out
}

// descriptor says that the word behind >& is a descriptor: 1, 12-, -.
func descriptor(s string) bool {
	s = strings.TrimSuffix(s, "-")
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return len(s) < 4
}

// Stream says that a path is no file: /dev/null, a standard stream or the
// terminal.
func Stream(path string) bool {
	switch path {
	case "/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty":
		return true
	}
	n, ok := strings.CutPrefix(path, "/dev/fd/")
	return ok && n != "" && descriptor(n) && !strings.HasSuffix(n, "-")
}
