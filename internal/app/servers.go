package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
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
	"larva.dev/larva/internal/nearest"
	"larva.dev/larva/internal/proc"
	"larva.dev/larva/internal/profile"
	"larva.dev/larva/internal/replace"
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

// hear lets the servers reach the run's person, and its model.
func (c *crew) hear(l *agent.Loop, ask func(context.Context, string, []string) (string, bool)) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tell, c.ask = l.Tell, ask
	if c.lend != nil {
		c.sampler = c.lend(l)
	}
}

// told passes on what a server says of its work, once a second at most.
func (c *crew) told(server, code, text string) {
	c.mu.Lock()
	tell := c.tell
	soon := code == "progress" && time.Since(c.last[server]) < time.Second
	if !soon {
		c.last[server] = time.Now()
	}
	c.mu.Unlock()
	if tell != nil && !soon {
		tell(event.Notice{Code: "mcp_" + code, Text: server + ": " + firstLine(text)})
	}
}

// elicit puts a server's question to the person, a field after the other.
func (c *crew) elicit(ctx context.Context, server, message string, fields json.RawMessage) (map[string]any, bool) {
	c.mu.Lock()
	ask := c.ask
	c.mu.Unlock()
	if ask == nil {
		return nil, false
	}
	var form struct {
		Properties map[string]struct {
			Type, Title, Description string
			Enum                     []string
		}
		Required []string
	}
	if err := json.Unmarshal(fields, &form); err != nil {
		return nil, false
	}
	head := "The MCP server " + server + " asks: " + message
	out := map[string]any{}
	if len(form.Properties) == 0 {
		answer, ok := ask(ctx, head, []string{"yes", "no"})
		return out, ok && answer == "yes"
	}
	for _, name := range sortedKeys(form.Properties) {
		f := form.Properties[name]
		what := head + "\n" + name
		if f.Description != "" || f.Title != "" {
			what += ": " + strings.TrimSpace(f.Title+" "+f.Description)
		}
		options := f.Enum
		if f.Type == "boolean" {
			options = []string{"true", "false"}
		}
		answer, ok := ask(ctx, what, options)
		if !ok {
			return nil, false
		}
		v, ok := typedAs(f.Type, answer)
		if !ok {
			return nil, false
		}
		out[name] = v
	}
	return out, true
}

func typedAs(kind, text string) (any, bool) {
	switch kind {
	case "boolean", "number", "integer":
		var v any
		if json.Unmarshal([]byte(strings.TrimSpace(text)), &v) != nil {
			return nil, false
		}
		switch v.(type) {
		case bool:
			return v, kind == "boolean"
		case float64:
			return v, kind != "boolean"
		}
		return nil, false
	}
	return text, true
}

// expandServerPrompt gives the text of "/mcp__server__prompt args": arguments
// in order, the last takes the rest.
func (s *stand) expandServerPrompt(ctx context.Context, _ *agent.Loop, name, args string) (string, bool, error) {
	var known []string
	for _, st := range s.servers.Status() {
		for _, p := range st.Prompts {
			full := mcp.Name(st.Name, p.Name)
			known = append(known, full)
			if full != name {
				continue
			}
			values, err := promptArguments(p, args)
			if err != nil {
				return "", true, diag.Usage("/%s: %v", name, err).WithHint("/%s %s", name, promptHint(p))
			}
			list, err := s.servers.Expand(ctx, st.Name, p.Name, values)
			if err != nil {
				return "", true, diag.New(diag.Unsupported, "/%s: the server %s failed: %v", name, st.Name, err).With("server", st.Name).
					WithHint("larva server tools %s says how it is", diag.Word(st.Name))
			}
			return strings.Join(mcp.Texts(list, nil), "\n\n"), true, nil
		}
	}
	e := diag.Usage("there is no command /%s", name).With("command", name)
	if near := nearest.Name(name, known); near != "" {
		return "", true, e.WithHint("did you mean /%s?", near)
	}
	return "", true, e.WithHint("prompts of MCP servers that are connected: %s", joined(append(known, "none else")))
}

func promptHint(p mcpclient.Prompt) string {
	var out []string
	for _, a := range p.Arguments {
		n := strings.ToUpper(a.Name)
		if !a.Required {
			n = "[" + n + "]"
		}
		out = append(out, n)
	}
	return strings.Join(out, " ")
}

func promptArguments(p mcpclient.Prompt, args string) (map[string]string, error) {
	out := map[string]string{}
	rest := strings.TrimSpace(args)
	for i, a := range p.Arguments {
		word := rest
		if i < len(p.Arguments)-1 {
			word, rest, _ = strings.Cut(rest, " ")
			rest = strings.TrimSpace(rest)
		}
		if word == "" {
			if a.Required {
				return nil, fmt.Errorf("%s is missing", a.Name)
			}
			continue
		}
		out[a.Name] = word
	}
	if len(p.Arguments) == 0 && rest != "" {
		return nil, fmt.Errorf("it takes no arguments")
	}
	return out, nil
}

// toolsDigest is what the yes to a project's server covers beside its hash: the
// names of its tools and what they say of themselves.
func toolsDigest(st mcpclient.Status) string {
	h := sha256.New()
	for _, t := range st.Tools {
		fmt.Fprintf(h, "%q %t %t\n", t.Name, t.ReadOnly, t.Destructive)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

// pin holds a project's servers to the tools that they had when they were first
// used after the yes: one that has others now is not used, and asked about
// again.
func (a *App) pin(ctx context.Context, s *stand, c *crew) error {
	data, err := a.DataDir()
	if err != nil {
		return err
	}
	path := filepath.Join(data, "mcp-tools.json")
	pins := map[string]string{}
	if text, err := os.ReadFile(path); err == nil {
		_ = json.Unmarshal(text, &pins) // one that cannot be read pins anew
	}
	store, err := a.trustStore(s.at)
	if err != nil {
		return err
	}
	changed := false
	for _, st := range c.Status() {
		i := slices.IndexFunc(c.entries, func(e serverEntry) bool { return e.Name == st.Name })
		if st.State != mcpclient.Connected || i < 0 || c.entries[i].Item == nil {
			continue
		}
		it := c.entries[i].Item
		key, now := pinKey(store, s.at, *it), toolsDigest(st)
		switch was := pins[key]; {
		case was == now:
		case was == "":
			pins[key], changed = now, true
		default:
			c.Refuse(st.Name, errors.New("it has other tools than when it was trusted (see: larva trust list)"))
			delete(pins, key)
			changed = true
			if _, err := store.Revoke(ctx, s.at.common, it.Kind, it.Name); err != nil {
				return err
			}
		}
	}
	if !changed {
		return nil
	}
	text, err := json.MarshalIndent(pins, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(data, 0o700); err != nil {
		return nil // a run that cannot be recorded has told of it
	}
	if err := replace.File(path, append(text, '\n'), 0o600, nil); err != nil {
		return diag.New(diag.Internal, "%s cannot be written: %v", path, err).With("path", path)
	}
	return nil
}

// pinKey names one yes: a new one pins anew.
func pinKey(store *trust.Store, at where, it TrustItem) string {
	granted := ""
	for _, r := range store.Recorded(at.common) {
		if r.Kind == it.Kind && r.Name == it.Name && r.Hash == it.Hash {
			granted = r.Granted.UTC().Format(time.RFC3339)
		}
	}
	return strings.Join([]string{at.common, it.Name, it.Hash, granted}, "\n")
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
