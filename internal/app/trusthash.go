package app

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"larva.dev/larva/internal/command"
	"larva.dev/larva/internal/trust"
)

// naming finds the project's files that a command names: what the hash of a
// hook or a server covers beside its text. It rather takes a word too many for
// a file than one too few: a word is looked for as it stands and in its parts.
type naming struct {
	project string   // the directory that $CLAUDE_PROJECT_DIR means
	bases   []string // the directories that a relative path may be meant from
	home    string
	files   map[string]string // name in the project → path
}

// maxBases bounds the directories that one command changes into.
const maxBases = 100

// basesOf gives the directories from the project's root down to dir. For a
// directory outside of it, a worktree's say, those of its own repository.
func basesOf(project, dir string) []string {
	root := project
	if !within(project, dir) {
		root = dir
		for d := dir; ; d = filepath.Dir(d) {
			if _, err := os.Lstat(filepath.Join(d, ".git")); err == nil {
				root = d
				break
			}
			if d == filepath.Dir(d) {
				break
			}
		}
	}
	out := []string{root}
	for d := dir; d != root && within(root, d); d = filepath.Dir(d) {
		out = append(out, d)
	}
	return out
}

func within(dir, path string) bool {
	r, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(r)
}

func newNaming(project, dir, home string) *naming {
	return &naming{project: project, bases: basesOf(project, dir), home: home, files: map[string]string{}}
}

// shell takes the words of a shell line: as the shell reads them, and split
// wherever a name could begin or end.
func (n *naming) shell(text string) {
	text = n.filled(text)
	var words []string
	if line, err := command.Parse(text); err == nil {
		for _, s := range line.Segments {
			for _, list := range [][]command.Word{s.Argv, s.Outer} {
				for _, w := range list {
					words = append(append(words, w.Value, w.Text), w.Guesses()...)
				}
			}
			for _, r := range s.Redirects {
				words = append(words, r.Target.Value)
			}
			for _, a := range s.Assigns {
				words = append(words, a.Value.Value)
			}
			for _, d := range s.Dirs {
				for _, step := range d.Steps {
					n.base(step.Value)
				}
			}
		}
	}
	n.words(append(words, split(text)...))
}

// argv takes the words of a command without a shell; one of them may be a
// shell line itself.
func (n *naming) argv(list []string) {
	for _, w := range list {
		w = n.filled(w)
		n.words(append([]string{w}, split(w)...))
	}
}

// filled puts the project's directory where a command names it by a variable.
func (n *naming) filled(text string) string {
	return strings.NewReplacer("${CLAUDE_PROJECT_DIR}", n.project, "$CLAUDE_PROJECT_DIR", n.project, "${LARVA_PROJECT_DIR}", n.project,
		"$LARVA_PROJECT_DIR", n.project, "${PWD}", ".", "$PWD", ".", "$(pwd)", ".", "${HOME}", n.home, "$HOME", n.home).Replace(text)
}

func split(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\r\n\"'`;|&<>(){}=,:@", r) })
}

// base adds a directory that the command changes into.
func (n *naming) base(dir string) {
	for _, b := range slices.Clone(n.bases) {
		d := filepath.Join(b, dir)
		if filepath.IsAbs(dir) {
			d = filepath.Clean(dir)
		}
		if fi, err := os.Stat(d); err == nil && fi.IsDir() && len(n.bases) < maxBases && !slices.Contains(n.bases, d) {
			n.bases = append(n.bases, d)
		}
	}
}

func (n *naming) words(words []string) {
	for i, w := range words {
		n.word(w)
		if i > 0 && words[i-1] == "-m" && !strings.ContainsAny(w, `/\`) { // python -m hooks.check
			m := strings.ReplaceAll(w, ".", "/")
			n.word(m + ".py")
			n.word(m + "/__main__.py")
			n.word(m + "/__init__.py")
		}
	}
}

// endings are what an interpreter may add to the name it was given.
var endings = []string{"", ".sh", ".js", ".mjs", ".cjs", ".ts", ".py", ".rb", ".pl"}

func (n *naming) word(w string) {
	if w == "" || len(w) > 4096 || strings.ContainsRune(w, 0) {
		return
	}
	if strings.HasPrefix(w, "~/") {
		w = n.home + w[1:]
	}
	bases := n.bases
	if filepath.IsAbs(w) {
		bases = []string{""}
	}
	for _, b := range bases {
		path := w
		if b != "" {
			path = filepath.Join(b, w)
		}
		for _, e := range endings {
			n.file(path + e)
		}
		if strings.ContainsAny(w, "*?[") {
			found, err := filepath.Glob(path)
			if err != nil {
				continue // no pattern: the shell would take it as it stands, as above
			}
			for _, f := range found {
				n.file(f)
			}
		}
	}
}

// file takes a path where a regular file of the project is.
func (n *naming) file(path string) {
	fi, err := os.Stat(path)
	if err != nil || !fi.Mode().IsRegular() {
		return
	}
	for _, root := range []string{n.bases[0], n.project} {
		if within(root, path) {
			rel, err := filepath.Rel(root, path)
			if err == nil {
				n.files[filepath.ToSlash(rel)+"\x00"+path] = path
				return
			}
		}
	}
}

// parts hashes the files, so that none has to fit in memory. A file that
// cannot be read is a part of its own: it is not the one that was read.
func (n *naming) parts() (parts []trust.Part, names []string) {
	for key, path := range n.files {
		name, _, _ := strings.Cut(key, "\x00")
		names = append(names, name)
		parts = append(parts, trust.Part{Name: "file " + name, Bytes: digest(path)})
	}
	slices.Sort(names)
	// By bytes too: one name may stand for a file of the project and one of a
	// worktree of it.
	slices.SortFunc(parts, func(a, b trust.Part) int {
		return strings.Compare(a.Name+"\x00"+string(a.Bytes), b.Name+"\x00"+string(b.Bytes))
	})
	parts = slices.CompactFunc(parts, func(a, b trust.Part) bool { return a.Name == b.Name && string(a.Bytes) == string(b.Bytes) })
	return parts, slices.Compact(names)
}

func digest(path string) []byte {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Appendf(nil, "unreadable: %v", err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return fmt.Appendf(nil, "unreadable: %v", err)
	}
	return h.Sum(nil)
}
