package definition

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"larva.dev/larva/internal/diag"
)

// Dir is a directory of agent files.
type Dir struct {
	Path  string // absolute
	Shown string // its name in messages
	// Root is what links must not lead out of; "" follows them anywhere, for a
	// person's own directories.
	Root   string
	Origin Origin
}

const (
	// maxFile bounds one file, which a person wrote.
	maxFile = 1 << 20
	// maxFiles bounds a directory's files.
	maxFiles = 1000
	// maxDepth bounds how deep its directories may be nested.
	maxDepth = 8
)

// Find reads the agent files of directories, the lowest precedence first. A
// directory that is not there holds none. Definitions come in the order of
// the directories, then by path. Nothing is left out in silence: each file that
// gives no definition is a problem, and so is each id that two files of one
// directory give. Which of several definitions of an id counts is for Best.
func Find(dirs []Dir) (defs []Definition, problems []Problem) {
	for level, dir := range dirs {
		s := &search{dir: dir, level: level}
		s.walk()
		s.collisions()
		defs, problems = append(defs, s.defs...), append(problems, s.problems...)
	}
	return defs, problems
}

// Best gives the definition of an id that counts among those that ok lets
// pass: of the highest level the first by path. nil: there is none.
func Best(defs []Definition, id string, ok func(*Definition) bool) *Definition {
	var best *Definition
	for i := range defs {
		if d := &defs[i]; d.ID == id && (ok == nil || ok(d)) && (best == nil || d.Level > best.Level) {
			best = d
		}
	}
	return best
}

type search struct {
	dir      Dir
	level    int
	files    int
	defs     []Definition
	problems []Problem
}

func (s *search) tell(kind, path, format string, args ...any) {
	s.problems = append(s.problems, Problem{Kind: kind, Problem: diag.Problem{File: s.shown(path), Message: fmt.Sprintf(format, args...)}})
}

func (s *search) shown(path string) string {
	rel, err := filepath.Rel(s.dir.Path, path)
	if err != nil || rel == "." {
		return s.dir.Shown
	}
	return strings.TrimSuffix(s.dir.Shown, "/") + "/" + filepath.ToSlash(rel)
}

func (s *search) walk() {
	info, err := os.Stat(s.dir.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && !info.IsDir():
		return
	case err != nil:
		s.tell(Error, s.dir.Path, "cannot be read: %s", diag.Reason(err))
		return
	case !s.inside(s.dir.Path):
		s.tell(Error, s.dir.Path, "is a link that leads out of the project and is not followed")
		return
	}
	root := s.dir.Path
	if real, err := filepath.EvalSymlinks(root); err == nil {
		root = real // the walk does not follow a link at its start
	}
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		rel, relErr := filepath.Rel(root, path)
		if relErr != nil {
			return relErr
		}
		at := filepath.Join(s.dir.Path, rel)
		switch {
		case err != nil:
			s.tell(Error, at, "cannot be read: %s", diag.Reason(err))
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir() && strings.Count(filepath.ToSlash(rel), "/") >= maxDepth:
			s.tell(Skipped, at, "lies more than %d directories deep", maxDepth)
			return fs.SkipDir
		case d.IsDir() || !strings.EqualFold(filepath.Ext(path), ".md"):
			return nil
		}
		if s.files++; s.files > maxFiles {
			s.tell(Error, s.dir.Path, "holds more than %d files; the rest is left out", maxFiles)
			return fs.SkipAll
		}
		s.file(at)
		return nil
	})
}

// inside says whether a path, links followed, stays where it may lie.
func (s *search) inside(path string) bool {
	if s.dir.Root == "" {
		return true
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return false
	}
	root, err := filepath.EvalSymlinks(s.dir.Root)
	if err != nil {
		return false
	}
	rel, err := filepath.Rel(root, real)
	return err == nil && filepath.IsLocal(rel)
}

func (s *search) file(path string) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		s.tell(Error, path, "cannot be read: %s", diag.Reason(err))
		return
	case info.IsDir():
		s.tell(Skipped, path, "is a link to a directory and is not followed")
		return
	case !info.Mode().IsRegular():
		s.tell(Error, path, "is no regular file")
		return
	case info.Size() > maxFile:
		s.tell(Error, path, "is larger than %d MiB", maxFile>>20)
		return
	case !s.inside(path):
		s.tell(Error, path, "is a link that leads out of the project and is not followed")
		return
	}
	data, err := readFile(path)
	if err != nil {
		s.tell(Error, path, "cannot be read: %s", diag.Reason(err))
		return
	}
	d, p := Read(data, Source{Path: path, Shown: s.shown(path), Origin: s.dir.Origin, Level: s.level})
	if p != nil {
		s.problems = append(s.problems, *p)
		return
	}
	s.defs = append(s.defs, *d)
}

// ReadFile reads one agent file that a person named.
func ReadFile(path string, src Source) (*Definition, *Problem) {
	data, err := readFile(path)
	if err != nil {
		return nil, &Problem{Kind: Error, Problem: diag.Problem{File: src.Shown, Message: "cannot be read: " + diag.Reason(err)}}
	}
	src.Path = path
	return Read(data, src)
}

// readFile reads at most maxFile bytes: the file may have grown since it was
// looked at.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("larger than %d MiB", maxFile>>20)
	}
	return data, err
}

// collisions names both files where one directory gives an id twice.
func (s *search) collisions() {
	sort.SliceStable(s.defs, func(i, j int) bool { return s.defs[i].Shown < s.defs[j].Shown })
	first := map[string]int{}
	for i := range s.defs {
		d := &s.defs[i]
		j, taken := first[d.ID]
		if !taken {
			first[d.ID] = i
			continue
		}
		w := &s.defs[j]
		class := "S6"
		if w.Name != d.Name {
			class = "S5"
		}
		message := fmt.Sprintf("%s is given by two files of one directory: %s:%d and %s:%d; the first counts", d.ID, w.Shown, w.Line, d.Shown, d.Line)
		for _, x := range []*Definition{w, d} {
			x.Notices = append(x.Notices, Problem{Class: class, Kind: Note, Problem: diag.Problem{File: x.Shown, Line: x.Line, Path: "name",
				Message: message, Hint: "give one of them another name"}})
		}
	}
}
