package hook

import (
	"context"
	"strings"
	"sync"
	"time"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/permission"
	"larva.dev/larva/internal/profile"
	"larva.dev/larva/internal/tool"
)

// The events, named as in Claude Code's format.
const (
	SessionStart       = "SessionStart"
	UserPromptSubmit   = "UserPromptSubmit"
	PreToolUse         = "PreToolUse"
	PermissionRequest  = "PermissionRequest"
	PostToolUse        = "PostToolUse"
	PostToolUseFailure = "PostToolUseFailure"
	Stop               = "Stop"
	StopFailure        = "StopFailure"
	SubagentStart      = "SubagentStart"
	SubagentStop       = "SubagentStop"
	PreCompact         = "PreCompact"
	PostCompact        = "PostCompact"
	Notification       = "Notification"
	SessionEnd         = "SessionEnd"
)

// Events lists all events in the order of a session.
func Events() []string {
	return []string{SessionStart, UserPromptSubmit, PreToolUse, PermissionRequest, PostToolUse, PostToolUseFailure, Stop, StopFailure,
		SubagentStart, SubagentStop, PreCompact, PostCompact, Notification, SessionEnd}
}

// AboutTool says that an event is about a tool call, so that a matcher meets
// the tool's name and `if` has a call to look at.
func AboutTool(event string) bool {
	switch event {
	case PreToolUse, PermissionRequest, PostToolUse, PostToolUseFailure:
		return true
	}
	return false
}

const (
	defaultTimeout = 60 * time.Second
	promptTimeout  = 30 * time.Second
)

// Hook is one hook with where it was written.
type Hook struct {
	profile.Hook
	Event   string
	Matcher string
	Name    string // what it is called in tags, notices and `hook list`
	Origin  string // file:line
	// Ready is asked before each run; an error keeps the hook from running: a
	// file that it names is no longer the one that was trusted. It gets the
	// directory that the hook would run in. nil: always ready.
	Ready func(dir string) error
}

// Options of a Runner. Nil funcs are fine: nothing is told, prompt hooks fail.
type Options struct {
	// Hooks that count, trusted ones only, in the order of their files: of
	// several rewrites the last one's wins.
	Hooks []Hook
	// Environ is where PATH, HOME, locale and the variables that an http
	// hook's headers may hold come from.
	Environ    []string
	ProjectDir string // what LARVA_PROJECT_DIR and CLAUDE_PROJECT_DIR say
	Cwd        string // of the agent that fires: commands run here
	Session    string
	Transcript string // path, "" where none is written
	Places     permission.Places
	Mode       func() string
	// Effects states the facts of a call, for `if`.
	Effects func(tool.Call) tool.Effects
	// Evaluate puts a prompt to a model; model is the hook's label or "".
	Evaluate func(ctx context.Context, model, prompt string) (string, error)
	// AllowedURLs are the user's http_hooks.allowed_urls.
	AllowedURLs []string
	Tell        func(event.Body)
	Notice      func(code, text string)
}

// Runner fires hooks for one agent of one session.
type Runner struct {
	o       Options
	agent   Agent
	byEvent map[string][]*ready
	shared  *shared
}

// Agent is a subagent, as its hooks are told of it. Zero: the main agent.
type Agent struct {
	ID, Type string
	Cwd      string // where its hooks run; "" is the parent's
	// Tell, Notice and Effects take the place of the parent's; nil keeps them.
	Tell    func(event.Body)
	Notice  func(code, text string)
	Effects func(tool.Call) tool.Effects
}

// shared is what the runners of a session's agents have in common.
type shared struct {
	mu    sync.Mutex
	spent map[*ready]bool // hooks with once that have run
	ended bool            // no async hook begins any more
	async sync.WaitGroup
	// cancel ends the async hooks that still run.
	ctx    context.Context
	cancel context.CancelFunc
}

// ready is a hook that has been read and found right.
type ready struct {
	Hook
	matches   func(subject string) bool
	condition *permission.Condition // nil: none
	timeout   time.Duration
}

// New reads the hooks. What is wrong with them is one PROFILE_INVALID error
// with a problem each: a hook that cannot be understood is never skipped.
func New(o Options) (*Runner, error) {
	r := &Runner{o: o, byEvent: map[string][]*ready{}, shared: &shared{spent: map[*ready]bool{}}}
	r.shared.ctx, r.shared.cancel = context.WithCancel(context.Background())
	var bad []diag.Problem
	for _, h := range o.Hooks {
		one, problems := read(h, o.Places)
		bad = append(bad, problems...)
		r.byEvent[h.Event] = append(r.byEvent[h.Event], one)
	}
	if len(bad) > 0 {
		return nil, &diag.Error{Code: diag.ProfileInvalid, Message: bad[0].String(), Problems: bad}
	}
	return r, nil
}

// Check says what is wrong with a hook, nothing where it can run.
func Check(h Hook) []diag.Problem {
	_, bad := read(h, permission.Places{})
	return bad
}

// For gives the runner of a subagent: the same hooks, run in its directory and
// told of it.
func (r *Runner) For(a Agent) *Runner {
	c := *r
	c.agent = a
	if a.Cwd != "" {
		c.o.Cwd = a.Cwd
	}
	if a.Tell != nil {
		c.o.Tell = a.Tell
	}
	if a.Notice != nil {
		c.o.Notice = a.Notice
	}
	if a.Effects != nil {
		c.o.Effects = a.Effects
	}
	return &c
}

func read(h Hook, p permission.Places) (*ready, []diag.Problem) {
	out := &ready{Hook: h, timeout: defaultTimeout}
	var bad []diag.Problem
	wrong := func(field, message, hint string) {
		pr := diag.Problem{Path: "hooks." + h.Event + "." + field, Message: h.Name + ": " + message, Hint: hint}
		pr.File, pr.Line = split(h.Origin)
		bad = append(bad, pr)
	}
	if !known(h.Event) {
		wrong("type", "no event is called "+h.Event, "events: "+strings.Join(Events(), ", "))
	}
	var err error
	if out.matches, err = matcher(h.Matcher); err != nil {
		wrong("matcher", err.Error(), "a name, names with | between, or a regular expression")
	}
	if subjectless(h.Event) {
		out.matches = func(string) bool { return true }
	}
	for _, c := range complaints(h.Hook) {
		wrong(c.field, c.message, c.hint)
	}
	if h.Type == "prompt" {
		out.timeout = promptTimeout
	}
	if h.Timeout > 0 {
		out.timeout = time.Duration(h.Timeout * float64(time.Second))
	}
	if h.If != "" {
		switch out.condition, err = permission.NewCondition(h.If, h.Origin, p); {
		case err != nil:
			wrong("if", err.Error(), "")
		case !AboutTool(h.Event):
			wrong("if", "only hooks about tools have a call to look at", "take if out, or move the hook to PreToolUse")
		}
	}
	return out, bad
}

func known(event string) bool {
	for _, e := range Events() {
		if e == event {
			return true
		}
	}
	return false
}

type complaint struct{ field, message, hint string }

// complaints are mistakes that the schema's types alone do not show.
func complaints(h profile.Hook) (out []complaint) {
	needs := func(field, value string) {
		if strings.TrimSpace(value) == "" {
			out = append(out, complaint{field, "a " + h.Type + " hook needs " + field, ""})
		}
	}
	switch h.Type {
	case "command":
		needs("command", h.Command)
	case "prompt":
		needs("prompt", h.Prompt)
	case "http":
		needs("url", h.URL)
		out = append(out, headerComplaints(h)...)
	default:
		out = append(out, complaint{"type", "no hook is of type " + h.Type, "types: command, prompt, http"})
	}
	if h.Args != nil && h.Type != "command" {
		out = append(out, complaint{"args", "only a command hook has args", ""})
	}
	switch {
	case h.OnError != "" && h.OnError != "ignore" && h.OnError != "block":
		out = append(out, complaint{"on_error", "on_error is ignore or block", ""})
	case h.OnError == "block" && h.Async:
		out = append(out, complaint{"on_error", "an async hook decides nothing, so it cannot block when it fails", "take out async or on_error"})
	}
	return out
}

// split cuts file:line.
func split(origin string) (string, int) {
	i := strings.LastIndexByte(origin, ':')
	if i < 0 {
		return origin, 0
	}
	n := 0
	for _, c := range origin[i+1:] {
		if c < '0' || c > '9' {
			return origin, 0
		}
		n = n*10 + int(c-'0')
	}
	return origin[:i], n
}
