package watch

import (
	"encoding/binary"
	"errors"
	"hash/maphash"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"larva.dev/larva/internal/spec"
)

// tick is more than the step of any file system's clock that matters: two
// changes within one leave the same times behind.
const tick = 40 * time.Millisecond

// seen is what the last look has seen.
type seen struct {
	root  string
	seed  maphash.Seed // sums are compared within one Watch
	marks map[string]mark
}

// mark is one persona in short.
type mark struct {
	dirs  uint64 // of its two directories: differs after every write of ours
	files uint64 // of its files
	young bool   // the directories had changed just before: their times may hide another change
}

// look compares all personas with the last look. A full one reads the times
// of all files; any other only of personas whose directories have changed.
func (s *seen) look(full bool) (c Change, any bool) {
	ids, err := s.ids()
	if err != nil {
		return c, false // what cannot be listed now is looked at later
	}
	before := s.marks
	s.marks = make(map[string]mark, len(ids))
	for _, id := range ids {
		old, known := before[id]
		s.compare(&c, id, old, known, full)
	}
	for id, old := range before {
		if _, there := s.marks[id]; !there {
			s.missing(&c, id, old)
		}
	}
	return c.sorted(), before != nil && c.any()
}

// lookAt compares the named personas alone.
func (s *seen) lookAt(ids map[string]bool) (c Change, any bool) {
	if s.marks == nil {
		return s.look(true) // the first look has failed
	}
	for id := range ids {
		old, known := s.marks[id]
		info, err := os.Lstat(filepath.Join(s.root, id))
		switch {
		case err == nil && (info.IsDir() || info.Mode()&fs.ModeSymlink != 0):
			s.compare(&c, id, old, known, false)
		case known:
			delete(s.marks, id)
			s.missing(&c, id, old)
		}
	}
	return c.sorted(), c.any()
}

// compare marks a persona that is there.
func (s *seen) compare(c *Change, id string, old mark, known, full bool) {
	m := s.dirs(id)
	m.files = old.files
	if !known || full || old.young || m.dirs != old.dirs {
		m.files = s.files(id)
	}
	switch {
	case !known:
		c.Added = append(c.Added, id)
	case m.dirs != old.dirs || m.files != old.files:
		c.Changed = append(c.Changed, id)
	}
	s.marks[id] = m
}

// missing reports a persona that is gone, unless it only stands aside between
// the two renames that replace it where directories cannot be exchanged.
func (s *seen) missing(c *Change, id string, old mark) {
	if _, err := os.Lstat(filepath.Join(s.root, asideName, "swap-"+id)); err == nil {
		s.marks[id] = old
		return
	}
	c.Removed = append(c.Removed, id)
}

func (c Change) any() bool { return len(c.Added)+len(c.Removed)+len(c.Changed) > 0 }

func (c Change) sorted() Change {
	for _, ids := range [][]string{c.Added, c.Removed, c.Changed} {
		slices.Sort(ids)
	}
	return c
}

// ids are the names of personas, sorted, as registry.IDs has them.
func (s *seen) ids() ([]string, error) {
	entries, err := os.ReadDir(s.root)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	ids := make([]string, 0, len(entries))
	for _, e := range entries {
		if spec.ValidID(e.Name()) && (e.IsDir() || e.Type()&fs.ModeSymlink != 0) {
			ids = append(ids, e.Name())
		}
	}
	return ids, nil
}

// dirs marks the persona's two directories.
func (s *seen) dirs(id string) mark {
	h := digest{seed: s.seed}
	now := time.Now()
	young := false
	for _, path := range []string{filepath.Join(s.root, id), filepath.Join(s.root, id, "variants")} {
		info, err := os.Lstat(path)
		h.add(info, err)
		young = young || err == nil && recent(info.ModTime(), now)
	}
	return mark{dirs: h.sum(), young: young}
}

// files marks all that a persona is made of.
func (s *seen) files(id string) uint64 {
	h := digest{seed: s.seed}
	dir := filepath.Join(s.root, id)
	for _, name := range []string{"manifest.json", "contract.json"} {
		h.add(os.Lstat(filepath.Join(dir, name)))
	}
	entries, err := os.ReadDir(filepath.Join(dir, "variants"))
	if err != nil {
		h.add(nil, err)
	}
	for _, e := range entries {
		h.name(e.Name())
		h.add(e.Info())
	}
	return h.sum()
}

func recent(t, now time.Time) bool { return t.Sub(now).Abs() < tick }

// stamps are what a glance at the root and .aside gives.
type stamps struct {
	sum   uint64
	young bool
}

func (s *seen) stamps() stamps {
	h := digest{seed: s.seed}
	var young bool
	now := time.Now()
	for _, path := range []string{s.root, filepath.Join(s.root, asideName)} {
		info, err := os.Stat(path)
		h.add(info, err)
		young = young || err == nil && recent(info.ModTime(), now)
	}
	return stamps{h.sum(), young}
}

func (a stamps) same(b stamps) bool { return a.sum == b.sum && !a.young }

// digest sums up stats.
type digest struct {
	seed maphash.Seed
	buf  []byte
}

func (d *digest) name(s string) { d.buf = append(append(d.buf, s...), 0) }

// add takes a file's identity, kind, size and time, or that it cannot be had.
func (d *digest) add(info fs.FileInfo, err error) {
	if err != nil {
		d.buf = append(d.buf, 0)
		return
	}
	d.buf = binary.LittleEndian.AppendUint64(append(d.buf, 1), inode(info))
	d.buf = binary.LittleEndian.AppendUint32(d.buf, uint32(info.Mode().Type()))
	d.buf = binary.LittleEndian.AppendUint64(d.buf, uint64(info.Size()))
	d.buf = binary.LittleEndian.AppendUint64(d.buf, uint64(info.ModTime().UnixNano()))
}

func (d *digest) sum() uint64 { return maphash.Bytes(d.seed, d.buf) }
