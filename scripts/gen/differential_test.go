package main

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"
	cuejson "cuelang.org/go/encoding/json"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"larva.dev/larva/internal/spec"
)

const root = "../.."

// judge is a definition of the schema in a context of its own.
type judge struct {
	ctx *cue.Context
	def cue.Value
}

// newJudge builds def out of the schema, or out of another text of persona.cue
// alone, which needs nothing of the other files.
func newJudge(t testing.TB, def string, persona []byte) judge {
	t.Helper()
	ctx := cuecontext.New()
	var v cue.Value
	if persona != nil {
		v = ctx.CompileBytes(persona, cue.Filename("persona.cue"))
	} else {
		s, err := loadSchemas(root)
		if err != nil {
			t.Fatal(err)
		}
		ctx, v = s.ctx, s.value
	}
	if err := v.Err(); err != nil {
		t.Fatalf("build schema: %v", err)
	}
	d := v.LookupPath(cue.ParsePath(def))
	if err := d.Err(); err != nil {
		t.Fatalf("%s: %v", def, err)
	}
	return judge{ctx, d}
}

// accepts gives CUE's verdict on a JSON text, as load asks for it.
func (j judge) accepts(text []byte) (bool, error) {
	expr, err := cuejson.Extract("mutant.json", text)
	if err != nil {
		return false, err
	}
	v := j.ctx.BuildExpr(expr).Unify(j.def)
	return v.Validate(cue.Concrete(true), cue.Final()) == nil, nil
}

func mutantCount(t *testing.T, full int) int {
	if s := os.Getenv("LARVA_MUTANTS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatalf("LARVA_MUTANTS: %v", err)
		}
		return n
	}
	if testing.Short() {
		return full / 20
	}
	return full
}

func mutantSeed(t *testing.T) uint64 {
	seed := uint64(20261130)
	if s := os.Getenv("LARVA_SEED"); s != "" {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatalf("LARVA_SEED: %v", err)
		}
		seed = n
	}
	return seed
}

// CUE, spec.Check and the JSON Schema give the same verdict on every mutant.
// LARVA_MUTANTS and LARVA_SEED set how many and which.
func TestDifferential(t *testing.T) {
	t.Parallel()
	total, seed := mutantCount(t, 100_000), mutantSeed(t)
	workers := runtime.GOMAXPROCS(0)
	tallies := make([]tally, workers)
	var wg sync.WaitGroup
	for w := range workers {
		n := total / workers
		if w < total%workers {
			n++
		}
		j, js := newJudge(t, "#PersonaSpec", nil), jsonSchemaOf(t, "persona-spec")
		wg.Go(func() { tallies[w].run(t, j, js, newMutants(seed+uint64(w)), n) })
	}
	wg.Wait()
	var all tally
	for _, o := range tallies {
		all.valid, all.invalid, all.lexical = all.valid+o.valid, all.invalid+o.invalid, all.lexical+o.lexical
		for c, n := range o.codes {
			all.count(c, n)
		}
	}
	t.Logf("COUNT seed %d, %d workers: %d mutants, %d valid, %d invalid, %d told apart from JSON Schema by the form of an integer; issues: %v",
		seed, workers, all.valid+all.invalid, all.valid, all.invalid, all.lexical, all.codes)
	if got := all.valid + all.invalid; got != total {
		t.Errorf("got %d mutants judged, want %d", got, total)
	}
	if all.valid < total/5 || all.invalid < total/5 {
		t.Errorf("got %d valid and %d invalid, want a fifth of each at least", all.valid, all.invalid)
	}
	for _, c := range spec.Constraints() {
		if all.codes[c.Code] == 0 {
			t.Errorf("no mutant brought %s", c.Code)
		}
	}
}

type tally struct {
	valid, invalid, lexical int
	codes                   map[string]int
}

func (a *tally) count(code string, n int) {
	if a.codes == nil {
		a.codes = map[string]int{}
	}
	a.codes[code] += n
}

func (a *tally) run(t *testing.T, j judge, js *jsonschema.Schema, m *mutants, n int) {
	for range n {
		o, did := m.next(1 + m.IntN(3)*m.IntN(2))
		text := encode(o)
		want, err := j.accepts(text)
		if err != nil {
			t.Errorf("%s: CUE cannot read %s: %v", did, text, err)
			continue
		}
		issues := spec.Check(o)
		if got := len(issues) == 0; got != want {
			t.Errorf("%s: Check says %v (%v), CUE says %v: %.300s", did, got, codesOf(issues), want, text)
		}
		if want {
			a.valid++
		} else {
			a.invalid++
		}
		for _, i := range issues {
			a.count(i.Code, 1)
		}
		a.lexical += agreeOnJSON(t, j, js, o, text, want, did)
	}
}

func codesOf(issues []spec.Issue) string {
	var c []string
	for _, i := range issues {
		c = append(c, i.Code)
	}
	return strings.Join(c, " ")
}

// agreeOnJSON compares the JSON Schema's verdict with CUE's. They may differ
// in one thing, which JSON Schema cannot say: 4096.0 is an integer there. It
// gives 1 where that was so: with integers written plainly both must agree.
func agreeOnJSON(t *testing.T, j judge, js *jsonschema.Schema, v any, text []byte, want bool, did string) int {
	got := acceptsJSON(t, js, text)
	if got == want {
		return 0
	}
	plain := encode(plainIntegers(v))
	again, err := j.accepts(plain)
	if err != nil || !got || again != got || bytes.Equal(plain, text) {
		t.Errorf("%s: JSON Schema says %v, CUE says %v: %.300s", did, got, want, text)
	}
	return 1
}

func acceptsJSON(t *testing.T, js *jsonschema.Schema, text []byte) bool {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Errorf("JSON Schema cannot read %.300s: %v", text, err)
	}
	return js.Validate(doc) == nil
}

func jsonSchemaOf(t testing.TB, name string) *jsonschema.Schema {
	t.Helper()
	s, err := jsonschema.NewCompiler().Compile(filepath.Join(root, "schema", "json", name+".json"))
	if err != nil {
		t.Fatalf("compile %s.json: %v", name, err)
	}
	return s
}
