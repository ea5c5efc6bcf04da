package pi

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
)

// Asked is a tool call as Pi's extensions see it.
type Asked struct {
	Tool string
	Args json.RawMessage
	Cwd  string // where Pi's relative paths start, absolute
	Home string // what ~ stands for, absolute
}

// Word is one call of a tool of larva's.
type Word struct {
	Tool  string
	Input json.RawMessage
}

// Translate puts a call into larva's words: every one of them must pass. An
// error means that nobody can say what the call does: it is to be refused.
func Translate(a Asked) ([]Word, error) {
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(a.Args, &raw); err != nil || raw == nil {
		return nil, errors.New("its arguments are no object")
	}
	text := func(name string, needed bool) (s string, err error) {
		v, ok := raw[name]
		if !ok || string(v) == "null" {
			if needed {
				return "", fmt.Errorf("%s is missing", name)
			}
			return "", nil
		}
		if json.Unmarshal(v, &s) != nil {
			return "", fmt.Errorf("%s is no text", name)
		}
		return s, nil
	}
	name := "path"
	if a.Tool == "bash" {
		name = "command"
	}
	needed := a.Tool == "bash" || a.Tool == "read" || a.Tool == "write" || a.Tool == "edit"
	switch a.Tool {
	case "bash", "read", "write", "edit", "grep", "find", "ls":
	default:
		return nil, fmt.Errorf("%q is no tool that larva knows", a.Tool)
	}
	value, err := text(name, needed)
	if err != nil {
		return nil, err
	}
	if a.Tool == "bash" {
		return words("bash", "command", value)
	}
	path, err := a.path(value)
	if err != nil {
		return nil, err
	}
	switch a.Tool {
	case "read":
		var out []Word
		for _, p := range variants(path) {
			w, err := words("read", "path", p)
			if err != nil {
				return nil, err
			}
			out = append(out, w...)
		}
		return out, nil
	case "write":
		return words("write", "path", path, "content", "")
	case "edit":
		return words("edit", "path", path, "old_string", "a", "new_string", "b")
	case "grep":
		return words("grep", "path", path, "pattern", ".")
	}
	return words("glob", "path", path, "pattern", "**") // find, ls
}

// Pi takes these for a space, drops one leading @, and reads ~ and file:// in
// every path, in both tested versions.
var spaces = regexp.MustCompile(`[\x{00A0}\x{2000}-\x{200A}\x{202F}\x{205F}\x{3000}]`)

// path is the file that Pi would take, so that what is judged is what is done.
func (a Asked) path(p string) (string, error) {
	p = strings.TrimPrefix(spaces.ReplaceAllString(p, " "), "@")
	switch {
	case strings.HasPrefix(p, "file://"):
		return "", errors.New("a path as an address of file:// is not taken")
	case strings.ContainsRune(p, 0):
		return "", errors.New("a path holds a NUL")
	case p == "~":
		return a.Home, nil
	case strings.HasPrefix(p, "~/"), filepath.Separator == '\\' && strings.HasPrefix(p, `~\`):
		return filepath.Join(a.Home, p[2:]), nil
	case filepath.IsAbs(p):
		return filepath.Clean(p), nil
	}
	return filepath.Join(a.Cwd, p), nil
}

var clock = regexp.MustCompile(`(?i) (AM|PM)\.`)

// variants are the files that Pi reads instead where the first is not there:
// names of screenshots, with a narrow space or a curly apostrophe.
func variants(path string) []string {
	out := []string{path}
	for _, v := range []string{clock.ReplaceAllString(path, "\u202f$1."), strings.ReplaceAll(path, "'", "\u2019")} {
		if v != path {
			out = append(out, v)
		}
	}
	return out
}

func words(tool string, pairs ...string) ([]Word, error) {
	o := make(map[string]string, len(pairs)/2)
	for i := 0; i+1 < len(pairs); i += 2 {
		o[pairs[i]] = pairs[i+1]
	}
	input, err := json.Marshal(o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", tool, err)
	}
	return []Word{{tool, input}}, nil
}
