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

// CommandTable is the README's table of commands in Markdown, generated from
// the grammar so that the two cannot drift.
func CommandTable() (string, error) {
	root, err := verbs()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("| command | what it does |\n| --- | --- |\n")
	root.each(func(v verb) {
		if v.path == "" || len(v.children) > 0 {
			return
		}
		b.WriteString("| `larva " + v.path + v.usage + "` | " + v.help + " |\n")
	})
	return b.String(), nil
}
