// Package prompt reads what stands around a persona's own prompt: the
// instruction files of a person and a project, and the files that a typed
// prompt mentions.
package prompt

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"unicode/utf8"
)

// The bounds of instruction files. A prompt that is larger costs more than it
// says, and every request pays it.
const (
	maxFile  = 64 << 10  // bytes of one file
	maxTotal = 192 << 10 // bytes of all
	maxDepth = 5         // imports below imports
	maxFiles = 64
)

// File is one instruction file, or one that it imports.
type File struct {
	Source string // as a person would name it
	Text   string
}

// Search says where instruction files are looked for.
type Search struct {
	Config string   // the personal configuration; its AGENTS.md comes first
	Dirs   []string // from the project's root down to the working directory
	// Denied says which files must stay unseen; nil: none.
	Denied func(abs, real string) bool
	// Name gives a path as a person would name it; nil: as it is.
	Name func(path string) string
}

// Instructions reads AGENTS.md of the personal configuration, then for each
// directory AGENTS.md, or CLAUDE.md where there is none. A line's @path
// imports another file of the same tree, which stands behind the one that
// names it; each file counts once. Notices say what was left out and why.
// Empty files are skipped. Nothing outside the tree is followed, by link or
// by name.
func Instructions(s Search) (files []File, notices []string) {
	r := &reader{Search: s, seen: map[string]bool{}}
	if s.Config != "" {
		r.file(filepath.Join(s.Config, "AGENTS.md"), s.Config, 0)
	}
	if len(s.Dirs) > 0 {
		top := s.Dirs[0]
		for _, dir := range s.Dirs {
			if !r.file(filepath.Join(dir, "AGENTS.md"), top, 0) {
				r.file(filepath.Join(dir, "CLAUDE.md"), top, 0)
			}
		}
	}
	return r.files, r.notices
}

type reader struct {
	Search
	files   []File
	notices []string
	seen    map[string]bool // real paths
	total   int
}

func (r *reader) name(path string) string {
	if r.Name != nil {
		return r.Name(path)
	}
	return path
}

func (r *reader) tell(path, format string, args ...any) {
	r.notices = append(r.notices, r.name(path)+" is left out of the instructions: "+fmt.Sprintf(format, args...))
}

// file reads one file below top and what it imports. It reports whether the
// file is there, read or told of.
func (r *reader) file(path, top string, depth int) bool {
	if !below(top, path) {
		r.tell(path, "it leads out of %s", r.name(top))
		return true
	}
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return false
	}
	if err != nil {
		r.tell(path, "%v", cause(err))
		return true
	}
	if realTop, err := filepath.EvalSymlinks(top); err != nil || !below(realTop, real) {
		r.tell(path, "it leads out of %s", r.name(top))
		return true
	}
	if r.seen[real] {
		return true
	}
	r.seen[real] = true
	if r.Denied != nil && r.Denied(path, real) {
		r.tell(path, "it may not be read")
		return true
	}
	text, why := r.read(real)
	if why != "" {
		r.tell(path, "%s", why)
		return true
	}
	if strings.TrimSpace(text) == "" {
		return true
	}
	if len(r.files) >= maxFiles {
		r.tell(path, "more than %d files", maxFiles)
		return true
	}
	r.total += len(text)
	r.files = append(r.files, File{Source: r.name(path), Text: text})
	r.imports(text, path, top, depth)
	return true
}

func (r *reader) imports(text, path, top string, depth int) {
	for _, to := range Imports(text) {
		target := filepath.FromSlash(to)
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		switch {
		case strings.HasPrefix(to, "~"):
			r.tell(path+": @"+to, "an import lies below %s", r.name(top))
		case depth >= maxDepth:
			r.tell(target, "imports go %d deep at most", maxDepth)
		case !r.file(target, top, depth+1) && looksLikeFile(to):
			r.tell(target, "%s imports it and it does not exist", r.name(path))
		}
	}
}

// looksLikeFile keeps @someone in a sentence from being told of as a file.
func looksLikeFile(to string) bool {
	return strings.Contains(to, "/") || filepath.Ext(to) != ""
}

// read gives a file's text, or why it is not one.
func (r *reader) read(path string) (text, why string) {
	info, err := os.Stat(path) // before it is opened: a pipe would wait
	if err == nil && !info.Mode().IsRegular() {
		return "", "it is no regular file"
	}
	f, err := os.Open(path)
	if err != nil {
		return "", cause(err).Error()
	}
	defer f.Close()
	info, err = f.Stat()
	switch {
	case err != nil:
		return "", cause(err).Error()
	case !info.Mode().IsRegular():
		return "", "it is no regular file"
	case info.Size() > maxFile:
		return "", fmt.Sprintf("it is larger than %d KiB", maxFile>>10)
	case r.total+int(info.Size()) > maxTotal:
		return "", fmt.Sprintf("all together would be larger than %d KiB", maxTotal>>10)
	}
	data := make([]byte, info.Size())
	n, err := readFull(f, data)
	if err != nil {
		return "", cause(err).Error()
	}
	data = bytes.TrimPrefix(data[:n], []byte("\ufeff"))
	if !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 {
		return "", "it is not UTF-8 text"
	}
	return strings.ReplaceAll(string(data), "\r\n", "\n"), ""
}

func readFull(f *os.File, data []byte) (int, error) {
	n := 0
	for n < len(data) {
		m, err := f.Read(data[n:])
		n += m
		if m == 0 || err != nil {
			break // shorter than it was: what is there counts
		}
	}
	return n, nil
}

func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

func below(top, path string) bool {
	rel, err := filepath.Rel(top, path)
	return err == nil && filepath.IsLocal(rel)
}

var code = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("`[^`\n]*`") })

// Imports finds the @path imports of an instruction file, outside code spans
// and fenced blocks.
func Imports(text string) []string {
	var out []string
	fence := ""
	for line := range strings.SplitSeq(text, "\n") {
		trimmed := strings.TrimLeft(line, " ")
		if mark := fenceOf(trimmed); mark != "" && (fence == "" || strings.HasPrefix(mark, fence)) {
			if fence == "" {
				fence = mark
			} else {
				fence = ""
			}
			continue
		}
		if fence != "" || !strings.Contains(line, "@") {
			continue
		}
		for _, m := range Mentions(code().ReplaceAllString(line, " ")) {
			if m.From == 0 {
				out = append(out, m.Path)
			}
		}
	}
	return out
}

// fenceOf gives the fence that a line opens or closes, "" for none.
func fenceOf(line string) string {
	for _, c := range []string{"`", "~"} {
		n := len(line) - len(strings.TrimLeft(line, c))
		if n >= 3 {
			return strings.Repeat(c, n)
		}
	}
	return ""
}
