package app

import (
	"context"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"larva.dev/larva/internal/hook"
	"larva.dev/larva/internal/load"
	"larva.dev/larva/internal/profile"
	"larva.dev/larva/internal/spec"
	"larva.dev/larva/internal/trust"
)

// lines are what a person reads of a file before the yes.
func lines(raw []byte) []string {
	return strings.Split(strings.TrimRight(string(raw), "\n"), "\n")
}

// hookItem is the trust item of a project's hook: its hash covers what was
// written, before any variable is filled in, and each file of the project that
// its command names. dir is where it would run.
func (a *App) hookItem(p where, store *trust.Store, h hook.Hook, dir string) TrustItem {
	n := newNaming(p.project, dir, a.home)
	if h.Args != nil {
		n.argv(append([]string{h.Command}, h.Args...))
	} else {
		n.shell(h.Command)
	}
	parts, files := n.parts()
	text := spec.AppendCanonical(nil, map[string]any{"event": h.Event, "matcher": h.Matcher, "hook": h.Hook})
	parts = append(parts, trust.Part{Name: "hook", Bytes: text})
	file, line := cutOrigin(h.Origin)
	it := standing(p, store, kindHook, h.Name, file, line, parts)
	it.Files, it.Vars = files, hookVars(h)
	it.Content = hookLines(h)
	it.Raises = []string{"it runs on this machine at " + h.Event + ", with your rights and outside the sandbox"}
	switch h.Type {
	case "prompt":
		it.Raises = []string{"it puts the event to a model at " + h.Event}
	case "http":
		it.Raises = []string{"it sends the event to " + h.URL + " at " + h.Event + ", where your http_hooks.allowed_urls names that"}
	}
	return it
}

// hookLines is a hook as a person reads it.
func hookLines(h hook.Hook) []string {
	out := []string{h.Event + " " + strconv.Quote(h.Matcher)}
	put := func(name, value string) {
		if value != "" {
			for i, l := range strings.Split(value, "\n") {
				if i == 0 {
					l = name + ": " + l
				}
				out = append(out, l)
			}
		}
	}
	put("if", h.If)
	put("command", h.Command)
	for _, arg := range h.Args {
		put("arg", arg)
	}
	put("prompt", h.Prompt)
	put("model", h.Model)
	put("url", h.URL)
	for _, name := range sortedKeys(h.Headers) {
		put("header "+name, h.Headers[name])
	}
	if h.OnError == "block" {
		put("on_error", h.OnError)
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

func hookVars(h hook.Hook) []string {
	var out []string
	for _, text := range append([]string{h.Command, h.URL}, h.Args...) {
		out = append(out, hook.Variables(text)...)
	}
	for _, v := range h.Headers {
		out = append(out, hook.Variables(v)...)
	}
	out = append(out, h.AllowedEnvVars...)
	slices.Sort(out)
	return slices.Compact(out)
}

// cutOrigin cuts file:line.
func cutOrigin(origin string) (string, int) {
	i := strings.LastIndexByte(origin, ':')
	if i < 0 {
		return origin, 0
	}
	n, err := strconv.Atoi(origin[i+1:])
	if err != nil {
		return origin, 0
	}
	return origin[:i], n
}

// serverItem is the trust item of a project's MCP server.
func (a *App) serverItem(p where, store *trust.Store, name, file string, line int, text []byte, s profile.Server) TrustItem {
	n := newNaming(p.project, p.dirs[len(p.dirs)-1], a.home)
	n.argv(append([]string{s.Command}, s.Args...))
	parts, files := n.parts()
	it := standing(p, store, kindServer, name, file, line, append(parts, trust.Part{Name: "server", Bytes: text}))
	it.Files, it.Content = files, []string{string(text)}
	it.Vars = slices.Sorted(slices.Values(s.InheritEnv))
	for _, v := range hook.Variables(string(text)) {
		if !slices.Contains(it.Vars, v) {
			it.Vars = append(it.Vars, v)
		}
	}
	it.Raises = []string{"it runs a program on this machine"}
	if s.URL != "" {
		it.Raises = []string{"it connects to " + s.URL}
	}
	return it
}

// layerServers are the items of the servers that a project's profile names.
func (a *App) layerServers(p where, store *trust.Store, l profile.Layer) map[string]TrustItem {
	out := map[string]TrustItem{}
	for name, s := range l.Profile.Servers {
		if s.Command == "" && s.URL == "" && s.Disabled {
			continue // it only switches one off
		}
		_, line := cutOrigin(firstOrigin(l, "servers."+name))
		out[name] = a.serverItem(p, store, l.File+"#"+name, filepath.Join(p.project, filepath.FromSlash(l.File)), line,
			spec.AppendCanonical(nil, s), s)
	}
	return out
}

// mcpServers are the servers of each .mcp.json from the project's root down.
func (a *App) mcpServers(p where, store *trust.Store) ([]TrustItem, error) {
	var out []TrustItem
	for _, dir := range p.dirs {
		path := filepath.Join(dir, ".mcp.json")
		if !exists(path) {
			continue
		}
		list, err := load.MCPServers(p.rel(path), load.Options{Dir: p.project})
		if err != nil {
			return nil, err
		}
		for _, s := range list {
			name := s.Name
			if dir != p.project {
				name = p.rel(path) + "#" + s.Name
			}
			out = append(out, a.serverItem(p, store, name, path, s.Line, s.Raw, s.Server))
		}
	}
	return out, nil
}

// definitions are the items of the project's agent files. A file that gives no
// definition is none: larva agent list says why.
func (a *App) definitions(p where, store *trust.Store) ([]TrustItem, error) {
	all, err := a.agents(p, store)
	if err != nil {
		return nil, err
	}
	var out []TrustItem
	for _, f := range all.list {
		if f.Item != nil {
			out = append(out, *f.Item)
		}
	}
	return out, nil
}

// allItems lists what counts only once trusted: profiles, personas, hooks,
// servers, definitions, each in the order of the files.
func (a *App) allItems(ctx context.Context, p where, store *trust.Store) ([]TrustItem, error) {
	configs, err := a.projectConfigs(ctx, p, store)
	if err != nil {
		return nil, err
	}
	files, err := a.projectProfiles(ctx, p, store)
	if err != nil {
		return nil, err
	}
	configs = append(configs, files...)
	out, hooks, servers := []TrustItem{}, []TrustItem{}, []TrustItem{}
	layers := make([]profile.Layer, 0, len(configs))
	for _, c := range configs {
		out = append(out, c.TrustItem)
		layers = append(layers, c.layer)
		byName := a.layerServers(p, store, c.layer)
		for _, name := range sortedKeys(byName) {
			servers = append(servers, byName[name])
		}
	}
	sources, _, err := a.projectSources(ctx, p, store)
	if err != nil {
		return nil, err
	}
	for _, s := range sources {
		out = append(out, s.TrustItem)
	}
	claude, err := a.claudeProject(p)
	if err != nil {
		return nil, err
	}
	for _, l := range append(layers, claude...) {
		for _, h := range a.hooksOf(l) {
			hooks = append(hooks, a.hookItem(p, store, h, p.dirs[len(p.dirs)-1]))
		}
	}
	mcp, err := a.mcpServers(p, store)
	if err != nil {
		return nil, err
	}
	defs, err := a.definitions(p, store)
	if err != nil {
		return nil, err
	}
	return slices.Concat(out, hooks, mcp, servers, defs), nil
}
