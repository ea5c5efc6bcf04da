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
// and in one shell, and looks for each line of the text blocks in what they
// print. Runs that would need a real model are planned only (--dry-run); the
// make targets are what CI calls anyway.
func TestReadme(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	script, commands := readmeScript(string(text))
	if commands < 20 {
		t.Fatalf("the README shows %d larva commands, want the walk through init, register, run, sessions and hooks", commands)
	}
	shown := readmeOutput(string(text))
	if len(shown) < 3 {
		t.Fatalf("the README shows %d lines of output, want those of a table, a run and a hook", len(shown))
	}
	var archive strings.Builder
	archive.WriteString("exec bash readme.sh\n")
	for _, line := range shown {
		fmt.Fprintf(&archive, "stdout '^%s$'\n", strings.ReplaceAll(regexp.QuoteMeta(line), "'", "''"))
	}
	fmt.Fprintf(&archive, "-- readme.sh --\n%s", script)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "readme.txtar"), []byte(archive.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{Dir: dir, Setup: freshHome})
}

var (
	block     = regexp.MustCompile("(?s)```sh\n(.*?)```")
	output    = regexp.MustCompile("(?s)```text\n(.*?)```")
	larvaLine = regexp.MustCompile(`(^|\| )larva `)
	runLine   = regexp.MustCompile(`(^|\| )larva run `)
	// what a script answers, or a session that a script began
	scripted = regexp.MustCompile(`--profile (offline|demo)|script/|--continue`)
	// a person's yes, which a script gives by the hash
	grantLine = regexp.MustCompile(`^larva trust grant ([^-\s]\S*)$`)
)

// readmeScript joins the shell blocks to one script that stops at the first
// failure.
func readmeScript(text string) (script string, commands int) {
	var b strings.Builder
	b.WriteString("set -euo pipefail\nmkdir -p your/repository\ngit init -q your/repository\nhere=$PWD\n" +
		"hashes() { larva trust list | awk -F'\\t' -v of=\"$1\" '$3 == of || index($5, of \":\") == 1 {print $4}'; }\n")
	for _, m := range block.FindAllStringSubmatch(text, -1) {
		if strings.Contains(m[1], "--update") {
			// what the text asks the reader to do by hand
			b.WriteString("sed -i 's/description: \"/&Always /' personas/*.cue\n")
		}
		if strings.Contains(m[1], "larva init") {
			b.WriteString("cd \"$here\"\n")
		}
		here := "" // the word that ends a here-document
		for _, line := range strings.Split(strings.TrimSpace(m[1]), "\n") {
			if here != "" {
				fmt.Fprintln(&b, line)
				if line == here {
					here = ""
				}
				continue
			}
			if _, word, ok := strings.Cut(line, "<<'"); ok {
				here = strings.TrimSuffix(word, "'")
			}
			if strings.HasPrefix(line, "make ") {
				continue
			}
			line, _, _ = strings.Cut(line, "  #")
			line = grantLine.ReplaceAllString(strings.TrimSpace(line), "larva trust grant --hash $$(hashes $1)")
			if larvaLine.MatchString(line) {
				commands++
			}
			if runLine.MatchString(line) && !scripted.MatchString(line) {
				line += " --dry-run"
			}
			fmt.Fprintln(&b, line)
		}
	}
	return b.String(), commands
}

// readmeOutput gives the lines of the text blocks: what the commands before
// them print, among other things.
func readmeOutput(text string) (lines []string) {
	for _, m := range output.FindAllStringSubmatch(text, -1) {
		lines = append(lines, strings.Split(strings.TrimSpace(m[1]), "\n")...)
	}
	return lines
}
