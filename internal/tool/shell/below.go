package shell

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"larva.dev/larva/internal/capability"
	"larva.dev/larva/internal/command"
	"larva.dev/larva/internal/tool"
)

// maxBelow bounds the files that are looked at below the directories of one
// command; a larger tree takes longer to read than a person waits anyway.
const maxBelow = 100_000

// deep says how a command reads the files below a directory that it names, nil
// where it does not. It knows the readers that print what they find.
func deep(s *command.Segment, use capability.Use) *descent {
	d := &descent{}
	flags := func(short string, long ...string) bool {
		for _, a := range s.Argv[1:] {
			if !a.Static || a.Value == "--" {
				break
			}
			name, _, _ := strings.Cut(a.Value, "=")
			if strings.HasPrefix(name, "--") && len(name) > 4 && slices.ContainsFunc(long, func(l string) bool { return strings.HasPrefix(l, name) }) ||
				strings.HasPrefix(name, "-") && !strings.HasPrefix(name, "--") && strings.ContainsAny(name[1:], short) {
				return true
			}
		}
		return false
	}
	switch use.Name {
	case "grep", "egrep", "fgrep", "zgrep":
		if !flags("rRd", "--recursive", "--dereference-recursive", "--directories") {
			return nil
		}
		d.hidden = true
	case "rg", "ag", "ack":
		d.hidden = flags("u.", "--hidden", "--unrestricted")
	case "git grep":
		d.hidden, d.tracked = true, !flags("", "--no-index", "--untracked")
	case "diff":
		if !flags("r", "--recursive") {
			return nil
		}
		d.hidden = true
	default:
		if !d.copies(s, use, flags) && !d.history(s, use, flags) {
			return nil
		}
	}
	d.leaveOut(s.Argv)
	return d
}

// descent is what of a tree a command reads.
type descent struct {
	hidden    bool
	tracked   bool     // only what git knows
	kept      bool     // what git has kept of files: bound by rules alone
	sources   bool     // the last operand is where it goes to
	only, not []string // patterns on base names
}

// leaveOut reads --include, --exclude, --exclude-dir and -g.
func (d *descent) leaveOut(argv []command.Word) {
	for i, a := range argv {
		name, v, ok := strings.Cut(a.Value, "=")
		if !ok && i+1 < len(argv) {
			v = argv[i+1].Value
		}
		switch {
		case !a.Static:
		case name == "--include":
			d.only = append(d.only, v)
		case name == "--exclude", name == "--exclude-dir":
			d.not = append(d.not, strings.TrimSuffix(v, "/"))
		case name == "-g" || name == "--glob":
			if p, ok := strings.CutPrefix(v, "!"); ok {
				d.not = append(d.not, strings.TrimSuffix(strings.TrimPrefix(p, "**/"), "/**"))
			}
		}
	}
}

func (d *descent) skips(name string, dir bool) bool {
	hit := func(list []string) bool {
		return slices.ContainsFunc(list, func(p string) bool { ok, _ := doublestar.Match(p, name); return ok })
	}
	switch {
	case name == ".git", hit(d.not), dir && name == "node_modules" && !d.hidden:
		return true
	case strings.HasPrefix(name, ".") && !d.hidden:
		return true
	}
	return !dir && len(d.only) > 0 && !hit(d.only)
}

// leavesOut says that an operand is a name pattern of grep's, and no file.
func leavesOut(s *command.Segment, use capability.Use, o capability.Operand) bool {
	if o.Index < 1 || deep(s, use) == nil {
		return false
	}
	name, _, attached := strings.Cut(s.Argv[o.Index].Value, "=")
	if !attached {
		name = s.Argv[o.Index-1].Value
	}
	return slices.Contains([]string{"--include", "--exclude", "--exclude-dir"}, name)
}

// below adds the files under a command's directories whose content must stay
// unseen: it would print them without their being named.
func (f *finder) below(s *command.Segment, use capability.Use) {
	if f.denied == nil || len(s.Argv) == 0 {
		return
	}
	d := deep(s, use)
	if d == nil {
		d = f.passed(s, use)
	}
	if d == nil {
		return
	}
	unseen := f.denied
	if d.kept {
		if unseen = f.ruled; unseen == nil {
			return
		}
	}
	dirs := f.under(s, use, d)
	if len(dirs) == 0 && !d.sources {
		for _, at := range f.places(s) {
			dirs = append(dirs, string(at))
		}
	}
	known := func(string) bool { return true }
	if d.tracked {
		// The names stand in the index as they are; without
		// an index that reads so, every file counts.
		if index, err := os.ReadFile(filepath.Join(f.rs.Project, ".git", "index")); err == nil && len(index) > 8 && index[7] < 4 {
			known = func(path string) bool {
				rel, err := filepath.Rel(f.rs.Project, path)
				return err != nil || bytes.Contains(index, append([]byte(filepath.ToSlash(rel)), 0))
			}
		}
	}
	n := 0
	for _, dir := range dirs {
		_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			switch {
			case err != nil, path == dir:
				return nil
			case n >= maxBelow:
				return filepath.SkipAll
			case d.skips(e.Name(), e.IsDir()):
				if e.IsDir() {
					return filepath.SkipDir
				}
				return nil
			}
			if n++; e.Type().IsRegular() && unseen(path, path) && known(path) {
				f.add(tool.Path{Given: f.rs.Rel(path), Abs: path, Real: path})
			}
			return nil
		})
	}
}
