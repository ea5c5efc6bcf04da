package command

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// sets lists the variables that a builtin gives values to by naming them, with
// whatever stands in brackets behind them, and says why that cannot be known,
// "" where it can. argv has its wrappers taken off.
func sets(argv []Word) (names []string, unsure string) {
	if len(argv) == 0 || !argv[0].Static || !setters[argv[0].Value] {
		return nil, ""
	}
	name := argv[0].Value
	only := name == "printf" || name == "wait" // -v NAME, -p NAME, and nothing else
	for i := 1; i < len(argv); i++ {
		a := argv[i]
		text := a.Value
		if only {
			flag := map[string]string{"printf": "-v", "wait": "-p"}[name]
			switch {
			case !a.Static && strings.HasPrefix(flag, text[:min(len(text), 2)]) && (i == 1 || text != ""):
				if name == "printf" {
					return names, "may set a variable that cannot be known before it runs"
				}
				continue
			case !strings.HasPrefix(text, flag):
				if name == "printf" {
					return names, unsure // the format; what follows is data
				}
				continue
			case text != flag:
				text = text[len(flag):]
			case i+1 < len(argv):
				i++
				a, text = argv[i], argv[i].Value
			}
		}
		switch {
		case !a.Static && (name == "unset" || only || name == "getopts" && i == 2):
			return names, "sets a variable that cannot be known before it runs"
		case !a.Static:
			continue
		}
		if !only && len(text) > 2 && text[0] == '-' { // read -aNAME
			text = text[2:]
		}
		id, subscript, indexed := strings.Cut(text, "[")
		if !syntax.ValidName(id) {
			continue
		}
		names = append(names, id)
		if indexed && !plainSubscript(subscript) {
			unsure = "evaluates a subscript that is no number"
		}
	}
	return names, unsure
}

// plainSubscript is a number, a name, @ or *, and the closing bracket.
func plainSubscript(s string) bool {
	s = strings.TrimSuffix(s, "]")
	return s == "@" || s == "*" || strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789-") == ""
}

// hidden are the variables that a redirect such as {NAME}>file sets.
func hidden(list []*syntax.Redirect) []string {
	var out []string
	for _, r := range list {
		if r.N == nil {
			continue
		}
		if n, ok := strings.CutPrefix(r.N.Value, "{"); ok {
			n, _, _ = strings.Cut(strings.TrimSuffix(n, "}"), "[")
			out = append(out, n)
		}
	}
	return out
}

// changed are assignments of values that are not known to those of names that
// programs may read: by custom these are not in lower case.
func changed(names []string) []Assign {
	var out []Assign
	for _, n := range names {
		if n != strings.ToLower(n) || strings.HasSuffix(n, "_proxy") {
			out = append(out, Assign{Name: n, Value: unknownWord(n)})
		}
	}
	return out
}
