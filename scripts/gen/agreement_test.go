package main

import (
	"fmt"
	"testing"

	"larva.dev/larva/internal/spec"
	"larva.dev/larva/schema"
)

// samples holds a right document for each name of schema.Entries, rich enough
// that every field stands in one.
var samples = map[string]string{
	"persona-spec":   seeds[2],
	"persona":        `{"id":"a","description":"d","capabilities":{"git":"none"},"can_spawn":["b","c"],"spec_version":"0.1.0","active":"tacit","variants":{"default":{"prompt":"p","model":"m"},"tacit":{"prompt":"p","model":"m","model_params":{"top_k":2,"x":[1]},"compaction_prompt":""}}}`,
	"contract":       `{"id":"a","description":"d","capabilities":{"git":"none"},"can_spawn":false,"spec_version":"0.1.0"}`,
	"implementation": `{"prompt":"p","model":"m","model_params":{"temperature":1,"top_p":0.5,"top_k":2,"max_tokens":9},"compaction_prompt":"c"}`,
	"manifest":       `{"active":"default"}`,
	"profile": `{"mode":"plan","models":{"*":"anthropic/x","fast":"openai/gpt/5"},"roles":{"smart":{"model":"a/b","fallbacks":["c/d"],"context":"full","isolation":"none","max_turns":3,"effort":"high"}},
		"providers":{"local":{"api":"openai","base_url":"http://127.0.0.1:1/v1","key_env":""}},"permissions":{"allow":["bash(go test *)"],"ask":["edit"],"deny":["read(secrets/**)"]},"undeclared":"deny",
		"hooks":{"PreToolUse":[{"matcher":"bash","hooks":[{"type":"command","command":"./x","timeout":60,"on_error":"block","if":"bash(rm *)"}]}],"Stop":[{"hooks":[{"type":"prompt","prompt":"p","model":"fast"}]}],"StopFailure":[{"hooks":[]}]},"http_hooks":{"allowed_urls":["https://x.test/*"]},
		"servers":{"files":{"command":"npx","args":["-y",""],"env":{"X":"1"},"inherit_env":["Y"],"enabled_tools":["a"],"disabled_tools":[],"disabled":false},"web":{"type":"http","url":"https://x.test/mcp","headers":{"A":"b"}}},
		"skills":{"paths":["a"],"disabled":["b"]},"sandbox":{"kind":"auto","allowed_domains":["x.test"],"env_passthrough":["Z"]},
		"limits":{"max_turns":200,"max_parallel":8,"max_depth":0,"time":"1h30m","usd":5,"tokens":1000000},"prices":{"openai/gpt-5":{"input":1.25,"output":10,"cached":0.125}},
		"scripts":{"demo":{"turns":[{"when":{"user":"a","tool":"b","result":"c","turn":1},"text":"t","calls":[{"tool":"bash","input":{"command":"ls"}}],"repeat":true},{"error":{"status":529,"retry_after":1}}]}}}`,
	"role":            `{"model":"a/b","fallbacks":["c/d"],"context":"minimal","isolation":"worktree","max_turns":3,"effort":"low"}`,
	"provider":        `{"api":"anthropic","base_url":"https://x.test","key_env":"K"}`,
	"permissions":     `{"allow":["bash"],"ask":["mcp__a__b"],"deny":["web_fetch(domain:x.test)"]}`,
	"rule":            `"bash(git push *)"`,
	"hooks":           `{"SessionStart":[{"hooks":[]}],"SessionEnd":[{"matcher":"*","hooks":[{"type":"command","command":"x"}]}]}`,
	"hook":            `{"type":"command","command":"./x","prompt":"p","model":"m","args":["a"],"url":"https://x.test/h","headers":{"H":"$V"},"allowedEnvVars":["V"],"if":"edit(*.go)","timeout":0.5,"once":true,"async":false,"statusMessage":"s","on_error":"ignore"}`,
	"server":          `{"type":"sse","command":"c","args":["a"],"env":{"A":"b"},"inherit_env":["B"],"url":"u","headers":{"H":"v"},"enabled_tools":["t"],"disabled_tools":["u"],"disabled":true}`,
	"sandbox":         `{"kind":"none","allowed_domains":["a"],"env_passthrough":["A"]}`,
	"limits":          `{"max_turns":1,"max_parallel":1,"max_depth":1,"time":"90s","usd":0.5,"tokens":1}`,
	"scenario":        `{"turns":[{"when":{"turn":2},"text":"t","calls":[{"tool":"bash","input":{}}],"repeat":false},{"error":{"status":500}}]}`,
	"permission-test": `{"persona":"a","mode":"plan","permissions":{"allow":["bash"]},"cases":[{"tool":"bash","input":"ls","want":"allow","why":"w"},{"tool":"read","input":{"path":"a"},"want":"deny"}]}`,
	"capability":      `{"tools":{"read":{"needs":{"filesystem":"read_only"},"read_only":true,"network":false,"touches":true}},"commands":{"git":{"needs":{"git":"read_only"},"safe":true,"flags":{"-f":{"shell":"destructive"}},"values":["-C"],"sub":{"push":{"needs":{}}}}}}`,
}

// The JSON Schema of every definition and CUE agree on documents with one or
// two changes at any place; 4096.0 as an integer is the one known difference.
func TestAgreement(t *testing.T) {
	t.Parallel()
	perEntry := mutantCount(t, 20_000) / len(schema.Entries())
	for _, e := range schema.Entries() {
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			text, ok := samples[e.Name]
			if !ok {
				t.Fatalf("no sample for %s", e.Name)
			}
			j, js := newJudge(t, e.Def, nil), jsonSchemaOf(t, e.Name)
			m := newMutants(mutantSeed(t) + uint64(len(e.Name)))
			valid, differ := 0, 0
			for i := range perEntry {
				v, err := spec.Parse([]byte(text))
				if err != nil {
					t.Fatal(err)
				}
				for range min(i, 1+m.IntN(2)) { // the first one is the sample itself
					v = m.change(v)
				}
				doc := encode(v)
				want, err := j.accepts(doc)
				if err != nil {
					t.Fatalf("CUE cannot read %s: %v", doc, err)
				}
				if i == 0 && !want {
					t.Fatalf("the sample is refused: %s", doc)
				}
				if want {
					valid++
				}
				differ += agreeOnJSON(t, j, js, v, doc, want, fmt.Sprint("document ", i))
			}
			t.Logf("%d documents, %d valid, %d differ by the form of an integer", perEntry, valid, differ)
			if valid == 0 || valid == perEntry {
				t.Errorf("got %d of %d valid, want some of both", valid, perEntry)
			}
		})
	}
}

// change gives v with one change at a random place.
func (m *mutants) change(v any) any {
	switch v := v.(type) {
	case *spec.Object:
		if len(v.Members) == 0 || m.IntN(8) == 0 {
			break
		}
		i := m.IntN(len(v.Members))
		switch m.IntN(12) {
		case 0:
			v.Delete(v.Members[i].Key)
		case 1:
			v.Set(m.key(), m.value(1))
		case 2:
			v.Set(m.name(), v.Members[i].Value)
		default:
			v.Members[i].Value = m.change(v.Members[i].Value)
		}
		return v
	case []any:
		if len(v) == 0 || m.IntN(8) == 0 {
			break
		}
		i := m.IntN(len(v))
		if m.IntN(6) == 0 {
			return append(v, v[i])
		}
		v[i] = m.change(v[i])
		return v
	}
	switch m.IntN(4) {
	case 0:
		return m.number()
	case 1:
		return m.name()
	case 2:
		return m.id()
	}
	return m.value(1)
}

// name is a string that means something somewhere in a profile.
func (m *mutants) name() string {
	return pick(m, "default", "plan", "auto", "yolo", "ask", "deny", "anthropic", "responses", "a/b", "/b", "a/", "a /b", "a/b\n", "a/b/c d", "bash", "bash()", "bash(a", "bash(a)b", "bash(a\nb)", " bash",
		"mcp__x", "30m", "1h30m", "1.5s", "30", "-1s", "1d", "http://x", "https://", "ftp://x", "HTTP://x", "A_B", "1A", "A-B", "", "block", "stdio", "http", "full", "xhigh", "tacit", "Not_Ok",
		"x\n", "PreToolUse", "Stop", "pretooluse", "x64-"+"aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffff", "x65-"+"aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeefffffffffff")
}
