package shell

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"larva.dev/larva/internal/capability"
	"larva.dev/larva/internal/command"
	"larva.dev/larva/internal/root"
	"larva.dev/larva/internal/tool"
)

// maxMatches bounds the files that one pattern is followed to, and maxPaths
// the paths of one line. Past them the pattern or the word itself stands for
// the rest, as a path that cannot be known.
const (
	maxMatches = 500
	maxPaths   = 4000
)

// Effects states what a shell line needs and which files it names, without
// running any of it. It looks at the disk to follow links, file patterns and
// cd. Path.Segment is the index of the command in command.Parse's order. The
// needs are those outside a sandbox; permission, which knows whether there is
// one, judges each command anew.
func Effects(rs *root.Set, line string) tool.Effects { return effects(rs, line, nil, nil) }

// effects is Effects; denied says which files must stay unseen where a command
// meets them on its way, ruled which of them by a rule, nil for none.
func effects(rs *root.Set, line string, denied, ruled func(abs, real string) bool) tool.Effects {
	eff := tool.Effects{Touches: true, Command: line}
	l, err := command.Parse(line)
	if err != nil {
		eff.Needs = []capability.Need{{Family: "shell", Posture: capability.Destructive}}
		return eff
	}
	f := &finder{rs: rs, denied: denied, ruled: ruled, line: l, seen: map[tool.Path]bool{}}
	eff.ReadOnly = true
	for i := range l.Segments {
		s := &l.Segments[i]
		f.segment = i
		use := capability.ShellNeeds(args(s.Argv), false)
		eff.Needs = capability.Join(eff.Needs, use.Needs)
		if s.Opaque {
			eff.Needs = capability.Join(eff.Needs, capability.ShellNeeds(args(s.Outer), false).Needs)
		}
		if s.Dynamic != "" || len(s.Assigns) > 0 {
			eff.ReadOnly = false
		}
		f.command(s, use)
		f.below(s, use)
		for _, dir := range f.places(s) {
			f.mentions(line, l, s, use, f.bases(s, use, dir))
		}
		for _, r := range s.Redirects {
			switch {
			case socket(r.Target.Value):
				eff.Needs = capability.Join(eff.Needs, []capability.Need{{Family: "shell", Posture: capability.ReadWrite}, {Family: "network", Posture: capability.ReadWrite}})
				continue
			case r.Write:
				eff.Needs = capability.Join(eff.Needs, []capability.Need{{Family: "filesystem", Posture: capability.ReadWrite}})
			}
			f.redirect(s, r)
		}
	}
	for _, n := range eff.Needs {
		eff.Network = eff.Network || n.Family == "network"
	}
	eff.ReadOnly = eff.ReadOnly && capability.Highest(eff.Needs) <= capability.ReadOnly
	eff.Paths = f.paths
	return eff
}

func socket(target string) bool {
	return strings.HasPrefix(target, "/dev/tcp/") || strings.HasPrefix(target, "/dev/udp/")
}

// args are a command's words as the capability table reads them.
func args(words []command.Word) []capability.Arg {
	out := make([]capability.Arg, len(words))
	for i, w := range words {
		out[i] = capability.Arg{Value: w.Value, Known: w.Static, Glob: w.Glob, Many: w.Split}
		if w.Static {
			continue
		}
		if v, ok := w.Resolve(command.Vars{Home: "/", Temp: "/", Cwd: "/"}); ok {
			out[i] = capability.Arg{Value: v, Known: true, Glob: w.Glob}
		} else if w.Number {
			out[i] = capability.Arg{Value: "0", Known: true}
		}
	}
	return out
}

// finder collects the paths of a line.
type finder struct {
	rs      *root.Set
	denied  func(abs, real string) bool
	ruled   func(abs, real string) bool
	line    *command.Line
	segment int
	paths   []tool.Path
	seen    map[tool.Path]bool
}

func (f *finder) add(p tool.Path) {
	p.Segment = f.segment
	if len(f.paths) >= maxPaths || f.seen[p] {
		return
	}
	f.seen[p] = true
	f.paths = append(f.paths, p)
}

// place is a directory that a command may run in; "" is one that cannot be known.
type place string

// places resolves a segment's directories. One that only holds if a cd failed
// is left out where that cd leads to a directory.
func (f *finder) places(s *command.Segment) []place {
	var out []place
	for _, d := range s.Dirs {
		if d.Unknown {
			out = append(out, "")
			continue
		}
		failed := true
		for _, chain := range d.Failed {
			dir := f.chain(chain)
			if fi, err := os.Stat(string(dir)); dir != "" && err == nil && fi.IsDir() {
				failed = false
			}
		}
		if failed {
			out = append(out, f.chain(d.Steps))
		}
	}
	if len(out) == 0 {
		out = append(out, place(f.rs.Cwd))
	}
	return out
}

// chain follows cds from the shell's own directory.
func (f *finder) chain(steps []command.Word) place {
	dir := place(f.rs.Cwd)
	for _, step := range steps {
		v, ok := f.value(step, dir)
		if !ok || dir == "" && !filepath.IsAbs(v) {
			return ""
		}
		// The shell's cd takes .. off the text, without following links; what
		// is then named from there follows them.
		dir = place(f.rs.ResolveFrom(string(dir), v, false).Abs)
	}
	return dir
}

func (f *finder) value(w command.Word, dir place) (string, bool) {
	return w.Resolve(command.Vars{Home: f.rs.Home, Temp: f.rs.Temp, Cwd: string(dir)})
}

// command finds the files among a command's words.
func (f *finder) command(s *command.Segment, use capability.Use) {
	for _, dir := range f.places(s) {
		bases := f.bases(s, use, dir)
		for _, o := range use.Operands {
			if !leavesOut(s, use, o) {
				f.operand(s, o, bases)
			}
		}
		f.into(s, use, bases)
		if len(s.Argv) == 0 {
			continue
		}
		f.wrappers(s, bases)
		name := s.Argv[0]
		if name.Static && system(name.Value) {
			continue
		}
		if strings.Contains(name.Value, "/") || name.Glob || !name.Static {
			f.word(name, name.Value, false, false, bases)
		}
	}
	for _, a := range s.Assigns {
		if v := a.Value; v.Static && strings.ContainsAny(v.Value, "/~") && len(s.Argv) > 0 {
			f.word(v, v.Value, false, false, f.places(s))
		}
	}
}

// into adds what a copy into a directory is called there: cp x/.git . writes
// .git, and cp -r x/. . whatever x holds.
func (f *finder) into(s *command.Segment, use capability.Use, bases []place) {
	if !slices.Contains([]string{"cp", "mv", "ln", "link", "install", "rsync", "scp"}, use.Name) {
		return
	}
	var from, to []string
	for _, o := range use.Operands {
		if o.Index < 0 || !o.Known || !o.Sure || o.Index > 0 && leaving(s.Argv, o.Index) {
			continue
		}
		v := s.Argv[o.Index]
		if text, ok := f.value(v, bases[0]); ok && !v.Glob && o.Value == v.Value {
			if o.Write {
				to = append(to, text)
			} else {
				from = append(from, text)
			}
		}
	}
	if (use.Name == "rsync" || use.Name == "scp") && len(to) == 0 && len(from) > 1 {
		from, to = from[:len(from)-1], from[len(from)-1:]
		f.resolve(static(to[0]), to[0], true, true, bases[0], false)
	}
	if use.Name == "ln" || use.Name == "link" {
		f.linked(from, to, bases[0])
	}
	for _, dir := range to {
		fi, err := os.Stat(f.rs.ResolveFrom(string(bases[0]), dir, true).Real)
		there := err == nil && fi.IsDir()
		for _, src := range from {
			names := []string{filepath.Base(src)}
			if abs := f.rs.ResolveFrom(string(bases[0]), src, false); strings.HasSuffix(src, "/.") || src == "." || strings.HasSuffix(src, "/") || slices.ContainsFunc(s.Argv, func(a command.Word) bool {
				return strings.HasPrefix(a.Value, "-") && !strings.HasPrefix(a.Value, "--") && strings.Contains(a.Value, "T") || a.Value == "--no-target-directory"
			}) {
				list, _ := os.ReadDir(abs.Real)
				for _, e := range list[:min(len(list), maxMatches)] {
					names = append(names, e.Name())
				}
			}
			for _, n := range names {
				if excluded(s.Argv, n) {
					continue
				}
				if !there && !strings.HasPrefix(n, ".") {
					continue // what it becomes is dir itself
				}
				f.resolve(static(dir), filepath.Join(dir, n), true, true, bases[0], false)
			}
		}
	}
}

// linked adds the targets of links as written to: later in the same line the
// link, which is not there yet when the line is judged, may stand for them. A
// symbolic link's target counts from where the link lies.
func (f *finder) linked(from, to []string, dir place) {
	if len(to) == 0 && len(from) == 1 { // ln TARGET
		to = []string{"."}
	}
	for _, target := range from {
		f.resolve(static(target), target, true, true, dir, false)
		if filepath.IsAbs(target) {
			continue
		}
		for _, link := range to {
			at := f.rs.ResolveFrom(string(dir), link, true).Real
			if fi, err := os.Stat(at); err != nil || !fi.IsDir() {
				at = filepath.Dir(at)
			}
			f.resolve(static(target), target, true, true, place(at), false)
		}
	}
}

func static(text string) command.Word { return command.Word{Text: text, Value: text, Static: true} }

// wrappers adds what the words around a command name: xargs -a FILE, the
// arguments of a script.
func (f *finder) wrappers(s *command.Segment, bases []place) {
	if len(s.Wrappers) == 0 {
		return
	}
	write := slices.Contains(s.Wrappers, "time") // time -o FILE
	for _, w := range s.Outer[1:] {
		if strings.ContainsAny(w.Value, " \t\n") || !w.Static && w.Value == "" {
			continue
		}
		part := w.Value
		if strings.HasPrefix(part, "-") {
			at := strings.IndexAny(part, "=/.~")
			if at < 0 {
				continue
			}
			part = strings.TrimPrefix(part[at:], "=")
		}
		f.word(w, part, write && !slices.ContainsFunc(s.Argv, func(a command.Word) bool { return a.Text == w.Text }), false, bases)
	}
}

// system says that a program lies where the system keeps its own: to name it
// is not to read a file outside.
func system(path string) bool {
	dir, _ := filepath.Split(path)
	return slices.Contains([]string{"/bin/", "/usr/bin/", "/usr/local/bin/", "/sbin/", "/usr/sbin/", "/opt/homebrew/bin/"}, dir)
}

// bases are the directories that a command's operands are read from: its own,
// and what git -C, make -C and tar -C name.
func (f *finder) bases(s *command.Segment, use capability.Use, dir place) []place {
	at := dir
	for _, i := range use.Chdir {
		v, ok := f.value(s.Argv[i], at)
		switch {
		case !ok || at == "" && !filepath.IsAbs(v):
			at = ""
		default:
			at = place(f.rs.ResolveFrom(string(at), v, false).Real)
		}
	}
	if at == dir {
		return []place{dir}
	}
	return []place{at, dir}
}

// operand adds a word, or the part of one that the table says may be a path.
func (f *finder) operand(s *command.Segment, o capability.Operand, bases []place) {
	if o.Index < 0 { // said by the table
		for _, b := range bases {
			if b != "" {
				f.add(f.rs.ResolveFrom(string(b), o.Value, o.Write))
			}
		}
		return
	}
	f.word(s.Argv[o.Index], o.Value, o.Write, o.Sure, bases)
}

// word adds the paths that a word, or its part, may be. A word that is not
// sure to be a file counts where it looks like a path or is one on the disk.
func (f *finder) word(w command.Word, part string, write, sure bool, bases []place) {
	whole := part == w.Value
	known := false
	for _, b := range bases {
		text := part
		ok := w.Static
		if !w.Static {
			full, good := f.value(w, b)
			if ok = good; good {
				if whole {
					text = full
				} else {
					text = strings.TrimPrefix(full, strings.TrimSuffix(w.Value, part))
				}
			}
		}
		if !ok {
			continue
		}
		known = true
		if w.Glob {
			f.pattern(w, text, write, sure, b)
			continue
		}
		if text == "" || text == "-" || command.Stream(text) || strings.Contains(text, "://") {
			continue
		}
		// A path behind = or : is not expanded by the shell, but the command
		// itself may know what ~ means.
		if strings.HasPrefix(text, "~/") && f.rs.Home != "" && !whole {
			text = filepath.Join(f.rs.Home, text[2:])
		}
		f.resolve(w, text, write, sure, b, false)
	}
	if known {
		return
	}
	f.add(tool.Path{Given: w.Text, Unknown: true, Write: write})
	for _, g := range w.Guesses() {
		for _, b := range bases {
			if g != "" {
				f.resolve(w, g, write, sure, b, false)
			}
		}
	}
}

// resolve adds one path if it is one.
func (f *finder) resolve(w command.Word, text string, write, sure bool, dir place, redirect bool) {
	if dir == "" && !filepath.IsAbs(text) {
		f.add(tool.Path{Given: w.Text, Unknown: true, Write: write, Redirect: redirect})
		return
	}
	// A quoted ~ is a file of that name, not the home.
	if strings.HasPrefix(text, "~") {
		text = "./" + text
	}
	p := f.rs.ResolveFrom(string(dir), text, write)
	p.Given = w.Text
	if text != w.Value && w.Static {
		p.Given = text
	}
	p.Redirect = redirect
	if !sure && !redirect && !strings.ContainsAny(text, "/\\") && !strings.HasPrefix(text, ".") && !exists(p.Abs) {
		return
	}
	f.add(p)
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// pattern follows a file pattern to what it matches now. One that matches
// nothing stays as it is, as in the shell.
func (f *finder) pattern(w command.Word, text string, write, sure bool, dir place) {
	pat, ok := w.ResolvePattern(command.Vars{Home: f.rs.Home, Temp: f.rs.Temp, Cwd: string(dir)})
	if !ok || dir == "" && !filepath.IsAbs(pat) {
		f.add(tool.Path{Given: w.Text, Unknown: true, Write: write})
		return
	}
	if at := strings.Index(pat, text); !filepath.IsAbs(pat) && at > 0 {
		pat = pat[at:] // the part behind = or :
	}
	abs := pat
	if !filepath.IsAbs(pat) {
		abs = escapeGlob(string(dir)) + "/" + pat
	}
	base, rest := doublestar.SplitPattern(filepath.ToSlash(abs))
	f.resolve(w, base, false, true, dir, false) // what it may match later lies below this
	f.resolve(w, text, write, true, dir, false)
	n := 0
	// Without globstar, which no command starts with, ** is *.
	for strings.Contains(rest, "**") {
		rest = strings.ReplaceAll(rest, "**", "*")
	}
	_ = doublestar.GlobWalk(os.DirFS(base), rest, func(path string, _ fs.DirEntry) error {
		if n++; n > maxMatches {
			return doublestar.SkipDir
		}
		f.resolve(w, filepath.Join(base, filepath.FromSlash(path)), write, true, dir, false)
		return nil
	}, doublestar.WithNoFollow(), doublestar.WithNoHidden())
}

// redirect adds a redirect's target.
func (f *finder) redirect(s *command.Segment, r command.Redirect) {
	unknown := tool.Path{Given: r.Target.Text, Unknown: true, Write: r.Write, Redirect: true}
	if r.Target.Glob || r.Target.Brace || r.Target.Ansi {
		f.add(unknown)
	}
	for _, dir := range f.places(s) {
		if r.Target.Glob { // bash follows a pattern that matches one file
			f.pattern(r.Target, r.Target.Value, r.Write, true, dir)
		}
		v, ok := f.value(r.Target, dir)
		if !ok {
			f.add(unknown)
			for _, g := range r.Target.Guesses() {
				if g != "" && dir != "" {
					f.resolve(r.Target, g, r.Write, true, dir, true)
				}
			}
			continue
		}
		if v != "" && !command.Stream(v) {
			f.resolve(r.Target, v, r.Write, true, dir, true)
		}
	}
}

func escapeGlob(s string) string {
	var b strings.Builder
	for _, c := range s {
		if strings.ContainsRune(`*?[]{}\`, c) {
			b.WriteByte('\\')
		}
		b.WriteRune(c)
	}
	return b.String()
}
