package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"larva.dev/larva/internal/cli"
)

// A script says exec larva, and with LARVA_LONG or LARVA_UPDATE each such line
// starts the program. Otherwise the same command line runs in the process of the
// test, by the same cli.Main with everything that a process has given to it:
// a start takes longer than what most lines do. Whatever larva starts itself is
// the program in both.

// asProcesses says that every command line is to be a process of its own.
func asProcesses() bool {
	return os.Getenv("LARVA_LONG") != "" || os.Getenv("LARVA_UPDATE") != ""
}

var (
	execLine = regexp.MustCompile(`^((?:\[[^\]]*\] )*(?:! )?)exec larva( |$)`)
	exitLine = regexp.MustCompile(`^((?:\[[^\]]*\] )*exits [0-9]+ )larva( |$)`)
	runsLine = regexp.MustCompile(`^(?:\[[^\]]*\] )*(?:! )?(?:exec|exits) `)
	setsName = regexp.MustCompile(`(?m)^(?:env|capture) ([A-Za-z_][A-Za-z0-9_]*)[= ]`)
)

// inside gives the directory of the scripts to run, and the names of variables
// that they set. A line that reads stdin or a terminal, or stays in the
// background, is left as it is: only a process can.
func inside(t *testing.T, dir string) (string, []string) {
	t.Helper()
	if asProcesses() {
		return dir, nil
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%v: no script in %s", err, dir)
	}
	out := t.TempDir()
	var names []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range setsName.FindAllSubmatch(text, -1) {
			names = append(names, string(m[1]))
		}
		if err := os.WriteFile(filepath.Join(out, filepath.Base(file)), []byte(insideText(string(text))), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(names)
	return out, slices.Compact(names)
}

// insideText leaves each line where it is.
func insideText(text string) string {
	commands, files, there := strings.Cut(text, "\n-- ")
	lines := strings.Split(commands, "\n")
	fed := false // the next command reads what has been prepared for it
	for i, line := range lines {
		switch {
		case strings.HasPrefix(line, "stdin ") || strings.HasPrefix(line, "ttyin "):
			fed = true
		case fed && runsLine.MatchString(line):
			fed = false
		case !strings.HasSuffix(line, "&"):
			lines[i] = exitLine.ReplaceAllString(execLine.ReplaceAllString(line, "${1}inside$2"), "${1}inside$2")
		}
	}
	commands = strings.Join(lines, "\n")
	if !there {
		return commands
	}
	return commands + "\n-- " + files
}

// insideVars is where a script keeps the names of the variables that it began with.
type insideVars struct{}

func insideHome(env *testscript.Env) error {
	if err := freshHome(env); err != nil {
		return err
	}
	var names []string
	for _, v := range env.Vars {
		name, _, _ := strings.Cut(v, "=")
		names = append(names, name)
	}
	slices.Sort(names)
	env.Values[insideVars{}] = slices.Compact(names)
	return nil
}

// insiders are the commands of scripts that run command lines in this process;
// set are the variables that scripts set beside those that they begin with.
func insiders(ctx context.Context, set []string) map[string]func(*testscript.TestScript, bool, []string) {
	bin, _, _ := strings.Cut(os.Getenv("PATH"), string(os.PathListSeparator)) // where testscript.Main has put the program
	larva := func(ts *testscript.TestScript, args []string) int {
		begun := ts.Value(insideVars{}).([]string)
		environ := []string{"PWD=" + ts.MkAbs(".")}
		for _, name := range begun {
			environ = append(environ, name+"="+ts.Getenv(name))
		}
		for _, name := range set {
			if v := ts.Getenv(name); v != "" && !slices.Contains(begun, name) {
				environ = append(environ, name+"="+v)
			}
		}
		var out, errs lockedBuffer
		defer func() {
			_, _ = io.WriteString(ts.Stdout(), out.String())
			_, _ = io.WriteString(ts.Stderr(), errs.String())
		}()
		return cli.Main(ctx, cli.Process{Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs,
			Environ: environ, Dir: ts.MkAbs("."), Self: []string{filepath.Join(bin, "larva")}})
	}
	return map[string]func(*testscript.TestScript, bool, []string){
		"inside": func(ts *testscript.TestScript, neg bool, args []string) {
			if code := larva(ts, args); (code == 0) == neg {
				ts.Fatalf("larva has exited with %d", code)
			}
		},
		"exits": func(ts *testscript.TestScript, neg bool, args []string) { exits(ts, neg, args, larva) },
	}
}

// lockedBuffer is what several goroutines may write to, as to a process's own
// streams.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
