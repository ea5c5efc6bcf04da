// Command bench measures larva against plain programs in one run and prints
// ratios: bench -larva bin/larva [-readme README.md]. It exits 1 above a
// limit. Every figure is the median of whole processes, because machines are
// noisy; limits are ratios wherever a ratio makes sense.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

func main() { os.Exit(run()) }

func run() int {
	larva := flag.String("larva", "bin/larva", "the binary to measure")
	readme := flag.String("readme", "", "the file whose table between <!-- bench --> marks is rewritten")
	mcpOnly := flag.Bool("mcp", false, "only the server's figures")
	serveOnly := flag.Bool("serve", false, "only the figures of larva serve")
	opencodeOnly := flag.Bool("opencode", false, "only what larva adds to a run of OpenCode")
	flag.Parse()
	bin, err := filepath.Abs(*larva)
	if err != nil {
		return fail(err)
	}
	dir, err := os.MkdirTemp("", "larva-bench-")
	if err != nil {
		return fail(err)
	}
	defer os.RemoveAll(dir)
	b := &bench{larva: bin, dir: dir}
	steps := []func() error{b.size, b.validate, b.thousand, b.tenThousand, b.update, b.parallel, b.oneTurn, b.mcp, b.serve, b.opencode}
	if *mcpOnly {
		steps = []func() error{b.validate, b.mcp}
	}
	if *serveOnly {
		steps = []func() error{b.serve}
	}
	if *opencodeOnly {
		steps = []func() error{b.validate, b.opencode}
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return fail(err)
		}
	}
	table := b.table()
	fmt.Print(table)
	if *readme != "" {
		if err := rewrite(*readme, table); err != nil {
			return fail(err)
		}
	}
	if b.above > 0 {
		fmt.Fprintf(os.Stderr, "bench: %d figures are above their limit\n", b.above)
		return 1
	}
	return 0
}

func fail(err error) int {
	fmt.Fprintln(os.Stderr, "bench:", err)
	return 1
}

// row is one line of the table.
type row struct{ what, got, limit, ok string }

type bench struct {
	larva, dir string
	rows       []row
	above      int
	extra      []string // further environment of what is measured
	busy       float64  // how much longer than on a quiet machine things take, at least 1
}

// note adds a row; ok false counts as above the limit.
func (b *bench) note(what, got, limit string, ok bool) {
	word := "yes"
	if !ok {
		word = "**no**"
		b.above++
	}
	if limit == "" {
		limit, word = "–", "–"
	}
	b.rows = append(b.rows, row{what, got, limit, word})
	fmt.Fprintf(os.Stderr, "bench: %s: %s (limit %s)\n", what, got, limit)
}

func (b *bench) table() string {
	var s strings.Builder
	fmt.Fprintf(&s, "Measured on %s/%s with %d cores; medians of whole processes.\n\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	s.WriteString("| what | measured | limit | within |\n|---|---|---|---|\n")
	for _, r := range b.rows {
		fmt.Fprintf(&s, "| %s | %s | %s | %s |\n", r.what, r.got, r.limit, r.ok)
	}
	return s.String()
}

const open, shut = "<!-- bench -->\n", "<!-- /bench -->"

func rewrite(file, table string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	head, rest, ok := strings.Cut(string(text), open)
	_, tail, ok2 := strings.Cut(rest, shut)
	if !ok || !ok2 {
		return fmt.Errorf("%s has no %s … %s", file, strings.TrimSpace(open), shut)
	}
	return os.WriteFile(file, []byte(head+open+table+shut+tail), 0o644)
}
