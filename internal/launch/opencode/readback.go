package opencode

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// agentLine begins an agent in the answer of `opencode agent list`.
var agentLine = regexp.MustCompile(`^(\S.*) \((primary|subagent|all)\)$`)

// ReadAgents reads what `opencode agent list` prints: a line with name and
// mode, and the rules as JSON. The names are those that OpenCode uses.
func ReadAgents(r io.Reader) (map[string]Rules, error) {
	out := map[string]Rules{}
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, 64<<20)
	name := ""
	var body strings.Builder
	end := func() error {
		if name == "" {
			return nil
		}
		if _, twice := out[name]; twice {
			return fmt.Errorf("two agents are called %s", name)
		}
		var rules Rules
		if err := json.Unmarshal([]byte(body.String()), &rules); err != nil {
			return fmt.Errorf("the rules of %s: %w", name, err)
		}
		out[name] = rules
		return nil
	}
	for sc.Scan() {
		if m := agentLine.FindStringSubmatch(sc.Text()); m != nil {
			if err := end(); err != nil {
				return nil, err
			}
			name = m[1]
			body.Reset()
			continue
		}
		body.WriteString(sc.Text() + "\n")
	}
	if err := end(); err != nil {
		return nil, err
	}
	return out, sc.Err()
}

// Wider says where effective rules let more pass than planned ones, one line a
// rule; none where the planned ones are the last word. OpenCode adds one rule
// of its own behind them: an agent may read what its tools cut off.
func Wider(effective, planned Rules, home string) []string {
	planned = slices.Clone(planned)
	for i := range planned {
		planned[i].Pattern = expanded(planned[i].Pattern, home)
	}
	if endsIn(effective, planned) {
		return nil
	}
	if n := len(effective); n > 0 && ownRule(effective[n-1]) && endsIn(effective[:n-1], planned) {
		return nil
	}
	var out []string
	for _, r := range append(slices.Clone(effective), planned...) {
		if ownRule(r) {
			continue
		}
		permission, pattern := sample(r.Permission), sample(r.Pattern)
		is, want := effective.Evaluate(permission, pattern), planned.Evaluate(permission, pattern)
		line := fmt.Sprintf("%s %s: %s, planned %s", r.Permission, r.Pattern, is, want)
		if is.Wider(want) && !slices.Contains(out, line) {
			out = append(out, line)
		}
	}
	return out
}

// sample is a text that a pattern matches, and few others do.
func sample(pattern string) string { return strings.ReplaceAll(pattern, "*", "larva-sample") }

func ownRule(r Rule) bool {
	return r.Permission == "external_directory" && r.Action == Allow && strings.HasSuffix(strings.ReplaceAll(r.Pattern, `\`, "/"), "/tool-output/*")
}

func endsIn(all, tail Rules) bool {
	return len(tail) <= len(all) && slices.Equal(all[len(all)-len(tail):], tail)
}

// expanded is a pattern as OpenCode reads it: ~ and $HOME in front are the home
// directory.
func expanded(pattern, home string) string {
	for _, sign := range []string{"~", "$HOME"} {
		if pattern == sign {
			return home
		}
		if rest, ok := strings.CutPrefix(pattern, sign+"/"); ok {
			return home + "/" + rest
		}
	}
	return pattern
}

// Servers are the MCP servers that rules speak of: SERVER_*.
func (rs Rules) Servers() []string {
	var out []string
	for _, r := range rs {
		if name, ok := strings.CutSuffix(r.Permission, "_*"); ok && name != "" && !strings.ContainsAny(name, "*?") && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}
