package agent

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/model"
)

// The whole stream of one run, byte for byte. Reasons are permission's words
// and blanked here. LARVA_UPDATE=1 writes the file anew.
func TestStreamGolden(t *testing.T) {
	t.Parallel()
	m := model1(
		says("Looking.", call("c1", "read", `{"n":1}`), call("c2", "edit", `{"n":2}`),
			call("c3", "raed", `{}`), model.Call{ID: "c4", Tool: "read", Broken: `{"n":`}, call("c5", "read", `{"n":"x"}`)),
		stops(model.MaxTokens, "Half an ans"))
	h := newLoop(t, m, look(), change())
	h.mustRun(t)
	var got strings.Builder
	for _, e := range h.events {
		e.Body = blank(e.Body)
		line, err := e.AppendLine(nil)
		if err != nil {
			t.Fatal(err)
		}
		got.Write(line)
		got.WriteByte('\n')
	}
	golden := filepath.Join("testdata", "stream.jsonl")
	if os.Getenv("LARVA_UPDATE") != "" {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(strings.Split(got.String(), "\n"), strings.Split(string(want), "\n")); d != "" {
		t.Errorf("got-, want+\n%s", d)
	}
}

func blank(b event.Body) event.Body {
	words := func(d event.Decision) event.Decision {
		d.Reason, d.Reasons, d.Segments = "…", nil, nil
		return d
	}
	switch b := b.(type) {
	case event.Permission:
		b.Decision = words(b.Decision)
		return b
	case event.ToolEnd:
		if b.Decision != nil {
			d := words(*b.Decision)
			b.Decision = &d
			if d.Verdict == event.Deny {
				b.Output, b.Bytes = "…", 0
			}
		}
		return b
	case event.Result:
		for i := range b.Denials {
			b.Denials[i].Decision = words(b.Denials[i].Decision)
		}
		return b
	}
	return b
}
