package permission

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"larva.dev/larva/internal/profile"
)

// Rules are parsed rules, read-only.
type Rules struct {
	allow, ask, deny list
	lines            *lines
}

// list is one list of rules in order, with the shell patterns found by their
// first word.
type list struct {
	all    []*rule
	byWord map[string][]*rule // shell patterns that begin with this word
	shell  []*rule            // the other shell rules
	files  []*rule            // rules of file tools
	// onShell are shell and files in order: what may restrict any command.
	onShell []*rule
	// patterns says that some of them speak of certain commands only.
	patterns bool
}

// kind is what a rule's pattern is matched against.
type kind int

const (
	whole    kind = iota // every call of the tool
	shell                // a shell command
	files                // paths
	domain               // the host of a URL
	name                 // a persona, a skill
	server               // every tool of an MCP server
	argument             // one argument of an MCP tool
)

// rule is one parsed rule.
type rule struct {
	profile.Rule
	at      int    // its place in its list
	tool    string // our name; for a server "mcp__server"
	kind    kind
	command *commandPattern
	paths   []pathPattern // one for each base directory
	exact   string        // the one file that a pattern without wildcards names, "" otherwise
	host    string        // go.dev, *.go.dev, *
	arg     string
	glob    string
}

// RuleError is a rule that cannot be read. It is never skipped.
type RuleError struct {
	Rule    profile.Rule
	List    string // allow, ask or deny
	Message string
	Hint    string
}

func (e RuleError) Error() string {
	s := e.List + " rule " + e.Rule.Text + ": " + e.Message
	if e.Rule.Origin != "" {
		s = e.Rule.Origin + ": " + s
	}
	if e.Hint != "" {
		s += " (" + e.Hint + ")"
	}
	return s
}

// ParseRules reads the rules of all layers: ours, and the spellings of Claude
// Code. Every rule that cannot be read is an error; the others stand.
func ParseRules(allow, ask, deny []profile.Rule, p Places) (*Rules, []RuleError) {
	var errs []RuleError
	read := func(which string, in []profile.Rule) list {
		var l list
		for _, r := range in {
			parsed, err := parse(r, which, p)
			if err != nil {
				errs = append(errs, *err)
				continue
			}
			l.add(parsed)
		}
		return l
	}
	return &Rules{allow: read("allow", allow), ask: read("ask", ask), deny: read("deny", deny), lines: &lines{}}, errs
}

func (l *list) add(r *rule) {
	r.at = len(l.all)
	l.all = append(l.all, r)
	if fileTool(r.tool) {
		l.files = append(l.files, r)
		l.onShell = append(l.onShell, r)
	}
	if r.tool != "bash" {
		return
	}
	l.patterns = l.patterns || r.kind == shell
	if r.command == nil || r.command.first == "" {
		l.shell = append(l.shell, r)
		l.onShell = append(l.onShell, r)
		return
	}
	if l.byWord == nil {
		l.byWord = map[string][]*rule{}
	}
	l.byWord[r.command.first] = append(l.byWord[r.command.first], r)
}

// parse reads one rule of the list called which.
func parse(r profile.Rule, which string, p Places) (*rule, *RuleError) {
	bad := func(hint, format string, args ...any) (*rule, *RuleError) {
		return nil, &RuleError{Rule: r, List: which, Message: fmt.Sprintf(format, args...), Hint: hint}
	}
	text := strings.TrimSpace(r.Text)
	written, pattern, has := strings.Cut(text, "(")
	if has {
		if !strings.HasSuffix(pattern, ")") {
			return bad("write tool(pattern)", "the pattern has no closing parenthesis")
		}
		pattern = strings.TrimSpace(strings.TrimSuffix(pattern, ")"))
	}
	if written == "" {
		return bad("write tool or tool(pattern)", "there is no tool name")
	}
	for _, c := range written {
		if !wordChar(c) {
			return bad("write tool or tool(pattern)", "%q is no tool name", written)
		}
	}
	out := &rule{Rule: r}
	if strings.HasPrefix(written, "mcp__") {
		return parseMCP(out, written, pattern, bad)
	}
	tool, ok := toolName(written)
	if !ok {
		hint := ""
		if near := DidYouMean(written); near != "" {
			hint = "did you mean " + near + "?"
		}
		return bad(hint, "no tool is called %s", written)
	}
	out.tool = tool
	if pattern == "" || pattern == "*" {
		return out, nil
	}
	if strings.ContainsRune(pattern, 0) {
		return bad("", "the pattern holds a NUL byte")
	}
	switch {
	case tool == "bash":
		out.kind = shell
		c, hint, err := parseCommandPattern(pattern, which == "allow")
		if err != nil {
			return bad(hint, "%v", err)
		}
		out.command = c
		if c == nil {
			out.kind = whole
		}
	case fileTool(tool):
		out.kind = files
		if hint, err := out.parsePath(pattern, which != "allow", p); err != nil {
			return bad(hint, "%v", err)
		}
	case tool == "web_fetch" || tool == "browser_navigate":
		out.kind = domain
		host, ok := strings.CutPrefix(pattern, "domain:")
		if !ok {
			return bad("write "+tool+"(domain:HOST)", "%q is no domain pattern", pattern)
		}
		if out.host, ok = hostPattern(host); !ok {
			return bad("write domain:go.dev, domain:*.go.dev or domain:*", "%q is no host", host)
		}
	case tool == "task" || tool == "skill":
		out.kind, out.glob = name, pattern
		if strings.ContainsAny(pattern, " \t()/") {
			return bad("write "+tool+"(NAME)", "%q is no name", pattern)
		}
	default:
		return bad("write "+tool, "%s takes no pattern", tool)
	}
	return out, nil
}

func wordChar(c rune) bool {
	return c == '_' || c == '-' || c == '*' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// parseMCP reads mcp__server, mcp__server__*, mcp__server__tool and
// mcp__server__tool(arg:pattern).
func parseMCP(r *rule, written, pattern string, bad func(string, string, ...any) (*rule, *RuleError)) (*rule, *RuleError) {
	rest := strings.TrimPrefix(written, "mcp__")
	s, tool, hasTool := strings.Cut(rest, "__")
	if s == "" || strings.Contains(s, "*") || hasTool && tool == "" || strings.Contains(tool, "*") && tool != "*" {
		return bad("write mcp__server, mcp__server__tool or mcp__server__tool(arg:pattern)", "%q names no MCP tool", written)
	}
	r.tool, r.kind = written, whole
	if !hasTool || tool == "*" {
		r.tool, r.kind = "mcp__"+s, server
		if pattern != "" && pattern != "*" {
			return bad("write mcp__"+s+"__TOOL(arg:pattern)", "a whole server takes no pattern")
		}
		return r, nil
	}
	if pattern == "" || pattern == "*" {
		return r, nil
	}
	arg, glob, ok := strings.Cut(pattern, ":")
	if !ok || strings.TrimSpace(arg) == "" {
		return bad("write "+written+"(arg:pattern)", "%q names no argument", pattern)
	}
	r.kind, r.arg, r.glob = argument, strings.TrimSpace(arg), strings.TrimSpace(glob)
	return r, nil
}

// hostPattern reads *, x or *.x.
func hostPattern(raw string) (string, bool) {
	s := strings.TrimSuffix(strings.ToLower(strings.TrimSpace(raw)), ".")
	if s == "*" {
		return s, strings.TrimSpace(raw) == "*" // *. is a slip, not any host
	}
	host := strings.TrimPrefix(s, "*.")
	if host == "" {
		return "", false
	}
	if strings.HasPrefix(host, "[") && strings.HasSuffix(host, "]") {
		return strings.Trim(host, "[]"), !strings.ContainsAny(host, "*/ ")
	}
	for label := range strings.SplitSeq(host, ".") {
		if label == "" || strings.Trim(label, "-") != label {
			return "", false
		}
		for _, c := range label {
			if c != '-' && c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') {
				return "", false
			}
		}
	}
	return s, true
}

// matchHost: x is x and what lies below it, *.x only what lies below.
func matchHost(pattern, host string) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if pattern == "*" {
		return host != ""
	}
	if below, ok := strings.CutPrefix(pattern, "*."); ok {
		return strings.HasSuffix(host, "."+below)
	}
	return host == pattern || strings.HasSuffix(host, "."+pattern)
}

// where is the rule's place for a sentence.
func (r *rule) where() string {
	if r.Origin == "" {
		return r.Text
	}
	return r.Text + " (" + r.Origin + ")"
}

// root is the directory that a leading / means: the one of the rule's file.
func (r *rule) root(p Places) string {
	if r.Root != "" {
		return r.Root
	}
	file := r.Origin
	for range 2 { // file:line or file:line:col
		if at := strings.LastIndexByte(file, ':'); at > 0 && digits(file[at+1:]) {
			file = file[:at]
		}
	}
	if !filepath.IsAbs(file) {
		if !strings.Contains(file, "/") && !strings.Contains(file, ".") || p.Project == "" {
			return p.Cwd // a flag
		}
		file = filepath.Join(p.Cwd, file)
	}
	dir := filepath.ToSlash(filepath.Dir(file))
	switch path.Base(dir) {
	case ".larva", ".larik", ".claude", "profiles":
		if !within(p.Config, dir) || p.Config == "" {
			return path.Dir(dir)
		}
	case "projects": // answers kept for this project, outside of it
		if p.Config != "" && within(p.Config, dir) {
			return p.Project
		}
	}
	return dir
}

func digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
