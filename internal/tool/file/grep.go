package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"larva.dev/larva/internal/tool"
)

const (
	maxGrepLines   = 500
	maxGrepPerFile = 50
	maxColumns     = 300 // characters of a line
	maxCutNotes    = 5   // files named for having more matches than are shown
)

const grepSchema = `{"type":"object","properties":{
"pattern":{"type":"string","minLength":1,"description":"A regular expression (RE2), matched line by line"},
"path":{"type":"string","description":"The directory or file to search; the working directory if left out"},
"glob":{"type":"string","description":"Only files that fit, for example *.go or src/**/*.ts"},
"ignore_case":{"type":"boolean","description":"Upper and lower case are the same"}},
"required":["pattern"]}`

type grepTool struct{ d *desk }

type grepInput struct {
	Pattern    string `json:"pattern"`
	Path       string `json:"path"`
	Glob       string `json:"glob"`
	IgnoreCase bool   `json:"ignore_case"`
}

func (in grepInput) start() string {
	if in.Path == "" {
		return "."
	}
	return in.Path
}

func (t grepTool) Spec() tool.Spec { return spec("grep", grepSchema, true) }

func (t grepTool) Effects(c tool.Call) tool.Effects {
	var in grepInput
	_ = decode(c, &in) // what does not fit is refused by Run; "" is the directory
	return t.d.effects(c, in.start(), false)
}

func (t grepTool) Run(ctx context.Context, c tool.Call) (tool.Result, error) {
	var in grepInput
	if err := decode(c, &in); err != nil {
		return tool.Fail("%v", err), nil
	}
	m, err := compile(in.Pattern, in.IgnoreCase)
	if err != nil {
		return tool.Fail("pattern: %v", err), nil
	}
	glob := in.Glob
	if glob != "" && !strings.Contains(glob, "/") {
		glob = "**/" + glob
	}
	glob = strings.TrimPrefix(strings.TrimPrefix(glob, "./"), "/")
	if err := goodPattern(glob); err != nil {
		return tool.Fail("glob %s: %v", in.Glob, err), nil
	}
	p, err := t.d.resolve(c, in.start(), false)
	if err != nil {
		return tool.Fail("%v", err), nil
	}
	ctx, cancel := context.WithTimeout(ctx, searchTime)
	defer cancel()
	h := &hits{}
	w, err := t.search(ctx, p, glob, m, h)
	if w == nil {
		switch {
		case errors.Is(err, errBinary):
			return tool.Fail("%s is a binary file (it holds NUL bytes)", t.d.rs.Rel(p.Abs)), nil
		case errors.Is(err, errSpecial), errors.Is(err, errMoved):
			return tool.Fail("%s: %v", t.d.rs.Rel(p.Abs), err), nil
		case err != nil && !errors.Is(err, errFull) && ctx.Err() == nil:
			return t.d.fail(p, err), nil
		}
		w = &walk{d: t.d, start: p}
	}
	return h.result(in, w, err), nil
}

// search goes through one file or all files of a directory; for a file the
// walk is nil.
func (t grepTool) search(ctx context.Context, p tool.Path, glob string, m *matcher, h *hits) (*walk, error) {
	f, fi, err := t.d.open(p)
	if err == nil {
		defer f.Close()
		r := m.file(ctx, f, fi.Size())
		if r.err != nil {
			return nil, r.err
		}
		h.files++
		return nil, h.add(t.d.rs.Rel(p.Abs), r)
	}
	if !errors.Is(err, errDirectory) {
		return nil, err
	}
	dir, err := t.d.directory(p)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	w := &walk{d: t.d, start: p, dir: dir, pattern: glob, depth: depthOf(glob)}
	s := &searcher{w: w, m: m, rg: findRg(t.d), hits: h}
	err = w.files(ctx, func(rel string, _ fs.DirEntry) error { return s.take(ctx, rel) })
	if err == nil {
		err = s.flush(ctx)
	}
	return w, err
}

var errFull = errors.New("enough lines")

// hits is the result as it grows, in the order of the walk.
type hits struct {
	out   strings.Builder
	lines int
	files int // searched
	more  []string
	full  bool
}

// add puts a file's matches in; errFull ends the search.
func (h *hits) add(shown string, r fileHits) error {
	for _, l := range r.lines {
		line := fmt.Sprintf("%s:%d:%s\n", visible(shown), l.number, l.text)
		if h.lines == maxGrepLines || h.out.Len()+len(line) > maxResult-500 {
			h.full = true
			return errFull
		}
		h.out.WriteString(line)
		h.lines++
	}
	if r.more {
		h.more = append(h.more, visible(shown))
	}
	return nil
}

func (h *hits) result(in grepInput, w *walk, err error) tool.Result {
	if h.lines == 0 && (err == nil || errors.Is(err, errFull)) {
		fmt.Fprintf(&h.out, "no matches (%s searched)\n", count(h.files, "file"))
	}
	if n := len(h.more); n > 0 {
		names := h.more[:min(n, maxCutNotes)]
		rest := ""
		if n > maxCutNotes {
			rest = fmt.Sprintf(" and %d others", n-maxCutNotes)
		}
		fmt.Fprintf(&h.out, "(only the first %d matching lines of %s%s)\n", maxGrepPerFile, clipNames(names), rest)
	}
	if h.full {
		fmt.Fprintf(&h.out, "(stopped at %s; narrow the pattern, path or glob)\n", count(h.lines, "line"))
		err = nil
	}
	return finish(&h.out, w.hidden, err)
}

// clipNames keeps the note short whatever files are called.
func clipNames(names []string) string {
	s := strings.Join(names, ", ")
	if len(s) > 300 {
		return strings.ToValidUTF8(s[:300], "") + "…"
	}
	return s
}

// visible shows a path so that it stays one line and one field: a name with
// control characters is quoted.
func visible(p string) string {
	for _, r := range p {
		if r < 0x20 || r == 0x7f {
			return fmt.Sprintf("%q", p)
		}
	}
	return strings.ToValidUTF8(p, "\uFFFD")
}
