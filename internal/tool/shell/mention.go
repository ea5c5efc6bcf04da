package shell

import (
	"slices"
	"strings"

	"larva.dev/larva/internal/capability"
	"larva.dev/larva/internal/command"
)

// gitWriters are git's subcommands that write the working tree where their
// words say; git add and commit only read it.
var gitWriters = []string{"mv", "rm", "checkout", "checkout-index", "restore", "apply", "am", "init", "clone", "switch", "reset", "stash", "clean", "worktree", "submodule", "archive", "read-tree"}

// plain are commands of which the table knows what each word is for. An
// option's value may still be a place to write.
var plain = []string{"cp", "mv", "ln", "link", "rm", "rmdir", "mkdir", "touch", "chmod", "chown", "tee", "truncate"}

// leaves are options behind which stands what is left alone: a test of find,
// an exclusion.
var leaves = []string{"-path", "-ipath", "-wholename", "-iwholename", "-name", "-iname", "-regex", "-iregex", "-newer", "-samefile"}

// tracers run another command and write a file of their own beside it.
var tracers = []string{"strace", "ltrace", "script", "time", "perf", "valgrind"}

// mentions adds guarded places that a changing command names in a word whose
// part in it is not known for sure: the value of an option, a program's own
// script, words that reach it through find, xargs or a loop. To be on the safe
// side they count as written.
func (f *finder) mentions(line string, l *command.Line, s *command.Segment, use capability.Use, bases []place) {
	for i := 1; i < s.Lead && i < len(s.Outer); i++ {
		if slices.Contains(tracers, s.Wrappers[0]) {
			f.mention(s.Outer[i].Value, bases)
		}
	}
	if capability.Highest(use.Needs) <= capability.ReadOnly || len(s.Argv) == 0 {
		return
	}
	name, sub, _ := strings.Cut(use.Name, " ")
	if name == "git" {
		sub, _, _ = strings.Cut(sub, " ")
		if !slices.Contains(gitWriters, sub) {
			return
		}
	}
	indirect := slices.ContainsFunc(s.Wrappers, func(w string) bool {
		by, _, _ := strings.Cut(w, " ")
		return by == "xargs" || by == "parallel" || by == "find"
	})
	loop := false // a word of a loop, whose list is no command of its own
	for i, w := range s.Argv {
		loop = loop || !w.Static && strings.Contains(line, "for ")
		if i > 0 && !leaving(s.Argv, i) && (!slices.Contains(plain, name) || optionValue(s.Argv, i)) {
			f.mention(w.Value, bases)
		}
	}
	if loop || indirect && strings.Contains(line, "<<") { // a here-document is no word of a command
		f.mention(line, bases)
	}
	if indirect {
		f.mentionAll(l, bases)
	}
}

// mentionAll takes the whole line: what one command prints or finds is what
// another gets.
func (f *finder) mentionAll(l *command.Line, bases []place) {
	for j := range l.Segments {
		other := &l.Segments[j]
		for i, w := range other.Outer {
			if i > 0 && !leaving(other.Outer, i) {
				f.mention(w.Value, bases)
			}
		}
		for _, r := range other.Redirects {
			f.mention(r.Target.Value, bases)
		}
	}
}

// leaving says that a word only tells what is left alone.
func leaving(words []command.Word, i int) bool {
	at, before := words[i].Value, words[i-1].Value
	excludes := func(s string) bool { return strings.HasPrefix(s, "--exclude") || strings.HasPrefix(s, "--ignore") }
	return excludes(at) || excludes(before) && !strings.Contains(before, "=") || slices.Contains(leaves, before)
}

// excluded says that an option leaves out just this name.
func excluded(words []command.Word, name string) bool {
	for i, w := range words {
		if i > 0 && leaving(words, i) {
			v := w.Value
			if _, after, ok := strings.Cut(v, "="); ok {
				v = after
			}
			if strings.Trim(v, "/") == name {
				return true
			}
		}
	}
	return false
}

// optionValue says that a word is, or may be, the value of a long option.
func optionValue(words []command.Word, i int) bool {
	at, before := words[i].Value, words[i-1].Value
	return strings.HasPrefix(at, "-") || strings.HasPrefix(before, "--") && len(before) > 2 && !strings.Contains(before, "=")
}

// mention adds each guarded path in a text.
func (f *finder) mention(text string, bases []place) {
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\r\n'\"`=,;:()<>|&{}", r) }) {
		if strings.HasPrefix(part, "-") {
			at := strings.IndexAny(part, "./~")
			if at < 0 {
				continue
			}
			part = part[at:]
		}
		if !slices.ContainsFunc(strings.Split(part, "/"), guarded) {
			continue
		}
		part = strings.TrimRight(part, "*?/")
		for _, b := range bases {
			if b != "" {
				f.resolve(static(part), part, true, true, b, false)
			}
		}
	}
}

// guarded says that nothing is written by a run under a path component; the
// permission room decides which parts of a .git are.
func guarded(component string) bool {
	name := strings.ToLower(component)
	return name == ".git" || slices.ContainsFunc(capability.GuardedNames(), func(g capability.Guarded) bool { return g.Name == name })
}
