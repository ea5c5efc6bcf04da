package permission

import (
	"errors"
	"path"
	"runtime"
	"slices"
	"strings"

	"larva.dev/larva/internal/capability"
	"larva.dev/larva/internal/command"
)

// sep stands between words and star for any run of characters, in patterns
// and in what they are matched against: a space inside a word is no boundary.
const (
	sep  = '\x00'
	star = '\x01'
)

// commandPattern is the pattern of a shell rule.
type commandPattern struct {
	text    string   // words joined by sep, * as star
	loose   string   // words joined by a space
	first   string   // the first word, "" where it holds a star
	assigns []string // NAME=value before it, in order
	literal []string // the words before the first star
	line    string   // a pattern that spans several commands: matched against the whole line
}

// parseCommandPattern reads a pattern. nil without an error is a pattern that
// matches everything.
func parseCommandPattern(pattern string, allow bool) (*commandPattern, string, error) {
	if strings.ContainsAny(pattern, "\x00\x01\r") {
		return nil, "", errors.New("the pattern holds a control character")
	}
	// npm run test:* is how Claude Code writes npm run test *.
	if p, ok := strings.CutSuffix(pattern, ":*"); ok {
		pattern = strings.TrimSpace(p) + " *"
	}
	words, spans := patternWords(pattern)
	if spans && allow {
		return nil, "write one rule for each command", errors.New("the pattern spans several commands, but each command of a line is judged alone")
	}
	if len(words) == 0 || len(words) == 1 && words[0] == string(star) {
		return nil, "", nil
	}
	c := &commandPattern{}
	if spans {
		c.line = strings.Join(words, " ")
		return c, "", nil
	}
	for len(words) > 1 && assignment(words[0]) {
		c.assigns = append(c.assigns, words[0])
		words = words[1:]
	}
	c.text, c.loose = strings.Join(words, string(sep)), strings.Join(words, " ")
	for i, w := range words {
		if strings.ContainsRune(w, star) {
			break
		}
		c.literal = words[:i+1]
	}
	if len(c.literal) > 0 {
		c.first = words[0]
	}
	return c, "", nil
}

func assignment(w string) bool {
	name, _, ok := strings.Cut(w, "=")
	if !ok || name == "" || name[0] >= '0' && name[0] <= '9' {
		return false
	}
	return strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") == ""
}

// patternWords splits a pattern as a shell would: at spaces outside of quotes,
// quotes removed. \* is a star itself. spans says that a control operator
// stands in it.
func patternWords(p string) (words []string, spans bool) {
	quotes := strings.Count(p, `"`)%2 == 0 && strings.Count(p, "'")%2 == 0
	var b strings.Builder
	open := false
	var quote byte
	flush := func() {
		if open {
			words = append(words, b.String())
			b.Reset()
			open = false
		}
	}
	for i := 0; i < len(p); i++ {
		c := p[i]
		switch {
		case c == '\\' && i+1 < len(p) && quote != '\'':
			i++
			b.WriteByte(p[i])
			open = true
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && quotes && (c == '"' || c == '\''):
			quote, open = c, true
		case quote == 0 && (c == ' ' || c == '\t' || c == '\n'):
			flush()
		case c == '*' && quote == 0:
			b.WriteByte(star)
			open = true
		default:
			if quote == 0 && (c == '|' || c == ';' || c == '&' && !(i > 0 && p[i-1] == '>')) {
				spans = true
			}
			b.WriteByte(c)
			open = true
		}
	}
	flush()
	return words, spans
}

// glob matches s against a pattern whose wildcards are stars. A pattern that
// ends in a boundary and a star also matches without either.
func glob(pattern, s string, boundary byte) bool {
	if p, ok := strings.CutSuffix(pattern, string([]byte{boundary, star})); ok && match(p, s) {
		return true
	}
	return match(pattern, s)
}

// match is linear in the length of s for each star.
func match(pattern, s string) bool {
	p, i, back, mark := 0, 0, -1, 0
	for i < len(s) {
		switch {
		case p < len(pattern) && pattern[p] == star:
			back, mark = p, i
			p++
		case p < len(pattern) && pattern[p] == s[i]:
			p++
			i++
		case back >= 0:
			mark++
			p, i = back+1, mark
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == star {
		p++
	}
	return p == len(pattern)
}

// candidates are the texts that a segment is matched by for rules that
// restrict: every command it may turn out to be, by base name, with and
// without the flags before a subcommand.
func candidates(s *command.Segment) [][]string {
	var out [][]string
	add := func(argv []string) {
		if len(argv) == 0 {
			return
		}
		argv = slices.Clone(argv)
		argv[0] = strings.TrimPrefix(argv[0], "\\")
		out = append(out, argv)
		b := slices.Clone(argv)
		b[0] = path.Base(b[0])
		if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
			b[0] = strings.TrimSuffix(strings.ToLower(b[0]), ".exe")
		}
		if b[0] != argv[0] {
			out = append(out, b)
		}
		if plain := capability.WithoutGlobals(b); len(plain) != len(b) {
			out = append(out, plain)
		}
	}
	add(command.Values(s.Argv))
	add(command.Values(s.Outer))
	for _, g := range s.Guesses {
		add(g)
	}
	return out
}

// restricts says that a shell rule forbids or questions a segment.
func (c *commandPattern) restricts(u *unit) bool {
	if c.line != "" {
		return glob(c.line, u.line, ' ') || match(string(star)+c.line+string(star), u.line)
	}
	text := c.loose
	if len(c.assigns) > 0 {
		text = strings.Join(c.assigns, " ") + " " + text
	}
	for _, t := range u.texts {
		if glob(text, t, ' ') {
			return true
		}
	}
	if !u.globs {
		return false
	}
	if argv, ok := c.spelled(u.seg); ok {
		return glob(text, strings.Join(argv, " "), ' ')
	}
	return false
}

// spelled is a command whose file patterns are replaced by the words of the
// rule that they match: g?t push may be git push.
func (c *commandPattern) spelled(s *command.Segment) ([]string, bool) {
	if s == nil || len(s.Argv) == 0 {
		return nil, false
	}
	argv, hit := command.Values(s.Argv), false
	for i, w := range s.Argv {
		name := w.Value
		if i == 0 {
			name = path.Base(name)
		}
		if w.Glob && i < len(c.literal) {
			if ok, _ := path.Match(name, c.literal[i]); ok {
				argv[i], hit = c.literal[i], true
			}
		}
	}
	argv[0] = path.Base(argv[0])
	return argv, hit
}

// allows says that a shell rule allows a segment: the command it surely is,
// word by word, with the very assignments the rule names.
func (c *commandPattern) allows(u *unit) bool {
	s := u.seg
	if c.line != "" || s.Dynamic != "" || len(s.Argv) == 0 || u.socket {
		return false
	}
	if !slices.EqualFunc(c.assigns, s.Assigns, func(want string, a command.Assign) bool {
		return a.Value.Static && glob(want, a.Name+"="+a.Value.Value, sep)
	}) {
		return false
	}
	if !s.Opaque && glob(c.text, u.exact, sep) {
		return true
	}
	if len(s.Wrappers) == 0 || slices.ContainsFunc(s.Wrappers, func(w string) bool { return strings.Contains(w, " -") }) {
		return false // scripts and find -exec: what is inside counts
	}
	// The rule names the wrapper: it must name the command inside as well,
	// unless the wrapper is one that gives more power, which is the point then.
	outer := command.Values(s.Outer)
	if !glob(c.text, strings.Join(outer, string(sep)), sep) {
		return false
	}
	return s.Opaque || len(c.literal) > s.Lead
}

// shellRules are the rules that may speak of a command called one of names,
// in their order, and with files those on files too. The answer is read only.
func (l *list) shellRules(names []string, files bool) []*rule {
	base := l.shell
	if files {
		base = l.onShell
	}
	out := base
	for i, n := range names {
		found := l.byWord[n]
		if len(found) == 0 || slices.Contains(names[:i], n) {
			continue
		}
		if len(out) == len(base) {
			if len(base) == 0 {
				out = found[:len(found):len(found)]
				continue
			}
			out = slices.Clone(base)
		}
		out = append(out, found...)
	}
	if len(out) > len(base) {
		out = inOrder(slices.Clone(out))
	}
	return out
}

func inOrder(rules []*rule) []*rule {
	slices.SortFunc(rules, func(a, b *rule) int { return a.at - b.at })
	return rules
}
