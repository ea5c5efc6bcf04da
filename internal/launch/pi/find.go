package pi

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"larva.dev/larva/internal/proc"
)

// packageName is what the real Pi's package.json says.
const packageName = "@earendil-works/pi-coding-agent"

// Floor is the oldest Node.js that both tested versions of Pi take; an older
// one breaks before Pi reads its arguments, with a message that names no cause.
const Floor = "22.19.0"

// ErrNotFound says that there is no Pi to start.
var ErrNotFound = errors.New("pi is not there")

// Program is a Pi that was found.
type Program struct {
	Path    string `json:"path"`    // what is started, absolute
	Entry   string `json:"entry"`   // the file behind its links
	Version string `json:"version"` // what its package says; empty behind a wrapper
	// Wrapper says that the file belongs to no package: a version manager's
	// script, say. What it will start cannot be known before.
	Wrapper bool `json:"wrapper"`
}

// Find looks for the real Pi: LARVA_PI_BIN, or else the first pi in PATH that
// is not this binary. An error wraps ErrNotFound where there is none, where
// LARVA_PI_BIN cannot be executed, and where it is another program of that name.
func Find(environ []string, larva string) (Program, error) {
	if bin := lookup(environ, "LARVA_PI_BIN"); bin != "" {
		if !filepath.IsAbs(bin) {
			return Program{}, fmt.Errorf("LARVA_PI_BIN: %q is not absolute: %w", bin, ErrNotFound)
		}
		path, err := proc.LookPath(bin, environ)
		if err != nil {
			return Program{}, fmt.Errorf("LARVA_PI_BIN: %q cannot be executed: %w", bin, ErrNotFound)
		}
		return identify(path)
	}
	for _, dir := range filepath.SplitList(lookup(environ, "PATH")) {
		if !filepath.IsAbs(dir) { // what a project puts beside itself is not the user's Pi
			continue
		}
		path, err := proc.LookPath("pi", []string{"PATH=" + dir, "PATHEXT=" + lookup(environ, "PATHEXT")})
		if err != nil || same(path, larva) {
			continue
		}
		return identify(path)
	}
	return Program{}, fmt.Errorf("no pi in PATH: %w", ErrNotFound)
}

// identify follows a program's links and asks its package what it is.
func identify(path string) (Program, error) {
	entry, err := filepath.EvalSymlinks(path)
	if err != nil {
		return Program{}, fmt.Errorf("%s: %v: %w", path, err, ErrNotFound)
	}
	p := Program{Path: path, Entry: entry, Wrapper: true}
	for dir := filepath.Dir(entry); ; dir = filepath.Dir(dir) {
		name, version := manifest(filepath.Join(dir, "package.json"))
		if name == packageName {
			p.Version, p.Wrapper = version, false
			return p, nil
		}
		// A nameless one only says how its directory is read.
		if name != "" && strings.Contains(filepath.ToSlash(dir), "/node_modules/") {
			return Program{}, fmt.Errorf("%s is %s %s, not %s: %w", path, name, version, packageName, ErrNotFound)
		}
		if name != "" || dir == filepath.Dir(dir) {
			return p, nil
		}
	}
}

// manifest reads a package.json; both are empty where there is none to read.
func manifest(path string) (name, version string) {
	f, err := os.Open(path)
	if err != nil {
		return "", ""
	}
	defer f.Close() //nolint:errcheck // only read
	var m struct{ Name, Version string }
	if json.NewDecoder(io.LimitReader(f, 1<<20)).Decode(&m) != nil {
		return "", ""
	}
	return m.Name, m.Version
}

func same(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// OldNode says whether what node --version prints is older than floor. What is
// no version is not called old: Pi itself will say.
func OldNode(version, floor string) bool {
	have, ok := numbers(strings.TrimPrefix(strings.TrimSpace(version), "v"))
	want, ok2 := numbers(floor)
	if !ok || !ok2 {
		return false
	}
	for i := range have {
		if have[i] != want[i] {
			return have[i] < want[i]
		}
	}
	return false
}

func numbers(s string) (out [3]int, ok bool) {
	s, _, _ = strings.Cut(s, "-")
	parts := strings.Split(s, ".")
	if len(parts) != len(out) {
		return out, false
	}
	for i, p := range parts {
		n, err := strconv.Atoi(p)
		if err != nil || n < 0 {
			return out, false
		}
		out[i] = n
	}
	return out, true
}
