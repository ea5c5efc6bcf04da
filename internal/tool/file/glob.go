package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"larva.dev/larva/internal/tool"
)

const (
	maxGlob    = 500
	maxResult  = 29_500 // bytes of lines, so that notes fit below the common cap
	searchTime = 30 * time.Second
)

const globSchema = `{"type":"object","properties":{
"pattern":{"type":"string","minLength":1,"description":"For example **/*.go, src/**/*.{ts,tsx}, .github/**"},
"path":{"type":"string","description":"The directory to start from; the working directory if left out"}},
"required":["pattern"]}`

type globTool struct{ d *desk }

type globInput struct {
	Pattern string `json:"pattern"`
	Path    string `json:"path"`
}

// split gives the directory where the walk begins (the path and the pattern's
// literal beginning) and the pattern's rest.
func (in globInput) split() (start, rest string) {
	base, rest := doublestar.SplitPattern(filepath.ToSlash(in.Pattern))
	switch {
	case base == ".":
		base = ""
	case strings.HasPrefix(base, "/"), strings.HasPrefix(base, "~/"), base == "~", filepath.IsAbs(base):
		return base, rest
	}
	switch {
	case in.Path == "":
		return join(".", base), rest
	default:
		return join(in.Path, base), rest
	}
}

// join puts a slash between and cleans nothing: see root.Set.Resolve.
func join(a, b string) string {
	if b == "" {
		return a
	}
	if a == "." {
		return b
	}
	return a + "/" + b
}

func (t globTool) Spec() tool.Spec { return spec("glob", globSchema, true) }

func (t globTool) Effects(c tool.Call) tool.Effects {
	var in globInput
	_ = decode(c, &in) // what does not fit is refused by Run; "" is the directory
	start, _ := in.split()
	return t.d.effects(c, start, false)
}

func (t globTool) Run(ctx context.Context, c tool.Call) (tool.Result, error) {
	var in globInput
	if err := decode(c, &in); err != nil {
		return tool.Fail("%v", err), nil
	}
	start, rest := in.split()
	if in.Pattern == "" || rest == "" {
		return tool.Fail("the pattern names no files; end it with a name, * or **"), nil
	}
	if err := goodPattern(rest); err != nil {
		return tool.Fail("pattern %s: %v", in.Pattern, err), nil
	}
	p, err := t.d.resolve(c, start, false)
	if err != nil {
		return tool.Fail("%v", err), nil
	}
	dir, err := t.d.directory(p)
	if err != nil {
		return t.d.fail(p, err), nil
	}
	defer dir.Close()
	ctx, cancel := context.WithTimeout(ctx, searchTime)
	defer cancel()
	w := &walk{d: t.d, start: p, dir: dir, pattern: rest, depth: depthOf(rest), links: true}
	n := newest{keep: maxGlob}
	err = w.files(ctx, func(rel string, e fs.DirEntry) error {
		fi, err := e.Info()
		if err == nil {
			n.add(found{w.shown(rel), fi.ModTime()})
		}
		return nil
	})
	return n.result(in.Pattern, w, err), nil
}

type found struct {
	path string
	mod  time.Time
}

// newest keeps the newest files of many.
type newest struct {
	keep  int
	total int
	list  []found
}

func (n *newest) add(f found) {
	n.total++
	n.list = append(n.list, f)
	if len(n.list) >= 8*n.keep {
		n.trim()
	}
}

func (n *newest) trim() {
	slices.SortFunc(n.list, func(a, b found) int {
		if c := b.mod.Compare(a.mod); c != 0 {
			return c
		}
		return strings.Compare(a.path, b.path)
	})
	n.list = n.list[:min(len(n.list), n.keep)]
}

func (n *newest) result(pattern string, w *walk, err error) tool.Result {
	n.trim()
	var out strings.Builder
	shown := 0
	for _, f := range n.list {
		line := visible(f.path) + "\n"
		if out.Len()+len(line) > maxResult {
			break
		}
		out.WriteString(line)
		shown++
	}
	if n.total == 0 && err == nil {
		fmt.Fprintf(&out, "no files match %s in %s", pattern, w.d.rs.Rel(w.start.Abs))
		if !strings.Contains(pattern, "/") && !strings.Contains(pattern, "**") {
			fmt.Fprintf(&out, "; to look in the directories below use **/%s", pattern)
		}
		out.WriteByte('\n')
	}
	if shown < n.total {
		fmt.Fprintf(&out, "(the %d newest of %d files; narrow the pattern for others)\n", shown, n.total)
	}
	return finish(&out, w.hidden, err)
}

// finish adds what a search has left out.
func finish(out *strings.Builder, hidden int, err error) tool.Result {
	if hidden > 0 {
		fmt.Fprintf(out, "(%s left out: reading them is denied)\n", count(hidden, "file"))
	}
	switch {
	case errors.Is(err, errTooMany):
		fmt.Fprintf(out, "(stopped after %d entries; start in a smaller directory)\n", maxEntries)
	case errors.Is(err, context.DeadlineExceeded):
		fmt.Fprintf(out, "(stopped after %d seconds; start in a smaller directory)\n", int(searchTime.Seconds()))
	case err != nil:
		return tool.Fail("%s(stopped: %v)", out.String(), err)
	}
	return tool.Result{Output: out.String()}
}
