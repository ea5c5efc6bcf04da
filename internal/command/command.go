// Package command reads a shell line into the simple commands that it would
// run, through every construct of the shell and every wrapper that hides one.
// It runs nothing, looks at no disk and knows no environment: what cannot be
// known before the line runs is said to be unknown. It is the only room that
// uses mvdan.cc/sh.
package command

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// The limits of one line. A kernel takes no argument above 128 KiB, so a
// longer line could not be handed to a shell anyway; nesting and counts bound
// the parser's stack and the work of those who judge the segments.
const (
	MaxLine      = 128 << 10
	MaxDepth     = 200
	MaxSegments  = 512
	maxBraceSets = 32      // braces in one word
	maxBraces    = 64      // words of one brace expansion
	maxScript    = MaxLine // bytes of all scripts in a line, guesses included
	maxScripts   = 6       // scripts inside scripts: bash -c 'bash -c …'
	maxWrappers  = 12      // around one command
	maxDirs      = 8       // directories that a command may run in
)

// Line is a parsed shell line.
type Line struct {
	Text     string
	Segments []Segment // in the order of their text, an outer command before what is nested in it
}

// Segment is one simple command of a line.
type Segment struct {
	Text string // its source text, redirects included
	// Argv is the command after its wrappers were taken off; empty for a bare
	// assignment and for the redirects of a compound command.
	Argv []Word
	// Outer is the whole command as written; Argv where there is no wrapper.
	Outer    []Word
	Lead     int      // how many words of Outer stand before the command
	Wrappers []string // from outside in: "timeout", "bash -c", "find -exec"
	// Opaque says that a wrapper gives the command more power or another
	// place (sudo, chroot, ssh): to allow it means to allow Outer.
	Opaque    bool
	Assigns   []Assign   // set for this command, or by it where Argv is empty
	Redirects []Redirect // to and from files; harmless ones are left out
	// Dirs are the directories that the command may run in, as steps from the
	// shell's own. Never empty.
	Dirs []Dir
	// Dynamic says why the command cannot be known before it runs, "" where
	// it can.
	Dynamic string
	// Unread says that it runs text as shell commands, and that text is not
	// known: no rule that forbids commands can be held against it.
	Unread bool
	// Guesses are more argument lists that the command may turn out to be. A
	// rule that forbids is asked about each; a rule that allows never is.
	Guesses [][]string
}

// Assign is NAME=VALUE.
type Assign struct {
	Name   string
	Value  Word
	Export bool // it reaches child processes for sure
}

// Redirect is a redirect to or from something that may be a file. Duplicated
// descriptors, here-documents, /dev/null and the standard streams are none.
type Redirect struct {
	Op     string // as written: > >> < <> >| &> &>> >&
	Target Word
	Write  bool
}

// Dir is a directory that a command may run in.
type Dir struct {
	Steps   []Word // the cd targets since the shell's own directory
	Unknown bool   // a target that cannot be known
	// Failed lists the step chains whose cd must have failed for this to be
	// the directory: where one of them exists, this directory is not meant.
	Failed [][]Word
}

// Parse reads a line. An error means that nothing is known about it; what
// cannot be parsed must not be allowed by a rule.
func Parse(line string) (*Line, error) {
	fuel := maxScript
	return parse(line, 0, &fuel)
}

// parse reads a line at some depth of guesses; fuel is what may still be
// spent on the scripts in it.
func parse(line string, depth int, fuel *int) (l *Line, err error) {
	defer func() {
		if r := recover(); r != nil { // the parser met a tree that it does not know: as good as unparsable
			l, err = nil, fmt.Errorf("shell line: %v", r)
		}
	}()
	if err := check(line); err != nil {
		return nil, err
	}
	f, err := parseFile(line)
	if err != nil {
		return nil, err
	}
	w := &walker{text: line, vars: scan(f), out: &Line{Text: line}, depth: depth, fuel: fuel}
	w.list(f.Stmts, dirs{{}})
	if w.err != nil {
		return nil, w.err
	}
	return w.out, nil
}

func parseFile(text string) (*syntax.File, error) {
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		return nil, fmt.Errorf("shell line: %w", err)
	}
	return f, nil
}

// check refuses what would cost the parser too much or what it and a real
// shell would read differently.
func check(line string) error {
	switch {
	case len(line) > MaxLine:
		return fmt.Errorf("shell line: %d bytes, at most %d", len(line), MaxLine)
	case !utf8.ValidString(line):
		return fmt.Errorf("shell line: not UTF-8")
	case strings.ContainsRune(line, 0):
		return fmt.Errorf("shell line: holds a NUL byte")
	case strings.ContainsRune(line, '\r'):
		return fmt.Errorf("shell line: holds a carriage return")
	}
	depth, deepest := 0, 0
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '(', '{', '[', '`':
			depth++
			deepest = max(deepest, depth)
		case ')', '}', ']':
			depth = max(0, depth-1)
		case '\n':
			// A here-document may hold any number of unpaired brackets.
			if deepest <= MaxDepth {
				depth = min(depth, MaxDepth/2)
			}
		}
	}
	if deepest > MaxDepth {
		return fmt.Errorf("shell line: nested more than %d deep", MaxDepth)
	}
	words := 0
	for f := range strings.FieldsSeq(line) {
		switch strings.TrimLeft(f, ";&|") {
		case "if", "while", "until", "for", "case", "select", "function", "coproc", "time", "!", "then", "do", "else", "elif":
			words++
		}
	}
	if words > 4*MaxDepth {
		return fmt.Errorf("shell line: more than %d compound commands", 4*MaxDepth)
	}
	return nil
}
