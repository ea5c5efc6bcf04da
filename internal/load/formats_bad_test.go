package load

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"larva.dev/larva/internal/diag"
)

// bad reads one file and gives its problems, one a line.
func bad(t *testing.T, name, src string) []string {
	t.Helper()
	items, err := Specs(context.Background(), []string{name}, Options{Dir: write(t, map[string]string{name: src})})
	if err != nil {
		t.Fatal(err)
	}
	if len(items) == 0 {
		t.Fatal("no item")
	}
	return lines(items)
}

// TestUnreadable holds what makes a whole file unreadable, format by format.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	bomb := "a0: &a0 [x,x,x,x,x,x,x,x,x]\n"
	for i := 1; i < 9; i++ {
		bomb += fmt.Sprintf("a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i-1), 9), ","))
	}
	deep := strings.Repeat("[", 5000) + strings.Repeat("]", 5000)
	odd := "%s reads differently in different YAML parsers (write a plain decimal number, or text in quotes)"
	for _, c := range []struct{ name, src, want string }{
		{"nan.json", `{"id": NaN}`, "nan.json:1:8: NaN is not a JSON number"},
		{"twice.json", "{\"a\": 1,\n \"a\": 1}", `twice.json:2:2: the key "a" stands here a second time`},
		{"deep.json", deep, "deep.json:1:65: nested more than 64 levels deep"},
		{"digits.json", `{"model_params": {"seed": ` + strings.Repeat("7", 5000) + `}}`, "digits.json:1:27: an integer of 5000 digits; 64 are allowed"},
		{"lone.json", `{"prompt": "\ud800"}`, `lone.json:1:13: \ud800 is half of a surrogate pair; its other half is missing`},
		{"utf8.json", "{\"prompt\":\n \"\xff\"}", "utf8.json:2:3: the byte 0xff is not valid UTF-8"},
		{"bom.json", "\xef\xbb\xbf{}", "bom.json:1:1: starts with a byte order mark (save it as UTF-8 without one)"},
		{"list.json", `[]`, "list.json:1:1: a persona is an object, not a list"},
		{"empty.json", "", "empty.json:1:1: a JSON value is missing; the text is empty"},

		{"twice.yaml", "a: 1\nb: 2\na: 1", `twice.yaml:3:1: the key "a" stands here a second time`},
		{"bomb.yaml", bomb, "bomb.yaml:1:26: more than 200000 values in one document"},
		{"self.yaml", "a: &a [*a]", "self.yaml:1:8: a.0.0: the alias *a stands inside its own anchor"},
		{"docs.yaml", "a: 1\n---\nb: 2", "docs.yaml:2:1: a second document starts here (write one file for each)"},
		{"tag.yaml", "a: !ruby/object x", "tag.yaml:1:4: a: the tag !ruby/object is not known here (leave the tag out)"},
		{"nan.yaml", "a:\n  b: .nan", "nan.yaml:2:6: a.b: .nan is not a number that JSON can hold"},
		{"inf.yaml", "a: -.Inf", "inf.yaml:1:4: a: -.Inf is not a number that JSON can hold"},
		{"octal.yaml", "a: 0o17", "octal.yaml:1:4: a: the number " + fmt.Sprintf(odd, "0o17")},
		{"zero.yaml", "a: 017", "zero.yaml:1:4: a: the number " + fmt.Sprintf(odd, "017")},
		{"hex.yaml", "a: 0x1F", "hex.yaml:1:4: a: the number " + fmt.Sprintf(odd, "0x1F")},
		{"under.yaml", "a: 1_000", "under.yaml:1:4: a: the number " + fmt.Sprintf(odd, "1_000")},
		{"date.yaml", "a: 2026-11-30", `date.yaml:1:4: a: a date is not a value here (write "2026-11-30" in quotes)`},
		{"digits.yaml", "a: " + strings.Repeat("9", 65), "digits.yaml:1:4: a: an integer of 65 digits; 64 are allowed"},
		{"huge.yaml", "a: 1e999", "huge.yaml:1:4: a: the number 1e999 is too large"},
		{"deep.yaml", deep, "deep.yaml:1:66: nested more than 64 levels deep"},
		{"empty.yaml", "# nothing\n", "empty.yaml:1:1: the document is empty"},
		{"key.yaml", "1: x", "key.yaml:1:1: the key 1 is read as a number, not as text (put it in quotes)"},
		{"list.yaml", "? [a]\n: b", "list.yaml:1:3: a key must be text, not a list or a mapping"},
		{"colon.yaml", "x: 1\na: b: c", "colon.yaml:2: mapping values are not allowed in this context (put a value that holds a colon and a space in quotes)"},
		{"open.yaml", "x: 1\ny: [1,\n", "open.yaml:3: did not find expected node content"},
		{"anchor.yaml", "x: 1\na: *b", "anchor.yaml:2:4: unknown anchor 'b' referenced"},
		{"merge.yaml", "a: {<<: 5}", "merge.yaml:1:9: a: << takes a mapping or a list of mappings"},
		{"utf8.yaml", "a: \xff", "utf8.yaml:1:4: the byte 0xff is not valid UTF-8"},

		{"twice.toml", "a = 1\na = 1", "twice.toml:2:1: a: key a is already defined"},
		{"table.toml", "[a]\nb = 1\n[a]\nc = 2", "table.toml:3:2: a: table a already exists"},
		{"date.toml", "[a]\nb = 2026-11-30", "date.toml:2:5: a.b: a date or time is not a value here (write it in quotes)"},
		{"inf.toml", "a = inf", "inf.toml:1:5: a: inf is not a number that JSON can hold"},
		{"nan.toml", "a = [1.0, nan]", "nan.toml:1:11: a.1: nan is not a number that JSON can hold"},
		{"deep.toml", "a = " + deep, "deep.toml:1:69: nested more than 64 levels deep"},
		{"big.toml", "a = 99999999999999999999", "big.toml:1:5: decimal number is too large to fit in a 64-bit signed integer"},
		{"lone.toml", `a = "\ud800"`, "lone.toml:1:6: escape sequence is not a valid unicode code point"},

		{"none.md", "You are a clerk.\n", "none.md:1:1: there is no frontmatter (the first line must be ---)"},
		{"blank.md", "\n---\nname: x\n---\n", "blank.md:1:1: there is no frontmatter (the first line must be ---)"},
		{"open.md", "---\nname: x\n", "open.md:1:1: the frontmatter that starts here has no end (close it with a line of ---)"},
		{"empty.md", "---\n---\n", "empty.md:2:1: the document is empty"},
		{"tools.md", "---\nname: x\ntools: Read\n---\nx", "tools.md:3:1: tools: this is an agent definition of Claude Code's kind, and no persona (run it as it is (see: larva agent list), or write what the agent may do as capabilities, without tools)"},
		{"both.md", "---\nid: x\nname: y\n---\nx", "both.md:3:1: name: stands for id, which is here too (keep one of the two)"},
		{"prompt.md", "---\nname: x\nprompt: y\n---\nx", "prompt.md:3:1: prompt: the text below the frontmatter is the prompt (leave prompt out)"},
		{"twice.md", "---\nname: x\ndescription: Use for: a\nmodel: a\nmodel: b\n---\nB", "twice.md:3: mapping values are not allowed in this context (put a value that holds a colon and a space in quotes)"},
		{"number.md", "---\nname: x\ntop: 0x1F\n---\nB", "number.md:3:6: top: the number " + fmt.Sprintf(odd, "0x1F")},

		{"broken.cue", "id: \"a\"\nmodel: {", "broken.cue:2:9: expected '}', found 'EOF'"},
		{"unknown.cue", "id: name", `unknown.cue:1:5: id: reference "name" not found`},
		{"number.cue", "5", "number.cue:1:1: holds no object, but only a value of the kind int"},
		{"import.cue", "import \"example.com/x\"\n\nid: x.y", `import.cue:1:8: the package "example.com/x" is not here, and larva never downloads (put it under cue.mod/pkg/example.com/x)`},
		{"deep.cue", "a: " + strings.Repeat("[", 20000), "deep.cue:1:10004: expression exceeds maximum nesting depth of 10000"},
		{"utf8.cue", "id: \"\xff\"", "utf8.cue:1:6: the byte 0xff is not valid UTF-8"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			items, err := Specs(context.Background(), []string{c.name}, Options{Dir: write(t, map[string]string{c.name: c.src})})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, strings.Join(lines(items), "\n")); diff != "" {
				t.Error(diff)
			}
			if len(items) != 1 || !items[0].Unreadable || items[0].Code != diag.InvalidInput || items[0].File != c.name {
				t.Errorf("got %+v", items)
			}
			if e := items[0].Err(); e == nil || e.ExitCode() != diag.ExitUsage || e.Code != diag.InvalidInput {
				t.Errorf("error %v", e)
			}
		})
	}
}

// TestNullIsNeverAbsent: null is a value of the wrong kind.
func TestNullIsNeverAbsent(t *testing.T) {
	t.Parallel()
	src := `{"id": null, "description": null, "prompt": null, "model": null, "capabilities": null, "spec_version": null, "can_spawn": null, "model_params": null, "compaction_prompt": null, "spec_digest": null}`
	got := bad(t, "null.json", src)
	if len(got) != 10 {
		t.Errorf("got %d problems, want 10:\n%s", len(got), strings.Join(got, "\n"))
	}
	for _, l := range got {
		if !strings.HasSuffix(l, "got null") {
			t.Errorf("got %q", l)
		}
	}
}

// TestLongDescription: length is no mistake.
func TestLongDescription(t *testing.T) {
	t.Parallel()
	src := strings.Replace(goodJSON, "Keeps harbour", strings.Repeat("Keeps harbour ", 200_000/14+1), 1)
	if got := bad(t, "long.json", src); len(got) > 0 {
		t.Error(got)
	}
	long := strings.Repeat("Keeps harbour ", 200_000/14+1)
	if got := bad(t, "long.cue", strings.Replace(goodCUE, "Keeps harbour", long, 1)); len(got) > 0 {
		t.Error(got)
	}
}

// TestNineMistakes says all mistakes of one file at once, in each format.
func TestNineMistakes(t *testing.T) {
	t.Parallel()
	yaml := `spec_version: "0.2.0"
id: My Persona
desciption: x
prompt: " "
model: 5
capabilities:
  shell: read_onyl
model_params: {temperature: 3.5, max_tokens: 4096.5}
can_spawn: [ok, Not Ok]
tools: []
`
	toml := `spec_version = "0.2.0"
id = "My Persona"
desciption = "x"
prompt = " "
model = 5
can_spawn = ["ok", "Not Ok"]
tools = []

[capabilities]
shell = "read_onyl"

[model_params]
temperature = 3.5
max_tokens = 4096.5
`
	cue := `spec_version: "0.2.0"
id:           "My Persona"
desciption:   "x"
prompt:       " "
model:        5
capabilities: shell: "read_onyl"
model_params: {temperature: 3.5, max_tokens: 4096.5}
can_spawn: ["ok", "Not Ok"]
tools: []
`
	for name, c := range map[string]struct {
		src string
		at  [10]string // in the order of want
	}{
		"n.yaml": {yaml, [10]string{"1:15", "2:5", "3:1", "4:9", "5:8", "7:10", "8:29", "8:46", "9:17", "10:1"}},
		"n.toml": {toml, [10]string{"1:16", "2:6", "3:1", "4:10", "5:9", "10:9", "13:15", "14:14", "6:20", "7:1"}},
		"n.cue":  {cue, [10]string{"1:15", "2:15", "3:1", "4:15", "5:15", "6:22", "7:29", "7:46", "8:19", "9:1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := []string{
				`spec_version: must be "0.1.0", got "0.2.0"`,
				`id: must be kebab-case: a-z, 0-9 and single hyphens, at most 128 characters, got "My Persona"`,
				`desciption: unknown field (did you mean "description"?)`,
				`prompt: must not be blank, got " "`,
				`model: must be a string, got 5 (write it in quotes)`,
				`capabilities.shell: must be one of "none", "read_only", "read_write", "destructive", got "read_onyl" (did you mean "read_only"?)`,
				`model_params.temperature: must be a number from 0 to 2, got 3.5`,
				`model_params.max_tokens: must be an integer, got 4096.5`,
				`can_spawn.1: must be kebab-case: a-z, 0-9 and single hyphens, at most 128 characters, got "Not Ok"`,
				`tools: is not part of a PersonaSpec`,
			}
			full := map[string]bool{}
			for i, w := range want {
				full[name+":"+c.at[i]+": "+w] = true
			}
			got := bad(t, name, c.src)
			for _, l := range got {
				if !full[l] {
					t.Errorf("got %s", l)
				}
				delete(full, l)
			}
			for l := range full {
				t.Errorf("missing %s", l)
			}
		})
	}
}

// TestYAMLWords shows how surprising YAML is read.
func TestYAMLWords(t *testing.T) {
	t.Parallel()
	got := strings.Join(bad(t, "w.yaml", "id: on\nmodel: 4.1\ncan_spawn: no\nprompt: ~\n"+
		"description: yes\ncapabilities: {}\nspec_version: 0.1.0\n"), "\n")
	want := `w.yaml:2:8: model: must be a string, got 4.1 (write it in quotes)
w.yaml:3:12: can_spawn: must be true or false or a list, got "no" (write false)
w.yaml:4:9: prompt: must be a string, got null`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
