package mcpserve

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"larva.dev/larva/internal/spec"
)

// maxFrame is the longest message: a persona of the largest size with room
// for what stands around it.
const maxFrame = spec.MaxBytes + 64<<10

// errTooLong is a line beyond maxFrame; the line has been read past.
var errTooLong = errors.New("the message is longer than 16 MiB")

// lines reads newline-delimited frames of any length up to a limit. Beyond
// the limit a line is thrown away as it comes, so it costs no memory.
type lines struct {
	r     *bufio.Reader
	limit int
	long  []byte // the last line that did not fit the buffer
}

func newLines(r io.Reader, limit int) *lines {
	return &lines{r: bufio.NewReaderSize(r, 64<<10), limit: limit}
}

// next gives the next line that is not blank, without its newline; it is
// valid until the next call. A last line without a newline counts. The error
// is errTooLong, after which one goes on, or the reader's.
func (l *lines) next() ([]byte, error) {
	for {
		line, err := l.line()
		if err != nil {
			return nil, err
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line, nil
		}
	}
}

func (l *lines) line() ([]byte, error) {
	l.long = nil
	for {
		part, err := l.r.ReadSlice('\n')
		switch {
		case err == nil && l.long == nil:
			return part, nil
		case len(l.long)+len(part) > l.limit:
			return nil, l.skip(err)
		case err == nil:
			l.long = append(l.long, part...)
			return l.long, nil
		case err == io.EOF && len(l.long)+len(part) > 0:
			return append(l.long, part...), nil
		case err != bufio.ErrBufferFull:
			return nil, err
		}
		l.long = append(l.long, part...)
	}
}

// skip reads to the end of a line that is too long; err is how the last read
// ended.
func (l *lines) skip(err error) error {
	l.long = nil
	for err == bufio.ErrBufferFull {
		_, err = l.r.ReadSlice('\n')
	}
	if err != nil && err != io.EOF {
		return err
	}
	return errTooLong
}
