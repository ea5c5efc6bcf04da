package page_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// searching finds over id, model and description, and goes by addresses.
func searching(t *testing.T, browser context.Context) {
	p := company(t)
	tb := newTab(t, browser, p.url)
	tb.open("")
	tb.waitText("#main h1", "Personas as code")
	tb.waitText("#count", "7 personas")
	for _, c := range [][2]string{
		{"CODE", "code-reviewer implementer"},
		{"mistral", "translator"},
		{"opus task", "conductor planner"},
		{"names sources", "researcher"},
		{"no such thing!", ""},
	} {
		query, want := c[0], c[1]
		tb.fill("#search", query)
		if got := eval[string](tb, `[...document.querySelectorAll('.rows a')].map(a => a.dataset.id).join(' ')`); got != want {
			t.Errorf("search %q: got %q, want %q", query, got, want)
		}
	}
	tb.waitText("#list", "Nothing matches")
	tb.key(kb.Escape)
	tb.waitText("#count", "7 personas")
	tb.click(`.rows a[data-id=planner]`)
	tb.waitText("#main h1", "planner")
	tb.wait(`location.hash === '#/persona/planner' && document.querySelector('.rows a[aria-current]').dataset.id === 'planner'`)
	tb.open("#/persona/code-reviewer/terse")
	tb.wait(`document.querySelector('.chip[aria-current]').dataset.variant === 'terse'`)
	tb.open("#/persona/nobody")
	tb.allow("404")
	tb.waitText("#main h1", "There is no such persona")
	tb.visit("#/persona/planner/nothing", "There is no such variant")
	tb.press("Show the active variant")
	tb.waitText("#main h1", "planner")
	eval[any](tb, `history.back()`)
	tb.waitText("#main h1", "There is no such variant")
}

// many searches and scrolls ten thousand personas: an answer, drawn, within
// 50 ms, and never more rows than fit.
func many(t *testing.T, browser context.Context) {
	const n = 10_000
	p := newPlace(t)
	p.answer(map[string]any{"/api/personas": crowd(n)})
	tb := newTab(t, browser, p.url)
	tb.open("")
	tb.waitText("#count", "10,000 personas")
	for _, query := range []string{"persona-0999", "number 77", "mistral 4321", "sentence", "zzz"} {
		ms := eval[float64](tb, fmt.Sprintf(`(() => { const f = document.querySelector('#search'); let best = Infinity;
			// The best of seven, of more where the machine is busy: what the page needs, not what else goes on.
			for (let i = 0; i < 7 || best > 50 && i < 70; i++) {
				f.value = ''; f.dispatchEvent(new Event('input'));
				f.value = %s; const t = performance.now();
				f.dispatchEvent(new Event('input')); document.querySelector('#list').getBoundingClientRect();
				best = Math.min(best, performance.now() - t) }
			return best })()`, quote(query)))
		t.Logf("search %q over %d: %.1f ms", query, n, ms)
		if ms > 50 {
			t.Errorf("search %q over %d took %.1f ms, want at most 50", query, n, ms)
		}
	}
	tb.fill("#search", "persona-0999")
	tb.waitText("#count", "10 of 10,000")
	tb.fill("#search", "")
	tb.key(kb.ArrowDown)
	tb.key(kb.End)
	tb.wait(`document.activeElement.dataset.id === 'persona-09999'`)
	if rows := eval[int](tb, `document.querySelectorAll('.rows li').length`); rows > 60 {
		t.Errorf("%d rows exist, want only those in sight", rows)
	}
	if got := eval[string](tb, `document.activeElement.parentElement.getAttribute('aria-posinset') + ' of ' + document.activeElement.parentElement.getAttribute('aria-setsize')`); got != "10000 of 10000" {
		t.Errorf("the row says %s", got)
	}
	eval[any](tb, `document.querySelector('#list').scrollTop = 0`)
	tb.wait(`document.querySelector('.rows a[data-id="persona-00000"]') && document.activeElement.dataset.id === 'persona-09999'`)
}
