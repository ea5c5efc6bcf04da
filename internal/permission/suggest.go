package permission

import (
	"path/filepath"
	"slices"
	"strings"

	"larva.dev/larva/internal/capability"
	"larva.dev/larva/internal/command"
	"larva.dev/larva/internal/tool"
)

// Suggest is the narrowest sensible rule that would allow this call, "" where
// no rule could.
func Suggest(c tool.Call, eff tool.Effects) string { return (&Policy{}).Suggest(c, eff) }

// Suggest is the package's Suggest with paths below the working directory
// written relative to it.
func (p *Policy) Suggest(c tool.Call, eff tool.Effects) string {
	if eff.Command != "" || c.Tool == "bash" {
		return p.suggestShell(eff)
	}
	switch {
	case writes(c.Tool) && len(eff.Paths) > 0:
		return p.suggestPath("edit", eff.Paths[0])
	case reads(c.Tool) && len(eff.Paths) > 0:
		return p.suggestPath("read", eff.Paths[0])
	case (c.Tool == "web_fetch" || c.Tool == "browser_navigate" || c.Tool == "task" || c.Tool == "skill") && eff.Subject != "":
		return c.Tool + "(" + eff.Subject + ")"
	}
	return c.Tool
}

// suggestPath names one file: relative below the working directory, else
// absolute.
func (p *Policy) suggestPath(tool string, pt tool.Path) string {
	g := filepath.ToSlash(pt.Given)
	abs := filepath.ToSlash(pt.Abs)
	switch {
	case p.Places.Cwd != "" && pt.Abs != "" && within(p.Places.Cwd, pt.Abs) && pt.Abs != p.Places.Cwd:
		rel, err := filepath.Rel(p.Places.Cwd, pt.Abs)
		if err != nil {
			return ""
		}
		g = filepath.ToSlash(rel)
	case strings.HasPrefix(g, "~/") && !strings.Contains(g, ".."):
	case abs != "" && (filepath.IsAbs(pt.Given) || strings.Contains(g, "..")):
		g = "/" + abs
	case filepath.IsAbs(pt.Given):
		g = "/" + g
	default:
		g = strings.TrimPrefix(g, "./")
	}
	if g == "" || g == "." {
		return tool
	}
	g = escape(g)
	if !strings.Contains(g, "/") { // a bare name would match at any depth
		g = "./" + g
	}
	return tool + "(" + g + ")"
}

// suggestShell speaks of the first command that is not allowed by itself: a
// path outside needs a rule on the path, anything else one on the command.
func (p *Policy) suggestShell(eff tool.Effects) string {
	line, err := command.Parse(eff.Command)
	if err != nil {
		return ""
	}
	for _, pt := range eff.Paths {
		if pt.Outside && !pt.Unknown {
			if pt.Write {
				return p.suggestPath("edit", pt)
			}
			return p.suggestPath("read", pt)
		}
	}
	for i := range line.Segments {
		s := &line.Segments[i]
		if s.Dynamic != "" {
			return ""
		}
		use := capability.ShellNeeds(Args(s.Argv), p.Sandboxed)
		if use.Safe && len(s.Assigns) == 0 && !s.Opaque || len(s.Argv) == 0 {
			continue
		}
		return suggestCommand(s, use)
	}
	for _, pt := range eff.Paths {
		if pt.Redirect && pt.Write && !pt.Unknown {
			return p.suggestPath("edit", pt)
		}
	}
	for i := range line.Segments { // all of it is safe by itself: an ask rule or a hook spoke
		if s := &line.Segments[i]; len(s.Argv) > 0 {
			return suggestCommand(s, capability.Use{})
		}
	}
	return ""
}

// suggestCommand is "command subcommand *" where there is a subcommand, the
// whole command where it destroys or hides what it does.
func suggestCommand(s *command.Segment, use capability.Use) string {
	argv := command.Values(s.Argv)
	if s.Opaque {
		argv = command.Values(s.Outer)
	}
	var words []string
	for _, a := range s.Assigns {
		words = append(words, a.Name+"="+quoted(a.Value.Value))
	}
	exact := func() string {
		for i, a := range argv {
			if i < len(s.Argv) && !s.Opaque && !s.Argv[i].Static {
				words = append(words, "*")
				continue
			}
			words = append(words, quoted(a))
		}
		return "bash(" + strings.Join(words, " ") + ")"
	}
	sub := len(argv) > 1 && !strings.HasPrefix(argv[1], "-") && !strings.ContainsAny(argv[1], "/.$~*?{") && plainWord(argv[1])
	switch {
	case len(argv) == 1:
		return exact()
	case len(use.Needs) > 0 && capability.Highest(use.Needs) <= capability.ReadOnly && !strings.Contains(use.Name, " "):
		return "bash(" + strings.Join(append(words, quoted(argv[0]), "*"), " ") + ")"
	case sub && (strings.Contains(use.Name, " ") || slices.Contains(multi, argv[0])):
		return "bash(" + strings.Join(append(words, quoted(argv[0]), quoted(argv[1]), "*"), " ") + ")"
	}
	return exact()
}

// multi are commands whose second word says what they do, beside those whose
// subcommands stand in the table.
var multi = []string{"git", "go", "npm", "pnpm", "yarn", "bun", "cargo", "docker", "kubectl", "make", "uv", "just", "gradle", "mvn", "dotnet", "terraform", "gh", "poetry", "rake", "task", "pip"}

func plainWord(s string) bool { return !strings.ContainsAny(s, " \t\n'\"\\*") }

// quoted writes a word so that a pattern reads it as it is.
func quoted(s string) string {
	if s != "" && !strings.ContainsAny(s, " \t\n'\"\\*|;&") {
		return s
	}
	if !strings.Contains(s, "'") {
		return "'" + s + "'"
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if strings.IndexByte(" \t\n'\"\\*|;&", s[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
