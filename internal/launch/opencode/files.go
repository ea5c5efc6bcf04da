package opencode

import (
	"path"
	"path/filepath"

	"larva.dev/larva/internal/capability"
)

// secretNames are files that no persona reads or writes, as far as a name says
// it: the end of a path, or a part of it behind the first *. They match more
// than larva's own list (prod.env, a public key), never less.
var secretNames = []string{"*.env", "*.env.*", "*.netrc", "*.npmrc", "*.pypirc", "*.git-credentials", "*.pem", "*.p12", "*.pfx",
	"*id_rsa*", "*id_ecdsa*", "*id_ed25519*", "*.ssh/*", "*.gnupg/*", "*.aws/*", "*.kube/*", "*.config/gcloud/*", "*mcp-auth*",
	"*.docker/config.json", "*opencode/auth.json", "*/proc/*", "proc/*"}

// openNames look like secrets and are none.
var openNames = []string{"*.env.example", "*.env.sample", "*.env.template"}

// ownNames decide what OpenCode does at its next start: with them a persona
// could write itself a plugin.
var ownNames = []string{"opencode.json", "opencode.jsonc", ".opencode"}

// files is the family filesystem: reading, searching, writing, and leaving the
// project.
func (o *Projection) files(c ceiling, x Context) {
	read, write := c.tool("read"), c.tool("write")
	o.Table.put("read", o.reading(c, read, x))
	for _, name := range []string{"glob", "grep", "list", "lsp"} {
		o.Table.set(name, read)
	}
	o.Table.put("edit", o.writing(write, x))
	outside := Ask
	if read == Deny && c.of([]capability.Need{{Family: "shell", Posture: capability.ReadOnly}}) == Deny {
		outside = Deny
	}
	o.Table.set("external_directory", outside)
	if read != Deny {
		o.lose(Guarded, "grep", "OpenCode's search also looks into hidden files: the plugin leaves secret ones out of it")
		o.lose(Guarded, "external_directory", "OpenCode lets every agent read what its own tools have cut off, in its tool-output directory")
	}
}

// reading also holds MCP resources, which OpenCode files under read.
func (o *Projection) reading(c ceiling, read Action, x Context) []Rule {
	rows := []Rule{{"", "*", read}}
	add := func(a Action, patterns ...string) {
		for _, p := range patterns {
			rows = append(rows, Rule{"", p, a})
		}
	}
	if read != Deny {
		add(Deny, secretNames...)
		add(read, openNames...)
		o.lose(Tightened, "read", "prod.env, id_ed25519.pub and other names that only look like a secret's are refused with it")
	}
	if a := c.tool("read_mcp_resource"); a != read {
		add(a, "mcp:*")
	}
	return rows
}

func (o *Projection) writing(write Action, x Context) []Rule {
	rows := []Rule{{"", "*", write}}
	if write == Deny {
		return rows
	}
	add := func(a Action, patterns ...string) {
		for _, p := range patterns {
			rows = append(rows, Rule{"", p, a})
		}
	}
	add(Ask, "personas/*", "profiles/*", "*AGENTS.md", "*CLAUDE.md")
	add(Deny, secretNames...)
	add(write, openNames...)
	for _, g := range capability.GuardedNames() {
		add(Deny, "*"+g.Name, "*"+g.Name+"/*")
	}
	add(Deny, "*.git", "*.git/*")
	for _, n := range ownNames {
		add(Deny, "*"+n, "*"+n+"/*")
	}
	for _, d := range []string{x.ConfigDir, x.DataDir, x.HomeLarva, x.OpenCodeData} {
		if d != "" {
			add(Deny, "*"+tail(d)+"/*")
		}
	}
	add(Deny, "*.config/opencode/*")
	o.lose(Tightened, "edit", "everything in .git is refused, not only what chooses code")
	o.lose(Refused, "edit", "opencode.json and .opencode choose what OpenCode loads at its next start: no persona writes them")
	return rows
}

// tail is the end of a directory's path that tells it from others, for a path
// that is given from elsewhere.
func tail(dir string) string {
	d := filepath.ToSlash(filepath.Clean(dir))
	return path.Join("/", path.Base(path.Dir(d)), path.Base(d))
}
