package definition

import (
	"maps"
	"slices"
	"strings"

	"larva.dev/larva/internal/capability"
)

// families are those that larva knows the tools of, in the schema's order.
var families = []string{"shell", "filesystem", "git", "email", "http", "network", "database", "browser", "python", "mcp"}

// Ceiling is what its tools can need and no more, family by family; a family
// that is left out is undeclared.
//
// bash is judged line by line by what the commands need, so it opens shell and
// git to the top and leaves network a question; files it may read, and write
// only where a writing tool is listed too: what a line redirects into a file is
// a write.
func (d *Definition) Ceiling() []capability.Need {
	if d.Tools == nil {
		return d.unlisted()
	}
	top := map[string]capability.Posture{}
	raise := func(family string, p capability.Posture) { top[family] = max(top[family], p) }
	for _, n := range d.names() {
		switch {
		case !d.Allows(n):
		case strings.HasPrefix(n, "mcp__"):
			raise("mcp", capability.Destructive)
		case strings.HasPrefix(n, "browser_"):
			raise("browser", capability.ReadWrite)
		case n == "bash":
			raise("shell", capability.Destructive)
			raise("git", capability.Destructive)
			raise("filesystem", capability.ReadOnly)
			raise("network", capability.Undeclared)
		default:
			row, _ := capability.Tool(n)
			for _, need := range row.Needs {
				raise(need.Family, need.Posture)
			}
		}
	}
	var out []capability.Need
	for _, f := range families {
		if p := top[f]; p != capability.Undeclared {
			out = append(out, capability.Need{Family: f, Posture: p})
		}
	}
	return out
}

// names are the single tools of its list; for "*" all that there are.
func (d *Definition) names() []string {
	if !d.Tools.All {
		return d.Tools.Names
	}
	all := append(capability.ToolNames(), "mcp__*", "browser_*")
	slices.Sort(all)
	return all
}

// unlisted is the ceiling of a definition without a list: nothing is declared,
// but what it gives up is none.
func (d *Definition) unlisted() []capability.Need {
	var out []capability.Need
	if d.Disallowed == nil {
		return nil
	}
	if d.Disallowed.Has("bash") {
		out = append(out, capability.Need{Family: "shell"}, capability.Need{Family: "git"})
	}
	if d.Disallowed.Has("web_fetch") && d.Disallowed.Has("web_search") {
		out = append(out, capability.Need{Family: "http"})
	}
	return out
}

// Under is its ceiling as the subagent of one that has the parent's: where its
// file has no list of tools, that is the parent's but for what it gives up.
// What a parent may not is not taken away here.
func (d *Definition) Under(parent capability.Ceiling) capability.Ceiling {
	out := capability.Ceiling{}
	if d.Tools == nil {
		maps.Copy(out, parent)
	}
	for _, c := range d.Ceiling() {
		out[c.Family] = c.Posture
	}
	return out
}
