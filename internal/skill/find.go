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
	"sync"
	"sync/atomic"

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
	within   []string        // of the root, with links followed
	dirs     map[string]bool // real paths of directories that were entered
	seen     int
	jobs     []job
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
	for _, top := range s.root.Within {
		if to, err := filepath.EvalSymlinks(top); err == nil {
			top = to
		}
		s.within = append(s.within, top)
	}
	info, err := os.Stat(s.root.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrInvalid), err == nil && !info.IsDir():
		return
	case err != nil && !errors.Is(err, fs.ErrPermission):
		return // a parent that is no directory: nothing there
	case err != nil:
		s.tell(s.root.Path, "", "cannot be read: %s", diag.Reason(err))
		return
	}
	real, err := filepath.EvalSymlinks(s.root.Path)
	if err != nil {
		s.tell(s.root.Path, "", "cannot be read: %s", diag.Reason(err))
		return
	}
	s.dir(s.root.Path, real, nil)
	s.read()
}

// dir looks at one directory, real with links followed; below are the names
// that lead to it.
func (s *search) dir(path, real string, below []string) {
	if !s.enter(path, real, len(below)) {
		return
	}
	entries, err := os.ReadDir(real)
	if err != nil {
		s.tell(path, "", "cannot be read: %s", diag.Reason(err))
		return
	}
	if s.seen += len(entries); s.seen > maxSeen {
		s.tell(path, "", "%s holds too much to look through; the rest is left out", s.root.Shown)
		return
	}
	if s.root.Kind == Skills {
		if e := skillFile(entries); e != nil {
			s.file(path, real, e, filepath.Base(path))
			return
		}
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") || e.Name() == "node_modules" {
			continue
		}
		s.entry(path, real, e, below)
	}
}

func (s *search) entry(path, real string, e fs.DirEntry, below []string) {
	name := e.Name()
	at, to, isDir := filepath.Join(path, name), filepath.Join(real, name), e.IsDir()
	command := s.root.Kind == Commands && isMarkdown(name)
	if e.Type()&fs.ModeSymlink != 0 && !command {
		var err error
		if to, err = filepath.EvalSymlinks(to); err != nil {
			if s.root.Kind == Skills && filepath.Ext(name) == "" {
				s.tell(at, "", "is a link that leads nowhere")
			}
			return
		}
		info, err := os.Stat(to)
		isDir = err == nil && info.IsDir()
	}
	switch {
	case isDir:
		s.dir(at, to, append(slices.Clip(below), name))
	case command:
		s.file(path, real, e, strings.Join(append(slices.Clip(below), name[:len(name)-len(".md")]), ":"))
	}
}

func isMarkdown(name string) bool {
	return len(name) > len(".md") && strings.EqualFold(filepath.Ext(name), ".md")
}

// skillFile is the file that makes a directory a skill, nil for none.
func skillFile(entries []fs.DirEntry) (found fs.DirEntry) {
	for _, e := range entries {
		switch {
		case e.IsDir():
		case e.Name() == "SKILL.md":
			return e
		case strings.EqualFold(e.Name(), "SKILL.md"):
			found = e
		}
	}
	return found
}

// enter says whether a directory is to be looked at: once, and only where it
// may lie.
func (s *search) enter(path, real string, depth int) bool {
	switch {
	case depth > maxDepth:
		s.tell(path, "", "lies more than %d directories deep", maxDepth)
		return false
	case s.dirs[real] || len(s.jobs) > maxFiles:
		return false
	}
	s.dirs[real] = true
	if !s.inside(real) {
		s.tell(path, "copy it into the project, or keep it among your own", "is a link that leads out of the project and is not followed")
		return false
	}
	return true
}

// inside says whether a path, links followed, lies where it may.
func (s *search) inside(real string) bool {
	if len(s.root.Within) == 0 {
		return true
	}
	return slices.ContainsFunc(s.within, func(top string) bool {
		rel, err := filepath.Rel(top, real)
		return err == nil && filepath.IsLocal(rel)
	})
}

// job is a file that is to be read.
type job struct {
	path, real, place string
	plain             bool // it is no link
	skill             *Skill
	problem           *Problem
}

func (s *search) file(dir, realDir string, e fs.DirEntry, place string) {
	if len(s.jobs) == maxFiles {
		s.tell(s.root.Path, "", "holds more than %d files; the rest is left out", maxFiles)
	}
	if len(s.jobs) <= maxFiles {
		s.jobs = append(s.jobs, job{path: filepath.Join(dir, e.Name()), real: filepath.Join(realDir, e.Name()), place: place, plain: e.Type().IsRegular()})
	}
}

// readers is how many files are read at once: most of the time is waiting.
const readers = 4

// read reads what was found, several at once; each job is one reader's.
func (s *search) read() {
	s.jobs = s.jobs[:min(len(s.jobs), maxFiles)]
	var next atomic.Int64
	var all sync.WaitGroup
	for range min(readers, len(s.jobs)) {
		all.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(s.jobs) {
					return
				}
				s.one(&s.jobs[i])
			}
		})
	}
	all.Wait()
	for _, j := range s.jobs {
		switch {
		case j.problem != nil:
			s.problems = append(s.problems, *j.problem)
		default:
			s.found = append(s.found, *j.skill)
		}
	}
}

func (s *search) one(j *job) {
	data, why := s.look(j)
	if why != "" {
		j.problem = &Problem{Kind: Error, Problem: diag.Problem{File: s.shown(j.path), Message: why}}
		return
	}
	k, p := read(data, source{kind: s.root.Kind, path: j.path, shown: s.shown(j.path), origin: s.root.Origin, level: s.level, name: j.place})
	if p != nil {
		j.problem = p
		return
	}
	if k.real, k.body = j.real, ""; k.Kind == Skills {
		k.Dir = filepath.Dir(j.path)
	}
	j.skill = k
}

// look reads one file where it may be read; else why says what is wrong.
func (s *search) look(j *job) (data []byte, why string) {
	if !j.plain {
		to, err := filepath.EvalSymlinks(j.real)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, "is a link that leads nowhere"
		case err != nil:
			return nil, "cannot be read: " + diag.Reason(err)
		case !s.inside(to):
			return nil, "is a link that leads out of the project and is not followed"
		}
		j.real = to
	}
	if s.o.Denied != nil && s.o.Denied(j.path, j.real) {
		return nil, "may not be read"
	}
	data, err := readFile(j.real)
	if err != nil {
		return nil, "cannot be read: " + diag.Reason(err)
	}
	return data, ""
}

// ReadFile reads one file that a person named: SKILL.md is a skill, any other a
// command.
func ReadFile(path, shown string) (*Skill, *Problem) {
	data, err := readFile(path)
	if err != nil {
		return nil, &Problem{Kind: Error, Problem: diag.Problem{File: shown, Message: "cannot be read: " + diag.Reason(err)}}
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
		return "", fmt.Errorf("%s cannot be read: %s", s.Shown, diag.Reason(err))
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
	data := make([]byte, 0, min(info.Size(), maxFile)+512) // room to see the end without growing
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
