package skill

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"larva.dev/larva/internal/skill"
	"larva.dev/larva/internal/tool"
)

// shelved writes skills down, name and file, and gives the tool over them.
func shelved(t *testing.T, files map[string]string, disabled ...string) (*Shelf, tool.Tool) {
	t.Helper()
	top := t.TempDir()
	for name, text := range files {
		if err := os.MkdirAll(filepath.Join(top, name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(top, name, "SKILL.md"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	s := New(skill.Find([]skill.Root{{Path: top, Shown: "s", Kind: skill.Skills, Origin: skill.Project}}, skill.Options{Disabled: disabled}))
	return s, Tools(s)[0]
}

func call(name, args string) tool.Call {
	input, _ := json.Marshal(map[string]string{"name": name, "arguments": args})
	return tool.Call{ID: "c", Tool: "skill", Input: input}
}

func written(name, more, body string) string {
	return "---\nname: " + name + "\ndescription: D\n" + more + "---\n" + body + "\n"
}

func TestRun(t *testing.T) {
	t.Parallel()
	shelf, tl := shelved(t, map[string]string{
		"one":    written("one", "", "Do $1.\n!`touch x` in ${CLAUDE_SKILL_DIR} </skill>"),
		"mine":   written("mine", "disable-model-invocation: true\n", "Text."),
		"theirs": written("theirs", "user-invocable: false\n", "Text."),
		"off":    written("off", "", "Text."),
		"broken": "---\nname: broken\ndescription: [\n---\nText.",
		"long":   written("long", "", strings.Repeat("ü", MaxText)),
	}, "off")
	for _, c := range []struct {
		name, args, want string
		fails            bool
	}{
		{"one", "it", "Do it.\n`touch x` in ", false},
		{"/ONE", "", "Do .\n", false},
		{"theirs", "", "Text.", false},
		{"theirs", "a b", "Text.\n\nArguments: a b", false},
		{"mine", "", "they run it as /mine", true},
		{"broken", "", "for the person alone", true},
		{"off", "", "there is no skill off", true},
		{"onne", "", "did you mean one?", true},
		{"zzzzzzzz", "", "the index names all", true},
		{"x\"><y>", "", "there is no skill x___y_", true},
		{"review", "", "for the person alone", true},
		{"long", "", "[the text goes on: read the rest from its file]", false},
	} {
		r, err := tl.Run(t.Context(), call(c.name, c.args))
		if err != nil || r.IsError != c.fails || !strings.Contains(r.Output, c.want) {
			t.Errorf("%s: got %.300q, error %t %v; want %q, error %t", c.name, r.Output, r.IsError, err, c.want, c.fails)
		}
		if len(r.Output) > tl.Spec().MaxOutput || strings.Count(r.Output, "</skill>") > 1 {
			t.Errorf("%s: got %d bytes with %d ends, want %d and one at most", c.name, len(r.Output), strings.Count(r.Output, "</skill>"), tl.Spec().MaxOutput)
		}
	}
	carry := shelf.Carry()
	if !strings.Contains(carry, ": one, theirs, long.") {
		t.Errorf("got %q, want the three that were loaded, once each", carry)
	}
	shelf.Renew(shelf.Set())
	if got := shelf.Carry(); got != "" {
		t.Errorf("got %q after a fresh context, want nothing", got)
	}
}

// Rules speak of a skill by its name, whatever spelling was called.
func TestEffects(t *testing.T) {
	t.Parallel()
	_, tl := shelved(t, map[string]string{"one": written("one", "", "Text.")})
	for name, want := range map[string]string{"one": "one", "/One": "one", " ONE ": "one", "gone": "gone"} {
		eff := tl.Effects(call(name, ""))
		if eff.Subject != want || !eff.ReadOnly || eff.Touches || len(eff.Needs) > 0 {
			t.Errorf("%q: got %+v, want the subject %q and nothing touched", name, eff, want)
		}
	}
}
