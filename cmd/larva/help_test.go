package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"larva.dev/larva/internal/cli"
)

// TestHelpIsScripted holds every command to its help: two examples, its exit
// codes, and a script help_COMMAND.txtar that compares the whole help and the
// whole output of both examples.
func TestHelpIsScripted(t *testing.T) {
	t.Parallel()
	list, err := cli.Commands()
	if err != nil {
		t.Fatal(err)
	}
	if len(list) < 20 {
		t.Fatalf("got %d commands, want at least the 20 of the first part", len(list))
	}
	for _, c := range list {
		t.Run(c.Path, func(t *testing.T) {
			t.Parallel()
			if len(c.Examples) != 2 {
				t.Errorf("examples: got %d, want 2", len(c.Examples))
			}
			if len(c.Exits) < 3 {
				t.Errorf("exit codes: got %v, want at least 0, 1 and 2", c.Exits)
			}
			name := "help_" + strings.ReplaceAll(c.Path, " ", "_") + ".txtar"
			data, err := os.ReadFile(filepath.Join("..", "..", "testdata", "script", name))
			if err != nil {
				t.Fatal(err)
			}
			script, _, _ := strings.Cut(string(data), "\n-- ")
			lines := strings.Split(script, "\n")
			for _, command := range append([]string{"larva " + c.Path + " --help"}, c.Examples...) {
				if !compared(lines, command) {
					t.Errorf("%s: no line \"exec %s\" with stdout and stderr compared below it", name, command)
				}
			}
		})
	}
}

// compared says whether a script runs command and compares both streams. A
// server does not end by itself: see briefly. A chat fails without a terminal.
func compared(lines []string, command string) bool {
	i := slices.IndexFunc(lines, func(l string) bool {
		return l == "exec "+command || l == "exec briefly "+command || l == "! exec "+command
	})
	if i < 0 || i+2 >= len(lines) {
		return false
	}
	return whole(lines[i+1], "stdout") && whole(lines[i+2], "stderr")
}

func whole(line, stream string) bool {
	return strings.HasPrefix(line, "cmp "+stream+" ") || strings.HasPrefix(line, "cmpenv "+stream+" ") || line == "! "+stream+" ."
}

// The README's table stands between these two lines.
const (
	tableBegin = "<!-- commands -->\n"
	tableEnd   = "<!-- /commands -->\n"
)

// TestReadmeTable holds the README's command table to the grammar;
// LARVA_UPDATE=1 writes it.
func TestReadmeTable(t *testing.T) {
	t.Parallel()
	path := filepath.Join("..", "..", "README.md")
	readme, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want, err := cli.CommandTable()
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(readme), tableBegin)
	got, after, closed := strings.Cut(rest, tableEnd)
	if !ok || !closed {
		t.Fatalf("README.md: got no table, want one between %q and %q", tableBegin, tableEnd)
	}
	if got == want {
		return
	}
	if os.Getenv("LARVA_UPDATE") == "" {
		t.Fatalf("README.md (-got +want):\n%s", cmp.Diff(got, want))
	}
	if err := os.WriteFile(path, []byte(before+tableBegin+want+tableEnd+after), 0o644); err != nil {
		t.Fatal(err)
	}
}
