package worktree

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"larva.dev/larva/internal/diag"
)

// copied is a file that was put into the worktree for the task.
type copied struct {
	Path string `json:"path"` // from the top
	Hash string `json:"sha256"`
}

const (
	maxCopies    = 1000
	maxCopyBytes = 64 << 20 // of one file: a key or a settings file is small, a database is not meant
)

// checkPatterns refuses what leads out of the repository.
func checkPatterns(patterns []string) error {
	for _, p := range patterns {
		switch {
		case p == "":
			return diag.Usage("a file to copy into the worktree has no name")
		case !filepath.IsLocal(filepath.FromSlash(p)) || strings.HasPrefix(p, "~") || strings.ContainsRune(p, 0):
			return diag.Usage("%q cannot be copied into the worktree: it lies outside of the repository", p).
				WithHint("name files from the top of the repository, as config/local.env")
		}
		if slices.ContainsFunc(strings.Split(strings.ToLower(p), "/"), func(part string) bool { return part == ".git" }) {
			return diag.Usage("%q cannot be copied into the worktree: it is git's own", p)
		}
	}
	return nil
}

// copyIn copies the ignored files of the parent's checkout that the patterns
// mean. What would be committed in the worktree, since its commit does not
// ignore it, is left out.
func (t *Tree) copyIn(ctx context.Context, g git, patterns []string) error {
	if len(patterns) == 0 {
		return nil
	}
	from, err := os.OpenRoot(t.Repo)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.OpenRoot(t.Dir)
	if err != nil {
		return err
	}
	defer to.Close()
	for _, p := range patterns {
		out, err := t.repo.git.run(ctx, "ls-files", "-z", "-o", "-i", "--exclude-standard", "--", ":(top,glob)"+p)
		if err != nil {
			return err
		}
		found := fields(out)
		if len(found) == 0 {
			t.Notices = append(t.Notices, "nothing is copied for "+p+": no file of that name is ignored by git")
		}
		for _, path := range found {
			if len(t.state.Copied) >= maxCopies {
				return failed("more than %d files would be copied into the worktree", maxCopies)
			}
			why, err := t.copyOne(ctx, g, from, to, path)
			if err != nil {
				return failed("%s cannot be copied into the worktree: %v", path, err)
			}
			if why != "" {
				t.Notices = append(t.Notices, path+" is not copied: "+why)
			}
		}
	}
	return nil
}

func (t *Tree) copyOne(ctx context.Context, g git, from, to *os.Root, path string) (why string, err error) {
	path = filepath.FromSlash(path)
	if why := plainFile(from, path); why != "" {
		return why, nil
	}
	switch _, err := g.run(ctx, "check-ignore", "-q", "--", filepath.ToSlash(path)); {
	case exitIs(err, 1):
		return "git does not ignore it in the worktree, so it would be committed", nil
	case err != nil:
		return "", err
	}
	src, err := from.OpenFile(path, os.O_RDONLY|noFollow, 0)
	if err != nil {
		return "", err
	}
	defer src.Close()
	if fi, err := src.Stat(); err != nil || !fi.Mode().IsRegular() {
		return "it is no plain file", err
	}
	if why := plainParents(to, path); why != "" {
		return why, nil
	}
	if err := to.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	dst, err := to.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|noFollow, 0o600)
	if os.IsExist(err) {
		return "the worktree has it", nil
	}
	if err != nil {
		return "", err
	}
	// On the list before its bytes are there: what fails half-way is removed.
	t.state.Copied = append(t.state.Copied, copied{Path: filepath.ToSlash(path)})
	h := sha256.New()
	n, err := io.Copy(io.MultiWriter(dst, h), io.LimitReader(src, maxCopyBytes+1))
	if cerr := dst.Close(); err == nil {
		err = cerr
	}
	if err == nil && n > maxCopyBytes {
		err = fmt.Errorf("it has more than %d MiB", maxCopyBytes>>20)
	}
	t.state.Copied[len(t.state.Copied)-1].Hash = hex.EncodeToString(h.Sum(nil))
	return "", err
}

// plainFile says why a file is none, or is reached through a link.
func plainFile(root *os.Root, path string) string {
	if why := plainParents(root, path); why != "" {
		return why
	}
	fi, err := root.Lstat(path)
	switch {
	case err != nil:
		return "it cannot be read"
	case fi.Mode()&os.ModeSymlink != 0:
		return "it is a symbolic link"
	case !fi.Mode().IsRegular():
		return "it is no plain file"
	}
	return ""
}

func plainParents(root *os.Root, path string) string {
	for dir := filepath.Dir(path); dir != "."; dir = filepath.Dir(dir) {
		if fi, err := root.Lstat(dir); err == nil && !fi.IsDir() {
			return "it lies behind a symbolic link"
		}
	}
	return ""
}

// takeBack removes the copied files. It gives those that the task has changed,
// whose contents go with them, and those that could not be removed.
func (s state) takeBack(dir string) (changed, stuck []string) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil
	}
	defer root.Close()
	for _, c := range s.Copied {
		path := filepath.FromSlash(c.Path)
		if _, err := root.Lstat(path); os.IsNotExist(err) {
			continue
		}
		if plainParents(root, path) != "" { // what is there now is another file
			stuck = append(stuck, c.Path)
			continue
		}
		if hashOf(root, path) != c.Hash {
			changed = append(changed, c.Path)
		}
		if err := root.Remove(path); err != nil && !os.IsNotExist(err) {
			stuck = append(stuck, c.Path)
		}
		// The directories that were made for it, where nothing else is in them.
		for d := filepath.Dir(path); d != "."; d = filepath.Dir(d) {
			if root.Remove(d) != nil {
				break
			}
		}
	}
	return changed, stuck
}

func hashOf(root *os.Root, path string) string {
	f, err := root.OpenFile(path, os.O_RDONLY|noFollow, 0)
	if err != nil {
		return ""
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, io.LimitReader(f, maxCopyBytes+1)); err != nil {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
}
