package load

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/personas"
	"larva.dev/larva/profiles"
)

const moduleCUE = "module: \"x.test\"\nlanguage: version: \"v0.17.0\"\n"

// persona is a CUE source with the given id and prompt expression.
func persona(id, prompt string) string {
	return "\npersonas: \"" + id + "\": schema.#Persona & {\n\tdescription: \"Keeps harbour tide tables tidy.\"\n\tcapabilities: {shell: \"read_only\"}\n\tvariants: default: {model: \"smart\", prompt: " + prompt + "}\n}\n"
}

const head = "package personas\n\nimport \"larva.dev/schema\"\n"

const headEmbed = "@extern(embed)\n\n" + head

// say lists items and their problems and notices.
func say(items []Item) string {
	var b strings.Builder
	for _, it := range items {
		b.WriteString(it.File + " " + it.ID + "\n")
		for _, p := range it.Problems {
			b.WriteString("  " + p.String() + "\n")
		}
		for _, p := range it.Notices {
			b.WriteString("  notice " + p.String() + "\n")
		}
	}
	return b.String()
}

// What CUE alone found leads the report, and no "is required" stands in its
// place: the value is there, it only conflicts or is not concrete.
func TestReportOfCUE(t *testing.T) {
	t.Parallel()
	const flat = "description: \"Keeps harbour tide tables tidy.\", capabilities: {}, model: \"m\", spec_version: \"0.1.0\", "
	for name, c := range map[string]struct{ text, field, message string }{
		"conflict": {flat + `id: "e", prompt: "p", id: "f"`, "id", "conflicting values"},
		"open":     {flat + `id: "e", prompt: string`, "prompt", "has no value yet"},
		"deep":     {flat + `id: "e", prompt: "p", model_params: x: ` + strings.Repeat("[", 90) + strings.Repeat("]", 90), "", "nested more than 64"},
		"source":   {head + persona("a", `"x" & "y"`), "variants.default.prompt", "conflicting values"},
		"embed":    {"@extern(embed)\npackage p\n" + flat + `id: "e", prompt: _ @embed(file="t.md")`, "", "@embed: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for file, text := range map[string]string{"p.cue": c.text, "t.md": "hi"} {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			items, err := Specs(context.Background(), []string{"p.cue"}, Options{Dir: dir})
			if err != nil || len(items) != 1 {
				t.Fatalf("got %+v, %v, want one item", items, err)
			}
			got := items[0].Report(nil).Errors
			if len(got) != 1 || got[0].Details.String("field") != c.field || !strings.Contains(got[0].Message, c.message) {
				t.Errorf("got %+v, want one issue of %q: %s", got, c.field, c.message)
			}
		})
	}
}

// TestModule reads CUE in the context of its module.
func TestModule(t *testing.T) {
	t.Parallel()
	other := "package shared\n\n#Prompt: \"from another package\"\n"
	for name, c := range map[string]struct {
		files map[string]string
		links map[string]string // new → target
		args  []string
		want  string
	}{
		"file with module context": {
			files: map[string]string{"cue.mod/module.cue": moduleCUE, "p/a.cue": strings.Replace(headEmbed, ")\n\nimport", ")\n\nimport", 1) + "import s \"x.test/lib\"\n_t: string @embed(file=t.md,type=text)\n" + persona("a", "_t + s.#Prompt"), "p/t.md": "hi", "lib/lib.cue": strings.Replace(other, "shared", "lib", 1)},
			args:  []string{"p/a.cue"}, want: "p/a.cue a\n",
		},
		"file without a module": {
			files: map[string]string{"p/a.cue": head + persona("a", `"x"`)}, args: []string{"p/a.cue"}, want: "p/a.cue a\n",
		},
		"a file needs its siblings": {
			files: map[string]string{"p/a.cue": head + persona("a", "_shared"), "p/b.cue": head + "_shared: \"x\"\n" + persona("b", `"y"`)},
			args:  []string{"p/a.cue"}, want: "p/a.cue a\n",
		},
		"a broken sibling": {
			files: map[string]string{"p/a.cue": head + persona("a", `"x"`), "p/b.cue": head + "personas: {"},
			args:  []string{"p/a.cue", "p"}, want: "p/a.cue a\np/a.cue a\np/b.cue \n  p/b.cue:4:12: expected '}', found 'EOF'\n",
		},
		"vendored package": {
			files: map[string]string{"cue.mod/module.cue": moduleCUE, "cue.mod/pkg/shared.test/shared/x.cue": other, "p/a.cue": head + "import \"shared.test/shared\"\n" + persona("a", "shared.#Prompt")},
			args:  []string{"p"}, want: "p/a.cue a\n",
		},
		"dependency that nobody downloads": {
			files: map[string]string{"cue.mod/module.cue": moduleCUE + "deps: \"shared.test@v0\": v: \"v0.1.0\"\n", "p/a.cue": head + persona("a", `"x"`)},
			args:  []string{"p"}, want: "p/a.cue a\n",
		},
		"embedded text that is not there": {
			files: map[string]string{"p/a.cue": headEmbed + "_t: string @embed(file=none.md,type=text)\n" + persona("a", "_t")},
			args:  []string{"p/a.cue"}, want: "p/a.cue \n  p/a.cue:6:12: @embed: p/none.md: no such file\n",
		},
		"embedded from above": {
			files: map[string]string{"t.md": "x", "cue.mod/module.cue": moduleCUE, "p/a.cue": headEmbed + "_t: string @embed(file=\"../t.md\",type=text)\n" + persona("a", "_t")},
			args:  []string{"p/a.cue"}, want: "p/a.cue \n  p/a.cue:6:12: @embed: a file above the directory of the CUE file cannot be embedded\n",
		},
		"embedded data": {
			files: map[string]string{"p/t.json": "{}", "p/a.cue": headEmbed + "_t: _ @embed(file=t.json)\n" + persona("a", "\"x\"")},
			args:  []string{"p/a.cue"}, want: "p/a.cue \n  p/a.cue:6:7: @embed: p/t.json: only *.md and *.txt can be embedded\n",
		},
		"embedded markdown as data": {
			files: map[string]string{"p/t.md": "{}", "p/a.cue": headEmbed + "_t: _ @embed(file=t.md,type=json)\n" + persona("a", "\"x\"")},
			args:  []string{"p/a.cue"}, want: "p/a.cue \n  p/a.cue:6:7: @embed: only texts can be embedded, not type=json\n",
		},
		"embedded link inside": {
			files: map[string]string{"cue.mod/module.cue": moduleCUE, "real.txt": "x", "p/a.cue": headEmbed + "_t: string @embed(file=t.md,type=text)\n" + persona("a", "_t")},
			links: map[string]string{"p/t.md": "../real.txt"}, args: []string{"p"}, want: "p/a.cue a\n",
		},
		"embedded link out": {
			files: map[string]string{"m/cue.mod/module.cue": moduleCUE, "out.md": "secret", "m/p/a.cue": headEmbed + "_t: string @embed(file=t.md,type=text)\n" + persona("a", "_t")},
			links: map[string]string{"m/p/t.md": "../../out.md"}, args: []string{"m/p"},
			want: "m/p \n  m/p/a.cue:6:12: @embed: the file leads out of the module through a symbolic link\n",
		},
		"embedded link to a secret": {
			files: map[string]string{"p/.env": "KEY=1", "p/a.cue": headEmbed + "_t: string @embed(file=t.md,type=text)\n" + persona("a", "_t")},
			links: map[string]string{"p/t.md": ".env"}, args: []string{"p/a.cue"},
			want: "p/a.cue \n  p/a.cue:6:12: @embed: p/t.md: is a link to a file of another kind; only *.md and *.txt can be embedded\n",
		},
		"unused link out": {
			files: map[string]string{"m/p/a.cue": head + persona("a", `"x"`), "out.md": "x", "out.cue": "package personas\n"},
			links: map[string]string{"m/p/t.md": "../../out.md", "m/p/z.cue": "../../out.cue", "m/p/dir": "../.."}, args: []string{"m/p"}, want: "m/p/a.cue a\n",
		},
		"glob of texts": {
			files: map[string]string{"p/t/a.md": "x", "p/t/b.md": "y", "p/a.cue": headEmbed + "_t: _ @embed(glob=t/*.md,type=text)\n" + persona("a", "_t[\"t/a.md\"]")},
			args:  []string{"p"}, want: "p/a.cue a\n",
		},
		"another schema in the tree": {
			files: map[string]string{"cue.mod/module.cue": moduleCUE, "cue.mod/pkg/larva.dev/schema/x.cue": "package schema\n#Persona: _\n", "p/a.cue": head + persona("a", `"x"`)},
			args:  []string{"p"}, want: "p/a.cue a\n  notice cue.mod/pkg/larva.dev/schema: is not the schema of this larva, which is used in its place (plain cue vet may judge otherwise; larva schema prints this one)\n",
		},
		"broken module": {
			files: map[string]string{"cue.mod/module.cue": "module: 5\n", "p/a.cue": head + persona("a", `"x"`)},
			args:  []string{"p/a.cue"}, want: "",
		},
		"unknown definition": {
			files: map[string]string{"a.cue": head + "personas: a: schema.#Persna & {description: \"x\"}\n"},
			args:  []string{"a.cue"}, want: "a.cue a\n  a.cue:4:14: personas.a: undefined field: #Persna\n",
		},
		"structural cycle": {
			files: map[string]string{"a.cue": "#A: {n: #A}\nid: #A\n"},
			args:  []string{"a.cue"}, want: "a.cue \n  a.cue:1:1: structural cycle\n  a.cue:2:5: id: structural cycle\n",
		},
		"own constraint and a value that is not there": {
			files: map[string]string{"a.cue": head + "personas: [string]: description: =~\"^Keeps \"\n" + strings.Replace(persona("a", "string"), "Keeps harbour", "Tends harbour", 1)},
			args:  []string{"a.cue"}, want: "a.cue a\n  a.cue:7:15: personas.a.description: invalid value \"Tends harbour tide tables tidy.\" (out of bound =~\"^Keeps \")\n  a.cue:9:46: personas.a.variants.default.prompt: has no value yet, only string\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := write(t, c.files)
			for at, target := range c.links {
				if err := os.Symlink(target, filepath.Join(dir, at)); err != nil {
					t.Skip(err)
				}
			}
			items, err := Specs(context.Background(), c.args, Options{Dir: dir})
			if err != nil {
				t.Fatal(err)
			}
			got := say(items)
			noLeak(t, got)
			if c.want == "" {
				if !items[0].Unreadable || !strings.HasPrefix(items[0].Problems[0].String(), "cue.mod/module.cue: ") {
					t.Errorf("got %s", got)
				}
				return
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

var leak = regexp.MustCompile(`larva-[0-9a-f]{24}|goroutine |/tmp/|\.go:\d`)

// noLeak: no path of ours and no stack trace in what a person reads.
func noLeak(t *testing.T, s string) {
	t.Helper()
	if m := leak.FindString(s); m != "" {
		t.Errorf("%q in %s", m, s)
	}
}

// TestChildAgrees evaluates the same tree in this process and in a child.
func TestChildAgrees(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{
		"p/a.cue": headEmbed + "_t: string @embed(file=t.md,type=text)\n" + persona("a", "_t") + strings.Replace(persona("b", "5"), "read_only", "reed_only", 1),
		"p/t.md":  "hi", "p/b.cue": goodCUE, "p/c.json": goodJSON, "p/d.cue": "spec_version: {",
	})
	args := []string{"p", "p/a.cue", "p/b.cue", "none.cue"}
	here, err := Specs(context.Background(), args, Options{Dir: dir, Trusted: true})
	if err != nil {
		t.Fatal(err)
	}
	there, err := Specs(context.Background(), args, untrusted(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(say(here), say(there)); diff != "" {
		t.Error(diff)
	}
	if len(here) != 9 {
		t.Errorf("got %d items:\n%s", len(here), say(here))
	}
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{"a.cue": exponential})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, o := range []Options{{Dir: dir}, untrusted(t, dir)} {
		if _, err := Specs(ctx, []string{"a.cue"}, o); err == nil {
			t.Error("no error")
		}
	}
}

// TestDeadChild: a child without an answer is a sentence, not a stack trace.
func TestDeadChild(t *testing.T) {
	t.Parallel()
	o := Options{Dir: write(t, map[string]string{"a.cue": goodCUE}), Self: []string{"false"}}
	items, err := Specs(context.Background(), []string{"a.cue"}, o)
	if err != nil {
		t.Skip(err)
	}
	if got := say(items); got != "a.cue \n  a.cue: the process that evaluates it ended with exit code 1 and no answer\n" {
		t.Errorf("got %s", got)
	}
}

func TestShipped(t *testing.T) {
	t.Parallel()
	items, err := SpecsFS(context.Background(), personas.FS, "personas")
	if err != nil {
		t.Fatal(err)
	}
	for _, it := range items {
		if it.Source == nil || len(it.Notices) > 0 || !strings.HasPrefix(it.File, "personas/") {
			t.Errorf("%s", say([]Item{it}))
		}
	}
	if len(items) < 5 {
		t.Errorf("got %d personas", len(items))
	}
	layers, err := ProfilesFS(context.Background(), profiles.FS)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"default", "ci", "local", "offline"} {
		l, ok := layers[name]
		if !ok || l.File != "profiles/"+name+".cue" || len(l.Origins) == 0 {
			t.Errorf("%s: %+v", name, l)
		}
	}
	// The same trees by their files, as anybody else's.
	root := filepath.Join("..", "..")
	listed, err := Specs(context.Background(), []string{"personas"}, Options{Dir: root})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(say(items), say(listed)); diff != "" {
		t.Error(diff)
	}
}

func TestDirectory(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{
		"d/b.json": goodJSON, "d/a/z.yaml": "spec_version: 0.1.0\nid: z\n", "d/c.toml": "[tool.x]\ndescription = \"no persona\"\n",
		"d/package.json": `{"name": "x", "version": "1", "description": "y"}`, "d/tsconfig.json": "{ // comment\n}", "d/broken.json": `{"spec_version": `,
		"d/node_modules/x.json": goodJSON, "d/.hidden/x.json": goodJSON, "d/.x.json": goodJSON, "d/cue.mod/pkg/x.json": goodJSON,
		"d/README.md": "# hello\n", "d/agent.md": "---\nname: x\ndescription: y\ntools: Read\n---\nz\n", "d/m.md": "---\nname: m\nspec_version: 0.1.0\n---\nz\n",
		"d/lib.cue": "package lib\n\n#X: 5\n", "d/flat.cue": goodCUE, "d/_x.cue": "id: {", "d/notes.txt": "x", "empty/x.txt": "",
		"agents/a.md": "---\nname: x\ntools: Read\n---\nz\n",
	})
	items, err := Specs(context.Background(), []string{"d"}, Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, it := range items {
		got = append(got, it.File)
	}
	want := []string{"d/b.json", "d/broken.json", "d/flat.cue", "d/m.md", "d/a/z.yaml"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for arg, want := range map[string]string{
		"empty":  "empty \n  empty: holds no persona\n",
		"agents": "agents \n  agents: holds no persona (agents/a.md is an agent definition of Claude Code's kind, and no persona; see: larva agent list)\n",
		"gone":   "gone \n  gone: no such file or directory\n",
	} {
		items, err := Specs(context.Background(), []string{arg}, Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, say(items)); diff != "" {
			t.Error(diff)
		}
		if items[0].Code != diag.InvalidInput || !items[0].Unreadable {
			t.Errorf("%s: %+v", arg, items[0])
		}
	}
}
