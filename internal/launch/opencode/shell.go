package opencode

import (
	"maps"
	"slices"
	"strings"

	"larva.dev/larva/internal/capability"
)

// shell is the family shell, with git and network: OpenCode cuts a line into
// its commands and compares each with the patterns. The patterns are made from
// the one table of commands; what they cannot see (a quoted flag, a program's
// text, a path) is judged by the plugin, call by call.
func (o *Projection) shell(c ceiling, x Context) {
	unknown := c.of([]capability.Need{{Family: "shell", Posture: capability.Destructive}})
	if c.of([]capability.Need{{Family: "shell", Posture: capability.ReadOnly}}) == Deny {
		o.Table.set("bash", Deny)
		return
	}
	s := shellRules{ceiling: c, base: unknown}
	s.add("*", unknown)
	for _, cmd := range capability.Commands() {
		s.command(cmd)
	}
	s.long()
	if unknown == Allow {
		s.hidden()
	}
	_, declared := c.Ceiling["shell"]
	if w := c.of([]capability.Need{{Family: "filesystem", Posture: capability.ReadWrite}}); w != Allow || s.lean() || !declared {
		if s.lean() || !declared {
			w = Lower(w, Ask)
		}
		s.add("*>*", w)
		o.lose(Tightened, "bash", "every > counts as a redirect into a file, 2>&1 too")
	}
	s.guard()
	o.Table.put("bash", s.rows)
	o.lose(Guarded, "bash", "a pattern sees how a command is written, not what it does: quoted flags, paths, redirects without a command and programs in arguments are judged by the plugin before OpenCode's rules are asked")
	if unknown != Allow {
		o.lose(Tightened, "bash", "commands behind a wrapper (env, timeout, xargs, sh -c), with a path or with assignments in front match no pattern")
	}
}

type shellRules struct {
	ceiling
	base    Action
	rows    []Rule
	said    map[string]Action // by command name, for what stands behind it
	hoisted map[string]Action
}

func (s *shellRules) add(pattern string, a Action) {
	s.rows = append(s.rows, Rule{"", pattern, a})
}

// lean says that only the safe list is left beside git: see permission.
func (s *shellRules) lean() bool { return s.Ceiling["shell"] == capability.ReadOnly }

// verdict is what a command with these needs may do.
func (s *shellRules) verdict(needs []capability.Need, safe bool) Action {
	a := s.of(needs)
	git := slices.ContainsFunc(needs, func(n capability.Need) bool { return n.Family == "git" })
	if s.lean() && !git && !safe {
		a = Deny // larva would ask: no pattern for each of these
	}
	if _, declared := s.Ceiling["shell"]; !declared && !git && !safe {
		a = Lower(a, Ask)
	}
	return a
}

// command says what the patterns for one row are: the command with anything
// behind it, then what needs more. What stands behind a wrapper, no pattern sees.
func (s *shellRules) command(c capability.Command) {
	plain, up := s.verdict(c.Needs, c.Safe), s.above(c.Name)
	if wraps(c.Name) {
		plain = Lower(plain, s.base)
	}
	if c.Program {
		plain = Lower(plain, s.verdict(capability.Join(c.Needs, []capability.Need{{Family: "shell", Posture: capability.ReadWrite}}), false))
	}
	beyond := plain
	if c.Bare {
		beyond = Lower(plain, s.verdict(c.Beyond, c.Safe))
	}
	if c.Other != nil {
		beyond = Lower(beyond, s.verdict(c.Other, false))
	}
	if s.said == nil {
		s.said = map[string]Action{}
	}
	s.said[c.Name] = beyond
	if beyond != up {
		s.add(c.Name+" *", beyond)
	}
	if plain != beyond {
		s.add(c.Name, plain)
		for _, f := range c.Unless {
			s.add(c.Name+" "+f+" *", plain)
		}
	}
	if plain == Deny || c.Bare && len(c.Unless) == 0 && beyond == Deny {
		return // nothing with a flag matches what was added
	}
	for _, f := range runs(c.Name) {
		if s.base != plain {
			for _, p := range flagPatterns(c.Name, f) {
				s.add(p, Lower(plain, s.base))
			}
		}
	}
	for _, f := range c.Flags {
		a := Lower(plain, s.verdict(f.Needs, false))
		if a == plain {
			continue
		}
		if strings.HasPrefix(c.Name, "git ") && strings.HasPrefix(f.Name, "--") && len(f.Name) > 3 {
			s.hoist("git *"+f.Name[:4]+"*", a)
			continue
		}
		for _, p := range flagPatterns(c.Name, f.Name) {
			s.add(p, a)
		}
	}
}

// hoist keeps a long flag of some subcommand of git for all of them: there are
// sixty that know the same three.
func (s *shellRules) hoist(pattern string, a Action) {
	if s.hoisted == nil {
		s.hoisted = map[string]Action{}
	}
	if old, ok := s.hoisted[pattern]; ok {
		a = Lower(a, old)
	}
	s.hoisted[pattern] = a
}

func (s *shellRules) long() {
	for _, p := range slices.Sorted(maps.Keys(s.hoisted)) {
		s.add(p, s.hoisted[p])
	}
}

// above is what the rules so far say of a command by its first words.
func (s *shellRules) above(name string) Action {
	if i := strings.LastIndexByte(name, ' '); i > 0 {
		if a, ok := s.said[name[:i]]; ok {
			return a
		}
	}
	return s.base
}

// flagPatterns find a flag behind a command: -x also in a cluster, --long also
// abbreviated, any other word as it is. They find too much rather than too
// little.
func flagPatterns(command, flag string) []string {
	switch {
	case strings.HasPrefix(flag, "--") && len(flag) > 3:
		n := 3 // --o is enough for sort; git has --oneline, too
		if strings.HasPrefix(command, "git ") {
			n = 4
		}
		return []string{command + " *" + flag[:n] + "*"}
	case strings.HasPrefix(flag, "-") && len(flag) == 2:
		return []string{command + " -*" + flag[1:] + "*", command + " * -*" + flag[1:] + "*"}
	case strings.HasPrefix(flag, "-"):
		return []string{command + " *" + flag + "*"}
	}
	return []string{command + " *" + flag + "*"}
}

// wraps says that a command runs the words behind it.
func wraps(name string) bool {
	switch name {
	case "env", "command", "builtin", "nohup", "nice", "timeout", "stdbuf", "setsid", "ionice", "time", "exec", "xargs":
		return true
	}
	return false
}

// runs are the flags of a command behind which another one stands.
func runs(name string) []string {
	switch name {
	case "find", "gfind":
		return []string{"-exec", "-ok"}
	case "fd", "fdfind":
		return []string{"-x", "-X", "--exec"}
	case "sh", "bash", "dash", "zsh", "ksh", "fish", "ash", "pwsh":
		return []string{"-c"}
	}
	return nil
}

// hidden repeats, for a shell that may do everything, what git and network
// forbid, wherever in a command it stands: behind a wrapper, or with a path.
func (s *shellRules) hidden() {
	for _, c := range capability.Commands() {
		if strings.Contains(c.Name, " ") {
			continue
		}
		network := slices.ContainsFunc(c.Needs, func(n capability.Need) bool { return n.Family == "network" })
		if a := s.verdict(c.Needs, c.Safe); network && a != Allow {
			s.add("* "+c.Name+" *", a)
			s.add("*/"+c.Name+" *", a)
		}
	}
	if a := s.of([]capability.Need{{Family: "git", Posture: capability.Destructive}, {Family: "network", Posture: capability.ReadWrite}}); a != Allow {
		s.add("* git *", a)
		s.add("*/git *", a)
	}
}

// guard takes out secret files by their names, and redirects into what is
// protected, as far as a line shows them.
func (s *shellRules) guard() {
	for _, n := range secretNames {
		if name, ok := strings.CutPrefix(n, "*"); ok && strings.HasPrefix(name, ".") && !strings.ContainsAny(name, "*/") {
			s.add(n, Deny)
			s.add(n+" *", Deny)
		} else {
			s.add("*"+strings.Trim(n, "*")+"*", Deny)
		}
	}
	for _, g := range capability.GuardedNames() {
		s.add("*>*"+g.Name+"*", Deny)
	}
	for _, n := range append([]string{".git/"}, ownNames...) {
		s.add("*>*"+n+"*", Deny)
	}
}
