package app

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"larva.dev/larva/internal/agent"
	"larva.dev/larva/internal/capability"
	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/dialog"
	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/load"
	"larva.dev/larva/internal/mcpclient"
	"larva.dev/larva/internal/mcpclient/oauth"
	"larva.dev/larva/internal/proc"
	"larva.dev/larva/internal/profile"
	"larva.dev/larva/internal/tool"
	"larva.dev/larva/internal/tool/mcp"
	"larva.dev/larva/internal/trust"
)

// serverWait is how long a run's first request waits for servers that are
// still starting: more than a program needs, less than a download.
const serverWait = 10 * time.Second

// connectBound is how long server tools waits: as long as a connection may take.
const connectBound = time.Minute

// serverEntry is a server that a run here could have.
type serverEntry struct {
	Name   string
	Server profile.Server // as written
	Source string         // file:line, as a person names it
	// Item is what was trusted, or is to be; nil for one of the user's own.
	Item  *TrustItem
	Fault error // why it cannot be connected
}

// counts says that it may be connected.
func (e serverEntry) counts() bool {
	return !e.Server.Disabled && (e.Item == nil || e.Item.Status == string(trust.Trusted))
}

// serverEntries lists the servers of profiles and of each .mcp.json, by name:
// of one name that of a profile counts, then the nearest .mcp.json.
func (a *App) serverEntries(s *stand) ([]serverEntry, error) {
	store, err := a.trustStore(s.at)
	if err != nil {
		return nil, err
	}
	by := map[string]serverEntry{}
	for _, dir := range s.at.dirs {
		path := filepath.Join(dir, ".mcp.json")
		if !exists(path) {
			continue
		}
		list, err := load.MCPServers(s.at.rel(path), load.Options{Dir: s.at.project})
		if err != nil {
			s.notices = append(s.notices, fmt.Sprintf("%s is left out: %v", s.at.rel(path), err))
			continue
		}
		for _, m := range list {
			name := m.Name
			if dir != s.at.project {
				name = s.at.rel(path) + "#" + m.Name
			}
			it := a.serverItem(s.at, store, name, path, m.Line, m.Raw, m.Server)
			by[m.Name] = serverEntry{Name: m.Name, Server: m.Server, Source: it.Source, Item: &it, Fault: m.Fault}
		}
	}
	own := map[string]*TrustItem{}
	for _, l := range s.layers {
		if !l.Project {
			for name := range l.Profile.Servers {
				own[name] = nil
			}
			continue
		}
		for name, it := range a.layerServers(s.at, store, l) {
			own[name] = &it
		}
	}
	for name, server := range s.eff.Profile.Servers {
		e := serverEntry{Name: name, Server: server, Item: own[name], Source: s.eff.OriginOf("servers." + name)}
		if e.Item == nil || e.Item.Status == string(trust.Trusted) {
			e.Source = a.shortOrigin(s.at, e.Source)
			by[name] = e
		}
	}
	for name, it := range own { // those that nobody has trusted are no part of the profile
		if _, has := by[name]; !has && it != nil && it.Status != string(trust.Trusted) {
			by[name] = serverEntry{Name: name, Source: it.Source, Item: it}
		}
	}
	var out []serverEntry
	for _, name := range sortedKeys(by) {
		out = append(out, by[name])
	}
	return out, nil
}

var variableIn = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)(:-([^}]*))?\}`)

// fill puts variables in the place of ${NAME} and ${NAME:-default}.
func (a *App) fill(text string, missing *[]string) string {
	return variableIn.ReplaceAllStringFunc(text, func(m string) string {
		part := variableIn.FindStringSubmatch(m)
		if v := a.Getenv(part[1]); v != "" {
			return v
		}
		if part[2] == "" && !slices.Contains(*missing, part[1]) {
			*missing = append(*missing, part[1])
		}
		return part[3]
	})
}

// plainEnv are what a server's program gets of the environment besides what its
// configuration names.
var plainEnv = []string{"PATH", "HOME", "LANG", "LANGUAGE", "TZ", "TMPDIR", "SYSTEMROOT", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "TEMP", "TMP", "PATHEXT", "COMSPEC"}

// serverConfig fills a server's variables in and says how to reach it.
func (a *App) serverConfig(s *stand, e serverEntry) mcpclient.Config {
	var missing []string
	w := e.Server
	c := mcpclient.Config{Name: e.Name, Type: w.Type, Enabled: w.EnabledTools, Disabled: w.DisabledTools, Sampling: w.Sampling, Fault: e.Fault}
	if w.Roots {
		c.Roots = slices.DeleteFunc(slices.Clone(s.roots.Roots), func(dir string) bool { return dir == s.roots.Temp })
	}
	if c.Type == "" {
		c.Type = "stdio"
		if w.URL != "" && w.Command == "" {
			c.Type = "http"
		}
	}
	if c.Type == "stdio" {
		a.programConfig(s, w, &c, &missing)
	} else {
		a.addressConfig(s, w, &c, &missing)
	}
	if c.Fault == nil && len(missing) > 0 {
		c.Fault = fmt.Errorf("%s is not set", joined(missing))
	}
	return c
}

func (a *App) programConfig(s *stand, w profile.Server, c *mcpclient.Config, missing *[]string) {
	c.Command, c.Dir = a.fill(w.Command, missing), s.roots.Cwd
	if rest, ok := strings.CutPrefix(c.Command, "~/"); ok && a.home != "" {
		c.Command = filepath.Join(a.home, rest)
	}
	for _, arg := range w.Args {
		c.Args = append(c.Args, a.fill(arg, missing))
	}
	var base, extra []string
	for _, kv := range a.environ {
		name, _, _ := strings.Cut(kv, "=")
		switch up := strings.ToUpper(name); {
		case slices.Contains(plainEnv, up) || strings.HasPrefix(name, "LC_"), name == "LARVA_DEPTH":
			base = append(base, kv)
		case slices.Contains(w.InheritEnv, name):
			extra = append(extra, kv)
		}
	}
	for _, k := range sortedKeys(w.Env) {
		extra = append(extra, k+"="+a.fill(w.Env[k], missing))
	}
	c.Env = proc.Env(base, extra...)
	if data, err := a.DataDir(); err == nil {
		c.Log = filepath.Join(data, "mcp-logs", strings.TrimPrefix(mcp.Prefix(c.Name), "mcp__")+".log")
	}
}

func (a *App) addressConfig(s *stand, w profile.Server, c *mcpclient.Config, missing *[]string) {
	c.URL, c.Headers = a.fill(w.URL, missing), map[string]string{}
	signed := false
	for k, v := range w.Headers {
		c.Headers[k] = a.fill(v, missing)
		signed = signed || strings.EqualFold(k, "Authorization")
	}
	if signed || c.Fault != nil || len(*missing) > 0 {
		return
	}
	o, err := a.signIn(s.at, c.Name, c.URL, w.OAuth)
	if err != nil {
		c.Fault = err
		return
	}
	h, err := oauth.New(o)
	if err != nil {
		c.Fault = err
		return
	}
	if c.Type == "sse" {
		c.HTTP = h.Transport(nil)
	} else {
		c.OAuth = h
	}
}

// builtVersion is what servers are told of us.
func builtVersion() string {
	if b, ok := debug.ReadBuildInfo(); ok && b.Main.Version != "" {
		return b.Main.Version
	}
	return "devel"
}

// crew is the servers of a run, and how they reach its person.
type crew struct {
	*mcpclient.Manager
	keeper  *proc.Keeper
	entries []serverEntry

	mu      sync.Mutex
	tell    func(event.Body)
	ask     func(ctx context.Context, question string, options []string) (string, bool)
	last    map[string]time.Time // of a server's progress
	sampler sampler
	lend    func(*agent.Loop) sampler // gives it; nil: none may ask
}

// wantsServers says that a stand may use servers at all: none is started for a
// persona that declares to use none.
func (s *stand) wantsServers() bool {
	if s.persona == nil {
		return false
	}
	level, said := s.policy.Ceiling["mcp"]
	return !said || level > capability.None
}

// connectServers starts the servers of a run and waits for them, bounded; nil
// where there are none. Their tools are the stand's then.
func (a *App) connectServers(ctx context.Context, s *stand) (*crew, error) {
	if !s.wantsServers() {
		return nil, nil
	}
	entries, err := a.serverEntries(s)
	if err != nil {
		return nil, err
	}
	var configs []mcpclient.Config
	asked := 0
	for _, e := range entries {
		switch {
		case e.counts():
			configs = append(configs, a.serverConfig(s, e))
		case e.Item != nil && !e.Server.Disabled && strings.HasPrefix(e.Source, ".mcp.json") || e.Item != nil && strings.Contains(e.Source, "/.mcp.json"):
			asked++
		}
	}
	if asked > 0 {
		s.notices = append(s.notices, fmt.Sprintf("%s of .mcp.json left out: not trusted as they are (see: larva trust list)", counted(asked, "server", "servers")))
	}
	if len(configs) == 0 {
		return nil, nil
	}
	c := newCrew(configs, entries)
	c.lend = func(l *agent.Loop) sampler { return a.sampling(s, l) }
	c.Start(ctx)
	c.Wait(ctx, serverWait)
	if err := a.pin(ctx, s, c); err != nil {
		c.end()
		return nil, err
	}
	return c, a.hireServers(s, c)
}

func newCrew(configs []mcpclient.Config, entries []serverEntry) *crew {
	c := &crew{keeper: &proc.Keeper{}, entries: entries, last: map[string]time.Time{}}
	c.Manager = mcpclient.New(configs, mcpclient.Options{Version: builtVersion(), Keeper: c.keeper, Elicit: c.elicit, Tell: c.told, Sample: c.sample,
		NeedsLogin: func(err error) bool { return errors.Is(err, oauth.ErrNeedsLogin) }})
	return c
}

// end closes all connections.
func (c *crew) end() {
	if c == nil {
		return
	}
	c.Close()
	c.keeper.Close()
}

// hireServers puts the servers' tools among a stand's, and what there is to say
// of them among its notices.
func (a *App) hireServers(s *stand, c *crew) error {
	if c == nil {
		return nil
	}
	s.servers = c
	status := c.Status()
	for _, st := range status {
		switch st.State {
		case mcpclient.Starting:
			s.notices = append(s.notices, "MCP server "+st.Name+" is still starting: this run goes on without it")
		case mcpclient.Failed:
			s.notices = append(s.notices, fmt.Sprintf("MCP server %s failed: %v", st.Name, st.Err))
		case mcpclient.NeedsAuth:
			s.notices = append(s.notices, fmt.Sprintf("MCP server %s wants you to sign in: larva server login %s", st.Name, diag.Word(st.Name)))
		}
		for _, n := range st.Notices {
			s.notices = append(s.notices, "MCP server "+st.Name+": "+n)
		}
	}
	s.serverPrompt = s.expandServerPrompt
	return s.tools.Add(s.having(mcp.Tools(c, status))...)
}

// serverNames are those that are connected, for init.
func (s *stand) serverNames() []string {
	var out []string
	if s.servers != nil {
		for _, st := range s.servers.Status() {
			if st.State == mcpclient.Connected {
				out = append(out, st.Name)
			}
		}
	}
	return out
}

// isServerTool says that a tool comes of the servers.
func isServerTool(name string) bool {
	return strings.HasPrefix(name, "mcp__") || slices.Contains([]string{"list_mcp_resources", "read_mcp_resource", "tool_search", "call_tool"}, name)
}

// handDown gives a child those of its parent's servers' tools that it may have.
func (s *stand) handDown(parent *stand) error {
	s.servers = parent.servers
	for _, t := range parent.tools.All() {
		if isServerTool(t.Spec().Name) && len(s.having([]tool.Tool{t})) > 0 {
			if err := s.tools.Add(t); err != nil {
				return err
			}
		}
	}
	return nil
}

// promptCommands are the prompts of the servers, as a person types them.
func (s *stand) promptCommands() []dialog.Command {
	var out []dialog.Command
	if s.servers == nil {
		return nil
	}
	for _, st := range s.servers.Status() {
		for _, p := range st.Prompts {
			out = append(out, dialog.Command{Name: mcp.Name(st.Name, p.Name), Args: promptHint(p), Help: firstLine(p.Description)})
		}
	}
	return out
}

// plannedServers says which servers a run would start.
func (a *App) plannedServers(s *stand) []string {
	if !s.wantsServers() {
		return nil
	}
	entries, err := a.serverEntries(s)
	if err != nil {
		return []string{diag.As(err).Message}
	}
	var names []string
	for _, e := range entries {
		if e.counts() {
			names = append(names, e.Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return []string{"a run would connect to these MCP servers, whose tools are not listed here: " + joined(names)}
}
