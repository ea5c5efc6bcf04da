// Package cli is the command line: the grammar in struct tags, one file a
// command, printing, and questions at the terminal. It decides nothing; app
// does the work.
package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"github.com/alecthomas/kong"

	"larva.dev/larva/internal/app"
	"larva.dev/larva/internal/diag"
)

// Process is what a command line runs in. Tests give their own.
type Process struct {
	Args           []string // without the program's name
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Environ        []string // KEY=VALUE
	Dir            string   // working directory, absolute
	Self           []string // argv prefix that runs this binary again; nil: os.Executable
}

// System is this process.
func System() Process {
	dir, err := os.Getwd()
	if err != nil {
		dir = "." // a removed directory: relative arguments fail one by one, with their names
	}
	return Process{Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Environ: os.Environ(), Dir: dir}
}

// Main runs one command line and gives the exit code. It never calls os.Exit
// and prints everything there is to print.
func Main(ctx context.Context, p Process) (code int) {
	if len(p.Args) > 0 && p.Args[0] == app.EvalVerb {
		return app.EvalChild(p.Stdin, p.Stdout)
	}
	if len(p.Args) > 0 && p.Args[0] == app.WallVerb {
		return app.WallChild(ctx, p.Args[1:], p.Stderr)
	}
	s := newSession(p)
	defer func() {
		if r := recover(); r != nil {
			code = s.fail(ctx, diag.New(diag.Internal, "a fault of larva itself: %v", r))
		}
	}()
	if len(p.Args) > 0 && p.Args[0] == completeVerb {
		return s.finish(ctx, s.complete(ctx, p.Args[1:]))
	}
	if len(p.Args) > 0 && p.Args[0] == app.BridgeVerb {
		return s.finish(ctx, s.app.Bridge(ctx, p.Stdin, p.Stdout))
	}
	if len(p.Args) > 0 && p.Args[0] == openCodeVerb && !(len(p.Args) == 2 && (p.Args[1] == "--help" || p.Args[1] == "-h")) {
		s.command, s.format = openCodeVerb, formatText // what stands behind it is not ours
		return s.finish(ctx, s.openCode(ctx, p.Args[1:]))
	}
	return s.finish(ctx, s.run(ctx))
}

// session is one command line on its way: where it prints, in which form, and
// under which name.
type session struct {
	process Process
	app     *app.App
	format  string // text | json | stream-json
	command string // "variant list"; "" before the grammar knows
	out     *bufio.Writer
	// code is what a command that has printed its own failure exits with.
	code int
}

func newSession(p Process) *session {
	s := &session{process: p, format: formatOf(p.Args), out: bufio.NewWriterSize(p.Stdout, 64<<10)}
	s.app = app.New(app.Options{Home: homeOf(p.Environ), Dir: p.Dir, Environ: p.Environ, Self: p.Self})
	return s
}

func (s *session) json() bool { return s.format != formatText }

// run parses and runs; help and version end in errDone.
func (s *session) run(ctx context.Context) error {
	var g grammar
	k, err := newKong(&g)
	if err != nil {
		return fmt.Errorf("grammar: %w", err)
	}
	k.Stdout, k.Stderr = s.out, s.process.Stderr
	args := s.process.Args
	if len(args) == 0 {
		args = []string{"--help"}
	}
	kc, err := k.Parse(args)
	if err != nil {
		return s.parseError(err)
	}
	s.command = commandOf(kc.Selected())
	if err := s.setFormat(&g); err != nil {
		return err
	}
	if err := emptyVariant(kc); err != nil {
		return err
	}
	kc.BindTo(ctx, (*context.Context)(nil))
	return kc.Run(s)
}

// emptyVariant refuses --variant "" where it was typed: a variable that is
// not set must not mean the active variant, or default.
func emptyVariant(kc *kong.Context) error {
	for _, p := range kc.Path {
		if p.Flag != nil && p.Flag.Name == "variant" && p.Flag.Target.String() == "" {
			return diag.New(diag.InvalidVariantName, "\"\" is not a variant name").With("variant", "").
				WithHint("leave out --variant for the active variant")
		}
	}
	return nil
}

// parseError turns kong's complaint into bad usage. Its own exit code is 80.
func (s *session) parseError(err error) error {
	if errors.Is(err, errDone) {
		return nil
	}
	var pe *kong.ParseError
	if errors.As(err, &pe) && pe.Context != nil {
		s.command = commandOf(pe.Context.Selected())
	}
	help := "larva --help"
	if s.command != "" {
		help = "larva " + s.command + " --help"
	}
	message := plainly(err.Error())
	if s.command == "permission explain" && strings.HasPrefix(message, "unknown flag") {
		help = "a command line is one word: larva permission explain bash 'ls -l'; flags of ours: " + help
	}
	return diag.Usage("%s", message).WithHint("%s", help)
}

// plainly turns kong's words about numbers into ones that need no program's
// types.
func plainly(message string) string {
	noNumber := regexp.MustCompile(`expected (?:a valid \d+ bit (int|uint|float)|(int|uint|float) value) but got (.*?)(?: \(short flag\); perhaps try .*)?$`)
	m := noNumber.FindStringSubmatch(message)
	if m == nil {
		return message
	}
	what := "a whole number"
	if m[1]+m[2] == "float" {
		what = "a number"
	}
	return noNumber.ReplaceAllLiteralString(message, "expected "+what+", got "+m[3])
}

// setFormat settles the output form; only run streams.
func (s *session) setFormat(g *grammar) error {
	if g.Output == formatStream && (g.JSON || s.command != "run") {
		return diag.Usage("-o stream-json is for run alone, without --json")
	}
	s.format = g.Output
	if g.JSON {
		s.format = formatJSON
	}
	return nil
}

// finish prints a failure and gives the exit code. A result that could not be
// written is a failure too, unless there is a worse one.
func (s *session) finish(ctx context.Context, err error) int {
	if err != nil {
		return s.fail(ctx, err)
	}
	if err := s.out.Flush(); err != nil {
		s.out.Reset(io.Discard)
		e := diag.New(diag.Internal, "cannot write the result: %v", err)
		s.printTextError(e) // stdout is gone, so JSON has nowhere to stand
		return e.ExitCode()
	}
	return s.code
}

// fail prints err in the session's form. What was buffered for stdout is
// dropped: a failed command's stdout is empty, or the error alone.
func (s *session) fail(ctx context.Context, err error) int {
	e := s.asDiag(ctx, err)
	s.out.Reset(s.process.Stdout)
	if s.json() {
		s.printJSONError(e)
		if ferr := s.out.Flush(); ferr != nil {
			s.printTextError(e)
		}
	} else {
		s.printTextError(e)
	}
	return e.ExitCode()
}

// asDiag knows a cancelled context from a failure: the signal that cancelled
// it is its cause.
func (s *session) asDiag(ctx context.Context, err error) *diag.Error {
	if ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Canceled)) {
		if cause := context.Cause(ctx); cause != nil {
			return diag.As(cause)
		}
	}
	return diag.As(err)
}

// commandOf is a node's name as it is typed, without "larva".
func commandOf(n *kong.Node) string {
	name := ""
	for ; n != nil && n.Type == kong.CommandNode; n = n.Parent {
		if name != "" {
			name = " " + name
		}
		name = n.Name + name
	}
	return name
}
