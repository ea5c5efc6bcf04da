package spec

import (
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
)

// Whatever the object: Check ends, says the same twice, and every issue has a
// code and a line of text that a terminal may show; no null passes.
func FuzzCheck(f *testing.F) {
	for _, s := range []string{"{}", "{" + good + "}", `{"id":null,"can_spawn":[null,[]],"capabilities":{"a":{}},"model_params":{"top_k":1e5}}`,
		`{"id":"\u001b[31m","_x":"\u202e","can_spawn":["a","a","\n"]}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		o, err := ParseObject(data)
		if err != nil {
			return
		}
		issues := Check(o)
		if diff := cmp.Diff(Check(o), issues); diff != "" {
			t.Errorf("two answers for %s:\n%s", data, diff)
		}
		for _, i := range issues {
			if i.Code == "" || i.Message == "" || strings.ContainsFunc(i.Message, func(r rune) bool { return !unicode.IsGraphic(r) }) {
				t.Errorf("%s: issue %s %+q", data, i.Code, i.Message)
			}
			if !i.Details.Has("field") {
				t.Errorf("%s: issue without a field: %+v", data, i)
			}
		}
		for _, m := range o.Members {
			if m.Value == nil && len(issues) == 0 {
				t.Errorf("%s: null passed", data)
			}
		}
		for _, w := range Warnings(o, func(string) bool { return false }) {
			if strings.ContainsFunc(w, func(r rune) bool { return !unicode.IsGraphic(r) }) {
				t.Errorf("%s: warning %+q", data, w)
			}
		}
	})
}

func BenchmarkCheckFull(b *testing.B) {
	o := with(b, "model_params", `{"temperature":0.7,"top_p":0.95,"max_tokens":4096,"stop":["a"]}`)
	list := make([]any, 100)
	for i := range list {
		list[i] = "persona-" + strings.Repeat("x", i%20) + string(rune('a'+i%26)) + string(rune('a'+i/26))
	}
	o.Set("can_spawn", list)
	o.Set("compaction_prompt", "Sum up.")
	b.ReportAllocs()
	for b.Loop() {
		if issues := Check(o); issues != nil {
			b.Fatal(issues)
		}
	}
}
