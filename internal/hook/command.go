package hook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"larva.dev/larva/internal/proc"
)

// maxOutput bounds each stream of a hook: far above what a decision or a
// context needs, far below what would hurt.
const maxOutput = 256 << 10

// ran is what a hook gave before anybody reads it.
type ran struct {
	exit           int // -1: there is none
	stdout, stderr string
	fault          string // why there is nothing to read, "" where there is
}

// runCommand runs a command hook with the payload on stdin: in bash, or with
// args as the program itself.
func (r *Runner) runCommand(ctx context.Context, h *ready, dir string, payload []byte) ran {
	argv := []string{"bash", "-c", h.Command}
	if h.Args != nil {
		argv = append([]string{h.expandProgram(r.o.ProjectDir)}, h.Args...)
	}
	res, err := proc.Run(ctx, proc.Command{Argv: argv, Dir: dir, Env: r.environ(), Stdin: bytes.NewReader(payload),
		Timeout: h.timeout, MaxOutput: maxOutput})
	out := ran{exit: res.Exit, stdout: string(res.Stdout), stderr: string(res.Stderr)}
	switch {
	case err != nil:
		out.exit = -1
		out.fault = "it could not be started: " + err.Error()
		if errors.Is(err, proc.ErrNotFound) {
			out.fault = argv[0] + " is not in PATH"
		}
	case res.TimedOut:
		out.exit = -1
		out.fault = fmt.Sprintf("it took longer than %v and was ended", h.timeout)
	case res.Cancelled:
		out.exit = -1
		out.fault = "it was ended with the run"
	case res.Truncated && res.Exit != 2:
		out.fault = fmt.Sprintf("it printed more than the %d bytes that are read", 2*maxOutput)
	case res.Signal != "":
		out.fault = "it was ended by " + res.Signal
	}
	return out
}

// expandProgram fills in the project's directory, which Claude Code's files
// name so; no other variable and no shell.
func (h *ready) expandProgram(project string) string {
	return strings.NewReplacer("${CLAUDE_PROJECT_DIR}", project, "$CLAUDE_PROJECT_DIR", project,
		"${LARVA_PROJECT_DIR}", project, "$LARVA_PROJECT_DIR", project).Replace(h.Command)
}

// needed are the variables that a hook gets: what a program needs to be found
// and to print. The second line is what Windows cannot start a program without.
var needed = []string{"PATH", "HOME", "LANG", "LANGUAGE", "TZ",
	"SystemRoot", "SYSTEMROOT", "PATHEXT", "ComSpec", "USERPROFILE", "TEMP", "TMP"}

// environ is a hook's whole environment.
func (r *Runner) environ() []string {
	depth := ""
	var env []string
	for _, kv := range r.o.Environ {
		name, _, ok := strings.Cut(kv, "=")
		switch {
		case !ok:
		case name == "LARVA_DEPTH":
			depth = kv
		case contains(needed, name) || strings.HasPrefix(name, "LC_"):
			env = append(env, kv)
		}
	}
	if depth != "" {
		env = append(env, depth) // proc counts it up
	}
	return proc.Env(env, "LARVA_PROJECT_DIR="+r.o.ProjectDir, "CLAUDE_PROJECT_DIR="+r.o.ProjectDir)
}
