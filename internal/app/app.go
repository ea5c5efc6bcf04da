// Package app is the wiring: one method a verb, in a file a verb group. It
// names every room of the house and decides nothing itself; printing, asking
// and the grammar are cli's.
package app

import (
	"os"
	"path/filepath"
	"strings"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/load"
	"larva.dev/larva/internal/model"
	"larva.dev/larva/internal/registry"
)

// EvalVerb is the hidden first argument under which this binary evaluates
// untrusted CUE for its parent and does nothing else.
const EvalVerb = "__eval"

// Options say where an App lives. Only Dir is required.
type Options struct {
	Home    string   // the user's home directory; "" makes verbs that need it fail with a hint
	Dir     string   // the working directory, absolute; relative arguments are meant from here
	Environ []string // KEY=VALUE, the last of a key wins
	Self    []string // argv prefix that runs this binary again; empty means os.Executable
}

// App is one process's view of the disk and the environment. It is read-only
// after New, but for the memory of which models failed of late, and opens
// nothing before a verb needs it.
type App struct {
	home, dir string
	environ   []string
	self      []string
	cooldown  *model.Cooldown

	// work is where a run works, "" for dir: a worktree. What is named on the
	// command line is meant from dir all the same. others are the checkouts that
	// such a run must leave alone, though it was started in one.
	work   string
	others []string
}

// New builds an App; no disk access.
func New(o Options) *App {
	return &App{home: o.Home, dir: o.Dir, environ: o.Environ, self: o.Self, cooldown: &model.Cooldown{}}
}

// Getenv gives the value of key in the App's environment, "" where it is not set.
func (a *App) Getenv(key string) string {
	for i := len(a.environ) - 1; i >= 0; i-- {
		if k, v, ok := strings.Cut(a.environ[i], "="); ok && k == key {
			return v
		}
	}
	return ""
}

// LarvaHome is ~/.larva, or what LARVA_HOME says.
func (a *App) LarvaHome() (string, error) {
	if h := a.Getenv("LARVA_HOME"); h != "" {
		return a.abs(h), nil
	}
	if a.home == "" {
		return "", diag.New(diag.Internal, "neither HOME nor LARVA_HOME is set").
			WithHint("export HOME or LARVA_HOME, the directory that holds the registry")
	}
	return filepath.Join(a.home, ".larva"), nil
}

// registry opens the persona registry.
func (a *App) registry() (*registry.Registry, error) {
	h, err := a.LarvaHome()
	if err != nil {
		return nil, err
	}
	return registry.Open(filepath.Join(h, "registry")), nil
}

// abs gives path from the working directory.
func (a *App) abs(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(a.dir, path)
}

// loadOptions are those of every file a person names: read from the working
// directory, CUE evaluated in a child.
func (a *App) loadOptions() load.Options {
	return load.Options{Dir: a.dir, Self: a.evalArgv()}
}

// evalArgv is the argv prefix of the child that evaluates untrusted CUE.
func (a *App) evalArgv() []string { return a.selfArgv(EvalVerb) }

// selfArgv is the argv prefix that runs this binary again under a hidden verb;
// nil where its own path is not known.
func (a *App) selfArgv(verb string) []string {
	self := a.self
	if len(self) == 0 {
		exe, err := os.Executable()
		if err != nil {
			return nil
		}
		self = []string{exe}
	}
	return append(append([]string(nil), self...), verb)
}

// refuseNested fails where larva was started from inside one of its own runs:
// with protected paths this keeps an agent from widening itself.
func (a *App) refuseNested(verb string) error {
	if a.Getenv("LARVA_DEPTH") == "" {
		return nil
	}
	return diag.New(diag.Nested, "%s is refused inside a larva run", verb).
		With("verb", verb).
		WithHint("run it yourself, outside the agent: LARVA_DEPTH is set here")
}
