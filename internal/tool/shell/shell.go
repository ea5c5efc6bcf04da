// Package shell gives the model its shell. Each call is a new bash: the
// working directory, variables and functions of one call are gone in the next.
package shell

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"larva.dev/larva/internal/proc"
	"larva.dev/larva/internal/root"
	"larva.dev/larva/internal/sandbox"
	"larva.dev/larva/internal/tool"
)

// Limits of a call.
const (
	defaultTimeout = 120 * time.Second
	maxTimeout     = 600 * time.Second
	// keptOutput is the head, and again the tail, of the raw output that is
	// kept for raw_output; what the model reads is cleaned and cut from these.
	keptOutput     = 512 << 10
	maxOutput      = 30_000 // bytes of a result
	maxCheckpoints = 64
)

const schema = `{"type":"object","properties":{
"command":{"type":"string","minLength":1},
"timeout":{"type":"number","minimum":1,"maximum":600,"description":"Seconds until the command is ended; 120 if left out"},
"run_in_background":{"type":"boolean","description":"Return at once; without timeout it may run as long as the run"},
"sandbox":{"type":"boolean","description":"false asks to run outside the sandbox, where there is one"},
"checkpoint_paths":{"type":"array","maxItems":64,"items":{"type":"string"},"description":"Files git does not track that the command may change: kept for undo"}},
"required":["command"]}`

//go:embed bash.md
var description string

// Options of the shell; the zero value is a working one.
type Options struct {
	// Secret are variables that hold a provider's key under a name of the
	// user's own (a profile's key_env). They are taken out like the known ones.
	Secret []string
	// Denied says which files must stay unseen where a command that reads a
	// whole tree meets them; nil: none.
	Denied func(abs, real string) bool
	// Ruled says which of them by a deny rule, and not by their name alone: only
	// those stay unseen in what git has kept of tracked files. nil for none.
	Ruled func(abs, real string) bool
	// Wall encloses the commands; nil: none.
	Wall *sandbox.Wall
}

// Shell is the bash tool. Its owner closes it when the run is over.
type Shell struct {
	rs     *root.Set
	env    []string // of every command
	denied func(abs, real string) bool
	ruled  func(abs, real string) bool
	wall   *sandbox.Wall
	// path is environ's, which bash itself is looked up in.
	environ []string

	keeper proc.Keeper
	mark   string // what every process of this shell bears

	// Background runs end with alive, which Close ends and then waits for them.
	alive   context.Context
	end     context.CancelFunc
	running sync.WaitGroup

	mu     sync.Mutex
	closed bool
	calls  int   // commands so far, for their marks
	left   []int // process groups of background children
	jobs   []*job
	named  int // ids given to background runs so far
}

// New gives the bash tool of one run. environ is the run's environment, not
// yet scrubbed.
func New(rs *root.Set, environ []string, o Options) *Shell {
	s := &Shell{rs: rs, env: environment(rs, environ, o), environ: environ, denied: o.Denied, ruled: o.Ruled, wall: o.Wall, mark: proc.NewMark(environ)}
	s.alive, s.end = context.WithCancel(context.Background())
	return s
}

// Tools are bash and the two tools that look after its background runs.
func (s *Shell) Tools() []tool.Tool { return []tool.Tool{s, outputTool{s}, killTool{s}} }

// Spec says that a call runs alone: commands change what the next one sees.
func (s *Shell) Spec() tool.Spec {
	return tool.Spec{Name: "bash", Description: description, Schema: json.RawMessage(schema)}
}

type input struct {
	Command         string   `json:"command"`
	Timeout         *float64 `json:"timeout"`
	RunInBackground bool     `json:"run_in_background"`
	Sandbox         *bool    `json:"sandbox"`
	CheckpointPaths []string `json:"checkpoint_paths"`
}

// unwalled says that the call asks to run outside the sandbox.
func (in input) unwalled() bool { return in.Sandbox != nil && !*in.Sandbox }

// timeout is 0 for a background run that names none.
func (in input) timeout() time.Duration {
	switch {
	case in.Timeout != nil:
		return min(max(time.Duration(*in.Timeout*float64(time.Second)), time.Second), maxTimeout)
	case in.RunInBackground:
		return 0
	}
	return defaultTimeout
}

// Effects are those of the parsed line.
func (s *Shell) Effects(c tool.Call) tool.Effects {
	var in input
	_ = json.Unmarshal(c.Input, &in) // what does not fit is refused by Run
	eff := effects(s.rs, in.Command, s.denied, s.ruled)
	eff.Unwalled = in.unwalled()
	eff.Saves, _ = s.saves(in.CheckpointPaths)
	return eff
}

// saves resolves checkpoint paths; the error names the first that cannot be
// kept because it lies outside the roots.
func (s *Shell) saves(given []string) (abs []string, err error) {
	for i, g := range given {
		if i == maxCheckpoints {
			return abs, fmt.Errorf("checkpoint_paths: %d at most", maxCheckpoints)
		}
		switch p := s.rs.Resolve(g, false); {
		case p.Outside || g == "":
			err = cmp.Or(err, fmt.Errorf("checkpoint_paths: %q lies outside the project and the added directories", g))
		default:
			abs = append(abs, p.Real)
		}
	}
	return abs, err
}

// Run runs the line and waits for it, or starts it in the background.
func (s *Shell) Run(ctx context.Context, c tool.Call) (tool.Result, error) {
	var in input
	if err := json.Unmarshal(c.Input, &in); err != nil {
		return tool.Fail("bash: arguments: %v", err), nil
	}
	cmd, done, err := s.command(in)
	if err != nil {
		return tool.Fail("%v", err), nil
	}
	if in.RunInBackground {
		return s.background(ctx, in, cmd, done), nil
	}
	cmd.Leave, cmd.MaxOutput = true, keptOutput
	r, err := proc.Run(ctx, cmd)
	changed := done()
	if err != nil {
		if ctx.Err() != nil {
			return tool.Fail("the command was not run: %v", ctx.Err()), nil
		}
		return tool.Fail("the command could not be started: %v", err), nil
	}
	if r.Group != 0 {
		s.mu.Lock()
		s.left = append(s.left, r.Group)
		s.mu.Unlock()
	}
	return s.hint(result(r, cmd.Timeout), in.unwalled(), changed), nil
}

// command is what a call starts; done is to be called when it has ended.
func (s *Shell) command(in input) (c proc.Command, done func() []string, err error) {
	switch {
	case strings.TrimSpace(in.Command) == "":
		return c, nil, errors.New("command is empty")
	case strings.ContainsRune(in.Command, 0):
		return c, nil, errors.New("command holds a NUL byte")
	}
	if _, err := s.saves(in.CheckpointPaths); err != nil {
		return c, nil, err
	}
	mark, err := s.next()
	if err != nil {
		return c, nil, err
	}
	argv, err := s.argv(in.Command)
	if err != nil {
		return c, nil, err
	}
	argv, env, done, err := s.walled(argv, in.unwalled())
	return proc.Command{Argv: argv, Dir: s.rs.Cwd, Env: env, Timeout: in.timeout(), Merge: true, Keeper: &s.keeper, Mark: mark}, done, err
}

// next gives the mark of one more command.
func (s *Shell) next() (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return "", errOver
	}
	s.calls++
	return fmt.Sprintf("%s.%d", s.mark, s.calls), nil
}

var errOver = errors.New("the run is over; nothing is started any more")

// Close ends the background runs and what else commands have left, also what
// has left its process group. It may be called more than once.
func (s *Shell) Close() error {
	s.end()
	s.mu.Lock()
	left, ran := s.left, s.calls > 0 && !s.closed
	s.left, s.closed = nil, true
	s.mu.Unlock()
	s.running.Wait()
	for _, g := range left {
		proc.EndGroup(g)
	}
	if ran {
		proc.EndMarked(s.mark)
	}
	s.keeper.Close()
	return nil
}

// argv is bash without any start-up file, else sh.
func (s *Shell) argv(line string) ([]string, error) {
	if runtime.GOOS == "windows" {
		// The bash.exe that Windows may have is another machine with other
		// paths (WSL): what permission judged would not be what runs.
		return nil, errors.New("the bash tool needs a Unix shell, which Windows has not; use read, write, edit, glob and grep")
	}
	if bash, err := proc.LookPath("bash", s.environ); err == nil {
		return []string{bash, "--noprofile", "--norc", "-c", line}, nil
	}
	sh, err := proc.LookPath("sh", s.environ)
	if err != nil {
		return nil, errors.New("there is neither bash nor sh in PATH")
	}
	return []string{sh, "-c", line}, nil
}

// meaning are variables that change what a parsed line does: a start-up file
// that runs first, options, where cd leads, names that globs leave out.
// Exported functions (BASH_FUNC_…) change it most, they replace commands.
var meaning = [...]string{"BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "CDPATH", "GLOBIGNORE", "OLDPWD", "PWD", "PS4", "EXECIGNORE", "BASH_LOADABLES_PATH"}

// environment is what every command gets: scrubbed, without what changes a
// line's meaning, and set up for a reader that is no terminal.
func environment(rs *root.Set, environ []string, o Options) []string {
	env := proc.Without(environ, meaning[:]...)
	env = proc.Without(env, o.Secret...)
	kept := env[:0:0]
	for _, kv := range env {
		if !strings.HasPrefix(kv, "BASH_FUNC_") {
			kept = append(kept, kv)
		}
	}
	extra := []string{"PWD=" + rs.Cwd, "NO_COLOR=1", "TERM=dumb", "PAGER=cat", "GIT_PAGER=cat", "GIT_TERMINAL_PROMPT=0"}
	extra = append(extra, tameGit(kept)...)
	if rs.Temp != "" {
		extra = append(extra, "TMPDIR="+rs.Temp)
	}
	return proc.Env(kept, extra...)
}

// tamed are git settings under which its readers run nothing that a
// repository names: no monitor for git status, and no bare repository in the
// middle of the tree, whose config would be one that the agent wrote.
var tamed = [...][2]string{{"core.fsmonitor", "false"}, {"safe.bareRepository", "explicit"}}

// tameGit puts the settings behind those that the user's environment has.
func tameGit(environ []string) []string {
	n := 0
	for _, kv := range environ {
		if v, ok := strings.CutPrefix(kv, "GIT_CONFIG_COUNT="); ok {
			n, _ = strconv.Atoi(v)
		}
	}
	n = max(n, 0)
	out := []string{fmt.Sprintf("GIT_CONFIG_COUNT=%d", n+len(tamed))}
	for i, kv := range tamed {
		out = append(out, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", n+i, kv[0]), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", n+i, kv[1]))
	}
	return out
}
