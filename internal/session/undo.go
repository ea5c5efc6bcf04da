package session

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"larva.dev/larva/internal/diag"
)

// Undo is what an undo would do, or has done.
type Undo struct {
	Turns []int `json:"turns"`
	Files []Put `json:"files"`

	project string
	dir     string
	blobs   blobs
	turns   []*turn
}

// Put is one file of an undo.
type Put struct {
	Path string `json:"path"`
	// Do is restore (the file as it was), remove (it was made since), nothing
	// (it is as it was) or skip (see Conflict).
	Do string `json:"do"`
	// Conflict says why this may not be done without force: somebody else
	// changed the file since, or its content was not kept.
	Conflict string `json:"conflict,omitempty"`

	to   State
	lost bool
}

// What an undo does with a file.
const (
	DoRestore = "restore"
	DoRemove  = "remove"
	DoNothing = "nothing"
	DoSkip    = "skip"
)

// PlanUndo says what it takes to put the files back as they were before the
// last n turns that changed something; 0 means all of them. It changes nothing.
func (c *Checkpoints) PlanUndo(n int) (*Undo, error) {
	all, err := turns(c.dir)
	if err != nil {
		return nil, err
	}
	u := &Undo{Turns: []int{}, Files: []Put{}, project: c.o.Project, dir: c.dir, blobs: c.blobs}
	for i := len(all) - 1; i >= 0 && (n == 0 || len(u.turns) < n); i-- {
		if t := all[i]; !t.undone && t.changed() {
			u.turns = append([]*turn{t}, u.turns...)
			u.Turns = append([]int{t.n}, u.Turns...)
		}
	}
	merged := merge(u.turns)
	for _, path := range slices.Sorted(maps.Keys(merged)) {
		p, err := u.put(path, merged[path])
		if err != nil {
			return nil, err
		}
		if p.Do != DoNothing {
			u.Files = append(u.Files, p)
		}
	}
	return u, nil
}

// merge gives each path's state before the first of some turns, and after the
// last.
func merge(list []*turn) map[string]*change {
	out := map[string]*change{}
	for _, t := range list {
		for path, c := range t.changes {
			was, ok := out[path]
			if !ok {
				own := *c
				out[path] = &own
				continue
			}
			was.foreign = was.foreign || c.foreign || was.after != nil && !was.after.same(c.before)
			was.after = c.after
		}
	}
	return out
}

func (u *Undo) put(path string, c *change) (Put, error) {
	now, _, err := stateOf(path, maxEdited)
	if err != nil {
		return Put{}, diag.New(diag.Internal, "%s cannot be looked at: %v", path, err).With("path", path)
	}
	p := Put{Path: path, Do: DoRestore, to: c.before}
	switch {
	case now.same(c.before):
		p.Do = DoNothing
		return p, nil
	case c.before.Kind == absent && now.Kind == other:
		p.Do = DoNothing // a directory now: what is in it has its own entries
		return p, nil
	case c.before.Kind == absent:
		p.Do = DoRemove
	case c.before.Kind == other:
		p.Do = DoNothing
		return p, nil
	case c.before.Kind == regular && c.before.Sum == "" || c.lost != "":
		p.Do, p.lost, p.Conflict = DoSkip, true, "its content was not kept: "+c.lost
		return p, nil
	}
	switch {
	case c.foreign:
		p.Conflict = "somebody else changed it between two calls of the agent"
	case c.after != nil && !now.same(*c.after):
		p.Conflict = "somebody else changed it since"
	}
	return p, nil
}

// Conflicts are the files that keep the undo from being done without force.
func (u *Undo) Conflicts() []Put {
	var out []Put
	for _, p := range u.Files {
		if p.Conflict != "" {
			out = append(out, p)
		}
	}
	return out
}

// Do puts the files back. With conflicts it does nothing and fails, unless
// forced; what was not kept stays as it is even then.
func (u *Undo) Do(force bool, now time.Time) error {
	if bad := u.Conflicts(); len(bad) > 0 && !force {
		e := diag.New(diag.UndoConflict, "%d of %d files cannot be put back safely; nothing was changed", len(bad), len(u.Files)).
			WithHint("see what would be done with --dry-run; --force does it all the same")
		for _, p := range bad {
			e.Problems = append(e.Problems, diag.Problem{File: p.Path, Message: p.Conflict})
		}
		return e.With("conflicts", conflictPaths(bad))
	}
	contents, err := u.contents()
	if err != nil {
		return err
	}
	for _, p := range byDepth(u.Files) {
		if p.Do == DoRemove {
			if err := u.remove(p.Path); err != nil {
				return failed(p.Path, err)
			}
		}
	}
	for _, p := range u.Files {
		if p.Do == DoRestore {
			if err := u.restore(p, contents[p.to.Sum]); err != nil {
				return failed(p.Path, err)
			}
		}
	}
	for _, t := range u.turns {
		if err := t.write(record{Undone: &now}); err != nil {
			return err
		}
	}
	return nil
}

func failed(path string, err error) error {
	return diag.New(diag.Internal, "%s cannot be put back: %v", path, err).With("path", path).
		WithHint("what was put back before it stays so; mend this and run the undo again")
}

// contents reads all of them before the first file is changed.
func (u *Undo) contents() (map[string][]byte, error) {
	out := map[string][]byte{}
	for _, p := range u.Files {
		if p.Do != DoRestore || p.to.Kind != regular {
			continue
		}
		data, err := u.blobs.get(p.to.Sum)
		if err != nil {
			return nil, diag.New(diag.SessionCorrupt, "the kept content of %s cannot be read, nothing was changed: %v", p.Path, err).With("path", p.Path)
		}
		out[p.to.Sum] = data
	}
	return out, nil
}

// byDepth puts what lies deepest first, so that directories are empty when
// their turn comes.
func byDepth(files []Put) []Put {
	out := slices.Clone(files)
	slices.SortStableFunc(out, func(a, b Put) int {
		return strings.Count(b.Path, string(filepath.Separator)) - strings.Count(a.Path, string(filepath.Separator))
	})
	return out
}

func conflictPaths(bad []Put) []string {
	out := make([]string, len(bad))
	for i, p := range bad {
		out[i] = p.Path
	}
	return out
}

// Entry is what the session's log says of the undo, with the model's note.
func (u *Undo) Entry() Undone {
	e := Undone{Turns: u.Turns}
	var b strings.Builder
	b.WriteString("The person has undone what you did: these files are as they were before. Read them again before you rely on them.")
	for _, p := range u.Files {
		switch p.Do {
		case DoRestore:
			e.Restored = append(e.Restored, p.Path)
			fmt.Fprintf(&b, "\n- put back: %s", quoted(p.Path))
		case DoRemove:
			e.Removed = append(e.Removed, p.Path)
			fmt.Fprintf(&b, "\n- removed: %s", quoted(p.Path))
		}
	}
	e.Note = b.String()
	return e
}

// quoted keeps a file's name from being read as anything but one.
func quoted(path string) string {
	return strings.NewReplacer("<", `\u003c`, ">", `\u003e`).Replace(fmt.Sprintf("%q", path))
}

// parent opens the directory of path, one step at a time from the project so
// that no link that was put in the way is followed; make makes what is missing.
func (u *Undo) parent(path string, make bool) (*os.Root, string, error) {
	dir, name := filepath.Split(path)
	dir = filepath.Clean(dir)
	if !below(u.project, path) {
		if real, err := filepath.EvalSymlinks(dir); err != nil || real != dir {
			return nil, "", fmt.Errorf("%s is not the directory that it was", dir)
		}
		r, err := os.OpenRoot(dir)
		return r, name, err
	}
	r, err := os.OpenRoot(u.project)
	if err != nil {
		return nil, "", err
	}
	rest, _ := filepath.Rel(u.project, dir)
	if rest == "." {
		return r, name, nil
	}
	for step := range strings.SplitSeq(rest, string(filepath.Separator)) {
		next, err := stepInto(r, step, make)
		r.Close()
		if err != nil {
			return nil, "", err
		}
		r = next
	}
	return r, name, nil
}

func stepInto(r *os.Root, name string, make bool) (*os.Root, error) {
	info, err := r.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) && make {
		if err := r.Mkdir(name, 0o777); err != nil {
			return nil, err
		}
		info, err = r.Lstat(name)
	}
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s is no directory any more", name)
	}
	next, err := r.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	if opened, err := next.Stat("."); err != nil || !os.SameFile(info, opened) {
		next.Close()
		return nil, fmt.Errorf("%s is not the directory that it was", name)
	}
	return next, nil
}

// remove takes a file away that was made since, and the directories that it
// leaves empty, up to the project.
func (u *Undo) remove(path string) error {
	r, name, err := u.parent(path, false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	err = r.Remove(name)
	r.Close()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for dir := filepath.Dir(path); below(u.project, dir); dir = filepath.Dir(dir) {
		r, name, err := u.parent(dir, false)
		if err != nil {
			return nil
		}
		err = r.Remove(name) // fails where it is not empty
		r.Close()
		if err != nil {
			return nil
		}
	}
	return nil
}

// restore puts one file or link back. What stands in its place is replaced and
// not followed.
func (u *Undo) restore(p Put, data []byte) error {
	r, name, err := u.parent(p.Path, true)
	if err != nil {
		return err
	}
	defer r.Close()
	temp := ".larva-undo-" + sum([]byte(p.Path))[:16] + ".tmp"
	_ = r.Remove(temp) // of an undo that was killed
	if p.to.Kind == link {
		err = r.Symlink(p.to.Target, temp)
	} else {
		err = fill(r, temp, data, p.to.Mode)
	}
	if err == nil {
		err = u.rename(r, temp, name)
	}
	if err != nil {
		_ = r.Remove(temp)
	}
	return err
}

// rename moves the file in; a directory in its place goes where it is empty.
func (u *Undo) rename(r *os.Root, temp, name string) error {
	if info, err := r.Lstat(name); err == nil && info.IsDir() {
		if err := r.Remove(name); err != nil {
			return err
		}
	}
	return r.Rename(temp, name)
}

func fill(r *os.Root, name string, data []byte, mode fs.FileMode) error {
	f, err := r.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}
