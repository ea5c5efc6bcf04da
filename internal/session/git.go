package session

import (
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"larva.dev/larva/internal/proc"
)

// listing is the project's files: absolute path → the git object that has the
// content by the index, "" for a file that git does not know.
type listing map[string]string

// maxListing bounds what git may print.
const maxListing = 64 << 20

// list gives the files that a command's changes are looked for among: what git
// tracks and what it neither tracks nor ignores; without git the tree itself.
func (c *Checkpoints) list(ctx context.Context) (listing, error) {
	if _, err := os.Lstat(filepath.Join(c.o.Project, ".git")); err == nil {
		out, err := c.git(ctx, nil, "ls-files", "-z", "-t", "-s", "-c", "-o", "--exclude-standard")
		if err == nil {
			return parseListing(c.o.Project, out), nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	return walk(ctx, c.o.Project)
}

// git runs without anything that the repository's config could name a program
// in: ls-files and cat-file run no filter, hook or monitor by these flags.
func (c *Checkpoints) git(ctx context.Context, stdin []byte, args ...string) ([]byte, error) {
	env := proc.Env(proc.Without(c.o.Environ, "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY",
		"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_PREFIX"),
		"GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1", "LC_ALL=C")
	out := &limited{left: maxListing + maxTotal}
	cmd := proc.Command{Argv: append([]string{"git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.DevNull,
		"-c", "core.untrackedCache=false"}, args...), Dir: c.o.Project, Env: env, Stdout: out, MaxOutput: 4 << 10}
	if stdin != nil {
		cmd.Stdin = bytes.NewReader(stdin)
	}
	r, err := proc.Run(ctx, cmd)
	if err != nil {
		return nil, err
	}
	if r.Exit != 0 || out.left < 0 {
		return nil, fmt.Errorf("git %s: exit %d: %s", args[0], r.Exit, FirstLine(string(r.Stderr)))
	}
	return out.b, nil
}

// limited collects to a bound.
type limited struct {
	b    []byte
	left int
}

func (l *limited) Write(p []byte) (int, error) {
	if l.left -= len(p); l.left < 0 {
		return 0, errors.New("too much output")
	}
	l.b = append(l.b, p...)
	return len(p), nil
}

// parseListing reads "T mode object stage\tpath" and "? path", NUL between.
func parseListing(project string, out []byte) listing {
	l := listing{}
	for entry := range strings.SplitSeq(string(out), "\x00") {
		if len(entry) < 3 {
			continue
		}
		if entry[0] == '?' {
			if path := entry[2:]; !strings.HasSuffix(path, "/") { // a repository of its own
				l[filepath.Join(project, filepath.FromSlash(path))] = ""
			}
			continue
		}
		facts, path, ok := strings.Cut(entry, "\t")
		f := strings.Fields(facts)
		if !ok || len(f) != 4 || f[1] == "160000" { // a submodule
			continue
		}
		oid := f[2]
		if f[3] != "0" { // a conflict: no stage is the file
			oid = ""
		}
		l[filepath.Join(project, filepath.FromSlash(path))] = oid
	}
	return l
}

// errMany is why a tree without git is not looked through.
var errMany = fmt.Errorf("the directory has more than %d files and is not in git", maxFiles)

// walk lists a directory that git does not.
func walk(ctx context.Context, dir string) (listing, error) {
	l := listing{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil: // what cannot be read the command cannot change either
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir() && path != dir && (d.Name() == ".git" || d.Name() == "node_modules"):
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		if len(l) >= maxFiles {
			return errMany
		}
		l[path] = ""
		return nil
	})
	return l, err
}

// objectID is the name that git gives a file's bytes.
func objectID(data []byte, length int) string {
	head := []byte("blob " + strconv.Itoa(len(data)) + "\x00")
	if length == sha256.Size*2 {
		h := sha256.New()
		h.Write(head)
		h.Write(data)
		return hex.EncodeToString(h.Sum(nil))
	}
	h := sha1.New()
	h.Write(head)
	h.Write(data)
	return hex.EncodeToString(h.Sum(nil))
}

// objects reads git objects, each once; one that is not there is left out.
func (c *Checkpoints) objects(ctx context.Context, ids []string) (map[string][]byte, error) {
	out, err := c.git(ctx, []byte(strings.Join(ids, "\n")+"\n"), "cat-file", "--batch")
	if err != nil {
		return nil, err
	}
	found := map[string][]byte{}
	for len(out) > 0 {
		head, rest, ok := bytes.Cut(out, []byte("\n"))
		f := strings.Fields(string(head))
		if !ok || len(f) < 2 {
			return nil, errors.New("git cat-file: not understood")
		}
		if len(f) != 3 { // "ID missing"
			out = rest
			continue
		}
		n, err := strconv.Atoi(f[2])
		if err != nil || n < 0 || n+1 > len(rest) {
			return nil, errors.New("git cat-file: not understood")
		}
		found[f[0]] = rest[:n:n]
		out = rest[n+1:]
	}
	return found, nil
}
