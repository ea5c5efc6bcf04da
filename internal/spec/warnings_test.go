package spec

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWarnings(t *testing.T) {
	t.Parallel()
	known := func(id string) bool { return id == "known" }
	for _, c := range []struct {
		name string
		spec string
		want []string // how each warning begins
	}{
		{"none", `{"id":"a","description":"Keeps harbour tide tables tidy.","capabilities":{"git":"read_only"}}`, nil},
		{"empty capabilities", `{"capabilities":{}}`, []string{"capabilities is empty"}},
		{"capabilities absent or wrong", `{"capabilities":3}`, nil},
		{"unknown families, sorted", `{"capabilities":{"zoo":"read_only","laser":"none"}}`, []string{"unknown capability families: laser, zoo"}},
		{"all none", `{"capabilities":{"git":"none","shell":"none"}}`, []string{"every capability is none"}},
		{"unknown and none", `{"capabilities":{"laser":"none"}}`, []string{"unknown capability families: laser", "every capability is none"}},
		{"19 characters", `{"description":"  ` + strings.Repeat("é", 19) + ` "}`, []string{"description has 19 characters"}},
		{"20 characters", `{"description":"` + strings.Repeat("é", 20) + `"}`, nil},
		{"500 characters", `{"description":"` + strings.Repeat("é", 500) + `"}`, nil},
		{"501 characters", `{"description":"` + strings.Repeat("é", 501) + `"}`, []string{"description has 501 characters"}},
		{"blank", `{"description":"  "}`, nil},
		{"prompt opening", `{"description":" Act AS a keeper of tides."}`, []string{"description reads like a prompt"}},
		{"prompt word later", `{"description":"A keeper who must write tides."}`, nil},
		{"prompt phrase on two lines", `{"description":"A keeper of tides.\nIt MUST write."}`, []string{"description reads like a prompt"}},
		{"two lines", `{"description":"A keeper of tides.\nIt writes."}`, nil},
		{"reader that writes", `{"id":"validator-x","description":"Looks at the tide tables.","capabilities":{"shell":"destructive","git":"read_write","http":"none"}}`,
			[]string{"the persona sounds like a reader but may change things: git=read_write, shell=destructive"}},
		{"reader by description", `{"id":"x","description":"Previews of the tide tables.","capabilities":{"git":"read_write"}}`, []string{"the persona sounds like a reader"}},
		{"reader that reads", `{"id":"reviewer","description":"Looks at the tide tables.","capabilities":{"git":"read_only"}}`, nil},
		{"spawn", `{"can_spawn":["z","known","ghost","z",3,"B c"]}`, []string{"can_spawn names personas that are not registered: ghost, z"}},
		{"spawn anybody", `{"can_spawn":true}`, nil},
		{"order", `{"id":"audit-desk","description":"short","capabilities":{"filesystem":"destructive","laser":"none"},"can_spawn":["ghost-two","ghost-one"]}`,
			[]string{"unknown capability families: laser", "description has 5", "the persona sounds like", "can_spawn names personas that are not registered: ghost-one, ghost-two"}},
		{"control characters", `{"capabilities":{"a\u001b[2J\n":"read_only"}}`, []string{`unknown capability families: "a\x1b[2J\n"`}},
	} {
		got := Warnings(object(t, c.spec), known)
		if len(got) != len(c.want) {
			t.Errorf("%s: got %q, want %d warnings: %q", c.name, got, len(c.want), c.want)
			continue
		}
		for i := range got {
			if !strings.HasPrefix(got[i], c.want[i]) {
				t.Errorf("%s: got %q, want it to begin with %q", c.name, got[i], c.want[i])
			}
		}
	}
	if got := Warnings(object(t, `{"can_spawn":["ghost"]}`), nil); got == nil || len(got) != 0 {
		t.Errorf("without a registry: got %#v, want an empty list", got)
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	r := Validate(object(t, "{"+good+"}"), nil)
	if diff := cmp.Diff(string(AppendCanonical(nil, r)), `{"errors":[],"valid":true,"warnings":[]}`); diff != "" {
		t.Errorf("got -, want +\n%s", diff)
	}
	r = Validate(object(t, "{}"), nil)
	if r.Valid || len(r.Errors) != 6 {
		t.Errorf("empty: got %+v, want six errors", r)
	}
	for _, v := range []any{nil, []any{}, "x", Number("1"), (*Object)(nil)} {
		if r := Validate(v, nil); r.Valid || len(r.Errors) != 1 || r.Warnings == nil {
			t.Errorf("%v: got %+v, want one error", v, r)
		}
	}
}
