package load

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/spec"
)

// maxCUE bounds one CUE file. Its data may be as large as that of any other
// format, but a program of this size was not written by hand.
const maxCUE = 4 << 20

// pipeWait is how long a pipe that was named as a file may take: long enough
// for what a shell puts behind <( ), short enough that a pipe whose writer
// sleeps does not hold a command for good. stdin has no such end.
const pipeWait = 30 * time.Second

// openAndRead reads a file of at most most bytes. A problem's file is shown.
func openAndRead(name, shown string, most int) ([]byte, *diag.Problem) {
	f, err := os.OpenFile(name, os.O_RDONLY|noWait, 0)
	if err != nil {
		return nil, &diag.Problem{File: shown, Message: diag.Reason(err)}
	}
	defer f.Close()
	return readAll(f, shown, most)
}

func readAll(r io.Reader, shown string, most int) ([]byte, *diag.Problem) {
	var b bytes.Buffer
	pipe := false
	if f, ok := r.(*os.File); ok {
		if fi, err := f.Stat(); err == nil && fi.Mode().IsRegular() && fi.Size() <= int64(most) {
			b.Grow(int(fi.Size()) + 1)
		} else if err == nil && fi.Mode()&fs.ModeNamedPipe != 0 {
			pipe = f.SetReadDeadline(time.Now().Add(pipeWait)) == nil
		}
	}
	if _, err := b.ReadFrom(io.LimitReader(r, int64(most)+1)); err != nil {
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return nil, &diag.Problem{File: shown, Message: fmt.Sprintf("is a pipe that did not end in %s", pipeWait), Hint: "give its text on stdin, as -"}
		}
		return nil, &diag.Problem{File: shown, Message: diag.Reason(err)}
	}
	if pipe && b.Len() == 0 {
		return nil, &diag.Problem{File: shown, Message: "is a pipe that nobody writes into"}
	}
	if b.Len() > most {
		return nil, &diag.Problem{File: shown, Message: fmt.Sprintf("larger than %d MiB", most>>20)}
	}
	return b.Bytes(), nil
}

// text refuses what no format of ours may hold: a byte order mark and bytes
// that are not UTF-8, with their place.
func text(data []byte, shown string) *diag.Problem {
	if bytes.HasPrefix(data, []byte("\xef\xbb\xbf")) {
		return &diag.Problem{File: shown, Line: 1, Col: 1, Message: "starts with a byte order mark", Hint: "save it as UTF-8 without one"}
	}
	if utf8.Valid(data) {
		return nil
	}
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n == 1 {
			line, col := lineCol(data, i)
			return &diag.Problem{File: shown, Line: line, Col: col, Message: fmt.Sprintf("the byte 0x%02x is not valid UTF-8", data[i])}
		}
		i += n
	}
	return nil
}

// lineCol is the place of an offset; both count from 1, the column in bytes.
func lineCol(data []byte, offset int) (line, col int) {
	offset = min(offset, len(data))
	before := data[:offset]
	return bytes.Count(before, []byte("\n")) + 1, offset - (bytes.LastIndexByte(before, '\n') + 1) + 1
}

// format is how a file is written.
type format int

const (
	unknown format = iota
	asJSON
	asYAML
	asTOML
	asCUE
	asMarkdown
)

// formatOf goes by the end of the name.
func formatOf(name string) format {
	switch ext := strings.ToLower(name[strings.LastIndexByte(name, '.')+1:]); ext {
	case "json":
		return asJSON
	case "yaml", "yml":
		return asYAML
	case "toml":
		return asTOML
	case "cue":
		return asCUE
	case "md", "markdown":
		return asMarkdown
	}
	return unknown
}

const parserBroke = "could not be read: the parser broke on it"

// parse reads a document of a data format. Any panic of a parser would be a
// bug of ours or of a library; it must not take the other files down.
func parse(data []byte, f format, shown string) (d *doc, p *diag.Problem) {
	defer func() {
		if r := recover(); r != nil {
			d, p = nil, &diag.Problem{File: shown, Message: parserBroke}
		}
	}()
	if p := text(data, shown); p != nil {
		return nil, p
	}
	switch f {
	case asYAML:
		return parseYAML(data, shown)
	case asTOML:
		return parseTOML(data, shown)
	case asMarkdown:
		return parseMarkdown(data, shown)
	}
	return parseJSON(data, shown)
}

func parseJSON(data []byte, shown string) (*doc, *diag.Problem) {
	root, pos, err := spec.ParsePositions(data)
	if err != nil {
		var se *spec.SyntaxError
		if errors.As(err, &se) {
			return nil, &diag.Problem{File: shown, Line: se.Line, Col: se.Col, Message: se.Message}
		}
		return nil, &diag.Problem{File: shown, Message: err.Error()}
	}
	return &doc{file: shown, root: root, pos: pos}, nil
}
