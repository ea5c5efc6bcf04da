package file

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"larva.dev/larva/internal/tool"
)

// Limits of read: enough for most source files at once, and never more than a
// model reads with profit.
const (
	maxReadLines = 2000
	maxLineBytes = 2000
	maxReadBytes = 60_000 // of the whole result
	noteRoom     = 200    // of maxReadBytes, for the line that says how to go on
)

const readSchema = `{"type":"object","properties":{
"path":{"type":"string","minLength":1,"description":"The file: relative to the working directory, absolute, or from ~/"},
"offset":{"type":"integer","minimum":1,"description":"First line to read, from 1"},
"limit":{"type":"integer","minimum":1,"description":"How many lines; 2000 at most"}},
"required":["path"]}`

type readTool struct{ d *desk }

type readInput struct {
	Path   string   `json:"path"`
	Offset *float64 `json:"offset"`
	Limit  *float64 `json:"limit"`
}

func (t readTool) Spec() tool.Spec {
	s := spec("read", readSchema, true)
	s.MaxOutput = maxReadBytes
	return s
}

func (t readTool) Effects(c tool.Call) tool.Effects {
	var in readInput
	_ = decode(c, &in) // what does not fit is refused by Run; "" is the directory
	return t.d.effects(c, in.Path, false)
}

func (t readTool) Run(ctx context.Context, c tool.Call) (tool.Result, error) {
	var in readInput
	if err := decode(c, &in); err != nil {
		return tool.Fail("%v", err), nil
	}
	p, err := t.d.resolve(c, in.Path, false)
	if err != nil {
		return tool.Fail("%v", err), nil
	}
	shown := t.d.rs.Rel(p.Abs)
	f, fi, err := t.d.open(p)
	switch {
	case errors.Is(err, errDirectory):
		return tool.Fail("%s is a directory; list it with glob", shown), nil
	case errors.Is(err, errSpecial), errors.Is(err, errMoved):
		return tool.Fail("%s: %v", shown, err), nil
	case err != nil:
		return t.d.fail(p, err), nil
	}
	defer f.Close()
	img, look, err := picture(f, fi.Size())
	switch {
	case err != nil:
		return tool.Fail("%s cannot be shown: %v", shown, err), nil
	case img != nil:
		t.d.note(p.Real, fi)
		return tool.Result{Output: fmt.Sprintf("%s: %s, %dx%d pixels, %d bytes\n", shown, img.MediaType, look.Width, look.Height, len(img.Data)),
			Images: []tool.Image{*img}}, nil
	}
	first, limit := whole(in.Offset, 1), min(whole(in.Limit, maxReadLines), maxReadLines)
	text, err := lines(ctx, f, first, limit)
	var past pastEndError
	switch {
	case errors.Is(err, errBinary):
		return tool.Fail("%s is a binary file (it holds NUL bytes)", shown), nil
	case errors.As(err, &past):
		return tool.Fail("%s: offset %d is past the end: the file has %s", shown, first, count(int(past), "line")), nil
	case err != nil:
		return t.d.fail(p, err), nil
	}
	t.d.note(p.Real, fi)
	if text == "" {
		text = "(the file is empty)\n"
	}
	return tool.Result{Output: text}, nil
}

// whole gives a number of the input as an int that is at least 1, def where
// there is none.
func whole(v *float64, def int) int {
	switch {
	case v == nil:
		return def
	case *v >= 1<<31:
		return 1 << 31
	}
	return max(int(*v), 1)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

var errBinary = errors.New("binary")

// pastEndError is the number of lines of a file that ends before the offset.
type pastEndError int

func (pastEndError) Error() string { return "past the end" }

// lines numbers the lines from first on, limit at most, and says where to go
// on when more follow. An empty file from line 1 is "".
func lines(ctx context.Context, f io.Reader, first, limit int) (string, error) {
	in := bufio.NewReaderSize(f, 64<<10)
	var out strings.Builder
	for n := 1; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return "", ctx.Err()
		}
		line, size, err := nextLine(in)
		if err == io.EOF {
			if first > n-1 && (n > 1 || first > 1) {
				return "", pastEndError(n - 1)
			}
			return out.String(), nil
		}
		if err != nil {
			return "", err
		}
		if n < first {
			continue
		}
		if n >= first+limit {
			fmt.Fprintf(&out, "(more lines follow; go on with offset %d)\n", n)
			return out.String(), nil
		}
		shown := display(line, size, n == 1)
		if out.Len()+len(shown)+8 > maxReadBytes-noteRoom {
			fmt.Fprintf(&out, "(cut at %d bytes; go on with offset %d)\n", maxReadBytes, n)
			return out.String(), nil
		}
		fmt.Fprintf(&out, "%6d\t%s\n", n, shown)
	}
}

// nextLine gives the beginning of the next line (maxLineBytes and a little),
// without its line end, and its whole size. A line of any length costs no more
// memory than that. io.EOF means that there is no line.
func nextLine(in *bufio.Reader) (line []byte, size int, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if bytes.IndexByte(part, 0) >= 0 {
			return nil, 0, errBinary
		}
		size += len(part)
		if room := maxLineBytes + 2*utf8.UTFMax - len(line); room > 0 {
			line = append(line, part[:min(room, len(part))]...)
		}
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case err == io.EOF && size == 0:
			return nil, 0, io.EOF
		case err != nil && err != io.EOF:
			return nil, 0, err
		}
		if n := len(part); n > 0 && part[n-1] == '\n' {
			size--
			if len(line) > size {
				line = line[:size]
			}
		}
		return line, size, nil
	}
}

// display makes a line fit to show: no carriage return at its end, no byte
// order mark at the file's beginning, no broken characters, not too long.
func display(line []byte, size int, top bool) string {
	if len(line) == size {
		line = bytes.TrimSuffix(line, []byte("\r"))
		size = len(line)
	}
	if top {
		line = bytes.TrimPrefix(line, []byte("\uFEFF"))
	}
	if size <= maxLineBytes {
		return strings.ToValidUTF8(string(line), "\uFFFD")
	}
	n := min(maxLineBytes, len(line))
	for n > 0 && n < len(line) && !utf8.RuneStart(line[n]) {
		n--
	}
	return strings.ToValidUTF8(string(line[:n]), "\uFFFD") + fmt.Sprintf(" [… line of %d bytes, cut]", size)
}
