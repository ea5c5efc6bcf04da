package app

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"larva.dev/larva/internal/agent"
	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/profile"
	"larva.dev/larva/internal/sandbox"
	"larva.dev/larva/internal/tool"
)

// maxPrompt bounds what is read from stdin: more than any context window.
const maxPrompt = 16 << 20

// Run runs a persona until it ends. The result is valid once the run has
// begun, also beside an error.
func (a *App) Run(ctx context.Context, in RunInput) (event.Result, error) {
	sit, in, err := a.sit(in, true)
	if err != nil {
		return event.Result{}, err
	}
	defer sit.close()
	if err := a.refuseWider(in); err != nil {
		return event.Result{}, err
	}
	if err := in.checkSchema(); err != nil {
		return event.Result{}, err
	}
	temp, remove, err := sandbox.RunDir()
	if err != nil {
		return event.Result{}, diag.New(diag.Internal, "the run's temp directory cannot be made: %v", err).
			WithHint("set TMPDIR to a directory that can be written")
	}
	defer remove()
	var sweeping sync.WaitGroup
	sweeping.Go(func() { sandbox.SweepTemp(time.Now()) })
	defer sweeping.Wait()
	a, s, apart, err := a.standApart(ctx, in, temp, sit)
	defer apart.finish(ctx) // of a run that never began
	if err != nil {
		return event.Result{}, err
	}
	if err := s.unknownCommand(in.Prompt); err != nil {
		return event.Result{}, withNotices(err, s.notices)
	}
	servers, err := a.connectServers(ctx, s)
	defer servers.end()
	if err != nil {
		return event.Result{}, withNotices(err, s.notices)
	}
	prompt, err := promptOf(ctx, in)
	if err != nil {
		return event.Result{}, err
	}
	l, err := a.loop(ctx, s, in, sit)
	if err != nil {
		return event.Result{}, withNotices(err, s.notices)
	}
	defer s.wall.Close()
	defer s.shell.Close()
	apart.closing(l, s)
	if ctx, err = sit.begin(ctx, a, l, s, in); err != nil {
		return event.Result{}, withNotices(err, s.notices)
	}
	if s.family != nil {
		defer s.family.close()
	}
	res, err := l.Run(ctx, prompt)
	if lost := sit.failed(); lost != nil {
		return res, lost
	}
	return res, notThere(err, s.route)
}

// notThere says what helps where nothing listens at the service's address.
func notThere(err error, r profile.Route) error {
	var e *diag.Error
	if !errors.As(err, &e) || e.Code != diag.ModelFailed || e.Hint != "" || !strings.HasPrefix(e.Message, r.Name()+":") || !strings.HasSuffix(e.Message, "connection refused") {
		return err
	}
	if r.ProviderName == "ollama" {
		return e.WithHint("start Ollama (ollama serve) and fetch the model once (ollama pull %s)", diag.Word(r.Model))
	}
	return e.WithHint("nothing listens at %s: start the service, or correct providers.%s.base_url", r.Provider.BaseURL, r.ProviderName)
}

// withNotices adds what would have been told at the start of the run: a
// profile that is not trusted, say, is why a key is missing.
func withNotices(err error, notices []string) error {
	if len(notices) == 0 {
		return err
	}
	e := *diag.As(err)
	e.Notices = notices
	return (&e).With("notices", notices)
}

func (in RunInput) about(temp string, sit *sitting) about {
	return about{persona: in.Persona, variant: in.Variant, overrides: in.Override, addDirs: in.AddDirs, temp: temp, modelFlag: in.Model, effort: in.Effort, kept: sit.kept(), hub: in.hub,
		flags: flags{profile: in.Profile, mode: in.Mode, maxTurns: in.MaxTurns, limits: in.Limits, allow: in.Allow, ask: in.Ask, deny: in.Deny}}
}

// refuseWider keeps a run inside a run from taking more power than its
// surroundings gave it.
func (a *App) refuseWider(in RunInput) error {
	if profile.ModeRank(in.Mode) > profile.ModeRank("default") {
		return a.refuseNested("run --mode " + in.Mode)
	}
	if len(in.Allow) > 0 {
		return a.refuseNested("run --allow")
	}
	if len(in.AddDirs) > 0 {
		return a.refuseNested("run --add-dir")
	}
	if in.Profile != "" && isPath(in.Profile) {
		return a.refuseNested("run --profile PATH")
	}
	return nil
}

// promptOf joins the prompt's arguments and what is piped in.
func promptOf(ctx context.Context, in RunInput) (string, error) {
	prompt := in.Prompt
	if in.Stdin != nil && !in.StdinTTY {
		piped, err := readAll(ctx, in.Stdin)
		if err != nil {
			return "", err
		}
		if strings.TrimSpace(piped) != "" {
			if prompt != "" {
				prompt += "\n\n"
			}
			prompt += piped
		}
	}
	if strings.TrimSpace(prompt) == "" {
		return "", diag.Usage("there is no prompt").
			WithHint(`larva run %s "What to do"; what is piped in is added to it`, in.typed())
	}
	if !utf8.ValidString(prompt) {
		return "", diag.Usage("the prompt is not UTF-8")
	}
	return prompt, nil
}

// typed is what a run was told to run, as it is typed: the session that it
// goes on with, or the persona.
func (in RunInput) typed() string {
	switch {
	case in.Continue:
		return "--continue"
	case in.Resume != "":
		return "--resume " + diag.Word(in.Resume)
	case in.Fork != "":
		return "--fork " + diag.Word(in.Fork)
	}
	return diag.Word(in.Persona)
}

// readAll reads r until its end or ctx's. A reader that never answers is left
// behind: nothing can interrupt it, and the process ends soon after.
func readAll(ctx context.Context, r io.Reader) (string, error) {
	type got struct {
		data []byte
		err  error
	}
	done := make(chan got, 1)
	go func() {
		data, err := io.ReadAll(io.LimitReader(r, maxPrompt+1))
		done <- got{data, err}
	}()
	select {
	case <-ctx.Done():
		return "", context.Cause(ctx)
	case g := <-done:
		if g.err != nil {
			return "", diag.Usage("stdin cannot be read: %v", g.err)
		}
		if len(g.data) > maxPrompt {
			return "", diag.Usage("stdin holds more than %d MiB", maxPrompt>>20)
		}
		return string(g.data), nil
	}
}

// loop wires a run.
func (a *App) loop(ctx context.Context, s *stand, in RunInput, sit *sitting) (*agent.Loop, error) {
	// The model tells of its waits through the loop that it is built for.
	l := &agent.Loop{}
	m, err := a.model(ctx, s, l.Notice)
	if err != nil {
		return nil, err
	}
	params, err := paramsOf(s.persona)
	if err != nil {
		return nil, err
	}
	*l = agent.Loop{
		Persona: s.ref, System: s.system(time.Now()), Model: m, Params: params, Tools: s.tools, Policy: s.policy,
		Ask: asking(in.Question, s.at.privateFile()), Emit: in.Emit, Opening: s.notices,
		Remember:     func(rule string) (string, error) { return a.remember(ctx, s.at, rule) },
		FailOnDenied: in.FailOnDenied,
		Session:      sit.id,
		Mode:         s.mode(), Cwd: s.roots.Cwd, Sandbox: s.wall.Kind(), Skills: s.offeredSkills(), Servers: s.serverNames(),
	}
	s.connect(l, in)
	l.History, l.Source = sit.history()
	l.Auto = a.auto(s, l)
	l.Attach = func(ctx context.Context, typed string) (string, []tool.Image) { return s.attach(ctx, l, typed) }
	l.Expand = func(ctx context.Context, typed string) (string, error) { return s.expandTyped(ctx, l, in, typed) }
	hooks, err := a.runHooks(s, l, sit.transcript())
	if err != nil {
		return nil, err
	}
	if s.desk != nil {
		s.family = a.family(s, in, sit, l, hooks)
	}
	return l, a.bound(ctx, s, in, l, sit.transcript())
}

// maxTurns is the profile's, which the flag is a layer of and a project may
// lower; without the flag the role's where it is lower.
func (s *stand) maxTurns(flag int) int {
	n := agent.DefaultMaxTurns
	if m := s.eff.Profile.Limits.MaxTurns; m != nil {
		n = *m
	}
	if r := s.route.MaxTurns; r > 0 && flag <= 0 {
		n = min(n, r)
	}
	if flag <= 0 {
		n = s.agentTurns(n)
	}
	return n
}

func (s *stand) mode() string {
	if s.eff.Profile.Mode == "" {
		return "default"
	}
	return s.eff.Profile.Mode
}

// Plan is Run without the run: nothing is sent, no key is needed.
func (a *App) Plan(ctx context.Context, in RunInput) (Plan, error) {
	sit, in, err := a.sit(in, false)
	if err != nil {
		return Plan{}, err
	}
	if err := a.refuseWider(in); err != nil {
		return Plan{}, err
	}
	if err := in.checkSchema(); err != nil {
		return Plan{}, err
	}
	s, err := a.stand(ctx, in.about("", sit))
	if err != nil {
		return Plan{}, err
	}
	if (in.Worktree || s.apart != "") && onlyReads(s.mode(), s.at) {
		return Plan{}, withNotices(errOnlyReads(), s.notices)
	}
	if err := s.unknownCommand(in.Prompt); err != nil {
		return Plan{}, withNotices(err, s.notices)
	}
	if _, err := paramsOf(s.persona); err != nil {
		return Plan{}, err
	}
	routes, err := s.routes()
	if err != nil {
		return Plan{}, err
	}
	prompt := in.Prompt
	if prompt != "" || in.Stdin != nil && !in.StdinTTY {
		if prompt, err = promptOf(ctx, in); err != nil && in.Prompt != "" {
			return Plan{}, err
		}
	}
	p := Plan{Persona: s.ref, Label: s.persona.Model, Model: s.route.Name(), Mode: s.mode(), Profile: in.Profile,
		Tools: []string{}, Hooks: s.planHooks(), Roots: s.roots.Roots, Sandbox: s.wall.Kind(), Ceiling: s.persona.Capabilities,
		Rules:       PlanRules{Allow: planRules(s.eff.Allow), Ask: planRules(s.eff.Ask), Deny: planRules(s.eff.Deny)},
		SystemBytes: len(s.system(time.Now())), PromptBytes: len(prompt), MaxTurns: s.maxTurns(in.MaxTurns), Notices: s.notices}
	if in.Model != "" {
		p.Label = in.Model
	}
	p.Effort = s.route.Effort
	for _, r := range routes[1:] {
		p.Fallbacks = append(p.Fallbacks, r.Name())
	}
	p.Notices = append(p.Notices, a.plannedServers(s)...)
	if s.apart != "" {
		p.Notices = append([]string{s.apart}, p.Notices...)
	}
	if in.Worktree || s.apart != "" {
		p.Notices = append([]string{"the run works in a git worktree of its own, made from HEAD; roots are shown as they are here"}, p.Notices...)
	}
	if p.Notices == nil {
		p.Notices = []string{}
	}
	for _, t := range s.tools.Specs() {
		p.Tools = append(p.Tools, t.Name)
	}
	return p, nil
}

func planRules(list []profile.Rule) []PlanRule {
	out := make([]PlanRule, len(list))
	for i, r := range list {
		out[i] = PlanRule{Rule: r.Text, Origin: r.Origin}
	}
	return out
}
