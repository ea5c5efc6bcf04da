package cli

import (
	"context"
	"strings"

	"github.com/alecthomas/kong"
)

// completeVerb is the hidden first argument under which the completion
// scripts ask for words that only this machine knows.
const completeVerb = "__complete"

// complete prints one candidate a line, of the kind "persona" (stored ones),
// "runnable" (shipped ones and definitions too), "agent" (definitions), "skill", "server", "schema", "profile", or "variant ID". It never
// complains: a shell that completes must not be disturbed.
func (s *session) complete(ctx context.Context, args []string) error {
	var words []string
	switch {
	case len(args) >= 1 && args[0] == "persona":
		words, _ = s.app.PersonaIDs()
	case len(args) >= 1 && args[0] == "runnable":
		words, _ = s.app.RunnableIDs()
	case len(args) >= 2 && args[0] == "variant":
		words, _ = s.app.VariantNames(args[1])
	case len(args) >= 1 && args[0] == "schema":
		words = s.app.SchemaNames()
	case len(args) >= 1 && args[0] == "agent":
		words, _ = s.app.AgentIDs()
	case len(args) >= 1 && args[0] == "server":
		words, _ = s.app.ServerNames(ctx)
	case len(args) >= 1 && args[0] == "skill":
		words, _ = s.app.SkillIDs(ctx)
	case len(args) >= 1 && args[0] == "worktree":
		words, _ = s.app.WorktreeNames(ctx)
	case len(args) >= 1 && args[0] == "session":
		words, _ = s.app.SessionIDs()
	case len(args) >= 1 && args[0] == "profile":
		words, _ = s.app.ProfileNames()
	}
	for _, w := range words {
		if plainWord(w) {
			s.line("%s", w)
		}
	}
	return nil
}

// plainWord keeps back what a shell would read as more than a word: bash
// expands the list of candidates, so a file named $(…) must never be one.
func plainWord(w string) bool {
	for _, r := range w {
		if !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-", r) {
			return false
		}
	}
	return w != "" && w[0] != '-'
}

// verb is one command of the grammar as the completion scripts and the
// command table see it.
type verb struct {
	path     string // "variant list"
	help     string
	usage    string // "FILE…"
	children []verb
	flags    []flag // its own; those of larva itself hold everywhere
	// args are the kinds of the positional arguments: persona, variant, file,
	// …; "" completes to nothing. The last one repeats where repeats is set.
	args    []string
	repeats bool
	doc     doc
}

type flag struct {
	name  string // without dashes
	short string // one letter or ""
	help  string
	takes bool     // takes a value
	words []string // the values, where they are few and known
	kind  string   // else what kind of value
}

// verbs walks the grammar. The first one is larva itself, with path "".
func verbs() (verb, error) {
	var g grammar
	k, err := newKong(&g)
	if err != nil {
		return verb{}, err
	}
	return verbOf(k.Model.Node), nil
}

func verbOf(n *kong.Node) verb {
	v := verb{path: commandOf(n), help: n.Help, doc: docOf(n)}
	for _, f := range n.Flags {
		v.flags = append(v.flags, flagOf(f))
	}
	for _, p := range n.Positional {
		v.args = append(v.args, p.Tag.Get("complete"))
		v.repeats = p.IsCumulative()
		v.usage += " " + usageOf(p)
	}
	for _, c := range n.Children {
		if !c.Hidden {
			v.children = append(v.children, verbOf(c))
		}
	}
	return v
}

func flagOf(f *kong.Flag) flag {
	out := flag{name: f.Name, help: f.Help, takes: !f.IsBool(), kind: f.Tag.Get("complete")}
	if f.Short != 0 {
		out.short = string(f.Short)
	}
	out.words = strings.Fields(f.Tag.Get("words"))
	if len(out.words) == 0 && f.Enum != "" {
		out.words = f.EnumSlice()
	}
	return out
}

// each calls f for v and everything under it.
func (v verb) each(f func(verb)) {
	f(v)
	for _, c := range v.children {
		c.each(f)
	}
}
