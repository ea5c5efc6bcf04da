package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strconv"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/load"
	"larva.dev/larva/internal/permission"
	"larva.dev/larva/internal/profile"
	"larva.dev/larva/internal/spec"
)

// profileFiles tells what validate takes for profiles: a config.cue or
// config.toml, a CUE file of package profiles, and a directory whose CUE
// files all are such. nil means that arg is about personas.
func (a *App) profileFiles(arg string) []string {
	if arg == "-" || arg == "" {
		return nil
	}
	at := a.abs(arg)
	fi, err := os.Stat(at)
	if err != nil {
		return nil
	}
	if !fi.IsDir() {
		if isProfileFile(at) {
			return []string{arg}
		}
		return nil
	}
	entries, err := os.ReadDir(at)
	if err != nil {
		return nil
	}
	var files []string
	for _, e := range entries {
		switch {
		case e.IsDir():
			return nil
		case filepath.Ext(e.Name()) != ".cue":
		case !isProfileFile(filepath.Join(at, e.Name())):
			return nil
		default:
			files = append(files, filepath.Join(arg, e.Name()))
		}
	}
	sort.Strings(files)
	return files
}

// headBytes is how far into a file its package clause is looked for: past any
// comment that a person writes above it.
const headBytes = 16 << 10

func isProfileFile(path string) bool {
	switch name := filepath.Base(path); {
	case name == "config.cue" || name == "config.toml":
		return true
	case filepath.Ext(name) != ".cue":
		return false
	}
	if fi, err := os.Stat(path); err != nil || !fi.Mode().IsRegular() {
		return false // opening a pipe would wait for its writer
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, headBytes)
	n, _ := f.Read(head) // a file that cannot be read is said when it is loaded
	for line := range bytes.Lines(head[:n]) {
		words := bytes.Fields(line)
		if len(words) >= 2 && string(words[0]) == "package" {
			return string(words[1]) == "profiles"
		}
	}
	return false
}

// checkProfile reads one profile file and parses its rules.
func (a *App) checkProfile(ctx context.Context, file string) Checked {
	out := Checked{Where: Where{File: file}, Report: spec.Report{Valid: true, Errors: []spec.Issue{}, Warnings: []string{}}}
	l, err := load.Profile(ctx, file, a.loadOptions())
	if err == nil {
		err = rulesOf(l)
	}
	if err == nil {
		err = a.hooksRight(l)
	}
	if err != nil {
		out.Err, out.Report = diag.As(err), spec.Report{}
	}
	return out
}

func rulesOf(l profile.Layer) error {
	list := func(which string, texts []string) (out []profile.Rule) {
		for i, text := range texts {
			out = append(out, profile.Rule{Text: text, Origin: l.Origins["permissions."+which+"."+strconv.Itoa(i)], User: true})
		}
		return out
	}
	p := l.Profile.Permissions
	_, bad := permission.ParseRules(list("allow", p.Allow), list("ask", p.Ask), list("deny", p.Deny), permission.Places{})
	if len(bad) == 0 {
		return nil
	}
	var e *diag.Error
	if !errors.As(badRules(bad), &e) {
		return fmt.Errorf("%s: %w", l.File, bad[0])
	}
	return e
}
