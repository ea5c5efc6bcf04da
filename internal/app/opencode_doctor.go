package app

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/launch/opencode"
	"larva.dev/larva/internal/proc"
)

// openCodeTested is the version that larva opencode is tested with.
const openCodeTested = "1.18.33"

// openCodeDeadline bounds a start of OpenCode that only lists its agents.
const openCodeDeadline = 2 * time.Minute

// OpenCodeHealth is what OpenCode made of the personas.
type OpenCodeHealth struct {
	Program string          `json:"program"`
	Version string          `json:"version"`
	Tested  string          `json:"tested"`
	Agents  []OpenCodeAgent `json:"agents"`
	Left    []opencode.Left `json:"left"`
}

// OpenCodeAgent is one persona inside OpenCode. Wider is empty where its rules
// are what was planned, or less.
type OpenCodeAgent struct {
	ID     string          `json:"id"`
	Wider  []string        `json:"wider"`
	Losses []opencode.Loss `json:"losses"`
}

// Err is nil where no agent may more than its persona says.
func (h OpenCodeHealth) Err() *diag.Error {
	for _, a := range h.Agents {
		if len(a.Wider) > 0 {
			return diag.New(diag.RegistryDiagnosticFailed, "%s: OpenCode gives it more than it says: %s", a.ID, a.Wider[0]).
				With("agents", h.Agents).WithHint("a plugin or a managed configuration changes it behind larva's; larva opencode sends nothing then")
		}
	}
	return nil
}

// OpenCodeDoctor starts the real OpenCode, offline, lets it list its agents and
// compares their rules with the personas. id limits it to one.
func (a *App) OpenCodeDoctor(ctx context.Context, id string) (OpenCodeHealth, error) {
	if err := a.refuseNested("doctor opencode"); err != nil {
		return OpenCodeHealth{}, err
	}
	l, err := a.openCodeLaunch(ctx, []string{"agent", "list"})
	if err != nil {
		return OpenCodeHealth{}, err
	}
	if id != "" {
		if err := l.checkPersona(id); err != nil {
			return OpenCodeHealth{}, err
		}
	}
	h := OpenCodeHealth{Program: l.input.Program, Tested: openCodeTested, Agents: []OpenCodeAgent{}, Left: l.input.Left}
	version, err := a.openCodeSays(ctx, []string{l.input.Program, "--version"}, a.environ, nil)
	if err != nil {
		return h, err
	}
	h.Version = strings.TrimSpace(string(version))
	found, plan, err := a.openCodeAgents(ctx, l)
	if err != nil {
		return h, err
	}
	h.Left = plan.Left
	for _, left := range plan.Left {
		if left.ID == id {
			return h, diag.Usage("persona %s is left out: %s", id, left.Why)
		}
	}
	for _, p := range l.input.Personas {
		if id != "" && p.Spec.ID != id || !slices.Contains(plan.Agents, p.Spec.ID) {
			continue
		}
		one := OpenCodeAgent{ID: p.Spec.ID, Wider: []string{}, Losses: plan.Losses[p.Spec.ID]}
		rules, ok := found[p.Spec.ID]
		if !ok {
			return h, diag.New(diag.Internal, "OpenCode has no agent %s: larva's plugin is not running", p.Spec.ID).WithHint("see opencode's log: opencode agent list --print-logs")
		}
		x := plan.Context
		x.MCP = rules.Servers() // also those of files, which only OpenCode reads
		one.Wider = append(one.Wider, opencode.Wider(rules, opencode.Project(p.Spec, x).Table.Rules(), a.home)...)
		h.Agents = append(h.Agents, one)
	}
	return h, nil
}

func (l *openCodeLaunch) checkPersona(id string) error {
	for _, left := range l.input.Left {
		if left.ID == id {
			return diag.Usage("persona %s is left out: %s", id, left.Why)
		}
	}
	for _, p := range l.input.Personas {
		if p.Spec.ID == id {
			return nil
		}
	}
	return l.checkAgent(id)
}

// openCodeAgents starts OpenCode as larva opencode would.
func (a *App) openCodeAgents(ctx context.Context, l *openCodeLaunch) (map[string]opencode.Rules, *opencode.Plan, error) {
	if err := writePlugin(l.pluginDir()); err != nil {
		return nil, nil, err
	}
	run, err := newPrivateRun(l.dir)
	if err != nil {
		return nil, nil, diag.New(diag.Internal, "the private directory cannot be made: %v", err)
	}
	defer run.remove()
	plan, err := l.plan(run.path)
	if err != nil {
		return nil, nil, err
	}
	for _, f := range plan.Files {
		if err := os.WriteFile(f.Path, []byte(f.Text), 0o600); err != nil {
			return nil, nil, diag.New(diag.Internal, "%v", err)
		}
	}
	env := append(plan.Env(a.environ), "npm_config_offline=true", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1")
	list, err := os.OpenFile(filepath.Join(run.path, "agents.txt"), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, nil, diag.New(diag.Internal, "the private directory cannot be written: %v", err)
	}
	defer list.Close()
	if _, err := a.openCodeSays(ctx, plan.Argv, env, list); err != nil {
		return nil, nil, err
	}
	if _, err := list.Seek(0, io.SeekStart); err != nil {
		return nil, nil, diag.New(diag.Internal, "what OpenCode lists cannot be read: %v", err)
	}
	found, err := opencode.ReadAgents(io.LimitReader(list, 256<<20))
	if err != nil {
		return nil, nil, diag.New(diag.Internal, "what OpenCode lists cannot be read: %v", err)
	}
	return found, plan, nil
}

// openCodeSays runs it to its end. What is long goes to a file: OpenCode ends
// without waiting for a pipe to take all that it has said.
func (a *App) openCodeSays(ctx context.Context, argv, env []string, to *os.File) ([]byte, error) {
	c := proc.Command{Argv: argv, Dir: a.dir, Env: env, Timeout: openCodeDeadline, MaxOutput: 1 << 20}
	if to != nil {
		c.Stdout = to
	}
	r, err := proc.Run(ctx, c)
	if err != nil {
		return nil, diag.New(diag.Internal, "OpenCode does not start: %v", err)
	}
	if r.Exit != 0 || r.TimedOut || r.Truncated {
		why := fmt.Sprintf("exit code %d", r.Exit)
		if r.TimedOut {
			why = "no end within " + openCodeDeadline.String()
		}
		return nil, diag.New(diag.Internal, "%s: %s", filepath.Base(argv[0]), why).WithHint("%s", lastLine(r.Stderr))
	}
	return r.Stdout, nil
}

// lastLine is what a program said last.
func lastLine(text []byte) string {
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return lines[len(lines)-1]
}
