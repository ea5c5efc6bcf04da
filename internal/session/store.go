package session

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"larva.dev/larva/internal/diag"
)

const (
	ending = ".jsonl"
	// dirMode and fileMode: what was said is for the owner alone.
	dirMode  = 0o700
	fileMode = 0o600
)

// Store is where the sessions of one project lie. The zero value is of no use;
// see At.
type Store struct {
	data    string // larva's data directory
	project string // the project's directory, links resolved
	dir     string // of this project's sessions
}

// At gives the store of a project: the directory with links resolved. Nothing
// is made before a session is.
func At(data, project string) *Store {
	return &Store{data: data, project: project, dir: filepath.Join(data, "sessions", folder(project))}
}

// folder names a project's directory: its base, so that a person finds it, and
// eight hex digits of the path's hash, so that no two share it.
func folder(project string) string {
	sum := sha256.Sum256([]byte(project))
	base := strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune(`/\:*?"<>|`, r) {
			return '_'
		}
		return r
	}, filepath.Base(project))
	if len(base) > 64 { // a name must stay a name; the hash tells them apart
		base = strings.ToValidUTF8(base[:64], "")
	}
	return base + "-" + hex.EncodeToString(sum[:])[:8]
}

// Path is the file of a session of this project.
func (s *Store) Path(id string) string { return filepath.Join(s.dir, id+ending) }

// Dir is where this project's sessions lie.
func (s *Store) Dir() string { return s.dir }

// Project is the directory that the store was opened for.
func (s *Store) Project() string { return s.project }

// All are the stores of every project that has sessions.
func (s *Store) All() ([]*Store, error) {
	top := filepath.Join(s.data, "sessions")
	entries, err := os.ReadDir(top)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, diag.New(diag.Internal, "sessions cannot be read: %v", err).With("path", top)
	}
	var out []*Store
	for _, e := range entries {
		if e.IsDir() {
			out = append(out, &Store{data: s.data, dir: filepath.Join(top, e.Name())})
		}
	}
	return out, nil
}

// IDs of this project's sessions, the oldest first.
func (s *Store) IDs() ([]string, error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, diag.New(diag.Internal, "sessions cannot be read: %v", err).With("path", s.dir)
	}
	var out []string
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), ending); ok && ValidID(id) && e.Type().IsRegular() {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return out, nil
}

// Find gives the session that id names: the whole id, or a beginning or an end
// that no other session of the project has.
func (s *Store) Find(id string) (string, error) {
	ids, err := s.IDs()
	if err != nil {
		return "", err
	}
	var found []string
	for _, have := range ids {
		if have == id {
			return have, nil
		}
		if id != "" && (strings.HasPrefix(have, id) || strings.HasSuffix(have, id)) {
			found = append(found, have)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return "", diag.New(diag.SessionNotFound, "this project has no session %q", id).With("session_id", id).
			WithHint("see: larva session list")
	}
	return "", diag.New(diag.SessionNotFound, "%q is the beginning or end of %d sessions", id, len(found)).
		With("session_id", id).With("matches", found).WithHint("more of the id: %s", strings.Join(found[:min(len(found), 5)], ", "))
}

// ValidID says whether id has the form of a session's id: digits, hex letters
// and hyphens, as event.NewSessionID makes them. Nothing else becomes part of
// a path.
func ValidID(id string) bool {
	if len(id) != len("20060102-150405-abcdef") {
		return false
	}
	for i, r := range id {
		hyphen := i == 8 || i == 15
		switch {
		case hyphen != (r == '-'):
			return false
		case hyphen:
		case r >= '0' && r <= '9', i > 15 && r >= 'a' && r <= 'f':
		default:
			return false
		}
	}
	return true
}

// raws is the directory of a session's whole outputs.
func (s *Store) raws(id string) string { return filepath.Join(s.dir, id+".raw") }

// agents is the directory of what a session's subagents did.
func (s *Store) agents(id string) string { return filepath.Join(s.dir, id+"-agents") }

// checks is the directory of a session's checkpoints.
func (s *Store) checks(id string) string { return filepath.Join(s.data, "checkpoints", id) }
