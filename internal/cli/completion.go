package cli

import (
	"fmt"
	"sort"
	"strings"
)

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish." complete:"shell"`
}

func (completionCmd) doc() doc {
	return doc{
		Long: "Commands, flags and their values, persona ids and variants.\n\n" +
			"  bash  source <(larva completion bash)\n" +
			"  zsh   larva completion zsh > \"${fpath[1]}/_larva\"\n" +
			"  fish  larva completion fish > ~/.config/fish/completions/larva.fish",
		Examples: []string{"larva completion bash", "larva completion fish"},
		Exits:    plainExits(),
	}
}

// Run prints the script.
func (c completionCmd) Run(s *session) error {
	root, err := verbs()
	if err != nil {
		return err
	}
	script := map[string]func(verb) string{"bash": bashScript, "zsh": zshScript, "fish": fishScript}[c.Shell](root)
	if s.json() {
		return s.data(map[string]any{"shell": c.Shell, "script": script})
	}
	_, err = s.out.WriteString(script)
	return err
}

// The three scripts hold the same three tables, made from the grammar: which
// words are commands, which flags take a value (of what kind), and of what
// kind the positional arguments are. Kinds that only this machine knows
// (persona, runnable, variant, schema, profile, session, agent, skill) are asked of `larva __complete`.

// valueFlags are all flags that take a value, as "PATH --name" keys.
func valueFlags(v verb) (names []string) {
	seen := map[string]bool{}
	v.each(func(v verb) {
		for _, f := range v.flags {
			if !f.takes || seen[f.name] {
				continue
			}
			seen[f.name] = true
			names = append(names, "--"+f.name)
			if f.short != "" {
				names = append(names, "-"+f.short)
			}
		}
	})
	sort.Strings(names)
	return names
}

func (v verb) childNames() (names []string) {
	for _, c := range v.children {
		names = append(names, c.name())
	}
	return names
}

func (v verb) name() string { return v.path[strings.LastIndex(v.path, " ")+1:] }

func flagWords(root, v verb) (words []string) {
	for _, f := range v.flags {
		words = append(words, "--"+f.name)
	}
	if v.path != "" {
		words = append(words, flagWords(root, root)...)
	}
	return words
}

// dialect is what bash and zsh say differently; the rest of the script is one.
type dialect struct {
	head, tail string
	words      string // the array of typed words
	from       int    // index of the first word after "larva"
	current    string // index of the word under the cursor
	commands   func(v verb) string
}

func bashScript(root verb) string {
	return posixScript(root, dialect{
		head: "# bash completion for larva; made from its grammar.\n" + `_larva_values() {
  case $1 in
    word) COMPREPLY=($(compgen -W "$2" -- "$cur")) ;;
    persona|runnable|schema|profile|session|agent|skill) COMPREPLY=($(compgen -W "$(larva __complete "$1" 2>/dev/null)" -- "$cur")) ;;
    variant) COMPREPLY=($(compgen -W "$(larva __complete variant "$first" 2>/dev/null)" -- "$cur")) ;;
    file) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$cur")) ;;
    dir) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -d -- "$cur")) ;;
  esac
}
`,
		tail: "complete -F _larva larva\n", words: "COMP_WORDS", from: 1, current: "COMP_CWORD",
		commands: func(v verb) string { return "_larva_values word " + quote(strings.Join(v.childNames(), " ")) },
	})
}

func zshScript(root verb) string {
	return posixScript(root, dialect{
		head: "#compdef larva\n# zsh completion for larva; made from its grammar.\n" + `_larva_values() {
  case $1 in
    word) compadd -- ${(s: :)2} ;;
    persona|runnable|schema|profile|session|agent|skill) compadd -- ${(f)"$(larva __complete $1 2>/dev/null)"} ;;
    variant) compadd -- ${(f)"$(larva __complete variant $first 2>/dev/null)"} ;;
    file) _files ;;
    dir) _files -/ ;;
  esac
}
_larva_commands() {
  local -a list
  list=("$@")
  _describe command list
}
`,
		tail:  "if [ \"$funcstack[1]\" = _larva ]; then _larva \"$@\"; else compdef _larva larva; fi\n",
		words: "words", from: 2, current: "CURRENT",
		commands: func(v verb) string {
			var list []string
			for _, c := range v.children {
				list = append(list, c.name()+":"+c.help)
			}
			return "_larva_commands " + strings.Join(quoteAll(list), " ")
		},
	})
}

// posixScript writes the function that finds out where the cursor stands (the
// command typed so far, the n-th argument, the first one) and what fits there.
func posixScript(root verb, d dialect) string {
	var b strings.Builder
	b.WriteString(d.head)
	fmt.Fprintf(&b, "_larva() {\n  local cur=${%s[%s]} prev=${%[1]s[%[2]s-1]} at= first= n=0 i w\n", d.words, d.current)
	fmt.Fprintf(&b, "  for ((i = %d; i < %s; i++)); do\n    w=${%s[i]}\n    case $w in\n", d.from, d.current, d.words)
	fmt.Fprintf(&b, "      %s) ((i++)); continue ;;\n", strings.Join(valueFlags(root), "|"))
	b.WriteString("      -*) continue ;;\n    esac\n    case \"$at/$w\" in\n")
	fmt.Fprintf(&b, "      %s) at=\"$at/$w\" ;;\n", strings.Join(quoteAll(commandKeys(root)), "|"))
	b.WriteString("      *) if [[ $n == 0 ]]; then first=$w; fi; n=$((n + 1)) ;;\n    esac\n  done\n")
	b.WriteString("  case \"$at $prev\" in\n")
	root.each(func(v verb) {
		for _, f := range v.flags {
			if call := valueCall(f.words, f.kind); call != "" && f.takes {
				fmt.Fprintf(&b, "    %s) %s; return ;;\n", flagPattern(v, f), call)
			}
		}
	})
	fmt.Fprintf(&b, "  esac\n  case $prev in\n    %s) return ;;\n  esac\n", strings.Join(valueFlags(root), "|"))
	b.WriteString("  case $at in\n")
	root.each(func(v verb) {
		fmt.Fprintf(&b, "    %s)\n", quote(key(v)))
		fmt.Fprintf(&b, "      if [[ $cur == -* ]]; then _larva_values word %s; return; fi\n", quote(strings.Join(flagWords(root, v), " ")))
		if len(v.children) > 0 {
			fmt.Fprintf(&b, "      %s ;;\n", d.commands(v))
			return
		}
		b.WriteString(argCase(v, "      ") + "      ;;\n")
	})
	b.WriteString("  esac\n}\n" + d.tail)
	return b.String()
}

// argCase completes the n-th positional argument.
func argCase(v verb, indent string) string {
	var b strings.Builder
	for i, kind := range v.args {
		pattern := fmt.Sprint(i)
		if i == len(v.args)-1 && v.repeats {
			pattern = "*"
		}
		if c := valueCall(shellWords(kind), kind); c != "" {
			fmt.Fprintf(&b, "%s  %s) %s ;;\n", indent, pattern, c)
		}
	}
	if b.Len() == 0 {
		return indent + ":\n"
	}
	return indent + "case $n in\n" + b.String() + indent + "esac\n"
}

// shellWords are the values of the one argument with an enum.
func shellWords(kind string) []string {
	if kind == "shell" {
		return []string{"bash", "zsh", "fish"}
	}
	return nil
}

// valueCall is the shell call that offers words or a kind; "" offers nothing.
func valueCall(words []string, kind string) string {
	switch {
	case len(words) > 0:
		return "_larva_values word " + quote(strings.Join(words, " "))
	case kind != "":
		return "_larva_values " + kind
	}
	return ""
}

// key is a command's path as the scripts keep it: "/variant/list".
func key(v verb) string {
	if v.path == "" {
		return ""
	}
	return "/" + strings.ReplaceAll(v.path, " ", "/")
}

func commandKeys(root verb) (keys []string) {
	root.each(func(v verb) {
		if v.path != "" {
			keys = append(keys, key(v))
		}
	})
	return keys
}

// flagPattern matches "$at $prev"; larva's own flags hold after any command.
func flagPattern(v verb, f flag) string {
	at := quote(key(v))
	if v.path == "" {
		at = "*"
	}
	p := at + "' --" + f.name + "'"
	if f.short != "" {
		p += "|" + at + "' -" + f.short + "'"
	}
	return p
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func quoteAll(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = quote(s)
	}
	return out
}

// fishScript uses fish's own tables: one line a command, a flag, an argument.
func fishScript(root verb) string {
	var b strings.Builder
	b.WriteString("# fish completion for larva; made from its grammar.\n")
	b.WriteString("function __larva_at\n  set -l at ''\n  set -l rest\n  set -l skip 0\n  for w in (commandline -opc)[2..-1]\n")
	b.WriteString("    if test $skip = 1\n      set skip 0\n      continue\n    end\n    switch $w\n")
	fmt.Fprintf(&b, "      case %s\n        set skip 1\n      case '-*'\n      case '*'\n        switch \"$at/$w\"\n", strings.Join(valueFlags(root), " "))
	fmt.Fprintf(&b, "          case %s\n            set at \"$at/$w\"\n          case '*'\n            set -a rest $w\n        end\n    end\n  end\n", strings.Join(quoteAll(commandKeys(root)), " "))
	b.WriteString("  echo $at\n  for w in $rest\n    echo $w\n  end\nend\n")
	b.WriteString("function __larva_is\n  set -l at (__larva_at)\n  test \"$at[1]\" = \"$argv[1]\"; or return 1\n" +
		"  set -q argv[2]; or return 0\n  set -l n (math (count $at) - 1)\n  test $n -ge $argv[2] -a $n -le $argv[3]\nend\n")
	b.WriteString("function __larva_first\n  set -l at (__larva_at)\n  echo $at[2]\nend\n")
	b.WriteString("complete -c larva -f\n")
	root.each(func(v verb) { b.WriteString(fishVerb(v)) })
	return b.String()
}

func fishVerb(v verb) string {
	var b strings.Builder
	here := func(args string) string { return "complete -c larva -n " + quote("__larva_is "+quoteFish(key(v))+args) }
	for _, c := range v.children {
		fmt.Fprintf(&b, "%s -a %s -d %s\n", here(""), c.name(), quoteFish(c.help))
	}
	for _, f := range v.flags {
		line := here("") + " -l " + f.name
		if v.path == "" {
			line = "complete -c larva -l " + f.name
		}
		if f.short != "" {
			line += " -s " + f.short
		}
		if f.takes {
			line += " -x"
		}
		if words := fishWords(f.words, f.kind); words != "" {
			line += " -a " + words
		}
		fmt.Fprintf(&b, "%s -d %s\n", line, quoteFish(f.help))
	}
	for i, kind := range v.args {
		last := i
		if i == len(v.args)-1 && v.repeats {
			last = 1000
		}
		switch w := fishWords(shellWords(kind), kind); {
		case kind == "file":
			fmt.Fprintf(&b, "%s -F\n", here(fmt.Sprintf(" %d %d", i, last)))
		case w != "":
			fmt.Fprintf(&b, "%s -a %s\n", here(fmt.Sprintf(" %d %d", i, last)), w)
		}
	}
	return b.String()
}

func fishWords(words []string, kind string) string {
	switch {
	case len(words) > 0:
		return quoteFish(strings.Join(words, " "))
	case kind == "persona" || kind == "runnable" || kind == "schema" || kind == "profile" || kind == "session" || kind == "worktree" || kind == "agent" || kind == "skill" || kind == "server":
		return quoteFish("(larva __complete " + kind + " 2>/dev/null)")
	case kind == "variant":
		return quoteFish("(larva __complete variant (__larva_first) 2>/dev/null)")
	case kind == "dir":
		return quoteFish("(__fish_complete_directories)")
	}
	return ""
}

// quoteFish quotes for fish, where a backslash inside single quotes escapes.
func quoteFish(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(s) + "'"
}
