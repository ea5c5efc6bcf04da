package opencode

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Asked is a tool call as OpenCode's plugins see it.
type Asked struct {
	Tool string
	Args json.RawMessage
	Cwd  string // where OpenCode's relative paths start, absolute
}

// Meant is the same in larva's words: every one of the calls must pass.
type Meant struct {
	Calls []Word
	// Workdir is where a shell command would run, "" for Cwd.
	Workdir string
	// Rule is the permission by which OpenCode asks, and Patterns what it compares
	// with the patterns of that: empty where that cannot be foretold.
	Rule     string
	Patterns []string
}

// Word is one call of a tool of larva's.
type Word struct {
	Tool  string
	Input json.RawMessage
}

// harmless are tools that touch nothing outside the run, by larva's names.
var harmless = map[string]string{"todowrite": "todo_write", "todoread": "todo_write", "question": "ask_user", "invalid": "todo_write"}

// fields are what is read of a call's arguments; a name that is not there, or
// holds no text, is "".
type fields struct {
	Command, Workdir, FilePath, Path, Pattern, URL, Query, Name string
	PatchText                                                   string
	SubagentType                                                string
}

func readFields(args json.RawMessage) (fields, error) {
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(args, &raw); err != nil || raw == nil {
		return fields{}, errors.New("its arguments are no object")
	}
	var f fields
	for name, to := range map[string]*string{"command": &f.Command, "workdir": &f.Workdir, "filePath": &f.FilePath, "path": &f.Path, "pattern": &f.Pattern,
		"url": &f.URL, "query": &f.Query, "name": &f.Name, "patchText": &f.PatchText, "subagent_type": &f.SubagentType} {
		v, ok := raw[name]
		if !ok || string(v) == "null" {
			continue
		}
		if err := json.Unmarshal(v, to); err != nil {
			return fields{}, fmt.Errorf("%s is no text", name)
		}
	}
	return f, nil
}

// Translate puts a call into larva's words. servers are the MCP servers of the
// configuration, by which the names of their tools begin. An error means that
// nobody can say what the call does: it is to be refused.
func Translate(a Asked, servers []string) (Meant, error) {
	f, err := readFields(a.Args)
	if err != nil {
		return Meant{}, err
	}
	abs := func(p string) string {
		if p == "" {
			return a.Cwd
		}
		if filepath.IsAbs(p) {
			return p
		}
		return filepath.Join(a.Cwd, p)
	}
	switch a.Tool {
	case "bash":
		m := Meant{Calls: word("bash", "command", f.Command), Rule: "bash", Patterns: simple(f.Command)}
		if f.Workdir != "" && filepath.Clean(abs(f.Workdir)) != filepath.Clean(a.Cwd) {
			m.Workdir, m.Patterns = abs(f.Workdir), nil
		}
		return m, nil
	case "read", "lsp":
		return Meant{Calls: word("read", "path", abs(f.FilePath)), Rule: a.Tool}, nil
	case "list":
		return Meant{Calls: word("glob", "path", abs(f.Path), "pattern", "*"), Rule: "list"}, nil
	case "glob":
		return Meant{Calls: word("glob", "path", abs(f.Path), "pattern", "**"), Rule: "glob"}, nil
	case "grep":
		return Meant{Calls: word("grep", "path", abs(f.Path), "pattern", "."), Rule: "grep"}, nil
	case "write":
		return Meant{Calls: word("write", "path", abs(f.FilePath), "content", ""), Rule: "edit"}, nil
	case "edit", "multiedit":
		return Meant{Calls: word("edit", "path", abs(f.FilePath), "old_string", "a", "new_string", "b"), Rule: "edit"}, nil
	case "apply_patch", "patch":
		return patched(f.PatchText, abs)
	case "webfetch":
		return Meant{Calls: word("web_fetch", "url", f.URL), Rule: "webfetch", Patterns: []string{f.URL}}, nil
	case "websearch", "codesearch":
		return Meant{Calls: word("web_search", "query", f.Query), Rule: a.Tool, Patterns: []string{f.Query}}, nil
	case "task":
		return Meant{Calls: word("task", "subagent_type", f.SubagentType, "description", "", "prompt", ""), Rule: "task"}, nil
	case "skill":
		return Meant{Calls: word("skill", "name", f.Name), Rule: "skill"}, nil
	case "read_mcp_resource", "list_mcp_resources":
		return Meant{Calls: word(a.Tool), Rule: "read"}, nil
	}
	if to, ok := harmless[a.Tool]; ok {
		return Meant{Calls: word(to), Rule: a.Tool}, nil
	}
	return served(a.Tool, servers)
}

// served is a tool of an MCP server: of two servers whose names begin alike it
// may be either's, and larva judges both by the same family.
func served(name string, servers []string) (Meant, error) {
	for _, s := range servers {
		prefix := serverName(s)
		if prefix == "" || slices.Contains(builtin, prefix) {
			continue
		}
		if rest, ok := strings.CutPrefix(name, prefix+"_"); ok && rest != "" {
			return Meant{Calls: word("mcp__" + prefix + "__" + rest), Rule: name, Patterns: []string{"*"}}, nil
		}
	}
	return Meant{}, fmt.Errorf("%q is no tool that larva knows", name)
}

// patched are the files that a patch names, each to be written. Lines of a
// file's content begin with a sign, so whatever looks like a head is taken for
// one.
func patched(text string, abs func(string) string) (Meant, error) {
	m := Meant{Rule: "edit"}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		for _, head := range []string{"*** Add File:", "*** Update File:", "*** Delete File:", "*** Move to:"} {
			if name, ok := strings.CutPrefix(line, head); ok {
				if name = strings.TrimSpace(name); name == "" {
					return Meant{}, errors.New("the patch names a file without a name")
				}
				m.Calls = append(m.Calls, word("write", "path", abs(name), "content", "")...)
			}
		}
	}
	if len(m.Calls) == 0 {
		return Meant{}, errors.New("the patch names no file")
	}
	return m, nil
}

// simple is a line that OpenCode compares as it stands: one command, without
// anything that a shell reads into it.
func simple(line string) []string {
	if line == "" || strings.ContainsAny(line, ";&|<>$`(){}[]\n\r\"'\\#*?~!=") || line != strings.TrimSpace(line) || strings.Contains(line, "  ") {
		return nil
	}
	return []string{line}
}

func word(tool string, pairs ...string) []Word {
	o := make(map[string]string, len(pairs)/2)
	for i := 0; i+1 < len(pairs); i += 2 {
		o[pairs[i]] = pairs[i+1]
	}
	input, err := json.Marshal(o)
	if err != nil { // texts always marshal
		input = nil
	}
	return []Word{{tool, input}}
}

// Asks says that OpenCode is sure to put a call to a person by these rules:
// each pattern is a question, none a refusal.
func (m Meant) Asks(rules Rules) bool {
	if len(m.Patterns) == 0 {
		return false
	}
	return !slices.ContainsFunc(m.Patterns, func(p string) bool { return rules.Evaluate(m.Rule, p) != Ask })
}
