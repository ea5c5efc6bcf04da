package session

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

const (
	// maxRaw bounds one kept output: a tool keeps less than that in memory.
	maxRaw = 4 << 20
	// maxRaws bounds what one run keeps in all; past it outputs are as short
	// later as the model saw them.
	maxRaws = 256 << 20
)

// errRawFull is why an output was not kept.
var errRawFull = errors.New("the session keeps no more whole outputs")

// KeepRaw keeps a call's whole output for raw_output, at most 4 MiB of it.
func (l *Log) KeepRaw(callID string, data []byte) error {
	data = data[:min(len(data), maxRaw)]
	l.mu.Lock()
	full := l.kept+int64(len(data)) > maxRaws
	if !full {
		l.kept += int64(len(data))
	}
	l.mu.Unlock()
	if full {
		return errRawFull
	}
	return writeWhole(filepath.Join(l.store.raws(l.id), rawName(callID)), data)
}

// Raw gives what KeepRaw kept.
func (l *Log) Raw(callID string) ([]byte, error) { return l.store.Raw(l.id, callID) }

// Raw gives a kept output of a session; fs.ErrNotExist where there is none.
func (s *Store) Raw(id, callID string) ([]byte, error) {
	data, err := os.ReadFile(filepath.Join(s.raws(id), rawName(callID)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no whole output of call %q is kept: %w", callID, fs.ErrNotExist)
	}
	return data, err
}

// RawPath is where a call's whole output lies, "" where none is kept.
func (s *Store) RawPath(id, callID string) string {
	path := filepath.Join(s.raws(id), rawName(callID))
	if _, err := os.Lstat(path); err != nil {
		return ""
	}
	return path
}

// rawName keeps the model's own id out of the path.
func rawName(callID string) string {
	sum := sha256.Sum256([]byte(callID))
	return hex.EncodeToString(sum[:])
}
