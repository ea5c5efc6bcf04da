package cli

import (
	"strings"

	"github.com/alecthomas/kong"
)

// usageOf is a positional argument as usage lines show it: ID, FILE…, [PROMPT…].
func usageOf(p *kong.Positional) string {
	name := strings.ToUpper(p.Name)
	if p.IsCumulative() {
		name = strings.TrimSuffix(name, "S") + "…"
	}
	if !p.Required {
		name = "[" + name + "]"
	}
	return name
}

// Command is one leaf of the grammar, for the README, the reference pages and
// the tests that hold them to it.
type Command struct {
	Path     string // "variant list"
	Usage    string // "larva variant list ID"
	Help     string // one sentence
	Examples []string
	Exits    []int
}

// Commands lists every command in the order of help.
func Commands() ([]Command, error) {
	root, err := verbs()
	if err != nil {
		return nil, err
	}
	var list []Command
	root.each(func(v verb) {
		if v.path == "" || len(v.children) > 0 {
			return
		}
		list = append(list, Command{v.path, "larva " + v.path + v.usage, v.help, v.doc.Examples, v.doc.Exits})
	})
	return list, nil
}

// CommandTable is the README's table of commands in Markdown, generated from
// the grammar so that the two cannot drift.
func CommandTable() (string, error) {
	list, err := Commands()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("| command | what it does |\n| --- | --- |\n")
	for _, c := range list {
		b.WriteString("| `" + c.Usage + "` | " + c.Help + " |\n")
	}
	return b.String(), nil
}
