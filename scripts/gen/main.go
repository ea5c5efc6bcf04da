// Command gen writes what is generated from schema/*.cue: the JSON Schemas,
// the reference pages, the constraint table of spec.Check, the capability
// table, and the shipped personas and profiles as JSON. Run it from the repository's root.
//
//	go run ./scripts/gen          write
//	go run ./scripts/gen -check   write nothing, exit 1 and name each file that differs
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

// file is one generated file: its path from the root, and what it holds.
type file struct {
	path    string
	content []byte
}

// output makes some files out of the schema.
type output func(s *schemas) ([]file, error)

// outputs is all that is generated. Its order is the order of the messages.
func outputs() []output {
	return []output{
		genConstraints,
		genJSONSchemas,
		genOperations,
		genReference,
		genCapability,
		genShipped,
	}
}

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	flags := flag.NewFlagSet("gen", flag.ContinueOnError)
	check := flags.Bool("check", false, "compare with what is committed, write nothing")
	root := flags.String("root", ".", "the repository's root")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	files, err := generate(*root)
	if err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		return 1
	}
	code := 0
	for _, f := range files {
		at := filepath.Join(*root, filepath.FromSlash(f.path))
		old, err := os.ReadFile(at)
		switch {
		case err == nil && bytes.Equal(old, f.content):
		case *check:
			fmt.Fprintf(os.Stderr, "%s differs from the schema: run go run ./scripts/gen\n", f.path)
			code = 1
		default:
			if err := write(at, f.content); err != nil {
				fmt.Fprintln(os.Stderr, "gen:", err)
				return 1
			}
		}
	}
	return code
}

// generate makes all files without touching the disk.
func generate(root string) ([]file, error) {
	s, err := loadSchemas(root)
	if err != nil {
		return nil, err
	}
	var all []file
	for _, out := range outputs() {
		files, err := out(s)
		if err != nil {
			return nil, err
		}
		all = append(all, files...)
	}
	return all, nil
}

func write(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o644)
}
