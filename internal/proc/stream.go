package proc

import (
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

// streams are the pipes of one program. start begins the copying, finish ends
// it; abort closes everything when the program never ran.
type streams struct {
	childEnds  []*os.File // closed in this process once the child has them
	readers    []*os.File // our ends of the output pipes
	copiers    []func()   // one a reader
	outputDone chan struct{}

	input      io.Reader
	inputPipe  *os.File
	inputClose sync.Once

	stdout, stderr *headTail // nil where streamed, merged or handed over
}

// connect sets the command's three streams.
func (c Command) connect(cmd *exec.Cmd) (*streams, error) {
	s := &streams{outputDone: make(chan struct{})}
	if err := s.connectInput(cmd, c.Stdin); err != nil {
		s.abort()
		return nil, err
	}
	limit := c.MaxOutput
	if limit <= 0 {
		limit = defaultMaxOutput
	}
	out, buf, err := s.sink(c.Stdout, limit)
	if err != nil {
		s.abort()
		return nil, err
	}
	cmd.Stdout, s.stdout = out, buf
	if c.Merge {
		cmd.Stderr = out
		return s, nil
	}
	out, buf, err = s.sink(c.Stderr, limit)
	if err != nil {
		s.abort()
		return nil, err
	}
	cmd.Stderr, s.stderr = out, buf
	return s, nil
}

func (s *streams) connectInput(cmd *exec.Cmd, in io.Reader) error {
	switch in := in.(type) {
	case nil:
		return nil // the null device
	case *os.File:
		if in != nil {
			cmd.Stdin = in
		}
		return nil
	}
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	s.childEnds = append(s.childEnds, r)
	s.input, s.inputPipe = in, w
	cmd.Stdin = r
	return nil
}

// sink gives the file that the child writes to and, where output is captured,
// the buffer that it ends in.
func (s *streams) sink(w io.Writer, limit int) (*os.File, *headTail, error) {
	if f, ok := w.(*os.File); ok && f != nil {
		return f, nil, nil
	}
	r, child, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	s.childEnds = append(s.childEnds, child)
	s.readers = append(s.readers, r)
	var buf *headTail
	if w == nil {
		buf = &headTail{limit: limit}
		w = buf
	}
	s.copiers = append(s.copiers, func() { drain(w, r) })
	return child, buf, nil
}

// start closes the child's ends here and begins to copy.
func (s *streams) start() {
	closeAll(s.childEnds)
	var wg sync.WaitGroup
	for _, copier := range s.copiers {
		wg.Go(copier)
	}
	go func() { wg.Wait(); close(s.outputDone) }()
	if s.inputPipe != nil {
		go func() {
			_, _ = io.Copy(s.inputPipe, s.input) // a program may stop reading early
			s.stopInput()
		}()
	}
}

// stopInput closes our end of the input, which also wakes a copier that is
// blocked in a write.
func (s *streams) stopInput() {
	if s.inputPipe != nil {
		s.inputClose.Do(func() { s.inputPipe.Close() })
	}
}

// finish stops the copiers, takes their output and closes our ends.
func (s *streams) finish(r *Result) {
	for _, f := range s.readers {
		if f.SetReadDeadline(time.Now()) != nil {
			f.Close() // Windows pipes know no deadline; closing wakes the reader
		}
	}
	<-s.outputDone
	closeAll(s.readers)
	for _, o := range []struct {
		buf *headTail
		to  *[]byte
	}{{s.stdout, &r.Stdout}, {s.stderr, &r.Stderr}} {
		if o.buf == nil {
			continue
		}
		*o.to = o.buf.bytes()
		r.Dropped += o.buf.dropped()
	}
	r.Truncated = r.Dropped > 0
}

func (s *streams) abort() {
	closeAll(s.childEnds)
	closeAll(s.readers)
	s.stopInput()
}

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}

// drain copies until the pipe ends. After w failed it goes on reading, so that
// the program is not blocked by a reader that lost interest.
func drain(w io.Writer, r io.Reader) {
	buf := make([]byte, 32<<10)
	for {
		n, err := r.Read(buf)
		if n > 0 && w != nil {
			if _, werr := w.Write(buf[:n]); werr != nil {
				w = nil
			}
		}
		if err != nil {
			return
		}
	}
}

// headTail keeps the first and the last limit bytes written to it. The tail is
// a ring that grows to limit at most. It has one writer and is read after that
// one has ended.
type headTail struct {
	limit int
	head  []byte
	ring  []byte
	next  int // where the ring's oldest byte is once it is full
	total int64
}

func (b *headTail) Write(p []byte) (int, error) {
	n := len(p)
	b.total += int64(n)
	if room := b.limit - len(b.head); room > 0 {
		k := min(room, len(p))
		b.head = append(b.head, p[:k]...)
		p = p[k:]
	}
	if len(p) > b.limit {
		p = p[len(p)-b.limit:]
	}
	if room := b.limit - len(b.ring); room > 0 {
		k := min(room, len(p))
		b.ring = append(b.ring, p[:k]...)
		p = p[k:]
	}
	for len(p) > 0 {
		k := copy(b.ring[b.next:], p)
		p = p[k:]
		b.next = (b.next + k) % b.limit
	}
	return n, nil
}

func (b *headTail) dropped() int64 {
	return b.total - int64(len(b.head)) - int64(len(b.ring))
}

func (b *headTail) bytes() []byte {
	out := make([]byte, 0, len(b.head)+len(b.ring))
	out = append(out, b.head...)
	out = append(out, b.ring[b.next:]...)
	return append(out, b.ring[:b.next]...)
}
