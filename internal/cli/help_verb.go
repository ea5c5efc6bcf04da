package cli

import (
	"strings"

	"github.com/alecthomas/kong"

	"larva.dev/larva/internal/diag"
)

type helpCmd struct {
	Command []string `arg:"" optional:"" help:"The command's words; none: all commands."`
}

func (helpCmd) doc() doc {
	return doc{
		Long:     "The same as --help behind the command.",
		Examples: []string{"larva help version", "larva help variant delete"},
		Exits:    plainExits(),
	}
}

// Run prints what --help of the command prints.
func (c helpCmd) Run(s *session) error {
	var g grammar
	k, err := newKong(&g)
	if err != nil {
		return err
	}
	k.Stdout, k.Stderr = s.out, s.process.Stderr
	node := k.Model.Node
	for _, word := range c.Command {
		if node = childOf(node, word); node == nil {
			return diag.Usage("there is no command %q", strings.Join(c.Command, " ")).WithHint("larva help")
		}
	}
	_, err = k.Parse(append(append([]string{}, c.Command...), "--help"))
	return s.parseError(err)
}

func childOf(n *kong.Node, word string) *kong.Node {
	for _, c := range n.Children {
		if c.Type == kong.CommandNode && c.Name == word && !c.Hidden {
			return c
		}
	}
	return nil
}

type versionCmd struct{}

func (versionCmd) doc() doc {
	return doc{
		Long:     "The same as --version.",
		Examples: []string{"larva version", "larva version --json"},
		Exits:    plainExits(),
	}
}

// Run prints the version.
func (versionCmd) Run(s *session) error {
	if s.json() {
		return s.data(map[string]string{"version": Version})
	}
	s.line("larva %s", Version)
	return nil
}
