package load

import (
	"testing"

	"larva.dev/larva/internal/spec"
)

// fuzz reads any bytes in one format: never a panic, every problem has its
// file and one line, and what is read can be printed and read again.
func fuzz(f *testing.F, kind format, seeds ...string) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d, p := parse(data, kind, "x")
		if p != nil {
			if p.File != "x" || p.Message == "" || p.Message == parserBroke {
				t.Fatalf("problem %+v", p)
			}
			return
		}
		again, err := spec.Parse(spec.AppendCanonical(nil, d.root))
		if err != nil {
			t.Fatalf("%v of %v", err, d.root)
		}
		if a, b := spec.AppendCanonical(nil, d.root), spec.AppendCanonical(nil, again); string(a) != string(b) {
			t.Fatalf("got %s, then %s", a, b)
		}
		for _, it := range d.items() {
			for _, p := range it.Problems {
				if p.File != "x" || p.Message == "" {
					t.Fatalf("problem %+v", p)
				}
			}
			if len(it.Problems) == 0 && it.Flat == nil && it.Source == nil {
				t.Fatal("an item of nothing")
			}
			if it.Flat != nil && len(it.Problems) == 0 != (len(spec.Check(it.Flat)) == 0) {
				t.Fatalf("problems %v, issues %v", it.Problems, spec.Check(it.Flat))
			}
		}
	})
}

func FuzzJSON(f *testing.F) {
	fuzz(f, asJSON, goodJSON, nine, `{"personas": {"a": {"variants": {"default": {}}}}}`)
}

func FuzzYAML(f *testing.F) {
	fuzz(f, asYAML, "id: x\nvariants: {a: &a {prompt: p}, b: {<<: *a, model: m}}\n", "a: [1, 0x1F, 2026-11-30, .nan, ~, yes]\n", "%YAML 1.1\n---\n? a\n: |-\n  x\n", "a: b: c", "a: *b")
}

func FuzzTOML(f *testing.F) {
	fuzz(f, asTOML, "a.b = 1\n[a.c]\nd = [{x = 1}, 0x1F, 1_0.5e3]\n[[e]]\nf = '''x'''\n[[e]]\n[e.g]\n", "a = \"\\u00e9\"\nb = 1979-05-27\n", "personas.x.variants.default = {prompt = \"p\"}\n")
}

func FuzzMarkdown(f *testing.F) {
	fuzz(f, asMarkdown, "---\nname: x\ndescription: a: b\nuser: c\ncapabilities: {}\n---\nbody\n", "---\r\nid: x\r\n---\r\nbody\r\n", "---\nname: x\ndescription: \"x\n")
}

func FuzzSniff(f *testing.F) {
	f.Add([]byte("package x\n"))
	f.Add([]byte("[a]\nb = 1"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if k := sniff(data); k == unknown {
			t.Fatal("no format")
		}
	})
}
