package session

import (
	"os"
	"path/filepath"
	"time"
)

// How long things are kept: checkpoints as long as somebody may want a day's
// work back, sessions for a season.
const (
	KeepCheckpoints = 7 * 24 * time.Hour
	KeepSessions    = 90 * 24 * time.Hour
	// sweepEvery keeps looking for old things out of most runs' start.
	sweepEvery = 24 * time.Hour
)

// Sweep removes sessions and checkpoints that nobody has written to for long,
// never those of a session that is being written. It looks once a day.
// What cannot be removed stays.
func (s *Store) Sweep(now time.Time) {
	top := filepath.Join(s.data, "sessions")
	stamp := filepath.Join(top, ".swept")
	if info, err := os.Lstat(stamp); err == nil && now.Sub(info.ModTime()) < sweepEvery {
		return
	}
	if err := os.MkdirAll(top, dirMode); err != nil {
		return
	}
	if err := os.WriteFile(stamp, nil, fileMode); err != nil || os.Chtimes(stamp, now, now) != nil {
		return
	}
	stores, err := s.All()
	if err != nil {
		return
	}
	for _, p := range stores {
		p.sweep(now)
	}
	s.sweepChecks(now)
}

func (s *Store) sweep(now time.Time) {
	ids, err := s.IDs()
	if err != nil {
		return
	}
	for _, id := range ids {
		if old(s.Path(id), now, KeepSessions) {
			_ = s.Delete(id) // a busy one is not old
		}
	}
	_ = os.Remove(s.dir) // only an empty one goes
}

// sweepChecks removes old checkpoints; what their session holds open is young.
func (s *Store) sweepChecks(now time.Time) {
	dir := filepath.Join(s.data, "checkpoints")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if ValidID(e.Name()) && old(path, now, KeepCheckpoints) && !s.busy(e.Name()) {
			_ = os.RemoveAll(path)
		}
	}
}

// busy says whether any project's session of that id is being written.
func (s *Store) busy(id string) bool {
	stores, err := s.All()
	if err != nil {
		return true
	}
	for _, p := range stores {
		if running(p.Path(id)) {
			return true
		}
	}
	return false
}

func old(path string, now time.Time, keep time.Duration) bool {
	info, err := os.Lstat(path)
	return err == nil && now.Sub(info.ModTime()) > keep
}

// Delete removes a session with its outputs and checkpoints. One that is being
// written stays.
func (s *Store) Delete(id string) error {
	path := s.Path(id)
	if _, err := os.Lstat(path); err != nil {
		return notThere(id, err)
	}
	k, err := lockFile(path)
	if err != nil {
		return err
	}
	defer k.Close()
	for _, p := range []string{s.raws(id), s.checks(id), s.agents(id), path, lockPath(path)} {
		if err := os.RemoveAll(p); err != nil {
			return cannotWrite(p, err)
		}
	}
	return nil
}
