package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"larva.dev/larva/internal/tool"
)

// How many files one call may write: one is what write is for, and a call with
// more than this is cut off by many a model's output limit.
const (
	minFiles = 2
	maxFiles = 16
)

const writeFilesSchema = `{"type":"object","properties":{
"files":{"type":"array","minItems":2,"maxItems":16,"items":{"type":"object","properties":{
"path":{"type":"string","minLength":1},"content":{"type":"string"}},
"required":["path","content"]}}},
"required":["files"]}`

type writeFilesTool struct{ d *desk }

type writeFilesInput struct {
	Files []writeInput `json:"files"`
}

func (t writeFilesTool) Spec() tool.Spec { return spec("write_files", writeFilesSchema, false) }

func (t writeFilesTool) Effects(c tool.Call) tool.Effects {
	var in writeFilesInput
	_ = decode(c, &in) // what does not fit is refused by Run
	given := make([]string, len(in.Files))
	for i, f := range in.Files {
		given[i] = f.Path
	}
	if len(given) == 0 {
		given = []string{""} // the directory, as for a write without a path
	}
	return t.d.effectsOf(c, given, true)
}

func (t writeFilesTool) Run(ctx context.Context, c tool.Call) (tool.Result, error) {
	var in writeFilesInput
	if err := decode(c, &in); err != nil {
		return tool.Fail("%v", err), nil
	}
	if n := len(in.Files); n < minFiles || n > maxFiles {
		return tool.Fail("files: got %d, want %d to %d; for one file use write", n, minFiles, maxFiles), nil
	}
	paths, wrong := t.d.checkAll(c, in.Files)
	if len(wrong) > 0 {
		return tool.Fail("nothing was written:\n%s", strings.Join(wrong, "\n")), nil
	}
	return t.d.writeAll(ctx, paths, in.Files), nil
}

// checkAll looks at every file before the first is written. It gives all that
// is wrong, a line each.
func (d *desk) checkAll(c tool.Call, files []writeInput) (paths []tool.Path, wrong []string) {
	for _, f := range files {
		p, err := d.target(c, f.Path)
		if err == nil {
			err = clash(p, paths)
		}
		paths = append(paths, p)
		if err != nil {
			wrong = append(wrong, err.Error())
		} else if err := d.writable(p); err != nil {
			wrong = append(wrong, d.fail(p, err).Output)
		}
	}
	return paths, wrong
}

// clash finds a file that is named twice, and one that another one would need
// as its directory.
func clash(p tool.Path, before []tool.Path) error {
	const sep = string(filepath.Separator)
	for _, b := range before {
		switch {
		case p.Real == b.Real:
			return fmt.Errorf("%s: the same file as %s; name each file once", p.Given, b.Given)
		case strings.HasPrefix(p.Real, b.Real+sep), strings.HasPrefix(b.Real, p.Real+sep):
			return fmt.Errorf("%s and %s: one would have to be a file and a directory", b.Given, p.Given)
		}
	}
	return nil
}

// writable is nil where the file could be written as things stand. Nothing is
// made.
func (d *desk) writable(p tool.Path) error {
	r, name, err := d.parent(p, false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // its directory will be made
	}
	if err != nil {
		return err
	}
	defer r.Close()
	_, err = d.standing(r, name, p)
	return err
}

// writeAll writes in order and stops at the first failure. What it says then
// names every file: written, failed, or left as it was.
func (d *desk) writeAll(ctx context.Context, paths []tool.Path, files []writeInput) tool.Result {
	var said []string
	for i, p := range paths {
		r := tool.Result{}
		if err := ctx.Err(); err != nil {
			r = tool.Fail("%s: %v", d.rs.Rel(p.Abs), err)
		} else {
			r = d.write(p, files[i].Content)
		}
		if !r.IsError {
			said = append(said, r.Output)
			continue
		}
		said = append(said, "not written: "+r.Output)
		for _, rest := range paths[i+1:] {
			said = append(said, "not written: "+d.rs.Rel(rest.Abs))
		}
		return tool.Fail("%d of %d files were written:\n%s", i, len(paths), strings.Join(said, "\n"))
	}
	return tool.Result{Output: strings.Join(said, "\n")}
}
