package mcpclient

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"larva.dev/larva/internal/proc"
)

// maxLog bounds what a server's log file keeps of one run.
const maxLog = 1 << 20

// program is a stdio server: a transport over a program's input and output.
type program struct {
	c      Config
	keeper *proc.Keeper
	in     *io.PipeWriter
	out    *io.PipeReader
	cancel context.CancelFunc
	ended  chan struct{}
	err    error // how it ended, once ended is closed
	log    *logFile
	once   sync.Once
}

// Connect starts the program.
func (p *program) Connect(context.Context) (mcp.Connection, error) {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	p.in, p.out, p.ended = inW, outR, make(chan struct{})
	p.log = openLog(p.c.Log)
	// It outlives the ctx of the connecting: close ends it.
	ctx, cancel := context.WithCancel(context.Background())
	p.cancel = cancel
	started := make(chan struct{})
	go func() {
		defer close(p.ended)
		defer p.log.close()
		lines := &messages{to: outW, log: p.log}
		res, err := proc.Run(ctx, proc.Command{Argv: append([]string{p.c.Command}, p.c.Args...), Dir: p.c.Dir, Env: p.c.Env, Stdin: inR,
			Stdout: lines, Stderr: p.log, Keeper: p.keeper, GraceWait: 100 * time.Millisecond, Started: func() { close(started) }})
		switch {
		case err != nil:
			p.err = err
		case res.Signal != "":
			p.err = fmt.Errorf("the program was ended by %s", res.Signal)
		default:
			p.err = fmt.Errorf("the program has ended with exit code %d", res.Exit)
		}
		if last := p.log.last(); last != "" && err == nil {
			p.err = fmt.Errorf("%w, its last words: %s", p.err, last)
		}
		_ = outW.CloseWithError(io.EOF)
		_ = inR.CloseWithError(io.ErrClosedPipe)
	}()
	select {
	case <-started:
	case <-p.ended:
		return nil, p.err
	}
	conn, err := (&mcp.IOTransport{Reader: p.out, Writer: p.in, MaxLineLength: maxMessage}).Connect(ctx)
	if err != nil {
		p.close()
		return nil, err
	}
	return conn, nil
}

// why is how the program ended, nil while it runs.
func (p *program) why() error {
	select {
	case <-p.ended:
		return p.err
	case <-time.After(200 * time.Millisecond): // its end is told a moment after its output's
		return nil
	}
}

// close ends the program: its input first, then its group by signals.
func (p *program) close() {
	p.once.Do(func() {
		if p.ended == nil {
			return
		}
		_ = p.in.Close()
		t := time.NewTimer(closeTime)
		defer t.Stop()
		select {
		case <-p.ended:
		case <-t.C:
		}
		p.cancel()
		_ = p.out.CloseWithError(io.ErrClosedPipe)
		<-p.ended
	})
}

// messages lets through the lines that can be messages: programs greet on
// stdout, and one such line would end the connection.
type messages struct {
	to   io.Writer
	log  io.Writer
	line []byte
	long bool
}

func (m *messages) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		end := bytes.IndexByte(b, '\n')
		part := b
		if end >= 0 {
			part = b[:end+1]
		}
		b = b[len(part):]
		if len(m.line)+len(part) > maxMessage {
			m.long = true
		} else {
			m.line = append(m.line, part...)
		}
		if end < 0 {
			continue
		}
		line := m.line
		m.line = m.line[:0]
		switch text := bytes.TrimLeft(line, " \t\r"); {
		case m.long:
			m.long = false
			fmt.Fprintln(m.log, "a message of more than", maxMessage, "bytes was left out")
		case len(text) > 0 && (text[0] == '{' || text[0] == '['):
			if _, err := m.to.Write(text); err != nil {
				return n, err
			}
		case len(bytes.TrimSpace(text)) > 0:
			_, _ = m.log.Write(append([]byte("stdout: "), text...))
		}
	}
	return n, nil
}

// logFile keeps a server's stderr, and its last line for errors.
type logFile struct {
	mu   sync.Mutex
	f    *os.File // nil: nothing is kept
	left int
	tail []byte
}

func openLog(path string) *logFile {
	l := &logFile{left: maxLog}
	if path == "" {
		return l
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return l
	}
	l.f, _ = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600) // a log that cannot be kept is no reason to go without the server
	return l
}

func (l *logFile) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.f != nil && l.left > 0 {
		part := b[:min(len(b), l.left)]
		l.left -= len(part)
		_, _ = l.f.Write(part)
	}
	l.tail = append(l.tail, b...)
	if n := len(l.tail); n > 2048 {
		l.tail = append(l.tail[:0], l.tail[n-2048:]...)
	}
	return len(b), nil
}

func (l *logFile) last() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := bytes.Split(bytes.TrimSpace(l.tail), []byte("\n"))
	line := string(bytes.ToValidUTF8(bytes.TrimSpace(lines[len(lines)-1]), []byte("?")))
	if r := []rune(line); len(r) > 200 {
		line = string(r[:200]) + "…"
	}
	return line
}

func (l *logFile) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.f != nil {
		_ = l.f.Close()
	}
}

var errEnded = errors.New("the connection has ended")
