package skill

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"larva.dev/larva/internal/diag"
)

// Root is a directory that is searched.
type Root struct {
	Path  string // absolute
	Shown string // its name in messages
	Kind  Kind
	// Within are the directories that links must not lead out of; none follows
	// them anywhere, for a person's own directories.
	Within []string
	Origin Origin
}

// Options say what is left out.
type Options struct {
	// Denied says which files must stay unseen; nil: none.
	Denied func(abs, real string) bool
	// Disabled are names that a profile switches off.
	Disabled []string
}

const (
	maxFile  = 1 << 20 // bytes of one file, which a person wrote
	maxFiles = 2000    // of one root
	maxSeen  = 20_000  // directory entries that are looked at in one root
	maxDepth = 6       // how deep directories may be nested
)

// Find reads the skills and commands of directories, the lowest precedence
// first, above those that come with the binary. A directory that is not there
// holds none. A file that gives none is a problem; the same file reached by two
// roots counts where it stands higher.
func Find(roots []Root, o Options) *Set {
	set := &Set{All: builtIns()}
	for level, r := range roots {
		s := &search{root: r, level: level + 1, o: o, dirs: map[string]bool{}}
		s.walk()
		s.collisions()
		set.All, set.Problems = append(set.All, s.found...), append(set.Problems, s.problems...)
	}
	last := map[string]int{}
	for i, k := range set.All {
		if k.real != "" {
			last[k.real+"\x00"+k.ID] = i
		}
	}
	kept := set.All[:0]
	for i, k := range set.All {
		if k.real == "" || last[k.real+"\x00"+k.ID] == i {
			k.Disabled = slices.Contains(o.Disabled, k.ID) || slices.Contains(o.Disabled, k.Plain) || slices.Contains(o.Disabled, k.Name)
			kept = append(kept, k)
		}
	}
	set.All = kept
	set.settle()
	return set
}

type search struct {
	root     Root
	level    int
	o        Options
	dirs     map[string]bool // real paths of directories that were entered
	seen     int
	files    int
	found    []Skill
	problems []Problem
}

func (s *search) tell(path, hint, format string, args ...any) {
	s.problems = append(s.problems, Problem{Kind: Error, Problem: diag.Problem{File: s.shown(path), Message: fmt.Sprintf(format, args...), Hint: hint}})
}

func (s *search) shown(path string) string {
	rel, err := filepath.Rel(s.root.Path, path)
	if err != nil || rel == "." {
		return s.root.Shown
	}
	return strings.TrimSuffix(s.root.Shown, "/") + "/" + filepath.ToSlash(rel)
}

func (s *search) walk() {
	info, err := os.Stat(s.root.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrInvalid), err == nil && !info.IsDir():
		return
	case err != nil && !errors.Is(err, fs.ErrPermission):
		return // a parent that is no directory: nothing there
	case err != nil:
		s.tell(s.root.Path, "", "cannot be read: %s", reason(err))
		return
	}
	s.dir(s.root.Path, nil)
}

// dir looks at one directory; below are the names that lead to it.
func (s *search) dir(path string, below []string) {
	real, ok := s.enter(path, len(below))
	if !ok {
		return
	}
	entries, err := os.ReadDir(real)
	if err != nil {
		s.tell(path, "", "cannot be read: %s", reason(err))
		return
	}
	if s.seen += len(entries); s.seen > maxSeen {
		s.tell(path, "", "%s holds too much to look through; the rest is left out", s.root.Shown)
		return
	}
	if s.root.Kind == Skills {
		if name := skillFile(entries); name != "" {
			s.file(filepath.Join(path, name), filepath.Base(path))
			return
		}
	}
	for _, e := range entries {
		name, at := e.Name(), filepath.Join(path, e.Name())
		if strings.HasPrefix(name, ".") || name == "node_modules" {
			continue
		}
		isDir := e.IsDir()
		if e.Type()&fs.ModeSymlink != 0 {
			info, err := os.Stat(at)
			if err != nil {
				if s.root.Kind == Commands && isMarkdown(name) || s.root.Kind == Skills && filepath.Ext(name) == "" {
					s.tell(at, "", "is a link that leads nowhere")
				}
				continue
			}
			isDir = info.IsDir()
		}
		switch {
		case isDir:
			s.dir(at, append(slices.Clip(below), name))
		case s.root.Kind == Commands && isMarkdown(name):
			s.file(at, strings.Join(append(slices.Clip(below), name[:len(name)-len(".md")]), ":"))
		}
		if s.files > maxFiles {
			return
		}
	}
}

func isMarkdown(name string) bool {
	return len(name) > len(".md") && strings.EqualFold(filepath.Ext(name), ".md")
}

// skillFile is the name of the file that makes a directory a skill.
func skillFile(entries []fs.DirEntry) (name string) {
	for _, e := range entries {
		switch {
		case e.Name() == "SKILL.md":
			return e.Name()
		case strings.EqualFold(e.Name(), "SKILL.md"):
			name = e.Name()
		}
	}
	return name
}

// enter says whether a directory is to be looked at: once, and only where it
// may lie.
func (s *search) enter(path string, depth int) (real string, ok bool) {
	if depth > maxDepth {
		s.tell(path, "", "lies more than %d directories deep", maxDepth)
		return "", false
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		s.tell(path, "", "cannot be read: %s", reason(err))
		return "", false
	}
	if s.dirs[real] {
		return "", false
	}
	s.dirs[real] = true
	if !s.inside(real) {
		s.tell(path, "copy it into the project, or keep it among your own", "is a link that leads out of the project and is not followed")
		return "", false
	}
	return real, true
}

// inside says whether a path, links followed, lies where it may.
func (s *search) inside(real string) bool {
	if len(s.root.Within) == 0 {
		return true
	}
	return slices.ContainsFunc(s.root.Within, func(top string) bool {
		if to, err := filepath.EvalSymlinks(top); err == nil {
			top = to
		}
		rel, err := filepath.Rel(top, real)
		return err == nil && filepath.IsLocal(rel)
	})
}

func (s *search) file(path, place string) {
	if s.files++; s.files > maxFiles {
		s.tell(s.root.Path, "", "holds more than %d files; the rest is left out", maxFiles)
		return
	}
	data, real, why := s.look(path)
	if why != "" {
		s.tell(path, "", "%s", why)
		return
	}
	k, p := read(data, source{kind: s.root.Kind, path: path, shown: s.shown(path), origin: s.root.Origin, level: s.level, name: place})
	if p != nil {
		s.problems = append(s.problems, *p)
		return
	}
	if k.real, k.body = real, ""; k.Kind == Skills {
		k.Dir = filepath.Dir(path)
	}
	s.found = append(s.found, *k)
}

// look reads one file where it may be read; else why says what is wrong.
func (s *search) look(path string) (data []byte, real, why string) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, "", "cannot be read: " + reason(err)
	}
	if !s.inside(real) {
		return nil, "", "is a link that leads out of the project and is not followed"
	}
	if s.o.Denied != nil && s.o.Denied(path, real) {
		return nil, "", "may not be read"
	}
	data, err = readFile(real)
	if err != nil {
		return nil, "", "cannot be read: " + reason(err)
	}
	return data, real, ""
}

// ReadFile reads one file that a person named: SKILL.md is a skill, any other a
// command.
func ReadFile(path, shown string) (*Skill, *Problem) {
	data, err := readFile(path)
	if err != nil {
		return nil, &Problem{Kind: Error, Problem: diag.Problem{File: shown, Message: "cannot be read: " + reason(err)}}
	}
	if strings.EqualFold(filepath.Base(path), "SKILL.md") {
		return Read(data, Skills, shown, filepath.Base(filepath.Dir(path)))
	}
	return Read(data, Commands, shown, strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)))
}

// Body is the text as the file holds it now: the index is made without it.
func (s *Skill) Body() (string, error) {
	if s.body != "" {
		return s.body, nil
	}
	real, err := filepath.EvalSymlinks(s.real)
	if err == nil && real != s.real {
		err = errors.New("it has become a link") // where it leads was not looked at
	}
	var data []byte
	if err == nil {
		data, err = readFile(real)
	}
	if err != nil {
		return "", fmt.Errorf("%s cannot be read: %s", s.Shown, reason(err))
	}
	now, p := read(data, source{kind: s.Kind, shown: s.Shown, name: s.Name})
	if p != nil {
		return "", fmt.Errorf("%s", p)
	}
	return now.body, nil
}

// readFile reads a regular file of at most maxFile bytes.
func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path) // before it is opened: a pipe would wait
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is no regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data := make([]byte, 0, min(info.Size(), maxFile)+1)
	for {
		n, err := f.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if errors.Is(err, io.EOF) {
			return data, nil
		}
		if err != nil {
			return nil, err
		}
		if len(data) > maxFile {
			return nil, fmt.Errorf("it is larger than %d MiB", maxFile>>20)
		}
		if len(data) == cap(data) {
			data = slices.Grow(data, 4096)
		}
	}
}

// collisions names both files where one root gives a name twice.
func (s *search) collisions() {
	sort.SliceStable(s.found, func(i, j int) bool { return s.found[i].Shown < s.found[j].Shown })
	first := map[string]int{}
	for i := range s.found {
		k := &s.found[i]
		j, taken := first[k.ID]
		if !taken {
			first[k.ID] = i
			continue
		}
		w := &s.found[j]
		message := fmt.Sprintf("%s is given by two files of one directory, %s and %s; the first counts", k.ID, w.Shown, k.Shown)
		for _, x := range []*Skill{w, k} {
			x.Notices = append(x.Notices, Problem{Class: "S6", Kind: Invalid, Problem: diag.Problem{File: x.Shown, Line: x.Line,
				Message: message, Hint: "give one of them another name"}})
		}
	}
}

// reason is an operating system's error without the path.
func reason(err error) string {
	var pe *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "no such file or directory"
	case errors.Is(err, fs.ErrPermission):
		return "permission denied"
	case errors.As(err, &pe):
		return pe.Err.Error()
	}
	return err.Error()
}
