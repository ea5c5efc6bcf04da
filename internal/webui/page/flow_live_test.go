package page_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// staleTabs edits one persona in two tabs. The second to save sees both sides
// and loses neither.
func staleTabs(t *testing.T, browser context.Context) {
	p := company(t)
	one, two := newTab(t, browser, p.url), newTab(t, browser, p.url)
	for _, tb := range []*tab{one, two} {
		tb.allow("409")
		tb.open("#/persona/code-reviewer")
		tb.deaf() // as a tab is that wakes from sleep: only the write finds out
	}
	one.fill(`[data-field=model] input`, "model-of-one")
	one.fill(`[data-field=description] textarea`, "The description that the first tab wrote.")
	one.click("#save")
	one.waitText(".toasts", "Saved")

	two.fill(`[data-field=model] input`, "model-of-two")
	two.fill(`[data-key=temperature] input`, "0.9")
	two.click("#save")
	two.waitText("dialog h2", "Changed in the meantime")
	p.wantStored("code-reviewer", "", "model", `"model-of-one"`)
	if got := eval[string](two, `[...document.querySelectorAll('.side-field h3')].map(e => e.textContent).join(', ')`); got != "Description changed by them, Model changed by both, Model parameters changed by you" {
		t.Errorf("the sides are %s", got)
	}
	two.shot("conflict")
	two.press("Decide later")
	two.waitText(".banner", "newer version")
	two.press("Show both")
	two.press("Decide later")
	two.click("#save")
	two.press("Keep mine on top")
	two.waitText(".toasts", "Saved")
	p.wantStored("code-reviewer", "", "model", `"model-of-two"`)
	p.wantStored("code-reviewer", "", "description", `"The description that the first tab wrote."`)
	p.wantStored("code-reviewer", "", "model_params", `{"max_tokens":8192,"temperature":0.9}`)

	one.fill(`[data-field=model] input`, "model-of-one-again")
	one.click("#save")
	one.press("Take theirs")
	one.wait(`document.querySelector('[data-field=model] input').value === 'model-of-two' && document.querySelector('.save-bar').hidden`)
	p.wantStored("code-reviewer", "", "model", `"model-of-two"`)

	// The contract is shared: a tab on another variant meets the same.
	two.open("#/persona/code-reviewer/terse")
	two.deaf()
	p.outside("code-reviewer", `{"description":"A third process wrote this description."}`)
	two.fill(`[data-field=description] textarea`, "Mine of the second tab, on another variant.")
	two.fill(`[data-field=model] input`, "terse-of-two")
	two.click("#save")
	two.press("Keep mine on top")
	two.waitText(".toasts", "Saved")
	two.wait(`document.querySelector('.save-bar').hidden`)
	p.wantStored("code-reviewer", "terse", "model", `"terse-of-two"`)
	p.wantStored("code-reviewer", "", "description", `"Mine of the second tab, on another variant."`)
}

// living sees what another process does, without a reload.
func living(t *testing.T, browser context.Context) {
	p := company(t)
	tb := newTab(t, browser, p.url)
	tb.open("#/persona/planner")
	tb.waitText("#live-text", "live")
	p.outside("planner", `{"description":"Another process wrote this description."}`)
	tb.wait(`document.querySelector('[data-field=description] textarea').value === 'Another process wrote this description.'`)
	tb.waitText(`.rows a[data-id=planner]`, "Another process")

	tb.fill(`[data-field=model] input`, "staged")
	p.outside("planner", `{"description":"Another process wrote again."}`)
	tb.waitText(".banner", "newer version")
	if got := eval[string](tb, `document.querySelector('[data-field=model] input').value`); got != "staged" {
		t.Errorf("the staged model became %q", got)
	}
	tb.press("Show both")
	tb.press("Keep mine on top")
	tb.wait(`document.querySelector('[data-field=description] textarea').value === 'Another process wrote again.' && document.querySelector('[data-field=model] input').value === 'staged'`)
	tb.click("#save")
	tb.waitText(".toasts", "Saved")
	p.wantStored("planner", "", "description", `"Another process wrote again."`)
	p.wantStored("planner", "", "model", `"staged"`)

	// A change elsewhere leaves the focus and the place in the list alone.
	eval[any](tb, `(() => { const a = document.querySelector('.rows a[data-id=researcher]'); a.focus(); document.querySelector('#list').style.height = '120px'; document.querySelector('#list').style.flex = 'none'; document.querySelector('#list').scrollTop = 77 })()`)
	p.register("", strings.Replace(translator, "translator", "zzz-last", 1))
	tb.waitText("#count", "8 personas")
	if got := eval[string](tb, `document.activeElement.dataset.id + ' ' + document.querySelector('#list').scrollTop`); got != "researcher 77" {
		t.Errorf("after a change elsewhere focus and scroll are %s, want researcher 77", got)
	}
	tb.allow("404")
	tb.fill(`[data-field=model] input`, "orphan")
	if err := p.reg.Delete("planner"); err != nil {
		t.Fatal(err)
	}
	tb.waitText(".banner", "deleted by somebody else")
	tb.press("Register it anew")
	tb.waitText(".toasts", "Registered anew")
	p.wantStored("planner", "", "model", `"orphan"`)
	if err := p.reg.Delete("planner"); err != nil {
		t.Fatal(err)
	}
	tb.waitText("#main h1", "There is no such persona")
}

// breaking shows a registry that turns corrupt, what helps, and the way back.
func breaking(t *testing.T, browser context.Context) {
	p := company(t)
	tb := newTab(t, browser, p.url)
	tb.allow("500")
	tb.open("#/persona/planner")
	manifest := filepath.Join(p.root, "planner", "manifest.json")
	good, err := os.ReadFile(manifest)
	if err != nil {
		t.Fatal(err)
	}
	write := func(b []byte) {
		if err := os.WriteFile(manifest+".new", b, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(manifest+".new", manifest); err != nil {
			t.Fatal(err)
		}
	}
	write([]byte("{"))
	tb.waitText("#main h1", "The registry cannot be read")
	tb.waitText("#main", "larva doctor")
	tb.waitText(".facts", manifest)
	tb.waitText(".facts", "REGISTRY_CORRUPT")
	tb.waitText("#list", "cannot be read")
	tb.shot("corrupt")
	write(good)
	tb.waitText("#main h1", "planner")
	tb.waitText("#count", "7 personas")

	// A server that was started again has another token: this page may look
	// and says so when it may not write.
	addr := strings.TrimPrefix(p.url, "http://")
	tb.allow("401")
	tb.allow("ERR_")
	p.stop()
	tb.waitText("#live-text", "reconnecting")
	tb.fill(`[data-field=model] input`, "staged")
	tb.click("#save")
	tb.waitText(".toasts", "The server does not answer")
	p.serve(addr)
	tb.waitText("#live-text", "live")
	tb.click("#save")
	tb.waitText(".toasts", "started anew")
	tb.wait(`document.querySelector('[data-field=model] input').value === 'staged'`)
	tb.click("#discard")
	tb.press("Reload")
	tb.wait(`performance.getEntriesByType('navigation')[0].type === 'reload' && document.querySelector('#main h1')?.textContent === 'planner'`)
	tb.fill(`[data-field=model] input`, "written")
	tb.click("#save")
	tb.waitText(".toasts", "Saved")
	p.wantStored("planner", "", "model", `"written"`)
}
