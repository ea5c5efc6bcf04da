package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/event"
)

// maxLine bounds one entry. A prompt may have 16 MiB, and JSON may write six
// bytes for one.
const maxLine = 128 << 20

// file is what a Log writes to; tests give one that fails.
type file interface {
	Write([]byte) (int, error)
	Truncate(int64) error
	Sync() error
	Close() error
}

// Log appends to one session file. Each entry is one write, so a killed
// process loses at most the entry it was writing; the file is flushed to the
// disk on Close. Its methods may be called from
// several goroutines.
type Log struct {
	id, path string
	store    *Store
	lock     *lock

	mu     sync.Mutex
	f      file
	size   int64 // of the file, whole entries only
	last   int   // the last entry's number
	err    error // the first failure; nothing is written after it
	onFail func(error)
	kept   int64 // bytes of raw outputs kept by this process
	closed bool
}

// Create begins a session. The Meta's id names it.
func (s *Store) Create(m Meta, now time.Time) (*Log, error) {
	if !ValidID(m.SessionID) {
		return nil, fmt.Errorf("session id %q", m.SessionID)
	}
	if err := os.MkdirAll(s.dir, dirMode); err != nil {
		return nil, cannotWrite(s.dir, err)
	}
	path := s.Path(m.SessionID)
	k, err := lockFile(path)
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		k.Close()
		return nil, cannotWrite(path, err)
	}
	l := &Log{id: m.SessionID, path: path, store: s, lock: k, f: f}
	if err := l.Add(now, m); err != nil {
		l.Close()
		os.Remove(path)
		return nil, err
	}
	return l, nil
}

// Open takes a session up again: it locks the file, reads it whole, and ends a
// line that a crash has torn.
func (s *Store) Open(id string, now time.Time) (*Log, *Session, error) {
	path := s.Path(id)
	if _, err := os.Lstat(path); err != nil {
		return nil, nil, notThere(id, err)
	}
	k, err := lockFile(path)
	if err != nil {
		return nil, nil, err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND, fileMode)
	if err != nil {
		k.Close()
		return nil, nil, cannotWrite(path, err)
	}
	l := &Log{id: id, path: path, store: s, lock: k, f: f}
	ses, err := l.takeUp(f, now)
	if err != nil {
		l.Close()
		return nil, nil, err
	}
	return l, ses, nil
}

// takeUp reads the file and mends its end.
func (l *Log) takeUp(f *os.File, now time.Time) (*Session, error) {
	r, err := scan(f, l.path)
	if err != nil {
		return nil, err
	}
	if err := f.Truncate(r.end); err != nil { // half a recovery goes, what it was for stays
		return nil, cannotWrite(l.path, err)
	}
	l.size, l.last = r.end, r.last()
	if r.torn > 0 {
		if err := l.write([]byte("\n"), event.Event{Time: now, Body: Recovery{Bytes: r.torn}}); err != nil {
			return nil, err
		}
	} else if r.unended {
		if err := l.put([]byte("\n")); err != nil {
			return nil, err
		}
	}
	return r.session(l.path)
}

// ID of the session.
func (l *Log) ID() string { return l.id }

// Path of the file: the transcript that hooks and summaries name.
func (l *Log) Path() string { return l.path }

// OnFail sets what is called, once, when an entry cannot be written. It must
// not call the Log.
func (l *Log) OnFail(f func(error)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.onFail = f
}

// Err is the first failure, nil while all was written.
func (l *Log) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// Event appends an event of a run. What is only streamed is left out. After a
// failure it does nothing: see OnFail.
func (l *Log) Event(e event.Event) {
	if !logged(e.Body) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil || l.closed {
		return
	}
	if err := l.write(nil, e); err != nil {
		l.fail(err)
	}
}

// Add appends an entry of ours.
func (l *Log) Add(now time.Time, b event.Body) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return l.err
	}
	return l.write(nil, event.Event{Time: now, Body: b})
}

func (l *Log) fail(err error) {
	l.err = cannotWrite(l.path, err)
	if l.onFail != nil {
		l.onFail(l.err)
	}
}

// write appends one entry behind before. It runs under l.mu, or while nobody
// else has the Log.
func (l *Log) write(before []byte, e event.Event) error {
	line, err := appendEntry(before, e, l.last+1, l.last)
	if err != nil {
		return err
	}
	if err := l.put(append(line, '\n')); err != nil {
		return err
	}
	l.last++
	return nil
}

// put writes whole or not at all: where the disk is full the half line is
// taken away again, and where even that fails it is a torn last line.
func (l *Log) put(b []byte) error {
	n, err := l.f.Write(b)
	if err == nil {
		l.size += int64(n)
		return nil
	}
	if n > 0 {
		if terr := l.f.Truncate(l.size); terr != nil {
			err = errors.Join(err, terr)
		}
	}
	return cannotWrite(l.path, err)
}

// appendEntry puts the entry's number and its parent's behind the version.
func appendEntry(dst []byte, e event.Event, entry, parent int) ([]byte, error) {
	line, err := e.AppendLine(nil)
	if err != nil {
		return nil, err
	}
	if len(line) > maxLine {
		return nil, fmt.Errorf("an entry of %d bytes is too long", len(line))
	}
	comma := len(`{"v":`) + len(strconv.Itoa(event.Version))
	dst = append(dst, line[:comma]...)
	dst = append(dst, `,"entry":`...)
	dst = strconv.AppendInt(dst, int64(entry), 10)
	dst = append(dst, `,"parent":`...)
	dst = strconv.AppendInt(dst, int64(parent), 10)
	return append(dst, line[comma:]...), nil
}

// Close flushes the file and gives the lock back.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	l.closed = true
	err := l.f.Sync()
	if cerr := l.f.Close(); err == nil {
		err = cerr
	}
	l.lock.Close()
	if err != nil {
		return cannotWrite(l.path, err)
	}
	return nil
}

func cannotWrite(path string, err error) error {
	var known *diag.Error
	if errors.As(err, &known) {
		return known
	}
	e := diag.New(diag.SessionWrite, "the session cannot be written: %v", err).With("path", path)
	e.Cause = err
	return e.WithHint("make room on the disk of %s, or set XDG_DATA_HOME to another", filepath.Dir(path))
}

func notThere(id string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return diag.New(diag.SessionNotFound, "this project has no session %q", id).With("session_id", id).
			WithHint("see: larva session list")
	}
	return diag.New(diag.Internal, "session %s cannot be read: %v", id, err).With("session_id", id)
}
