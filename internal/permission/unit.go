package permission

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"larva.dev/larva/internal/capability"
	"larva.dev/larva/internal/command"
	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/tool"
)

// unit is what is judged as one: a whole call, or one command of a shell line.
type unit struct {
	call    tool.Call
	text    string
	needs   []capability.Need
	paths   []tool.Path
	network bool
	reader  bool // changes nothing and opens no connection
	idle    bool // touches nothing outside the run
	subject string

	seg    *command.Segment // nil for all but shell commands
	boxed  bool             // it runs inside the sandbox
	use    capability.Use
	line   string   // the whole shell line, spaces made alike
	names  []string // its names among those
	own    []string // the names that a rule may allow it by
	exact  string   // the command that it surely is, words joined by sep
	globs  bool     // a word of it is a file pattern
	socket bool     // a redirect of it opens a connection
	texts  []string // the same and the command's source, for rules that restrict
	broken string   // why the line cannot be parsed
}

// units splits a call into what is judged alone.
func (p *Policy) units(c tool.Call, eff tool.Effects) []*unit {
	paths := eff.Paths
	if slices.ContainsFunc(paths, func(pt tool.Path) bool { return !pt.Unknown && pt.Abs == "" }) {
		paths = make([]tool.Path, len(eff.Paths))
		for i, pt := range eff.Paths {
			paths[i] = p.place(pt)
		}
	}
	if eff.Command == "" && c.Tool != "bash" {
		return []*unit{{call: c, text: c.Tool, needs: eff.Needs, paths: paths, network: eff.Network, reader: eff.ReadOnly && !eff.Network,
			idle: !eff.Touches && len(eff.Needs) == 0 && len(paths) == 0 && !eff.Network, subject: subject(c, eff)}}
	}
	read := p.Rules.reading(eff.Command, p.Sandboxed && !eff.Unwalled && !optsOut(c))
	units := slices.Clone(read) // what was read is shared and stays as it is
	out := make([]*unit, len(units))
	for i := range units {
		u := &units[i]
		out[i], u.call = u, c
		if u.broken != "" {
			u.needs, u.paths, u.network = capability.Join(slices.Clone(u.needs), eff.Needs), paths, eff.Network
			continue
		}
		u.paths = ofSegment(paths, i)
	}
	return out
}

// ofSegment are the paths of one command; effects states them side by side.
func ofSegment(paths []tool.Path, segment int) []tool.Path {
	from := slices.IndexFunc(paths, func(pt tool.Path) bool { return pt.Segment == segment })
	if from < 0 {
		return nil
	}
	to := from
	for to < len(paths) && paths[to].Segment == segment {
		to++
	}
	out := paths[from:to:to]
	for _, pt := range paths[to:] {
		if pt.Segment == segment {
			out = append(out, pt)
		}
	}
	return out
}

// readLine is everything about a shell line that hangs on its text alone.
func readLine(text string, boxed bool) []unit {
	line, err := command.Parse(text)
	plain := spaces(text)
	if err != nil {
		return []unit{{text: text, needs: anything(boxed), broken: err.Error(), line: plain, texts: []string{plain}, boxed: boxed}}
	}
	out := make([]unit, len(line.Segments))
	for i := range line.Segments {
		out[i] = shellUnit(&line.Segments[i], boxed)
		out[i].line = plain
	}
	if len(out) == 0 { // only comments
		out = append(out, unit{text: text, reader: true, seg: &command.Segment{}, use: capability.Use{Known: true, Reader: true, Safe: true}})
	}
	return out
}

// place fills in what effects without a disk leave out.
func (p *Policy) place(pt tool.Path) tool.Path {
	if pt.Unknown || pt.Abs != "" {
		return pt
	}
	g := pt.Given
	switch {
	case p.Places.Home != "" && (g == "~" || strings.HasPrefix(g, "~/")):
		g = filepath.Join(p.Places.Home, g[1:])
	case !filepath.IsAbs(g):
		g = filepath.Join(p.Places.Cwd, g)
	}
	pt.Abs = filepath.Clean(g)
	pt.Real = pt.Abs
	pt.Outside = true
	for _, r := range append([]string{p.Places.Project}, p.Places.Roots...) {
		if within(r, pt.Abs) {
			pt.Outside = false
		}
	}
	return pt
}

func spaces(s string) string {
	plain := s != "" && s[0] > ' ' && s[len(s)-1] > ' '
	for i := 0; i < len(s) && plain; i++ {
		plain = s[i] < 0x80 && (s[i] > ' ' || s[i] == ' ' && s[i+1] != ' ')
	}
	if plain {
		return s
	}
	return strings.Join(strings.Fields(s), " ")
}

// anything is what a command needs of which nothing is known.
func anything(boxed bool) []capability.Need {
	return capability.ShellNeeds([]capability.Arg{{Value: "", Known: false}}, boxed).Needs
}

// shellUnit states what one command of a line needs, in or out of the sandbox.
func shellUnit(s *command.Segment, boxed bool) unit {
	u := unit{text: s.Text, seg: s, boxed: boxed}
	u.use = capability.ShellNeeds(Args(s.Argv), boxed)
	u.needs = u.use.Needs
	if s.Opaque {
		u.needs = capability.Join(u.needs, capability.ShellNeeds(Args(s.Outer), boxed).Needs)
		u.use.Safe = false
	}
	if s.Dynamic != "" {
		u.needs = capability.Join(u.needs, anything(boxed))
		u.use.Safe, u.use.Known = false, false
	}
	u.needs = capability.Join(u.needs, assignNeeds(s))
	if len(s.Argv) > 0 && len(s.Assigns) > 0 {
		u.use.Safe = false
	}
	for _, r := range s.Redirects {
		if Socket(r.Target.Value) {
			u.socket = true
			u.needs = capability.Join(u.needs, []capability.Need{{Family: "shell", Posture: capability.ReadWrite}, {Family: "network", Posture: capability.ReadWrite}})
		} else if r.Write {
			u.needs = capability.Join(u.needs, []capability.Need{{Family: "filesystem", Posture: capability.ReadWrite}})
		}
	}
	for _, n := range u.needs {
		u.network = u.network || n.Family == "network" && n.Posture > capability.None
	}
	u.reader = capability.Highest(u.needs) <= capability.ReadOnly && s.Dynamic == ""
	u.spell(s)
	return u
}

// spell fills in by what words rules may speak of the command.
func (u *unit) spell(s *command.Segment) {
	add := func(list []string, text string) []string {
		if text == "" || slices.Contains(list, text) {
			return list
		}
		return append(list, text)
	}
	plain := spaces(s.Text)
	u.texts = add(u.texts, plain)
	for _, a := range candidates(s) {
		u.texts = add(u.texts, strings.Join(a, " "))
		u.names = add(u.names, a[0])
	}
	first, _, _ := strings.Cut(plain, " ")
	u.names = add(u.names, first)
	if len(s.Argv) == 0 {
		return
	}
	u.own = add(add(nil, s.Argv[0].Value), s.Outer[0].Value)
	u.exact = strings.Join(command.Values(s.Argv), string(sep))
	u.globs = slices.ContainsFunc(s.Argv, func(w command.Word) bool { return w.Glob })
}

// Args are a command's words as the capability table reads them.
func Args(words []command.Word) []capability.Arg {
	out := make([]capability.Arg, len(words))
	for i, w := range words {
		out[i] = capability.Arg{Value: w.Value, Known: w.Static, Glob: w.Glob, Many: w.Split}
		if !w.Static {
			// A home directory or a number is known well enough: no flag.
			if v, ok := w.Resolve(command.Vars{Home: "/", Temp: "/", Cwd: "/"}); ok {
				out[i] = capability.Arg{Value: v, Known: true, Glob: w.Glob}
			} else if w.Number {
				out[i] = capability.Arg{Value: "0", Known: true}
			}
		}
	}
	return out
}

// Socket says that a redirect's target is bash's way to open a connection.
func Socket(target string) bool {
	return strings.HasPrefix(target, "/dev/tcp/") || strings.HasPrefix(target, "/dev/udp/")
}

// assignNeeds judges an environment change. A plain shell variable changes
// nothing but the shell; what programs read may make them run other code.
func assignNeeds(s *command.Segment) []capability.Need {
	for _, a := range s.Assigns {
		if len(s.Argv) > 0 && !display(a.Name) || len(s.Argv) == 0 && !local(a) {
			return []capability.Need{{Family: "shell", Posture: capability.ReadWrite}}
		}
	}
	return nil
}

// local is a variable that no program reads: in lower case by custom.
func local(a command.Assign) bool {
	return !a.Export && a.Name != "" && a.Name == strings.ToLower(a.Name) && !strings.HasSuffix(a.Name, "_proxy")
}

// display are variables that change how programs print and nothing else.
func display(name string) bool {
	return strings.HasPrefix(name, "LC_") || slices.Contains([]string{"LANG", "LANGUAGE", "TZ", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "TERM", "COLUMNS", "LINES", "CI"}, name)
}

// subject is what a rule without paths is matched against.
func subject(c tool.Call, eff tool.Effects) string {
	if eff.Subject != "" {
		return eff.Subject
	}
	if k, ok := KnownEffects(c.Tool, c.Input); ok {
		return k.Subject
	}
	return ""
}

// covered says whether a rule speaks of a unit, to restrict it or to allow it.
// A redirect is not part of it: see writesCovered.
func (u *unit) covered(r *rule, restricts bool) bool {
	if u.seg != nil || u.broken != "" {
		if r.tool == "bash" {
			switch {
			case r.kind == whole:
				return restricts || u.broken == ""
			case restricts:
				return r.command.restricts(u)
			case u.broken != "":
				return false
			}
			return r.command.allows(u)
		}
		return restricts && u.named(r)
	}
	switch r.kind {
	case server:
		return strings.HasPrefix(u.call.Tool, r.tool+"__")
	case argument:
		return r.tool == u.call.Tool && argumentMatches(u.call.Input, r.arg, r.glob, restricts)
	}
	if !speaksOf(r.tool, u.call.Tool, restricts) {
		return false
	}
	switch r.kind {
	case whole:
		return true
	case domain:
		host, ok := strings.CutPrefix(u.subject, "domain:")
		return ok && matchHost(r.host, host)
	case name:
		return u.subject != "" && match(stars(r.glob), u.subject)
	case files:
		hit := func(pt tool.Path) bool { return r.covers(pt, restricts) }
		if restricts {
			return slices.ContainsFunc(u.paths, hit)
		}
		return len(u.paths) > 0 && !slices.ContainsFunc(u.paths, func(pt tool.Path) bool { return !hit(pt) })
	}
	return false
}

// named says that a shell command names a file that a file rule restricts.
func (u *unit) named(r *rule) bool {
	switch {
	case r.tool == "read":
		return slices.ContainsFunc(u.paths, func(pt tool.Path) bool { return r.covers(pt, true) })
	case writes(r.tool):
		return slices.ContainsFunc(u.paths, func(pt tool.Path) bool { return pt.Write && r.covers(pt, true) })
	}
	return false
}

func stars(g string) string { return strings.ReplaceAll(g, "*", string(star)) }

// argumentMatches looks at one top-level argument. A value that is no string
// is matched by its JSON text; to restrict, a string anywhere in it is enough.
// What climbs out of where the pattern points is not what it allows.
func argumentMatches(input json.RawMessage, arg, pattern string, restricts bool) bool {
	var m map[string]json.RawMessage
	if json.Unmarshal(input, &m) != nil {
		return restricts
	}
	raw, ok := m[arg]
	if !ok {
		return false
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		s = string(raw)
	}
	if restricts {
		return match(stars(pattern), s) || s == string(raw) && holdsString(raw, func(s string) bool { return match(stars(pattern), s) })
	}
	return match(stars(pattern), s) && (pattern == "*" || climbs(pattern) || !climbs(s))
}

// climbs says that a text, read as a path, holds a .. between its parts.
func climbs(s string) bool {
	return slices.Contains(strings.FieldsFunc(s, func(c rune) bool { return c == '/' || c == '\\' }), "..")
}

// holdsString says that a list or an object holds a string of that kind.
func holdsString(raw json.RawMessage, is func(string) bool) bool {
	var s string
	var list []json.RawMessage
	var m map[string]json.RawMessage
	switch {
	case json.Unmarshal(raw, &s) == nil:
		return is(s)
	case json.Unmarshal(raw, &list) == nil:
		return slices.ContainsFunc(list, func(e json.RawMessage) bool { return holdsString(e, is) })
	case json.Unmarshal(raw, &m) == nil:
		for _, e := range m {
			if holdsString(e, is) {
				return true
			}
		}
	}
	return false
}

// segment is the unit's line in a decision.
func (u *unit) segment(o outcome) event.Segment {
	return event.Segment{Text: u.text, Verdict: o.verdict, Stage: o.stage, Rule: o.ruleText()}
}
