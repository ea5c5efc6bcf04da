package load

import (
	"context"
	"os"
	"os/signal"
	"strings"
	"testing"
	"time"

	"larva.dev/larva/internal/diag"
)

// childVerb makes the test binary the child that evaluates CUE.
const childVerb = "load-eval-child"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == childVerb {
		signal.Reset()
		os.Exit(EvalChild(os.Stdin, os.Stdout))
	}
	os.Exit(m.Run())
}

// untrusted evaluates in a child.
func untrusted(t *testing.T, dir string) Options {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Options{Dir: dir, Self: []string{self, childVerb}}
}

const exponential = `x: {
	{a: 1} | {a: 2}
	{b: 1} | {b: 2}
	{c: 1} | {c: 2}
	{d: 1} | {d: 2}
	{e: 1} | {e: 2}
	{f: 1} | {f: 2}
	{g: 1} | {g: 2}
	{h: 1} | {h: 2}
	{i: 1} | {i: 2}
	{j: 1} | {j: 2}
	{k: 1} | {k: 2}
	{l: 1} | {l: 2}
	{m: 1} | {m: 2}
	{n: 1} | {n: 2}
	{o: 1} | {o: 2}
	{p: 1} | {p: 2}
}
id: "a"
`

func tripled() string {
	var b strings.Builder
	b.WriteString("x0: \"0123456789\"\n")
	prev := "x0"
	for i := 1; i <= 24; i++ {
		next := "x" + strings.Repeat("i", i)
		b.WriteString(next + ": " + prev + " + " + prev + " + " + prev + "\n")
		prev = next
	}
	b.WriteString("id: \"a\"\nprompt: " + prev + "\n")
	return b.String()
}

// TestEndless holds CUE that does not end, or takes all memory.
func TestEndless(t *testing.T) {
	t.Parallel()
	for name, src := range map[string]string{
		"disjunction":   exponential,
		"comprehension": "import \"list\"\nx: [for a in list.Range(0, 300000, 1) {v: a, w: [for b in [1, 2, 3] {b * a}]}]\nid: \"a\"\n",
		"strings":       tripled(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := write(t, map[string]string{name + ".cue": src, "good.cue": goodCUE})
			o := untrusted(t, dir)
			o.bounds = limits{wall: 3 * time.Second, memory: 512 << 20, output: 16 << 20}
			start := time.Now()
			items, err := Specs(context.Background(), []string{name + ".cue", "good.cue"}, o)
			if err != nil {
				t.Fatal(err)
			}
			t.Log(time.Since(start), lines(items))
			if len(items) != 2 || items[0].Code != diag.EvaluationLimit || !items[0].Unreadable || items[0].File != name+".cue" {
				t.Fatalf("got %+v", items)
			}
			if !strings.HasPrefix(items[0].Problems[0].String(), name+".cue: stopped: ") {
				t.Errorf("got %q", items[0].Problems[0])
			}
			if items[1].Flat == nil || len(items[1].Problems) > 0 {
				t.Errorf("the file after it: %+v", items[1])
			}
		})
	}
}

// TestMemoryLimit: what grows is stopped before it takes the machine's memory.
func TestMemoryLimit(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{"a.cue": tripled()})
	o := untrusted(t, dir)
	o.bounds = limits{wall: time.Minute, memory: 48 << 20, output: 16 << 20}
	items, err := Specs(context.Background(), []string{"a.cue"}, o)
	if err != nil {
		t.Fatal(err)
	}
	want := "a.cue: stopped: its evaluation takes more memory than a persona may need (look for a comprehension, a disjunction or a string that grows at each step)"
	if got := strings.Join(lines(items), "\n"); got != want {
		t.Errorf("got %s", got)
	}
}

const goodCUE = `import "larva.dev/schema"

schema.#PersonaSpec & {
	spec_version: "0.1.0"
	id:           "tide-clerk"
	description:  "Keeps harbour tide tables tidy and current."
	prompt:       "Record each tide in order."
	model:        "acme/gamma-2"
	capabilities: {filesystem: "read_write", shell: "read_only"}
}
`
