package load

import (
	"fmt"
	"sync"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"
	"cuelang.org/go/encoding/json"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/spec"
)

// schemaValue is the embedded schema, compiled on first use. CUE values are
// immutable and may be used by several goroutines at once.
var schemaValue = sync.OnceValues(func() (cue.Value, []cueFault) {
	u := &unit{Shown: "schema", Files: map[string][]byte{"x.cue": []byte("import \"larva.dev/schema\"\n\n_x: schema.#ID\n")}, Schema: vendored, Dir: ".", File: "x.cue"}
	e := &evaluation{u: u, ctx: cuecontext.New(), virtual: virtualRoot()}
	_, faults := e.build(schemaFor(u.Files))
	return e.schema, faults
})

// maxJudged bounds the values of a document that CUE judges: about a second of
// its time. No profile or scenario comes near.
const maxJudged = 50_000

func count(v any) int {
	n := 1
	switch v := v.(type) {
	case *spec.Object:
		for _, m := range v.Members {
			n += count(m.Value)
		}
	case []any:
		for _, c := range v {
			n += count(c)
		}
	}
	return n
}

// judgeData checks a tree that came from a data format by a definition: the
// structural pass in words, then CUE, which has the last word. What fits comes
// back with the definition's defaults.
func judgeData(def string, tree any, base []string) (any, []cueFault) {
	s, broken := schemaValue()
	if len(broken) > 0 {
		return nil, broken
	}
	if count(tree) > maxJudged {
		return nil, []cueFault{{Path: base, Problem: diag.Problem{Path: dotted(base), Message: fmt.Sprintf("more than %d values in one document", maxJudged)}}}
	}
	d := s.LookupPath(cue.ParsePath(def))
	explained := explain(d, tree, base)
	expr, err := json.Extract("", spec.AppendCanonical(nil, tree))
	if err != nil {
		return nil, append(explained, cueFault{Path: base, Problem: diag.Problem{Path: dotted(base), Message: oneLine(err.Error())}})
	}
	e := &evaluation{u: &unit{}, virtual: "\x00"}
	v := cuecontext.New().BuildExpr(expr).Unify(d)
	faults := combine(explained, e.faults(v.Validate(cue.Concrete(true), cue.Final()), base), base)
	if len(faults) > 0 {
		return nil, faults
	}
	whole, err := exportJSON(v)
	if err != nil {
		return nil, []cueFault{{Path: base, Problem: diag.Problem{Path: dotted(base), Message: err.Error()}}}
	}
	return whole, nil
}
