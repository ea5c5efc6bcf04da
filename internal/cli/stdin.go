package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"time"
)

const (
	// stdinHint is how long a command that could do without stdin waits for it
	// in silence.
	stdinHint = 3 * time.Second
	// orphanWait is how long a command whose parent has died waits for stdin.
	// Another process may still hold the other end and mean to write; but one
	// that only forgot to close it must not keep this process for ever.
	orphanWait = 10 * time.Minute
	orphanLook = 10 * time.Second
)

var errOrphan = errors.New("it does not end, and who started this command is gone")

// untilDone gives a reader whose Read ends when ctx does: a terminal or a
// stuck pipe must not hold back Ctrl-C. It ends, too, where nothing comes and
// the process that started this one is gone. The goroutine that waits in the
// inner Read ends with the process; it owns its buffer, so nothing is shared.
func untilDone(ctx context.Context, r io.Reader) *doneReader {
	return &doneReader{ctx: ctx, inner: r, parent: os.Getppid, born: os.Getppid()}
}

type doneReader struct {
	ctx    context.Context
	inner  io.Reader
	parent func() int
	born   int    // the parent at the beginning
	slow   func() // called once, where the first bytes are long in coming; nil: nothing
	chunk  []byte
	next   chan piece
	err    error
}

type piece struct {
	data []byte
	err  error
}

func (d *doneReader) Read(p []byte) (int, error) {
	for len(d.chunk) == 0 {
		if d.err != nil {
			return 0, d.err
		}
		if d.next == nil {
			d.next = make(chan piece)
			go d.pump()
		}
		if err := d.wait(); err != nil {
			return 0, err
		}
	}
	n := copy(p, d.chunk)
	d.chunk = d.chunk[n:]
	return n, nil
}

// wait takes the next piece.
func (d *doneReader) wait() error {
	began := time.Now()
	look := time.NewTicker(orphanLook)
	defer look.Stop()
	hint := time.NewTimer(stdinHint)
	defer hint.Stop()
	for {
		select {
		case got := <-d.next:
			d.chunk, d.err, d.slow = got.data, got.err, nil
			return nil
		case <-d.ctx.Done():
			return d.ctx.Err()
		case <-hint.C:
			if d.slow != nil {
				d.slow()
				d.slow = nil
			}
		case <-look.C:
			if d.parent() == d.born {
				began = time.Now()
			} else if time.Since(began) >= orphanWait {
				d.err = errOrphan
				return errOrphan
			}
		}
	}
}

func (d *doneReader) pump() {
	for {
		buf := make([]byte, 32<<10)
		n, err := d.inner.Read(buf)
		select {
		case d.next <- piece{buf[:n], err}:
		case <-d.ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}
