package permission

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"larva.dev/larva/internal/capability"
	"larva.dev/larva/internal/tool"
)

// protected says why a path must not be written in any mode, "" where it may.
// Names are compared as the laxest disk would: without case, ignorable
// characters, trailing dots, and streams.
func (p *Policy) protected(file string) string {
	parts := strings.Split(filepath.ToSlash(file), "/")
	for i, part := range parts {
		n := lax(part)
		if why := guarded(n, capability.GuardedNames()); why != "" {
			return why
		}
		if n != ".git" {
			continue
		}
		if i == len(parts)-1 {
			return ".git chooses what git runs"
		}
		if why := guarded(lax(parts[i+1]), capability.GuardedGit()); why != "" {
			return ".git/" + why
		}
	}
	switch pl := p.Places; {
	case within(pl.Temp, file):
		return "" // it may lie in the data directory
	case within(pl.LarvaHome, file):
		return "the registry is changed by larva's own commands only"
	case within(pl.Config, file):
		return "the configuration is changed by its owner only"
	case within(pl.Data, file) && !within(filepath.Join(pl.Data, "worktrees"), file):
		return "sessions and checkpoints are written by larva only"
	}
	return ""
}

func guarded(name string, list []capability.Guarded) string {
	for _, g := range list {
		if name == g.Name {
			return name + " " + g.Why
		}
	}
	return ""
}

// holds says that a directory has protected places below it.
func (p *Policy) holds(dir string) bool {
	for _, place := range []string{p.Places.Project, p.Places.Cwd, p.Places.Home, p.Places.Config, p.Places.LarvaHome, p.Places.Data} {
		if within(dir, place) {
			return true
		}
	}
	return false
}

// lax is a path component as the most forgiving file systems read it.
func lax(s string) string {
	if plainName(s) {
		return s
	}
	s = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) { // zero-width joiners, marks, BOM: ignored by HFS+
			return -1
		}
		return r
	}, s)
	s, _, _ = strings.Cut(s, ":") // streams of NTFS
	s = strings.ToLower(strings.ToUpper(strings.TrimRight(s, " .")))
	if s == "git~1" {
		return ".git"
	}
	return s
}

// plainName says that lax would leave a component as it is.
func plainName(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c >= 0x80 || c == ':' || c == '~' || c >= 'A' && c <= 'Z' {
			return false
		}
	}
	return s == "" || s[len(s)-1] != ' ' && s[len(s)-1] != '.'
}

// secretBelow are places below the home that hold keys.
var secretBelow = []string{".ssh", ".gnupg", ".aws", ".kube", ".config/gcloud", ".docker/config.json"}

// secret says that a file holds keys or passwords.
func (p *Policy) secret(file string) bool {
	f := filepath.ToSlash(file)
	if f == "/proc" || strings.HasPrefix(f, "/proc/") {
		return true
	}
	for part := range strings.SplitSeq(f, "/") {
		if lax(part) == "mcp-auth" {
			return true
		}
	}
	if home := filepath.ToSlash(p.Places.Home); home != "" {
		low := strings.ToLower(f)
		if rest, ok := strings.CutPrefix(low, strings.TrimSuffix(strings.ToLower(home), "/")+"/"); ok && strings.HasPrefix(rest, ".") {
			for _, d := range secretBelow {
				if rest == d || strings.HasPrefix(rest, d) && rest[len(d)] == '/' {
					return true
				}
			}
		}
	}
	return secretName(lax(path.Base(f)))
}

// secretName judges a file's name alone.
func secretName(n string) bool {
	switch n {
	case ".env", ".netrc", ".npmrc", ".pypirc", ".git-credentials":
		return true
	}
	switch ext := path.Ext(n); {
	case strings.HasPrefix(n, ".env."):
		return ext != ".example" && ext != ".sample" && ext != ".template"
	case ext == ".pem" || ext == ".p12" || ext == ".pfx":
		return true
	case ext == ".pub":
		return false
	}
	return strings.HasPrefix(n, "id_rsa") || strings.HasPrefix(n, "id_ecdsa") || strings.HasPrefix(n, "id_ed25519")
}

// secretAllowed says that the user named exactly this file in an allow rule.
func (p *Policy) secretAllowed(pt tool.Path) bool {
	if p.Rules == nil {
		return false
	}
	exact := func(file string) bool {
		file = fold(filepath.ToSlash(file))
		for _, r := range p.Rules.allow.all {
			if r.User && r.kind == files && r.exact == file && (writes(r.tool) || !pt.Write && reads(r.tool)) {
				return true
			}
		}
		return false
	}
	for _, f := range []string{pt.Abs, pt.Real} {
		if f != "" && p.secret(f) && !exact(f) {
			return false
		}
	}
	return true
}

// source says that a file is what a persona or an instruction is made from.
func (p *Policy) source(file string) bool {
	if n := lax(path.Base(filepath.ToSlash(file))); n == "agents.md" || n == "claude.md" {
		return true
	}
	top := p.Places.Project
	if top == "" {
		top = p.Places.Cwd
	}
	if top == "" {
		return false
	}
	low := strings.ToLower(file)
	return within(strings.ToLower(filepath.Join(top, "personas")), low) || within(strings.ToLower(filepath.Join(top, "profiles")), low)
}

// ReadDenied says whether a file's content must stay unseen: by a deny rule,
// or since it is secret. It is for tools that meet files on their way, as grep
// and glob do; a path that a call names is judged by Judge.
func (p *Policy) ReadDenied(abs, real string) bool {
	pt := tool.Path{Given: abs, Abs: abs, Real: real}
	if (p.secret(abs) || real != "" && p.secret(real)) && !p.secretAllowed(pt) {
		return true
	}
	return p.ReadRuled(abs, real)
}

// ReadRuled is ReadDenied by deny rules alone: what a person wrote, without
// what is secret by its name.
func (p *Policy) ReadRuled(abs, real string) bool {
	if p.Rules == nil {
		return false
	}
	pt := tool.Path{Given: abs, Abs: abs, Real: real}
	for _, r := range p.Rules.deny.all {
		if r.tool == "read" && r.covers(pt, true) {
			return true
		}
	}
	return false
}

// WriteRuled says whether deny rules with a path keep a file from being
// written. It is for walls around commands, whose words do not always tell
// what they write; a rule on the tool alone (edit) says nothing of files.
func (p *Policy) WriteRuled(abs, real string) bool {
	if p.Rules == nil {
		return false
	}
	pt := tool.Path{Given: abs, Abs: abs, Real: real}
	for _, r := range p.Rules.deny.all {
		if r.kind == files && writes(r.tool) && r.covers(pt, true) {
			return true
		}
	}
	return false
}

// HasWriteRules says whether WriteRuled may ever say yes.
func (p *Policy) HasWriteRules() bool {
	return p.Rules != nil && slices.ContainsFunc(p.Rules.deny.all, func(r *rule) bool { return r.kind == files && writes(r.tool) })
}
