package app

import (
	"context"
	"strings"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/mcpclient"
	"larva.dev/larva/internal/nearest"
	"larva.dev/larva/internal/tool/mcp"
)

// ServerRow is an MCP server as `server list` shows it.
type ServerRow struct {
	Name    string `json:"name"`
	Type    string `json:"type"`    // stdio | http | sse
	Address string `json:"address"` // the command line or the url, secrets hidden
	Source  string `json:"source"`  // file:line
	// State is own for one of the user's files, trusted, changed or untrusted for
	// one of the project's, disabled, or broken.
	State string `json:"state"`
	Fault string `json:"fault,omitempty"` // of broken
}

// ServerTool is one of a server's tools.
type ServerTool struct {
	Name        string `json:"name"` // as runs and rules name it
	Own         string `json:"own"`  // as the server does
	Description string `json:"description"`
	// Needs is the posture of the family mcp that a call needs.
	Needs string `json:"needs"`
}

// ServerTools is what a connected server has.
type ServerTools struct {
	Name      string       `json:"name"`
	State     string       `json:"state"` // connected | failed | needs-auth | starting
	Fault     string       `json:"fault,omitempty"`
	Tools     []ServerTool `json:"tools"`
	Prompts   []string     `json:"prompts"` // as they are typed, behind a slash
	Resources bool         `json:"resources"`
	Notices   []string     `json:"notices"`
}

// ServerList lists the servers that runs here could have. Nothing is started.
func (a *App) ServerList(ctx context.Context, profileName string) ([]ServerRow, error) {
	_, entries, err := a.standsServers(ctx, profileName)
	if err != nil {
		return nil, err
	}
	out := []ServerRow{}
	for _, e := range entries {
		r := ServerRow{Name: e.Name, Type: e.Server.Type, Source: e.Source, State: "own"}
		switch {
		case r.Type == "" && e.Server.URL != "" && e.Server.Command == "":
			r.Type = "http"
		case r.Type == "":
			r.Type = "stdio"
		}
		r.Address = veilURL(e.Server.URL)
		if e.Server.Command != "" {
			r.Address = strings.Join(append([]string{veil(e.Server.Command)}, veilAll(e.Server.Args)...), " ")
		}
		if e.Item != nil {
			r.State = e.Item.Status
		}
		switch {
		case e.Server.Disabled:
			r.State = "disabled"
		case e.Fault != nil:
			r.State, r.Fault = "broken", e.Fault.Error()
		}
		out = append(out, r)
	}
	return out, nil
}

// standsServers is a stand without a persona, and its servers.
func (a *App) standsServers(ctx context.Context, profileName string) (*stand, []serverEntry, error) {
	s, err := a.stand(ctx, about{flags: flags{profile: profileName}, unasked: true, portable: true})
	if err != nil {
		return nil, nil, err
	}
	entries, err := a.serverEntries(s)
	return s, entries, err
}

// ServerTools connects to servers, all that may be where names is empty, and
// tells what they have.
func (a *App) ServerTools(ctx context.Context, profileName string, names []string) ([]ServerTools, error) {
	if err := a.refuseNested("server tools"); err != nil {
		return nil, err
	}
	s, entries, err := a.standsServers(ctx, profileName)
	if err != nil {
		return nil, err
	}
	defer s.rest()
	var configs []mcpclient.Config
	for _, name := range names {
		if _, err := entryNamed(entries, name); err != nil {
			return nil, err
		}
	}
	for _, e := range entries {
		if e.counts() && (len(names) == 0 || contains(names, e.Name)) {
			configs = append(configs, a.serverConfig(s, e))
		}
	}
	c := newCrew(configs, entries)
	defer c.end()
	c.Start(ctx)
	out := []ServerTools{}
	for _, st := range c.Wait(ctx, connectBound) {
		one := ServerTools{Name: st.Name, State: string(st.State), Tools: []ServerTool{}, Prompts: []string{}, Notices: st.Notices, Resources: st.Resources}
		if one.Notices == nil {
			one.Notices = []string{}
		}
		if st.Err != nil {
			one.Fault = st.Err.Error()
		}
		for _, t := range st.Tools {
			needs := "read_write"
			switch {
			case t.ReadOnly:
				needs = "read_only"
			case t.Destructive:
				needs = "destructive"
			}
			one.Tools = append(one.Tools, ServerTool{Name: mcp.Name(st.Name, t.Name), Own: t.Name, Description: firstLine(t.Description), Needs: needs})
		}
		for _, p := range st.Prompts {
			one.Prompts = append(one.Prompts, strings.TrimSpace("/"+mcp.Name(st.Name, p.Name)+" "+promptHint(p)))
		}
		out = append(out, one)
	}
	return out, ctx.Err()
}

func contains(list []string, s string) bool {
	for _, l := range list {
		if l == s {
			return true
		}
	}
	return false
}

// entryNamed finds a server that may be connected, or says why there is none.
func entryNamed(entries []serverEntry, name string) (serverEntry, error) {
	var known []string
	for _, e := range entries {
		known = append(known, e.Name)
		if e.Name != name {
			continue
		}
		switch {
		case e.Server.Disabled:
			return e, diag.Usage("the server %s is disabled, at %s", name, e.Source)
		case !e.counts():
			return e, diag.New(diag.NotTrusted, "the server %s, at %s, is %s", name, e.Source, e.Item.Status).With("name", e.Item.Name).
				WithHint("read it, then: larva trust grant %s", diag.Word(e.Item.Name))
		}
		return e, nil
	}
	e := diag.Usage("there is no server %q", name)
	if near := nearest.Name(name, known); near != "" {
		return serverEntry{}, e.WithHint("did you mean %s?", near)
	}
	return serverEntry{}, e.WithHint("larva server list")
}

// ServerNames are those of ServerList, for completion.
func (a *App) ServerNames(ctx context.Context) ([]string, error) {
	_, entries, err := a.standsServers(ctx, "")
	var out []string
	for _, e := range entries {
		out = append(out, e.Name)
	}
	return out, err
}
