package opencode

import (
	"slices"
	"strings"

	"larva.dev/larva/internal/capability"
	"larva.dev/larva/internal/spec"
)

// Context is what a projection depends on beside the persona.
type Context struct {
	// MCP are the servers of the effective configuration: their tools are named
	// SERVER_TOOL. A tool of no server that is known is refused.
	MCP []string
	// Permission is the user's own top-level permission, which OpenCode puts
	// before an agent's: where it is stricter it is kept. nil: none.
	Permission *Table
	// Auto says that OpenCode was told to answer every question with yes, so a
	// question becomes a refusal.
	Auto bool
	// ConfigDir and DataDir are larva's own, HomeLarva is ~/.larva: no agent
	// writes there. OpenCodeData is where OpenCode keeps its keys.
	ConfigDir, DataDir, HomeLarva, OpenCodeData string
}

// Loss is one thing that a persona says and OpenCode's rules cannot say.
type Loss struct {
	Kind  string `json:"kind"`  // tightened, guarded or refused
	Where string `json:"where"` // the permission or field
	Text  string `json:"text"`
}

// The kinds of loss. Tightened: the rule refuses or asks more than the persona
// demands. Guarded: no pattern can say it, so the plugin judges each such call
// before OpenCode does. Refused: it would have been more than the persona says.
const (
	Tightened = "tightened"
	Guarded   = "guarded"
	Refused   = "refused"
)

// Projection is a persona as OpenCode's rules.
type Projection struct {
	Table  *Table
	Losses []Loss
}

// ceiling judges needs by what a persona declares.
type ceiling struct{ capability.Ceiling }

// of is what a call with these needs may do. Undeclared grants reading inside
// the project for what is local, and no more: the rest is a question.
func (c ceiling) of(needs []capability.Need) Action {
	out, reading := Allow, capability.Highest(needs) <= capability.ReadOnly
	for _, n := range needs {
		declared, ok := c.Ceiling[n.Family]
		switch {
		case ok && n.Posture > declared:
			return Deny
		case !ok && !(reading && local(n.Family)):
			out = Ask
		}
	}
	return out
}

func local(family string) bool {
	return family == "filesystem" || family == "shell" || family == "git"
}

func (c ceiling) tool(name string) Action {
	row, ok := capability.Tool(name)
	if !ok {
		return Deny
	}
	return c.of(row.Needs)
}

// Project gives a persona's rules: "*" first, then each permission of OpenCode
// 1.18 by name, so that nothing that stands before them has a say.
func Project(p *spec.Persona, x Context) Projection {
	c := ceiling{capability.Ceiling{}}
	for family, posture := range p.Capabilities {
		if level, ok := capability.Parse(posture); ok {
			c.Ceiling[family] = level
		} else {
			c.Ceiling[family] = capability.None
		}
	}
	out := Projection{Table: &Table{}}
	out.Table.set("*", Deny)
	out.shell(c, x) // the long lists first: OpenCode reads from the end
	out.files(c, x)
	out.net(c)
	out.servers(c, x)
	out.task(p.CanSpawn)
	for _, name := range []string{"todowrite", "todoread", "skill", "question"} {
		out.Table.set(name, Allow) // they touch nothing outside the run
	}
	out.Table.set("plan_enter", Deny) // both change to an agent of OpenCode's own,
	out.Table.set("plan_exit", Deny)  // which no persona bounds
	out.Table.set("doom_loop", Ask)
	out.meet(x.Permission)
	if x.Auto {
		out.unasked()
	}
	return out
}

func (o *Projection) lose(kind, where, text string) {
	l := Loss{kind, where, text}
	if !slices.Contains(o.Losses, l) {
		o.Losses = append(o.Losses, l)
	}
}

// net is what opens connections by a tool of its own.
func (o *Projection) net(c ceiling) {
	for _, name := range []string{"webfetch", "websearch", "codesearch"} {
		o.Table.set(name, c.tool("web_fetch"))
	}
}

// servers is the family mcp. A tool's hints cannot be seen from here, and one
// with destructiveHint needs more than read_write.
func (o *Projection) servers(c ceiling, x Context) {
	a := Deny
	switch posture, ok := c.Ceiling["mcp"]; {
	case !ok:
		a = Ask
	case posture == capability.ReadOnly:
		o.lose(Tightened, "mcp", "mcp read_only: which tools only read cannot be seen inside OpenCode, so none is called; resources are read")
	case posture == capability.ReadWrite:
		a = Ask
		o.lose(Tightened, "mcp", "mcp read_write: which tools destroy cannot be seen inside OpenCode, so each call is a question")
	case posture == capability.Destructive:
		a = Allow
	}
	servers := slices.Clone(x.MCP)
	slices.Sort(servers)
	for _, s := range slices.Compact(servers) {
		if name := serverName(s); name != "" && !slices.Contains(builtin, name) {
			o.Table.set(name+"_*", a)
		} else {
			o.lose(Refused, "mcp", "the server "+s+" is named like a tool of OpenCode's own: its tools are refused")
		}
	}
	if a != Deny && len(servers) == 0 {
		o.lose(Tightened, "mcp", "tools of servers that the configuration does not name are refused")
	}
}

// builtin are names that a server's prefix must not begin to cover.
var builtin = []string{"plan", "external", "doom", "list", "read", "apply", ""}

// serverName is a server's part of its tools' names, as OpenCode makes it.
func serverName(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, s)
}

// task is can_spawn: an exact list, or everybody. What a subagent may do is
// held to this persona's ceiling by the plugin.
func (o *Projection) task(can *spec.CanSpawn) {
	rows := []Rule{{"", "*", Deny}}
	if can != nil && can.All {
		rows[0].Action = Allow
	} else if can != nil {
		for _, id := range can.IDs {
			rows = append(rows, Rule{"", exactly(id), Allow})
		}
	}
	o.Table.put("task", rows)
	if rows[0].Action == Allow || len(rows) > 1 {
		o.lose(Guarded, "task", "OpenCode gives a subagent its own rights, whoever spawned it: the plugin holds every call of it to this persona's, too")
	}
}

// unasked turns every question into a refusal.
func (o *Projection) unasked() {
	for i := range o.Table.keys {
		for j := range o.Table.keys[i].rows {
			if o.Table.keys[i].rows[j].Action == Ask {
				o.Table.keys[i].rows[j].Action = Deny
			}
		}
	}
	o.lose(Tightened, "*", "--auto answers every question with yes, so what would be one is refused")
}
