package file

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"unicode/utf8"

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
	p, err := t.d.target(c, in.Path)
	if err != nil {
		return tool.Fail("%v", err), nil
	}
	if err := ctx.Err(); err != nil {
		return tool.Fail("%v", err), nil
	}
	return t.d.write(p, in.Content), nil
}

// target is resolve for a file that is to be written whole.
func (d *desk) target(c tool.Call, given string) (tool.Path, error) {
	p, err := d.resolve(c, given, true)
	if err == nil && strings.HasSuffix(given, "/") {
		err = fmt.Errorf("%s names a directory; name the file", given)
	}
	return p, err
}

// write puts a whole file in place.
func (d *desk) write(p tool.Path, content string) tool.Result {
	r, name, err := d.parent(p, true)
	if err != nil {
		return d.fail(p, err)
	}
	defer r.Close()
	old, err := d.standing(r, name, p)
	if err != nil {
		return d.fail(p, err)
	}
	manner := ""
	if old != nil {
		if content, manner, err = inManner(r, name, content); err != nil {
			return d.fail(p, fmt.Errorf("%s: %w", d.rs.Rel(p.Abs), err))
		}
	}
	fi, err := replace(r, name, old, []byte(content))
	if err != nil {
		return d.fail(p, err)
	}
	d.note(p.Real, fi)
	verb := "created"
	if old != nil {
		verb = "overwrote"
	}
	return tool.Result{Output: fmt.Sprintf("%s %s (%s%s)", verb, d.rs.Rel(p.Abs), count(lineCount(content), "line"), manner)}
}

// standing gives what stands where a file is to be written: nil for nothing, an
// error for what may not be replaced.
func (d *desk) standing(r *os.Root, name string, p tool.Path) (fs.FileInfo, error) {
	old, err := r.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return old, d.replaceable(p, old)
}

// inManner writes content as the file has it that it replaces: what read does
// not show, a byte order mark and line ends that are CRLF throughout, stays.
// Content with carriage returns of its own is taken as it is. What read could
// not show at all, bytes that are no UTF-8, must not be lost unseen.
func inManner(r *os.Root, name, content string) (text, kept string, err error) {
	f, fi, err := openIn(r, name)
	if err != nil || fi.Size() > maxEditBytes {
		return content, "", nil // whether it may be replaced is judged elsewhere
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxEditBytes+1))
	if err != nil {
		return content, "", nil
	}
	if strings.ContainsRune(content, utf8.RuneError) && !utf8.Valid(data) {
		return "", "", errors.New("the file is not UTF-8, and the new content holds \uFFFD where read could not show a byte; change it with edit, which keeps such bytes")
	}
	const bom = "\uFEFF"
	mark := bytes.HasPrefix(data, []byte(bom)) && !strings.HasPrefix(content, bom) && content != ""
	ends := bytes.Count(data, []byte("\n"))
	crlf := ends > 0 && bytes.Count(data, []byte("\r\n")) == ends && strings.Contains(content, "\n") && !strings.Contains(content, "\r")
	if crlf {
		content, kept = toCRLF(content), ", CRLF line ends kept"
	}
	if mark {
		content = bom + content
	}
	return content, kept, nil
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
