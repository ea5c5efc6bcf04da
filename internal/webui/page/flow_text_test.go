package page_test

import (
	"context"
	"strings"
	"testing"

	"larva.dev/larva/internal/spec"
)

// hostile is text that becomes script or markup wherever text is taken for
// markup.
const hostile = `"><img src=x onerror="window.hit=1"><script>window.hit=1</script><svg onload="window.hit=1">{{7*7}}javascript:window.hit=1</textarea></pre></title>` + "\u202e\u0000$&"

// inertness puts hostile text into every field, and into an address, and
// looks at every view of it: all of it stays text.
func inertness(t *testing.T, browser context.Context) {
	text := func(s string) string { return string(spec.AppendCanonical(nil, s)) }
	one := `{"id":"evil","description":` + text("desc "+hostile) + `,"prompt":` + text("prompt\n"+hostile) + `,"model":` + text("model/"+hostile) +
		`,"capabilities":{` + text(hostile) + `:"read_only"},"can_spawn":["ghost"],"model_params":{` + text(hostile) + `:` + text(hostile) + `},"compaction_prompt":` + text("compact "+hostile) + `,"spec_version":"0.1.0"}`
	p := newPlace(t, one)
	p.register("other", strings.Replace(one, `"prompt\n`, `"another\n`, 1))
	tb := newTab(t, browser, p.url)
	tb.allow("404")
	tb.allow("400")
	calm := func(where string) {
		t.Helper()
		if got := eval[string](tb, `String(window.hit) + document.querySelectorAll('img, iframe, object, embed, script:not([src]), [onerror], [onload], [style*=expression]').length`); got != "undefined0" {
			t.Errorf("%s: hostile text came alive: %s", where, got)
		}
	}
	tb.open("#/persona/evil")
	calm("detail")
	shown := eval[string](tb, `[...document.querySelectorAll('pre.prompt')].map(e => e.textContent).concat([...document.querySelectorAll('main input[type=text], main textarea')].map(e => e.value)).join('\n')`)
	for _, want := range []string{"prompt\n" + hostile, "compact " + hostile, "desc " + hostile, "model/" + strings.ReplaceAll(hostile, "\n", "")} {
		if !strings.Contains(shown, want) {
			t.Errorf("the detail does not show %q as it is", want)
		}
	}
	tb.press("Edit the prompt")
	tb.click("#json")
	tb.waitText(".json pre", "onerror")
	calm("JSON")
	tb.visit("#/compare/evil/default/other", "Variants of evil")
	calm("diff")
	tb.visit("#/graph", "Who may call whom")
	calm("graph")
	tb.visit("#/persona/"+strings.NewReplacer("<", "%3C", ">", "%3E", `"`, "%22", " ", "%20", "/", "%2F").Replace("<img src=x onerror=window.hit=1>"), "That is no persona id")
	calm("address")
	tb.visit("#/persona/..%2f..%2fassets%2fmain.js", "That is no persona id")
	tb.press("Import")
	tb.fill("dialog textarea", one[:len(one)-1]+`,`+text(hostile)+`:1}`)
	tb.waitText(".verdict", "unknown field")
	calm("import")
	tb.press("Cancel")
	tb.fill("#search", hostile)
	calm("search")

	if got := eval[string](tb, `(() => { try { document.createElement('div').innerHTML = '<b>x</b>'; return 'markup' } catch (e) { return e.name } })()`); got != "TypeError" {
		t.Errorf("setting markup gives %s: the policy should refuse it", got)
	}
	tb.allow("TrustedHTML")
	// A breach is reported in a task of its own, after the call that made it.
	noticed := `new Promise(done => { const look = () => breaches.length ? done(breaches.splice(0)) : setTimeout(look, 8); look() })`
	if got := eval[[]string](tb, noticed); len(got) == 0 {
		t.Error("the breach above was not noticed, so none would be")
	}
	if got := eval[bool](tb, `fetch('http://localhost:1/').then(() => false, () => true)`); !got {
		t.Error("the page may fetch from elsewhere")
	}
	tb.allow("localhost:1")
	eval[[]string](tb, noticed)
}
