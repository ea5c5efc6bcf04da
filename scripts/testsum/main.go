// Command testsum reads the JSON of go test from stdin, prints the output of
// what failed, names what was skipped and closes with one line of counts. It
// exits 1 when a test failed, when none ran, and in CI when one was skipped.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
)

type event struct {
	Action, Package, Test, Output string
}

type key struct{ pkg, test string }

func main() { os.Exit(run(os.Stdin, os.Stdout, os.Getenv("CI") != "")) }

func run(in io.Reader, out io.Writer, ci bool) int {
	said := map[key]*strings.Builder{}
	var passed, failed int
	var skipped []string
	r := bufio.NewReaderSize(in, 1<<20)
	for {
		line, err := r.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if json.Unmarshal(line, &e) != nil {
				fmt.Fprintf(out, "%s", line) // what the go command itself says
				continue
			}
			k := key{e.Package, e.Test}
			switch e.Action {
			case "output", "build-output":
				if said[k] == nil {
					said[k] = &strings.Builder{}
				}
				if said[k].Len() < 1<<20 {
					said[k].WriteString(e.Output)
				}
				if strings.Contains(e.Output, "COUNT ") { // figures that a test wants read
					fmt.Fprint(out, e.Output)
				}
			case "pass":
				if e.Test != "" {
					passed++
				} else {
					fmt.Fprintf(out, "ok   %s\n", e.Package)
				}
				delete(said, k)
			case "skip":
				if e.Test != "" {
					skipped = append(skipped, e.Package+" "+e.Test+": "+reason(said[k]))
				}
			case "fail", "build-fail":
				failed++
				fmt.Fprintf(out, "FAIL %s %s\n", e.Package, e.Test)
				if b := said[k]; b != nil {
					fmt.Fprintln(out, b.String())
				}
			}
		}
		if err != nil {
			break
		}
	}
	for _, s := range skipped {
		fmt.Fprintln(out, "skipped:", s)
	}
	fmt.Fprintf(out, "%d passed, %d failed, %d skipped\n", passed, failed, len(skipped))
	if failed > 0 || passed == 0 || ci && len(skipped) > 0 {
		return 1
	}
	return 0
}

func reason(b *strings.Builder) string {
	if b == nil {
		return ""
	}
	for _, l := range strings.Split(b.String(), "\n") {
		if l = strings.TrimSpace(l); l != "" && !strings.HasPrefix(l, "===") && !strings.HasPrefix(l, "---") {
			return l
		}
	}
	return ""
}
