package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"larva.dev/larva/internal/tool"
)

const writeSchema = `{"type":"object","properties":{
"path":{"type":"string","minLength":1,"description":"The file: relative to the working directory, absolute, or from ~/"},
"content":{"type":"string","description":"The whole new content"}},
"required":["path","content"]}`

type writeTool struct{ d *desk }

type writeInput struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

func (t writeTool) Spec() tool.Spec { return spec("write", writeSchema, false) }

func (t writeTool) Effects(c tool.Call) tool.Effects {
	var in writeInput
	_ = decode(c, &in) // what does not fit is refused by Run; "" is the directory
	return t.d.effects(c, in.Path, true)
}

func (t writeTool) Run(ctx context.Context, c tool.Call) (tool.Result, error) {
	var in writeInput
	if err := decode(c, &in); err != nil {
		return tool.Fail("%v", err), nil
	}
	p, err := t.d.resolve(c, in.Path, true)
	if err != nil {
		return tool.Fail("%v", err), nil
	}
	if strings.HasSuffix(in.Path, "/") {
		return tool.Fail("%s names a directory; name the file", in.Path), nil
	}
	if err := ctx.Err(); err != nil {
		return tool.Fail("%v", err), nil
	}
	r, name, err := t.d.parent(p, true)
	if err != nil {
		return t.d.fail(p, err), nil
	}
	defer r.Close()
	old, err := r.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		old = nil
	} else if err != nil {
		return t.d.fail(p, err), nil
	} else if err := t.d.replaceable(p, old); err != nil {
		return tool.Fail("%v", err), nil
	}
	fi, err := replace(r, name, old, []byte(in.Content))
	if err != nil {
		return t.d.fail(p, err), nil
	}
	t.d.note(p.Real, fi)
	verb := "created"
	if old != nil {
		verb = "overwrote"
	}
	return tool.Result{Output: fmt.Sprintf("%s %s (%s)", verb, t.d.rs.Rel(p.Abs), count(lineCount(in.Content), "line"))}, nil
}

// replaceable is nil for a file that may be replaced: regular, writable by its
// mode, read in this run and unchanged.
func (d *desk) replaceable(p tool.Path, fi fs.FileInfo) error {
	shown := d.rs.Rel(p.Abs)
	switch {
	case fi.IsDir():
		return fmt.Errorf("%s is a directory", shown)
	case fi.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("%s: %w", shown, errMoved)
	case !fi.Mode().IsRegular():
		return fmt.Errorf("%s %w", shown, errSpecial)
	case fi.Mode().Perm()&0o222 == 0:
		// A rename would get around the mode: it asks the directory only.
		return fmt.Errorf("%s is read-only", shown)
	}
	return d.fresh(p, fi)
}

// lineCount counts a last line without a newline, too.
func lineCount(s string) int {
	n := strings.Count(s, "\n")
	if s != "" && !strings.HasSuffix(s, "\n") {
		n++
	}
	return n
}
