package shell

import (
	"slices"
	"strings"

	"larva.dev/larva/internal/capability"
	"larva.dev/larva/internal/command"
)

// What carries a file away shows it as surely as what prints it: a copy, an
// archive or a link can be read under another name, in the same line even, and
// git shows what it has kept. Where something that must stay unseen lies below
// what such a command names, it counts as named.

// copies says that a command copies, packs, moves or links whole directories.
func (d *descent) copies(s *command.Segment, use capability.Use, flags func(string, ...string) bool) bool {
	d.hidden = true
	switch name, _, _ := strings.Cut(use.Name, " "); name {
	case "cp", "scp":
		d.sources = true
		return flags("rRa", "--recursive", "--archive")
	case "rsync":
		d.sources = true
		return flags("ra", "--recursive", "--archive")
	case "mv":
		d.sources = true
		return true
	case "ln":
		d.sources = true
		return flags("s", "--symbolic")
	case "tar", "bsdtar":
		return packs(s.Argv)
	}
	switch s.Argv[0].Value {
	case "zip":
		return flags("rR", "--recurse-paths")
	case "7z", "7za", "7zr":
		return len(s.Argv) > 1 && slices.Contains([]string{"a", "u"}, s.Argv[1].Value)
	case "bsdtar":
		return packs(s.Argv)
	}
	return false
}

// packs says that tar writes an archive: c, r, u or A in its first cluster.
func packs(argv []command.Word) bool {
	for i, w := range argv[1:] {
		v := w.Value
		switch {
		case strings.HasPrefix(v, "--"):
			if slices.ContainsFunc([]string{"--create", "--append", "--update", "--concatenate", "--catenate"}, func(l string) bool { return len(v) > 3 && strings.HasPrefix(l, v) }) {
				return true
			}
		case strings.HasPrefix(v, "-") || i == 0:
			if strings.ContainsAny(strings.TrimPrefix(v, "-"), "cruA") {
				return true
			}
		}
	}
	return false
}

// history says that git shows the content of tracked files that are not named.
func (d *descent) history(s *command.Segment, use capability.Use, flags func(string, ...string) bool) bool {
	d.hidden, d.tracked, d.kept = true, true, true
	quiet := flags("s", "--stat", "--shortstat", "--numstat", "--name-only", "--name-status", "--no-patch", "--summary", "--quiet", "--dirstat")
	patch := flags("puGcU", "--patch", "--patch-with-stat", "--patch-with-raw", "--unified", "--full-diff", "--cc")
	switch use.Name {
	case "git log", "git reflog", "git stash list", "git whatchanged":
		return patch
	case "git show", "git diff", "git stash show", "git diff-tree", "git diff-index", "git diff-files", "git range-diff":
		return patch || !quiet
	case "git archive", "git bundle", "git format-patch", "git fast-export":
		return true
	case "git cat-file":
		return flags("p", "--batch", "--batch-command", "--textconv", "--filters")
	}
	if len(s.Argv) < 2 || s.Argv[0].Value != "git" {
		return false
	}
	for _, w := range s.Argv[1:] {
		switch w.Value {
		case "archive", "bundle", "format-patch", "fast-export":
			return true
		case "cat-file":
			return flags("p", "--batch", "--batch-command", "--textconv", "--filters")
		}
	}
	return false
}

// passed is a command that gets the files it reads from another one: through
// find -exec, xargs or parallel. What find leaves out by name stays out.
func (f *finder) passed(s *command.Segment, use capability.Use) *descent {
	by := ""
	for _, w := range s.Wrappers {
		if first, _, _ := strings.Cut(w, " "); first == "find" || first == "fd" || first == "xargs" || first == "parallel" {
			by = first
		}
	}
	if by == "" || slices.Contains([]string{"ls", "stat", "file", "du", "echo", "basename", "dirname", "realpath", "readlink", "touch", "chmod", "chown", "mkdir", "rm", "test", "[", "printf", "wc", "git add"}, use.Name) {
		return nil
	}
	d := &descent{hidden: true}
	for i := range f.line.Segments {
		other := &f.line.Segments[i]
		if len(other.Argv) == 0 {
			continue
		}
		switch other.Argv[0].Value {
		case "find", "fd":
			d.byFind(other.Argv)
		case "ls", "git":
			d.hidden = d.hidden && slices.ContainsFunc(other.Argv, func(w command.Word) bool {
				return strings.HasPrefix(w.Value, "-") && strings.ContainsAny(w.Value, "aA") || w.Value == "ls-files"
			})
		}
	}
	return d
}

// byFind reads the name tests of a find without alternatives.
func (d *descent) byFind(argv []command.Word) {
	if slices.ContainsFunc(argv, func(w command.Word) bool { return w.Value == "-o" || w.Value == "-or" || w.Value == "," || !w.Static }) {
		return
	}
	for i, w := range argv[:max(len(argv)-1, 0)] {
		if w.Value != "-name" && w.Value != "-iname" {
			continue
		}
		if before := argv[i-1].Value; before == "!" || before == "-not" {
			d.not = append(d.not, argv[i+1].Value)
		} else {
			d.only = append(d.only, argv[i+1].Value)
		}
	}
}

// under are the directories that a command reads below.
func (f *finder) under(s *command.Segment, use capability.Use, d *descent) []string {
	var dirs []string
	if d.sources {
		var operands []string
		for _, at := range f.places(s) {
			for _, o := range use.Operands {
				if o.Index <= 0 || !o.Known || !o.Sure || strings.HasPrefix(o.Value, "-") {
					continue
				}
				if text, ok := f.value(s.Argv[o.Index], at); ok && at != "" {
					operands = append(operands, f.rs.ResolveFrom(string(at), text, false).Real)
				}
			}
		}
		target := slices.ContainsFunc(s.Argv, func(w command.Word) bool { return w.Value == "-t" || strings.HasPrefix(w.Value, "--target") })
		if len(operands) > 1 && !target {
			operands = operands[:len(operands)-1]
		}
		return operands
	}
	for _, p := range f.paths {
		own := p.Segment == f.segment
		if len(s.Wrappers) > 0 && p.Segment < len(f.line.Segments) {
			a := f.line.Segments[p.Segment].Argv
			own = own || len(a) > 0 && (a[0].Value == "find" || a[0].Value == "fd" || a[0].Value == "ls")
		}
		if d.kept && !exists(p.Real) { // a revision, or a path in one
			continue
		}
		if own && !p.Unknown && !p.Write && !p.Redirect {
			dirs = append(dirs, p.Real)
		}
	}
	return dirs
}
