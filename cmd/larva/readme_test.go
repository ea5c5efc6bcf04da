package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestReadme runs every command line of the README's shell blocks, in order
// and in one shell. Runs that would need a real model are planned only
// (--dry-run); the make targets are what CI calls anyway.
func TestReadme(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	script, commands := readmeScript(string(text))
	if commands < 8 {
		t.Fatalf("the README shows %d larva commands, want the walk through init, register and run", commands)
	}
	dir := t.TempDir()
	archive := "exec bash readme.sh\nstdout 'You|script answered|quotes'\n-- readme.sh --\n" + script
	if err := os.WriteFile(filepath.Join(dir, "readme.txtar"), []byte(archive), 0o600); err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{Dir: dir, Setup: freshHome})
}

var (
	block     = regexp.MustCompile("(?s)```sh\n(.*?)```")
	larvaLine = regexp.MustCompile(`(^|\| )larva `)
	runLine   = regexp.MustCompile(`(^|\| )larva run `)
)

// readmeScript joins the shell blocks to one script that stops at the first
// failure.
func readmeScript(text string) (script string, commands int) {
	var b strings.Builder
	b.WriteString("set -euo pipefail\nmkdir -p your/repository\ngit init -q your/repository\nhere=$PWD\n")
	for _, m := range block.FindAllStringSubmatch(text, -1) {
		if strings.Contains(m[1], "--update") {
			// what the text asks the reader to do by hand
			b.WriteString("sed -i 's/description: \"/&Always /' personas/*.cue\n")
		}
		if strings.Contains(m[1], "larva init") {
			b.WriteString("cd \"$here\"\n")
		}
		for _, line := range strings.Split(strings.TrimSpace(m[1]), "\n") {
			if strings.HasPrefix(line, "make ") {
				continue
			}
			line, _, _ = strings.Cut(line, "  #")
			if larvaLine.MatchString(line) {
				commands++
			}
			if runLine.MatchString(line) && !strings.Contains(line, "offline") {
				line += " --dry-run"
			}
			fmt.Fprintln(&b, strings.TrimSpace(line))
		}
	}
	return b.String(), commands
}
