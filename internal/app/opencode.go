package app

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/launch/opencode"
	"larva.dev/larva/internal/launch/opencode/plugin"
	"larva.dev/larva/internal/nearest"
	"larva.dev/larva/internal/proc"
)

// OpenCodeInput is a start of OpenCode.
type OpenCodeInput struct {
	Args                  []string // for OpenCode, as they were typed
	Stdin, Stdout, Stderr *os.File
	Notice                func(string)
}

// OpenCodePlan is what would be started. Nothing is written for it, and what
// looks like a secret in a configuration is not shown.
func (a *App) OpenCodePlan(ctx context.Context, args []string) (*opencode.Plan, error) {
	l, err := a.openCodeLaunch(ctx, args)
	if err != nil {
		return nil, err
	}
	plan, err := l.plan(filepath.Join(l.dir, "run-XXXXXXXX"))
	if err != nil {
		return nil, err
	}
	return plan.Veiled(), nil
}

// OpenCode starts the real one in this process's place and gives its exit code.
// The run's private directory is gone when it returns.
func (a *App) OpenCode(ctx context.Context, in OpenCodeInput) (int, error) {
	if err := a.refuseNested("opencode"); err != nil {
		return 0, err
	}
	l, err := a.openCodeLaunch(ctx, in.Args)
	if err != nil {
		return 0, err
	}
	if err := writePlugin(l.pluginDir()); err != nil {
		return 0, err
	}
	run, err := newPrivateRun(l.dir)
	if err != nil {
		return 0, diag.New(diag.Internal, "the run's private directory cannot be made: %v", err)
	}
	defer run.remove()
	plan, err := l.plan(run.path)
	if err != nil {
		return 0, err
	}
	for _, f := range plan.Files {
		if err := os.WriteFile(f.Path, []byte(f.Text), 0o600); err != nil {
			return 0, diag.New(diag.Internal, "%v", err)
		}
	}
	for _, n := range plan.Notices {
		in.Notice(n)
	}
	r, err := proc.Attach(ctx, proc.Attached{Argv: plan.Argv, Dir: a.dir, Env: plan.Env(a.environ), Stdin: in.Stdin, Stdout: in.Stdout, Stderr: in.Stderr})
	if err != nil {
		return 0, diag.New(diag.Internal, "OpenCode does not start: %v", err)
	}
	return r.Exit, nil
}

// openCodeLaunch is a start that was checked and is not planned yet.
type openCodeLaunch struct {
	app   *App
	at    where
	dir   string // of ours, for OpenCode
	side  *opencodeSide
	input opencode.Input
}

// openCodeLaunch checks all that can be checked before a file is written.
func (a *App) openCodeLaunch(ctx context.Context, args []string) (*openCodeLaunch, error) {
	call := opencode.ReadArgs(args)
	if err := a.refusedArgs(call); err != nil {
		return nil, err
	}
	program, err := proc.LookPath("opencode", a.environ)
	if err != nil {
		return nil, diag.New(diag.NoOpenCode, "the program opencode is not in PATH").
			WithHint("install OpenCode (https://opencode.ai), then: larva doctor opencode")
	}
	self := a.selfArgv("")
	if len(self) != 2 { // one path, and the verb
		return nil, diag.New(diag.Internal, "the path of larva itself is not known")
	}
	l := &openCodeLaunch{app: a}
	if l.at, err = a.locate(); err != nil {
		return nil, err
	}
	data, err := a.DataDir()
	if err != nil {
		return nil, err
	}
	l.dir = filepath.Join(data, "opencode")
	if l.side, err = a.opencodeSide(ctx); err != nil {
		return nil, err
	}
	personas, left, err := l.side.personas()
	if err != nil {
		return nil, err
	}
	policies, err := a.openCodePolicies(l.at)
	if err != nil {
		return nil, err
	}
	l.input = opencode.Input{Program: program, Args: args, Call: call, Environ: a.environ, Personas: personas, Context: l.side.context,
		Larva: self[0], Helper: a.helperEnv(), Plugin: filepath.Join(l.pluginDir(), plugin.Entry), Policies: policies, Left: left}
	return l, l.checkAgents(call.Agents)
}

func (l *openCodeLaunch) plan(dir string) (*opencode.Plan, error) {
	in := l.input
	in.PlanFile = filepath.Join(dir, "plan.json")
	p, err := opencode.Build(in)
	var bad *opencode.ConfigError
	if errors.As(err, &bad) {
		return nil, diag.Usage("%s", bad.Error()).WithHint("correct the variable, or unset it")
	}
	return p, err
}

func (l *openCodeLaunch) pluginDir() string {
	return filepath.Join(l.dir, "plugin-"+plugin.Hash())
}

// refusedArgs are starts in which no plugin would be alive.
func (a *App) refusedArgs(c opencode.Call) error {
	off := func(v string) bool { return v == "" || v == "0" || strings.EqualFold(v, "false") }
	switch {
	case c.Pure:
		return diag.Usage("--pure starts OpenCode without plugins, and without larva's no persona is what it says").
			WithHint("leave --pure out, or start opencode itself")
	case !off(a.Getenv("OPENCODE_PURE")):
		return diag.Usage("OPENCODE_PURE starts OpenCode without plugins, and without larva's no persona is what it says").
			WithHint("unset OPENCODE_PURE, or start opencode itself")
	case c.Attach:
		return diag.Usage("the agents of a server elsewhere are not larva's: it has no personas").
			WithHint("start the server by larva opencode serve, and opencode attach to it without larva")
	case c.Empty:
		return diag.Usage("--agent has no value").WithHint("larva opencode --agent PERSONA")
	}
	return nil
}

// checkAgents knows every --agent: OpenCode would take its own agent, with all
// tools, in the place of one that it does not know.
func (l *openCodeLaunch) checkAgents(names []string) error {
	for _, name := range names {
		if err := l.checkAgent(name); err != nil {
			return err
		}
	}
	return nil
}

func (l *openCodeLaunch) checkAgent(name string) error {
	var known []string
	for _, p := range l.input.Personas {
		known = append(known, p.Spec.ID)
	}
	if slices.Contains(known, name) || slices.Contains(opencode.Primary, name) || l.userAgent(name) {
		return nil
	}
	e := diag.New(diag.PersonaNotFound, "there is no agent %q", name).With("id", name)
	for _, left := range l.input.Left {
		if left.ID == name {
			return e.WithHint("persona %s is left out: %s", name, left.Why)
		}
	}
	if near := nearest.Name(name, known); near != "" {
		return e.WithHint("did you mean %s?", near)
	}
	return e.WithHint("larva list names the personas")
}

// userAgent says that OpenCode has an agent of that name of the user's own, as
// far as files tell.
func (l *openCodeLaunch) userAgent(name string) bool {
	if strings.ContainsAny(name, `/\"`) || name == "." || name == ".." {
		return false
	}
	if opencode.NamesAgent([]byte(l.app.Getenv("OPENCODE_CONFIG_CONTENT")), name) {
		return true
	}
	files := []string{l.app.Getenv("OPENCODE_CONFIG")}
	for _, dir := range l.app.opencodeConfigDirs(l.at) {
		for _, sub := range []string{"agent", "agents", "mode", "modes"} {
			if info, err := os.Stat(filepath.Join(dir, sub, name+".md")); err == nil && info.Mode().IsRegular() {
				return true
			}
		}
		files = append(files, filepath.Join(dir, "opencode.json"), filepath.Join(dir, "opencode.jsonc"), filepath.Join(dir, "config.json"))
	}
	return slices.ContainsFunc(files, func(f string) bool {
		text, err := os.ReadFile(f) // not there: it says nothing
		return err == nil && opencode.NamesAgent(text, name)
	})
}

// openCodePolicies are the tool policy files, checked: a plugin that finds one
// it does not understand refuses every tool, and a person wants to know before.
func (a *App) openCodePolicies(at where) ([]string, error) {
	files := []string{filepath.Join(at.project, ".opencode", "tool-policy.json")}
	config := a.Getenv("XDG_CONFIG_HOME")
	if config == "" && a.home != "" {
		config = filepath.Join(a.home, ".config")
	}
	if config != "" {
		files = append(files, filepath.Join(config, "opencode", "tool-policy.json"))
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if os.IsNotExist(err) {
			continue
		}
		if err == nil {
			err = opencode.CheckPolicy(text)
		}
		if err != nil {
			return nil, diag.New(diag.ProfileInvalid, "%s: %v", f, err).With("path", f).
				WithHint(`{"agents": {"PERSONA": {"deny": ["web*"], "allow": ["webfetch"]}}}`)
		}
	}
	return files, nil
}

// helperEnv is the whole environment of the plugin's helper: what says where
// things are, and nothing else.
func (a *App) helperEnv() []opencode.Env {
	var out []opencode.Env
	for _, name := range []string{"HOME", "USERPROFILE", "PATH", "LARVA_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "TMPDIR", "LANG", "SystemRoot", "APPDATA", "LOCALAPPDATA"} {
		if v := a.Getenv(name); v != "" {
			out = append(out, opencode.Env{Name: name, Value: v})
		}
	}
	return out
}
