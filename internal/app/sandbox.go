package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"larva.dev/larva/internal/capability"
	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/permission"
	"larva.dev/larva/internal/sandbox"
)

// WallVerb is the hidden first argument under which this binary is a part of
// the wall around a shell command.
const WallVerb = sandbox.HelperVerb

// WallChild is that part; args follow the verb. It gives the exit code.
func WallChild(ctx context.Context, args []string, stderr io.Writer) int {
	return sandbox.Helper(ctx, args, stderr)
}

// probing is a sandbox being tried while a run is set up. Who starts it ends
// it.
type probing struct {
	done  chan struct{}
	found sandbox.Found
	err   error
}

func (a *App) probe(ctx context.Context, kind string) *probing {
	p := &probing{done: make(chan struct{})}
	m := sandbox.Machine{Kind: kind, Self: a.selfArgv(WallVerb), Environ: a.environ}
	go func() {
		defer close(p.done)
		p.found, p.err = sandbox.Probe(ctx, m)
	}()
	return p
}

// end waits: a probe takes some milliseconds, ending one early takes longer.
func (p *probing) end() { <-p.done }

// wallIn gives the stand's shell its wall, and the policy what follows from
// it. portable is a judgement for every machine: it takes the profile's word.
func (a *App) wallIn(s *stand, p *probing, portable bool) error {
	box := s.eff.Profile.Sandbox
	if bad := sandbox.CheckDomains(box.AllowedDomains); bad != "" {
		return diag.New(diag.ProfileInvalid, "sandbox.allowed_domains: %q is no host", bad).
			With("origin", s.eff.Origins["sandbox.allowed_domains"]).WithHint("write example.org (with what lies below it), *.example.org, or an IP address")
	}
	if portable {
		s.policy.Sandboxed = box.Kind == sandbox.Bubblewrap || box.Kind == sandbox.Seatbelt
		return nil
	}
	<-p.done
	if p.err != nil {
		e := *diag.As(p.err)
		return withNotices((&e).With("origin", s.eff.Origins["sandbox.kind"]), s.notices)
	}
	o, err := a.wallOptions(s)
	if err != nil {
		return err
	}
	s.found = p.found
	s.wall = p.found.Wall(o)
	firm, why := s.wall.Firm()
	s.policy.Sandboxed = firm
	if why != "" {
		s.notices = append(s.notices, "sandbox: "+why+": shell commands are asked about one by one")
	}
	if n := p.found.Notice(); n != "" {
		s.notices = append(s.notices, n)
	}
	switch kind := s.wall.Kind(); {
	case len(o.Domains) > 0 && kind != sandbox.Bubblewrap:
		s.notices = append(s.notices, "sandbox.allowed_domains has no effect with the sandbox "+kind+": it takes bubblewrap")
	case len(o.Pass) > 0 && kind == sandbox.None:
		s.notices = append(s.notices, "sandbox.env_passthrough has no effect without a sandbox: commands get no keys")
	}
	return nil
}

func (a *App) wallOptions(s *stand) (sandbox.Options, error) {
	larvaHome, err := a.LarvaHome()
	if err != nil {
		return sandbox.Options{}, err
	}
	data, err := a.DataDir()
	if err != nil {
		return sandbox.Options{}, err
	}
	box := s.eff.Profile.Sandbox
	sum := sha256.Sum256([]byte(s.roots.Project))
	if a.work != "" { // worktrees come and go: those of a repository share one
		sum = sha256.Sum256([]byte(s.at.common + "\x00worktrees"))
	}
	o := sandbox.Options{
		Project: s.roots.Project, Cwd: s.roots.Cwd, Roots: s.roots.Roots, Temp: s.roots.Temp, Home: s.roots.Home,
		Guarded: []string{real(larvaHome), real(s.at.config), real(data)},
		Denied:  s.policy.ReadDenied,
		Domains: box.AllowedDomains, Pass: box.EnvPassthrough, Keys: s.keyNames(), Environ: a.environ,
		State: filepath.Join(real(data), "sandbox"),
	}
	if s.policy.HasWriteRules() {
		o.Fixed = s.policy.WriteRuled
	}
	o.ReadOnly = s.onlyReads()
	if cache := a.cacheDir(); cache != "" {
		o.Cache = filepath.Join(real(cache), "larva", "sandbox", hex.EncodeToString(sum[:8]))
	}
	return o, nil
}

// onlyReads says that the shell of the persona, or of one that it works for, is
// read_only.
func (s *stand) onlyReads() bool {
	if s.persona != nil && s.persona.Capabilities["shell"] == capability.ReadOnly.String() {
		return true
	}
	return slices.ContainsFunc(s.policy.Above, func(b permission.Bound) bool { return b.Ceiling["shell"] == capability.ReadOnly })
}

// cacheDir is the user's cache directory, "" where there is none.
func (a *App) cacheDir() string {
	if c := a.Getenv("XDG_CACHE_HOME"); filepath.IsAbs(c) {
		return c
	}
	if a.home == "" {
		return ""
	}
	return filepath.Join(a.home, ".cache")
}

// walledIn tells the model what walls its commands in. It names no path of
// this one run: the prompt stays the same from run to run.
func (s *stand) walledIn() string {
	kind, writes := s.wall.Kind(), "in the project, the added directories and $TMPDIR only"
	if s.onlyReads() {
		writes = "in $TMPDIR only"
	}
	switch kind {
	case sandbox.None:
		return ""
	case sandbox.Landlock:
		return "Shell commands run in a sandbox (landlock): they can write " + writes + ", and open no TCP connection."
	}
	net := "this machine"
	if kind == sandbox.Bubblewrap && len(s.eff.Profile.Sandbox.AllowedDomains) > 0 {
		net += " and, through a proxy, " + strings.Join(s.eff.Profile.Sandbox.AllowedDomains, ", ")
	}
	return "Shell commands run in a sandbox (" + kind + "): they can write " + writes + ", see no secrets, and reach " + net + " alone. A command that needs more can ask for it with sandbox: false."
}
