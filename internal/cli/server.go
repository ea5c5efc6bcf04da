package cli

import (
	"context"
	"fmt"

	"larva.dev/larva/internal/app"
	"larva.dev/larva/internal/diag"
)

// maxToolText is how much of a tool's description a line shows.
const maxToolText = 80

type serverCmd struct {
	List   serverListCmd   `cmd:"" help:"List the MCP servers that runs here could have."`
	Tools  serverToolsCmd  `cmd:"" help:"Connect to servers and show their tools, prompts and resources."`
	Login  serverLoginCmd  `cmd:"" help:"Sign in at a server that asks for it."`
	Logout serverLogoutCmd `cmd:"" help:"Take a sign-in back and remove its tokens."`
}

type serverListCmd struct {
	Profile string `placeholder:"NAME" help:"A profile, by name or path." complete:"profile"`
}

func (serverListCmd) doc() doc {
	return doc{
		Long: "Those of your config and profiles, of the project's, and of each .mcp.json from the project's root down (Claude Code's shape, or OpenCode's). Nothing is started. " +
			"One line a server: state, name, type, address and file, with tabs between. One of the project runs only once you have trusted it (larva trust list).",
		Examples: []string{"larva server list", "larva server list --json"},
		Exits:    plainExits(),
	}
}

// Run lists the servers.
func (c serverListCmd) Run(ctx context.Context, s *session) error {
	rows, err := s.app.ServerList(ctx, c.Profile)
	if err != nil {
		return err
	}
	if s.json() {
		return s.data(rows)
	}
	for _, r := range rows {
		s.line("%s\t%s\t%s\t%s\t%s", r.State, r.Name, r.Type, r.Address, r.Source)
		if r.Fault != "" {
			s.say("error: %s: %s", r.Name, r.Fault)
		}
	}
	return nil
}

type serverToolsCmd struct {
	Name    []string `arg:"" optional:"" help:"These servers; all that may be connected without one." complete:"server"`
	Profile string   `placeholder:"NAME" help:"A profile, by name or path." complete:"profile"`
}

func (serverToolsCmd) doc() doc {
	return doc{
		Long: "Each server is started, or connected to, as a run would, and asked what it has. One line a tool: its name in runs and rules, what a call needs of the family mcp, " +
			"and what it is for, with tabs between; prompts as they are typed. Exit 1 where a server cannot be reached.",
		Examples: []string{"larva server tools files", "larva server tools --json"},
		Exits:    plainExits(),
	}
}

// Run shows the tools.
func (c serverToolsCmd) Run(ctx context.Context, s *session) error {
	list, err := s.app.ServerTools(ctx, c.Profile, c.Name)
	if err != nil {
		return err
	}
	failed := 0
	for _, st := range list {
		if st.State != "connected" {
			failed++
		}
	}
	if failed > 0 {
		s.code = diag.ExitFailed
	}
	if s.json() {
		return s.data(list)
	}
	for _, st := range list {
		s.serverTools(st)
	}
	return nil
}

func (s *session) serverTools(st app.ServerTools) {
	if st.State != "connected" {
		s.say("error: %s: %s: %s", st.Name, st.State, st.Fault)
		if st.State == "needs-auth" {
			s.say("hint: larva server login %s", st.Name)
		}
		return
	}
	for _, n := range st.Notices {
		s.say("notice: %s: %s", st.Name, n)
	}
	for _, t := range st.Tools {
		s.line("%s\t%s\t%s", t.Name, t.Needs, shorten(t.Description, maxToolText))
	}
	for _, p := range st.Prompts {
		s.line("%s\t%s\t%s", p, "prompt", "")
	}
	if st.Resources {
		s.say("%s: it has resources: @%s:URI in a prompt reads one", st.Name, st.Name)
	}
	if len(st.Tools) == 0 && len(st.Prompts) == 0 {
		s.say("%s", fmt.Sprintf("%s: it has no tools", st.Name))
	}
}
