package page_test

import (
	"context"
	"fmt"
	"testing"
)

// graphing draws who may call whom: cycles, itself, anybody, and ids that
// nobody has.
func graphing(t *testing.T, browser context.Context) {
	spec := func(id, spawn string) string {
		return fmt.Sprintf(`{"id":%q,"description":"A persona of the spawn graph.","prompt":"p","model":"m","capabilities":{},"can_spawn":%s,"spec_version":"0.1.0"}`, id, spawn)
	}
	p := newPlace(t, spec("a", `["b","c"]`), spec("b", `["c","b"]`), spec("c", `["a","nobody"]`), spec("free", `true`), spec("lone", `false`),
		spec("a-persona-whose-id-is-longer-than-a-node-is-wide", `["lone"]`))
	tb := newTab(t, browser, p.url)
	tb.open("#/graph")
	if got, want := tb.text(".graph .muted"), "6 personas, 8 calls · 1 id missing"; got != want {
		t.Errorf("the graph says %q, want %q", got, want)
	}
	edges := eval[string](tb, `[...document.querySelectorAll('.edge')].map(e => e.dataset.from.slice(0, 9) + '>' + e.dataset.to + (e.classList.contains('back') ? ' back' : '')).sort().join('\n')`)
	if want := "a-persona>lone\na>b\na>c\nb>b back\nb>c\nc>a back\nc>nobody\nfree>*"; edges != want {
		t.Errorf("the edges are\n%s\nwant\n%s", edges, want)
	}
	if got := eval[string](tb, `document.querySelector('.node.dangling').getAttribute('aria-label')`); got != "nobody, not registered, may call nobody, may be called by c" {
		t.Errorf("the dangling node says %q", got)
	}
	if got := eval[string](tb, `(() => { const boxes = [...document.querySelectorAll('.node rect')].map(e => e.getBoundingClientRect());
		return boxes.some((a, i) => boxes.some((b, j) => i < j && a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)) ? 'overlap' : '' })()`); got != "" {
		t.Error("nodes of the graph overlap")
	}
	if got := eval[string](tb, `[...document.querySelectorAll('.node text:first-of-type')].filter(e => e.getComputedTextLength() > 160).map(e => e.textContent).join()`); got != "" {
		t.Errorf("names wider than their nodes: %s", got)
	}
	tb.click(`.node[data-id=b]`)
	tb.waitText("#main h1", "b")
	tb.press("Calls")
	tb.waitText("#main h1", "Whom b may call")
	if got := eval[string](tb, `[...document.querySelectorAll('.node')].map(e => e.dataset.id).sort().join()`); got != "a,b,c,nobody" {
		t.Errorf("around b stand %s, want a,b,c,nobody", got)
	}
	tb.press("As a table")
	tb.waitText(".as-table tbody", "nobody (missing)")
	p.outside("lone", `{"can_spawn":["a"]}`)
	tb.press("Show all")
	tb.waitText(".graph .muted", "9 calls")
	tb.press("Larger")
	tb.visit("#/graph/lone", "Whom lone")
	tb.hash("#/graph/unknown")
	tb.waitText("#main", "No persona unknown is registered")
}

// crowding is a graph that nobody could read as a drawing: it says so at
// once, and where to begin.
func crowding(t *testing.T, browser context.Context) {
	p := newPlace(t, reviewer)
	p.answer(map[string]any{"/api/graph": wheel(9_000)})
	tb := newTab(t, browser, p.url)
	tb.open("")
	ms := eval[float64](tb, `new Promise(done => { const t = performance.now(); location.hash = '#/graph';
		const look = () => document.querySelector('.too-many') ? done(performance.now() - t) : setTimeout(look, 5); look() })`)
	tb.waitText(".too-many", "9,001 are too many to draw")
	tb.waitText(".too-many .chip", "hub9,000")
	t.Logf("9,000 calls told of in %.0f ms", ms)
	tb.visit("#/graph/spoke-17", "Whom spoke-17 may call")
	tb.wait(`document.querySelectorAll('.node').length === 2`)
}

// wheel is a graph of n personas that may all call one.
func wheel(n int) any {
	nodes, edges := []any{map[string]any{"id": "hub", "exists": true, "spawn": "none"}}, []any{}
	for i := range n {
		id := fmt.Sprintf("spoke-%d", i)
		nodes = append(nodes, map[string]any{"id": id, "exists": true, "spawn": "listed"})
		edges = append(edges, map[string]any{"from": id, "to": "hub"})
	}
	return map[string]any{"nodes": nodes, "edges": edges}
}

// narrow is a phone: the list and a persona are two views, and nothing is
// wider than the screen.
func narrow(t *testing.T, browser context.Context) {
	p := company(t)
	tb := newTab(t, browser, p.url)
	tb.size(360, 740)
	tb.open("")
	fits := func(view string) {
		t.Helper()
		if got := eval[string](tb, `[...document.querySelectorAll('main *, .side *, dialog *')].filter(e => e.checkVisibility() && e.getBoundingClientRect().right > 361 && !e.closest('.canvas, .scroll, .editor, .away, pre')).map(e => e.tagName + '.' + e.className).slice(0, 5).join()`); got != "" {
			t.Errorf("%s: wider than 360 px: %s", view, got)
		}
		if got := eval[string](tb, `[...document.querySelectorAll('.segment label, .button')].filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.textContent).join()`); got != "" {
			t.Errorf("%s: words wider than what holds them: %s", view, got)
		}
	}
	seen := func(list, main bool) {
		t.Helper()
		tb.wait(fmt.Sprintf(`document.querySelector('#list').checkVisibility() === %t && document.querySelector('#main').checkVisibility() === %t`, list, main))
	}
	seen(true, false)
	fits("list")
	tb.click(`.rows a[data-id=code-reviewer]`)
	tb.waitText("#main h1", "code-reviewer")
	seen(false, true)
	fits("detail")
	tb.fill(`[data-field=model] input`, "x")
	tb.wait(`!document.querySelector('.save-bar').hidden`)
	fits("save bar")
	tb.click("#discard")
	tb.visit("#/compare/code-reviewer/default/terse", "Variants of")
	fits("diff")
	tb.visit("#/graph", "Who may call")
	fits("graph")
	tb.press("Personas")
	seen(true, false)
	tb.press("Import")
	tb.wait(`document.querySelector('dialog[open]')`)
	fits("import")
	tb.press("Cancel")

	// The theme is chosen and kept; less motion is asked for and given.
	tb.press("Theme: as the system")
	tb.press("Theme: light")
	tb.open("")
	tb.wait(`document.documentElement.dataset.theme === 'dark' && getComputedStyle(document.body).colorScheme === 'dark'`)
	tb.press("Theme: dark")
	tb.media("prefers-reduced-motion", "reduce")
	tb.open("#/persona/planner")
	tb.press("JSON")
	if got := eval[string](tb, `document.getAnimations().map(a => (a.animationName ?? a.transitionProperty) + ' of ' + a.effect.target.className).join()`); got != "" {
		t.Errorf("moves although less motion is asked for: %s", got)
	}
}
