package file

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"larva.dev/larva/internal/tool"
)

// maxEditBytes bounds a file that is edited in memory.
const maxEditBytes = 64 << 20

const editSchema = `{"type":"object","properties":{
"path":{"type":"string","minLength":1,"description":"The file: relative to the working directory, absolute, or from ~/"},
"old_string":{"type":"string","description":"The text to replace, exactly as in the file"},
"new_string":{"type":"string","description":"What to put in its place"},
"replace_all":{"type":"boolean","description":"Replace every occurrence; false: there must be just one"}},
"required":["path","old_string","new_string"]}`

type editTool struct{ d *desk }

type editInput struct {
	Path string `json:"path"`
	replacement
}

func (t editTool) Spec() tool.Spec { return spec("edit", editSchema, false) }

func (t editTool) Effects(c tool.Call) tool.Effects {
	var in editInput
	_ = decode(c, &in) // what does not fit is refused by Run; "" is the directory
	return t.d.effects(c, in.Path, true)
}

func (t editTool) Run(ctx context.Context, c tool.Call) (tool.Result, error) {
	var in editInput
	if err := decode(c, &in); err != nil {
		return tool.Fail("%v", err), nil
	}
	if err := in.check(); err != nil {
		return tool.Fail("%v", err), nil
	}
	p, err := t.d.resolve(c, in.Path, true)
	if err != nil {
		return tool.Fail("%v", err), nil
	}
	if err := ctx.Err(); err != nil {
		return tool.Fail("%v", err), nil
	}
	shown := t.d.rs.Rel(p.Abs)
	return t.d.change(p, func(text string) (string, string, error) {
		e, err := exchange(text, in.OldString, in.NewString, in.ReplaceAll)
		return e.text, fmt.Sprintf("edited %s: replaced %s, the first at line %d", shown, count(e.times, "occurrence"), e.line), err
	}), nil
}

// replacement is one edit of a text.
type replacement struct {
	OldString  string `json:"old_string"`
	NewString  string `json:"new_string"`
	ReplaceAll bool   `json:"replace_all"`
}

func (e replacement) check() error {
	switch {
	case e.OldString == "":
		return errors.New("old_string is empty; to make or replace a whole file use write")
	case e.OldString == e.NewString:
		return errors.New("old_string and new_string are the same; nothing would change")
	}
	return nil
}

// change rewrites a text file: how gets its text and gives the new one and
// what is said of it. Where how fails the file stays as it is.
func (d *desk) change(p tool.Path, how func(text string) (changed, said string, err error)) tool.Result {
	shown := d.rs.Rel(p.Abs)
	r, name, err := d.parent(p, false)
	if err != nil {
		return d.fail(p, err)
	}
	defer r.Close()
	f, old, err := openIn(r, name)
	switch {
	case errors.Is(err, errDirectory), errors.Is(err, errSpecial):
		return tool.Fail("%s %v", shown, err)
	case err != nil:
		return d.fail(p, err)
	}
	defer f.Close()
	if err := d.replaceable(p, old); err != nil {
		return tool.Fail("%v", err)
	}
	if old.Size() > maxEditBytes {
		return tool.Fail("%s is too large to edit (%d bytes; %d at most)", shown, old.Size(), maxEditBytes)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxEditBytes+1))
	if err != nil {
		return d.fail(p, err)
	}
	if bytes.IndexByte(data, 0) >= 0 {
		return tool.Fail("%s is a binary file (it holds NUL bytes)", shown)
	}
	text, said, err := how(string(data))
	if err != nil {
		return tool.Fail("%s: %v", shown, err)
	}
	fi, err := replace(r, name, old, []byte(text))
	if err != nil {
		return d.fail(p, err)
	}
	d.note(p.Real, fi)
	return tool.Result{Output: said}
}

// exchanged is a text after its edit: how often old was replaced, and the line
// of the first.
type exchanged struct {
	text  string
	times int
	line  int
}

// exchange replaces old by new in text. Where old is not found as it is, its
// line ends are taken to be the file's; new gets the file's line ends.
func exchange(text, old, new string, all bool) (exchanged, error) {
	crlf := strings.Count(text, "\r\n")
	windows := crlf > 0 && 2*crlf >= strings.Count(text, "\n")
	n := strings.Count(text, old)
	if n == 0 {
		for _, form := range []string{toCRLF(old), toLF(old)} {
			if n = strings.Count(text, form); n > 0 {
				old = form
				break
			}
		}
	}
	if windows {
		new = toCRLF(new)
	}
	switch {
	case n == 0:
		return exchanged{}, fmt.Errorf("old_string is not in the file%s", whyNot(text, old))
	case n > 1 && !all:
		return exchanged{}, fmt.Errorf("old_string occurs %d times; take in more of the lines around it, or set replace_all", n)
	case old == new:
		return exchanged{}, errors.New("old_string and new_string are the same but for line ends, which are kept; nothing would change")
	}
	if int64(len(text))+int64(n)*int64(len(new)-len(old)) > maxEditBytes {
		return exchanged{}, fmt.Errorf("the file would grow beyond %d bytes", maxEditBytes)
	}
	line := 1 + strings.Count(text[:strings.Index(text, old)], "\n")
	return exchanged{text: strings.ReplaceAll(text, old, new), times: n, line: line}, nil
}

func toLF(s string) string   { return strings.ReplaceAll(s, "\r\n", "\n") }
func toCRLF(s string) string { return strings.ReplaceAll(toLF(s), "\n", "\r\n") }

// whyNot guesses the two common mistakes.
func whyNot(text, old string) string {
	var stripped []string
	numbered := true
	for l := range strings.Lines(old) {
		num, rest, ok := strings.Cut(l, "\t")
		num = strings.TrimSpace(num)
		if !ok || num == "" || strings.Trim(num, "0123456789") != "" {
			numbered = false
			break
		}
		stripped = append(stripped, rest)
	}
	if numbered && strings.Contains(toLF(text), toLF(strings.Join(stripped, ""))) {
		return "; leave out the line numbers that read puts in front"
	}
	if strings.Contains(squeeze(text), squeeze(old)) && strings.TrimSpace(old) != "" {
		return "; it is there with other spaces or indentation: read the lines again and copy them exactly"
	}
	return "; read it again and copy the text exactly"
}

func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }
