package app

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"strings"

	"larva.dev/larva/internal/agent"
	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/hook"
	"larva.dev/larva/internal/load"
	"larva.dev/larva/internal/model"
	"larva.dev/larva/internal/permission"
	"larva.dev/larva/internal/profile"
	"larva.dev/larva/internal/tool"
	"larva.dev/larva/internal/trust"
)

// foundHook is a hook of some layer. Item is nil for one of the user's own
// files, which need no trust.
type foundHook struct {
	hook.Hook
	Item *TrustItem
}

// counts says that the hook runs.
func (f foundHook) counts() bool { return f.Item == nil || f.Item.Status == string(trust.Trusted) }

// hooksOf lists a layer's hooks, each named by its file, its event and its
// place among the file's hooks of that event.
func (a *App) hooksOf(l profile.Layer) []hook.Hook {
	file := a.shortened(l)
	var out []hook.Hook
	for _, ev := range hook.Events() {
		n := 0
		for i, g := range l.Profile.Hooks[ev] {
			for j, h := range g.Hooks {
				n++
				origin := firstOrigin(l, fmt.Sprintf("hooks.%s.%d.hooks.%d", ev, i, j))
				if _, line := cutOrigin(origin); line > 0 {
					origin = fmt.Sprintf("%s:%d", file, line)
				}
				out = append(out, hook.Hook{Hook: h, Event: ev, Matcher: g.Matcher, Name: fmt.Sprintf("%s#%s/%d", file, ev, n), Origin: origin})
			}
		}
	}
	return out
}

// shortened is a layer's file with ~ for the home directory.
func (a *App) shortened(l profile.Layer) string {
	if l.File == "" {
		return l.Name
	}
	if a.home != "" && within(a.home, l.File) && filepath.IsAbs(l.File) {
		if r, err := filepath.Rel(a.home, l.File); err == nil {
			return "~/" + filepath.ToSlash(r)
		}
	}
	return filepath.ToSlash(l.File)
}

// firstOrigin is the first line of what a layer says at a field or below it.
func firstOrigin(l profile.Layer, field string) string {
	best, bestLine := "", 0
	for k, o := range l.Origins {
		if k != field && !strings.HasPrefix(k, field+".") {
			continue
		}
		if _, line := cutOrigin(o); best == "" || line < bestLine {
			best, bestLine = o, line
		}
	}
	if best == "" {
		return l.File
	}
	return best
}

const settingsFile = ".claude/settings.json"

// claudePersonal reads ~/.claude/settings.json, the user's own.
func (a *App) claudePersonal() ([]profile.Layer, error) {
	if a.home == "" {
		return nil, nil
	}
	path := filepath.Join(a.home, filepath.FromSlash(settingsFile))
	if !exists(path) {
		return nil, nil
	}
	l, err := load.ClaudeHooks(path, hook.Events(), load.Options{})
	l.Name = "claude"
	return []profile.Layer{l}, err
}

// claudeProject reads .claude/settings.json from the project's root down. A
// settings.local.json beside it is left alone: it is no part of the
// repository, and nobody has trusted it.
func (a *App) claudeProject(p where) ([]profile.Layer, error) {
	var out []profile.Layer
	for _, dir := range p.dirs {
		path := filepath.Join(dir, filepath.FromSlash(settingsFile))
		if a.home != "" && dir == real(a.home) || !exists(path) {
			continue
		}
		l, err := load.ClaudeHooks(p.rel(path), hook.Events(), load.Options{Dir: p.project})
		if err != nil {
			return nil, err
		}
		l.Name, l.Project, l.File = "claude", true, p.rel(path)
		out = append(out, l)
	}
	return out, nil
}

// perItem takes out of the layers what trust knows one by one: all hooks, and
// the servers of a project. What is not trusted is told.
func (a *App) perItem(p where, store *trust.Store, stack []profile.Layer) (rest []profile.Layer, hooks []foundHook, notices []string) {
	dir := p.dirs[len(p.dirs)-1]
	for _, l := range stack {
		own := a.hooksOf(l)
		l.Profile.Hooks = nil
		if !l.Project {
			for _, h := range own {
				hooks = append(hooks, foundHook{Hook: h})
			}
			rest = append(rest, l)
			continue
		}
		var out []TrustItem
		for _, h := range own {
			it := a.hookItem(p, store, h, dir)
			hooks = append(hooks, foundHook{Hook: a.watched(p, h, it), Item: &it})
			if it.Status != string(trust.Trusted) {
				out = append(out, it)
			}
		}
		items := a.layerServers(p, store, l)
		trusted := l
		trusted.Profile, trusted.Trusted = profile.Profile{Servers: map[string]profile.Server{}}, true
		l.Profile.Servers = maps.Clone(l.Profile.Servers)
		for _, name := range sortedKeys(items) {
			it := items[name]
			if it.Status == string(trust.Trusted) {
				trusted.Profile.Servers[name] = l.Profile.Servers[name]
			} else {
				out = append(out, it)
			}
			delete(l.Profile.Servers, name)
		}
		if len(trusted.Profile.Servers) > 0 {
			trusted.Notices = nil
			rest = append(rest, trusted)
		}
		rest = append(rest, l)
		if len(out) > 0 {
			notices = append(notices, leftOut(l.File, out))
		}
	}
	return rest, hooks, notices
}

// leftOut words what a file says and nobody has trusted.
func leftOut(file string, items []TrustItem) string {
	count := map[string]int{}
	for _, it := range items {
		why := " not trusted"
		if it.Status == string(trust.Changed) {
			why = " changed since it was trusted"
		}
		count[it.Kind+why]++
	}
	var parts []string
	for _, what := range sortedKeys(count) {
		kind, why, _ := strings.Cut(what, " ")
		if count[what] > 1 {
			kind += "s"
			why = strings.Replace(why, "it was", "they were", 1)
		}
		parts = append(parts, fmt.Sprintf("%d %s %s", count[what], kind, why))
	}
	return fmt.Sprintf("%s: left out: %s (see: larva trust list)", file, strings.Join(parts, ", "))
}

// watched lets a project's hook run only as long as it is the one that was
// trusted: the agent may have changed a file that its command names.
func (a *App) watched(p where, h hook.Hook, it TrustItem) hook.Hook {
	hash := it.Hash
	plain := h
	h.Ready = func(dir string) error {
		now := a.hookItem(p, &trust.Store{}, plain, dir)
		if now.Hash != hash {
			return fmt.Errorf("a file that its command names has changed since it was trusted (see: larva trust list)")
		}
		return nil
	}
	return h
}

// checkHooks finds what is wrong with hooks as they are written, trusted or
// not, as with every other part of a profile.
func checkHooks(hooks []foundHook) error {
	var bad []diag.Problem
	for _, h := range hooks {
		bad = append(bad, hook.Check(h.Hook)...)
	}
	if len(bad) == 0 {
		return nil
	}
	return &diag.Error{Code: diag.ProfileInvalid, Message: bad[0].String(), Problems: bad}
}

// hooksRight is checkHooks for one profile that nobody runs.
func (a *App) hooksRight(l profile.Layer) error {
	var all []foundHook
	for _, h := range a.hooksOf(l) {
		all = append(all, foundHook{Hook: h})
	}
	return checkHooks(all)
}

// runHooks puts the run's hooks on the points of its loop.
func (a *App) runHooks(s *stand, l *agent.Loop, transcript string) (*hook.Runner, error) {
	r, err := a.hookRunner(s, a.hookOptions(s, l, transcript))
	if err != nil || r == nil {
		return nil, err
	}
	r.Attach(&l.Points)
	return r, nil
}

// hookOptions are those of hooks that fire for a loop.
func (a *App) hookOptions(s *stand, l *agent.Loop, transcript string) hook.Options {
	return hook.Options{Session: l.Session, Transcript: transcript,
		Mode: l.CurrentMode,
		Tell: l.Tell, Notice: l.Notice,
		Evaluate: func(ctx context.Context, label, prompt string) (string, error) {
			m, err := a.hookModel(ctx, s, label)
			if err != nil {
				return "", err
			}
			return answerOf(l.Side(ctx, m, question(m, prompt)))
		}}
}

// hookRunner builds the runner of the hooks that count, nil where there are
// none.
func (a *App) hookRunner(s *stand, o hook.Options) (*hook.Runner, error) {
	for _, h := range s.hooks {
		if h.counts() {
			o.Hooks = append(o.Hooks, h.Hook)
		}
	}
	if len(o.Hooks) == 0 {
		return nil, nil
	}
	o.Environ, o.ProjectDir, o.Cwd = a.environ, s.roots.Project, s.roots.Cwd
	o.Places, o.AllowedURLs = s.policy.Places, s.eff.Profile.HTTPHooks.AllowedURLs
	o.Effects = s.effects
	return hook.New(o)
}

// effects states the facts of a call, of a tool that is known by name only
// too.
func (s *stand) effects(c tool.Call) (eff tool.Effects) {
	defer func() {
		if recover() != nil {
			eff = tool.Effects{} // what breaks over its input is refused when it is judged
		}
	}()
	if t, ok := s.tools.Get(c.Tool); ok {
		return t.Effects(c)
	}
	eff, _ = permission.KnownEffects(c.Tool, c.Input)
	return eff
}

// hookModel is the model that answers a prompt hook: of the label it names,
// else the role explore's, else the run's own.
func (a *App) hookModel(ctx context.Context, s *stand, label string) (model.Model, error) {
	if label == "" {
		return a.sideModel(ctx, s, "explore")
	}
	route, err := s.eff.Route(label)
	if err != nil {
		return nil, err
	}
	return a.modelAt(ctx, s, route)
}

func question(m model.Model, prompt string) model.Request {
	return model.Request{Model: model.BareName(m), Number: 1, Messages: []model.Message{{Role: model.User, Blocks: []model.Block{{Text: prompt}}}}}
}

func answerOf(a *model.Answer, err error) (string, error) {
	if err != nil {
		return "", err
	}
	if a == nil {
		return "", fmt.Errorf("the model gave no answer")
	}
	return a.Message.Text(), nil
}

// planHooks are the hooks of a run as its plan shows them.
func (s *stand) planHooks() []string {
	out := []string{}
	for _, h := range s.hooks {
		if h.counts() {
			out = append(out, h.Event+" "+h.Name)
		}
	}
	return out
}
