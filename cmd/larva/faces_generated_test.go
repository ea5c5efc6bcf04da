package main

import (
	"fmt"
	"math/rand/v2"
)

// generatedRows are calls that nobody has thought of: operations, parameters
// and states of the registry thrown together. What the answer is nobody says
// either; that it is the same on all faces is what is asked. Every parameter
// is one that all faces can put.
func generatedRows(n int) []faceRow {
	r := rand.New(rand.NewPCG(4, 11))
	rows := make([]faceRow, n)
	for i := range rows {
		g := &generator{r}
		row := faceRow{op: pick(r, generatedOps), state: pick(r, generatedStates)}
		row.params = compact(g.params(row.op))
		row.name = fmt.Sprintf("generated %d: %s %s", i, row.op, row.params)
		rows[i] = row
	}
	return rows
}

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

var (
	generatedOps = []string{"validate", "list", "resolve", "resolve", "register", "register", "update", "update", "update", "update_batch", "update_batch",
		"clone", "delete", "clear", "export", "variant_list", "variant_activate", "variant_delete"}
	generatedStates = []layout{two, two, two, two, two, none, rootIsFile,
		two.and(put("kelp/manifest.json", `{"active":"terse"}`)),
		two.and(put("kelp/manifest.json", `{"active":"gone"}`)),
		two.and(put("moss/contract.json", `{"id":"moss"}`)),
		two.and(put("moss/variants/default.json", `{"prompt":"\n","model":"m"}`)),
		two.and(put("kelp/variants/terse.json", `{"prompt":"p","model":"m","model_params":{"temperature":-1}}`)),
		two.and(put(".aside", "")), two.and(dir(".lock")), two.and(link("weed", "/dev/null")), two.and(put("weed", "x")),
		two.and(drop("kelp/variants")), two.and(drop("moss"), dir("moss")),
	}
	generatedIDs      = []string{"kelp", "kelp", "kelp", "moss", "weed", "ghost", "No", "-", "a/b", "%2e", "kelp?x=1#y", "\u00e9"}
	generatedVariants = []string{"default", "terse", "terse", "new", "ghost", "No", ".."}
	generatedFields   = []string{
		`{"prompt":"x"}`, `{"prompt":" "}`, `{"model":"acme/x"}`, `{"compaction_prompt":""}`, `{"model_params":{"n":2,"top_p":1}}`, `{"model_params":{"temperature":3}}`,
		`{"model_params":[1]}`, `{"model_params.n":{"deep":[null,1.0]}}`, `{"model_params.top_k":0}`, `{"model_params.a.b.c":true}`,
		`{"description":"Looks after something else now."}`, `{"capabilities":{"git":"none"}}`, `{"capabilities":{}}`, `{"capabilities.git":"all"}`, `{"capabilities.shell":"destructive"}`,
		`{"can_spawn":["moss"]}`, `{"can_spawn":false}`, `{"can_spawn":{"a":1}}`, `{"can_spawn":null}`, `{"id":"weed"}`, `{"spec_version":"0.1.0"}`, `{"tools":{}}`, `{"colour":"green"}`, `{"Model":"m"}`,
	}
	generatedWhere = []string{`{"id":"kelp"}`, `{"model":"acme/gamma-2"}`, `{"capabilities":{"git":"read_only","shell":"none"}}`, `{"capabilities.shell":"none"}`, `{"can_spawn":["moss"]}`,
		`{"model_params.n":1e0}`, `{"model_params.temperature":0.20}`, `{"spec_version":"0.1.0"}`, `{"colour":1}`, `{"prompt.x":1}`, `{"model_params.":1}`}
)

// generator draws parameters.
type generator struct{ *rand.Rand }

func (g *generator) params(op string) map[string]any {
	p := map[string]any{}
	switch op {
	case "validate", "register":
		s := pick(g.Rand, []string{kelp, kelp, moss, fern, terse})
		if g.IntN(2) == 0 {
			s = with(s, g.some(generatedFields))
		}
		p["spec"] = parsed(s)
		g.maybeVariant(p, op == "register")
	case "resolve":
		p["id"] = pick(g.Rand, generatedIDs)
		g.maybeVariant(p, true)
		if g.IntN(2) == 0 {
			p["overrides"] = parsed(g.some(generatedFields))
		}
	case "update":
		p["id"], p["patches"] = pick(g.Rand, generatedIDs), parsed(g.some(generatedFields))
		g.maybeVariant(p, true)
	case "update_batch":
		p["where"], p["patches"] = parsed(g.some(generatedWhere)), parsed(g.some(generatedFields))
		if g.IntN(3) == 0 {
			p["dry_run"] = g.IntN(2) == 0
		}
	case "clone":
		p["source_id"], p["new_id"] = pick(g.Rand, generatedIDs), pick(g.Rand, generatedIDs)
	case "clear":
		p["confirm"] = pick(g.Rand, []string{"CLEAR REGISTRY", "clear", ""})
	case "export":
		p["ids"] = []any{pick(g.Rand, generatedIDs), pick(g.Rand, generatedIDs)}
		if g.IntN(3) == 0 {
			p = map[string]any{"all": true}
		}
	case "delete", "variant_list":
		p["id"] = pick(g.Rand, generatedIDs)
	case "variant_activate", "variant_delete":
		p["id"], p["variant"] = pick(g.Rand, generatedIDs), pick(g.Rand, generatedVariants)
	}
	return p
}

func (g *generator) maybeVariant(p map[string]any, may bool) {
	if may && g.IntN(3) == 0 {
		p["variant"] = pick(g.Rand, generatedVariants)
	}
}

// some is the union of one or two objects.
func (g *generator) some(list []string) string {
	return with(pick(g.Rand, list), pick(g.Rand, list))
}

func parsed(text string) map[string]any {
	var v map[string]any
	if err := exact([]byte(text), &v); err != nil {
		panic(err)
	}
	return v
}
