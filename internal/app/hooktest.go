package app

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/hook"
	"larva.dev/larva/internal/model"
	"larva.dev/larva/internal/nearest"
	"larva.dev/larva/internal/permission"
	"larva.dev/larva/internal/tool"
)

// sampleSession is the session id of a trial's payload.
const sampleSession = "00000000-000000-000000"

// HookInput is what `hook list` and `hook test` were told.
type HookInput struct {
	Profile string
	Event   string // test alone, as what follows
	Tool    string
	Input   string // JSON, or a bare shell line or path
	Hook    string // only the hook of this name
}

// HookInfo is one hook as `hook list` shows it.
type HookInfo struct {
	Name    string `json:"name"`
	Source  string `json:"source"` // file:line
	Event   string `json:"event"`
	Matcher string `json:"matcher"`
	If      string `json:"if"`
	Type    string `json:"type"`
	// Runs is the command, the prompt or the URL.
	Runs    string  `json:"runs"`
	Async   bool    `json:"async"`
	Once    bool    `json:"once"`
	OnError string  `json:"on_error"`
	Timeout float64 `json:"timeout"` // seconds, 0: the default
	// State is trusted, untrusted or changed for a project's hook, own for one
	// of the user's.
	State string `json:"state"`
}

func infoOf(h foundHook) HookInfo {
	out := HookInfo{Name: h.Name, Source: h.Origin, Event: h.Event, Matcher: h.Matcher, If: h.If, Type: h.Type, Async: h.Async, Once: h.Once,
		OnError: h.OnError, Timeout: h.Timeout, State: "own"}
	if out.OnError == "" {
		out.OnError = "ignore"
	}
	if h.Item != nil {
		out.State = h.Item.Status
	}
	switch h.Type {
	case "prompt":
		out.Runs = h.Prompt
	case "http":
		out.Runs = h.URL
	default:
		out.Runs = strings.Join(append([]string{h.Command}, h.Args...), " ")
	}
	return out
}

// HookList lists the hooks of all files in the order in which they are asked.
func (a *App) HookList(ctx context.Context, in HookInput) ([]HookInfo, []string, error) {
	s, err := a.stand(ctx, about{flags: flags{profile: in.Profile}})
	if err != nil {
		return nil, nil, err
	}
	out := []HookInfo{}
	for _, h := range s.hooks {
		out = append(out, infoOf(h))
	}
	return out, s.notices, nil
}

// HookTested is what `hook test` shows.
type HookTested struct {
	Event   string          `json:"event"`
	Payload json.RawMessage `json:"payload"`
	Hooks   []HookRun       `json:"hooks"`
	Skipped []HookSkipped   `json:"skipped"`
	// Notices say what reading the outputs found.
	Notices []string   `json:"notices"`
	Effect  HookEffect `json:"effect"`
}

// HookRun is one hook that was fired.
type HookRun struct {
	Name   string          `json:"name"`
	Source string          `json:"source"`
	Exit   *int            `json:"exit"` // null: there is none
	Stdout string          `json:"stdout"`
	Stderr string          `json:"stderr"`
	Output json.RawMessage `json:"output"` // stdout as JSON, null where it is none
	Effect string          `json:"effect"`
	Reason string          `json:"reason"`
	Faults []string        `json:"faults"`
}

// HookSkipped is one that was not, and why.
type HookSkipped struct {
	Name   string `json:"name"`
	Source string `json:"source"`
	Why    string `json:"why"`
}

// HookEffect is what all of them would do to the run.
type HookEffect struct {
	Verdict string          `json:"verdict"` // allow, ask, deny; "" for none
	Reason  string          `json:"reason"`
	Block   string          `json:"block"`
	Halt    string          `json:"halt"`
	Input   json.RawMessage `json:"input"` // the rewritten input, null where it stays
	Output  *string         `json:"output"`
	Context string          `json:"context"`
}

// HookTest fires the hooks of one event that match, outside a run and with a
// sample payload. A project's hook that nobody has trusted is not fired.
func (a *App) HookTest(ctx context.Context, in HookInput) (HookTested, error) {
	if err := a.refuseNested("hook test"); err != nil {
		return HookTested{}, err
	}
	s, err := a.stand(ctx, about{flags: flags{profile: in.Profile}})
	if err != nil {
		return HookTested{}, err
	}
	sample, err := sampleOf(in)
	if err != nil {
		return HookTested{}, err
	}
	out := HookTested{Event: in.Event, Hooks: []HookRun{}, Skipped: []HookSkipped{}, Notices: append([]string{}, s.notices...)}
	s.hooks = slices.DeleteFunc(s.hooks, func(h foundHook) bool { return h.Event != in.Event })
	if in.Hook != "" {
		if err := onlyHook(s, in); err != nil {
			return HookTested{}, err
		}
	}
	for _, h := range s.hooks {
		if !h.counts() {
			out.Skipped = append(out.Skipped, HookSkipped{h.Name, h.Origin, h.Item.Status + ": larva trust list"})
		}
	}
	r, err := a.hookRunner(s, hook.Options{Session: sampleSession, Mode: s.mode,
		Notice: func(_, text string) { out.Notices = append(out.Notices, text) },
		Evaluate: func(ctx context.Context, label, prompt string) (string, error) {
			return a.evaluate(ctx, s, label, prompt)
		}})
	if err != nil {
		return HookTested{}, err
	}
	if r == nil {
		if r, err = hook.New(hook.Options{Cwd: s.roots.Cwd, Session: sampleSession, Mode: s.mode}); err != nil {
			return HookTested{}, err
		}
	}
	t := r.Try(ctx, in.Event, sample)
	out.Payload = t.Payload
	for _, o := range t.Outcomes {
		out.Hooks = append(out.Hooks, runOf(o))
	}
	for _, h := range t.Unmatched {
		out.Skipped = append(out.Skipped, HookSkipped{h.Name, h.Origin, "its matcher or if does not match"})
	}
	out.Effect = HookEffect{Verdict: string(t.Verdict), Reason: t.Reason, Block: t.Block, Halt: t.Halt, Input: t.Input, Output: t.Output, Context: t.Context}
	return out, ctx.Err()
}

func (a *App) evaluate(ctx context.Context, s *stand, label, prompt string) (string, error) {
	m, err := a.sideModel(ctx, s, label)
	if err != nil {
		return "", err
	}
	return answerOf(m.Ask(ctx, question(m, prompt), func(model.Delta) {}))
}

func onlyHook(s *stand, in HookInput) error {
	var names []string
	for _, h := range s.hooks {
		names = append(names, h.Name)
	}
	s.hooks = slices.DeleteFunc(s.hooks, func(h foundHook) bool { return h.Name != in.Hook })
	if len(s.hooks) > 0 {
		return nil
	}
	e := diag.Usage("there is no %s hook %q", in.Event, in.Hook).With("name", in.Hook)
	if len(names) > 0 {
		return e.WithHint("there are: %s", strings.Join(names, ", "))
	}
	return e.WithHint("see: larva hook list")
}

func sampleOf(in HookInput) (hook.Sample, error) {
	if !slices.Contains(hook.Events(), in.Event) {
		meant := ""
		if near := nearest.Name(in.Event, hook.Events()); near != "" {
			meant = "did you mean " + near + "? "
		}
		return hook.Sample{}, diag.Usage("there is no event %q", in.Event).With("event", in.Event).
			WithHint("%sevents: %s", meant, strings.Join(hook.Events(), ", "))
	}
	if !hook.AboutTool(in.Event) {
		if in.Tool != "" || in.Input != "" {
			return hook.Sample{}, diag.Usage("%s is about no tool call: --tool and --input do not go with it", in.Event)
		}
		return hook.Sample{}, nil
	}
	c := tool.Call{ID: "sample", Tool: in.Tool, Input: json.RawMessage(`{"command":"echo hello"}`)}
	if c.Tool == "" {
		c.Tool = "bash"
	}
	if !permission.Known(c.Tool) {
		e := diag.Usage("there is no tool %q", c.Tool).With("tool", c.Tool)
		if near := permission.DidYouMean(c.Tool); near != "" {
			e.WithHint("did you mean %s?", near)
		}
		return hook.Sample{}, e
	}
	switch {
	case in.Input != "":
		c.Input = inputOf(c.Tool, in.Input)
	case c.Tool != "bash":
		c.Input = json.RawMessage(`{}`)
	}
	var o map[string]json.RawMessage
	if json.Unmarshal(c.Input, &o) != nil || o == nil {
		return hook.Sample{}, diag.Usage("--input is no JSON object").WithHint(`--input '{"command":"git status"}'`)
	}
	return hook.Sample{Call: &c}, nil
}

func runOf(o hook.Outcome) HookRun {
	out := HookRun{Name: o.Hook.Name, Source: o.Hook.Origin, Stdout: o.Stdout, Stderr: o.Stderr, Effect: o.Effect(), Faults: o.Says.Faults}
	if o.Exit >= 0 {
		out.Exit = &o.Exit
	}
	if out.Faults == nil {
		out.Faults = []string{}
	}
	if text := strings.TrimSpace(o.Stdout); strings.HasPrefix(text, "{") && json.Valid([]byte(text)) {
		out.Output = json.RawMessage(text)
	}
	for _, r := range []string{o.Says.Reason, o.Says.Block, o.Says.Halt} {
		if out.Reason == "" {
			out.Reason = r
		}
	}
	return out
}
