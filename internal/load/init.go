package load

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"larva.dev/larva/internal/diag"
)

// starter holds what init writes, besides the schema. Files that would mean
// something to git or cue in this repository end in .txt here.
//
//go:embed starter
var starter embed.FS

// starterFiles are the files of a starter repository by slashed path.
func starterFiles() (map[string][]byte, error) {
	files := map[string][]byte{}
	err := fs.WalkDir(starter, "starter", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := starter.ReadFile(name)
		if err != nil {
			return err
		}
		rel := strings.TrimPrefix(name, "starter/")
		switch rel {
		case "module.cue.txt":
			rel = "cue.mod/module.cue"
		case "gitignore.txt":
			rel = ".gitignore"
		}
		files[rel] = data
		return nil
	})
	for name, text := range schemaFiles() {
		files[path.Join(vendored, name)] = []byte(text)
	}
	return files, err
}

// Init writes a starter repository into dir, which is made where it is not
// there: a CUE module with the schema in it, so that plain cue vet works, one
// persona with two variants and its prompt, one profile that runs offline, and
// .gitignore. It gives the files written, sorted, with dir in front. Where any
// of them exists already, nothing is written and the error is ALREADY_EXISTS;
// where writing fails, what was written is removed again.
func Init(dir string) ([]string, error) {
	files, err := starterFiles()
	if err != nil {
		return nil, fmt.Errorf("read the starter: %w", err)
	}
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)

	w := &initWriter{dir: dir}
	if err := w.open(); err != nil {
		return nil, err
	}
	defer w.root.Close()
	if there := w.existing(names); len(there) > 0 {
		w.undo()
		e := diag.New(diag.AlreadyExists, "%s", exists(there)).With("paths", there)
		return nil, e.WithHint("init writes into an empty directory: larva init NEW_DIRECTORY")
	}
	var written []string
	for _, name := range names {
		if err := w.write(name, files[name]); err != nil {
			w.undo()
			return nil, diag.New(diag.InvalidInput, "%s: %s", filepath.Join(dir, filepath.FromSlash(name)), diag.Reason(err))
		}
		written = append(written, filepath.Join(dir, filepath.FromSlash(name)))
	}
	return written, nil
}

func exists(there []string) string {
	switch n := len(there); {
	case n == 1:
		return there[0] + " exists already; nothing was written"
	case n > 3: // the details hold them all
		return fmt.Sprintf("%s and %d more files exist already; nothing was written", there[0], n-1)
	}
	return strings.Join(there, ", ") + " exist already; nothing was written"
}

// initWriter remembers what it made, so that it can be taken back.
type initWriter struct {
	dir  string
	root *os.Root
	made []string // directories above and including dir, outermost first
	dirs []string // directories below dir
	done []string // files
}

func (w *initWriter) open() error {
	for d := filepath.Clean(w.dir); ; d = filepath.Dir(d) {
		_, err := os.Lstat(d)
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			break
		}
		w.made = append([]string{d}, w.made...)
		if filepath.Dir(d) == d {
			break
		}
	}
	if err := os.MkdirAll(w.dir, 0o755); err != nil {
		w.undo()
		return diag.Usage("%s: %s", w.dir, diag.Reason(err))
	}
	root, err := os.OpenRoot(w.dir)
	if err != nil {
		w.undo()
		return diag.Usage("%s: %s", w.dir, diag.Reason(err))
	}
	w.root = root
	return nil
}

// existing are the targets that are there, a dangling link too.
func (w *initWriter) existing(names []string) []string {
	there := []string{}
	for _, name := range names {
		_, err := w.root.Lstat(filepath.FromSlash(name))
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			there = append(there, filepath.Join(w.dir, filepath.FromSlash(name)))
		}
	}
	return there
}

func (w *initWriter) write(name string, data []byte) error {
	if err := w.mkdirs(path.Dir(name)); err != nil {
		return err
	}
	at := filepath.FromSlash(name)
	f, err := w.root.OpenFile(at, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	w.done = append(w.done, at)
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

func (w *initWriter) mkdirs(dir string) error {
	if dir == "." {
		return nil
	}
	if err := w.mkdirs(path.Dir(dir)); err != nil {
		return err
	}
	at := filepath.FromSlash(dir)
	err := w.root.Mkdir(at, 0o755)
	if err == nil {
		w.dirs = append(w.dirs, at)
	} else if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// undo removes what was made, directories only where they are empty.
func (w *initWriter) undo() {
	if w.root != nil {
		for _, list := range [][]string{w.done, w.dirs} {
			for i := len(list) - 1; i >= 0; i-- {
				_ = w.root.Remove(list[i])
			}
		}
	}
	for i := len(w.made) - 1; i >= 0; i-- {
		_ = os.Remove(w.made[i])
	}
}
