package page_test

import (
	"context"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// variants creates, compares, activates and deletes.
func variants(t *testing.T, browser context.Context) {
	p := company(t)
	tb := newTab(t, browser, p.url)
	tb.open("#/persona/code-reviewer/terse")
	tb.wait(`document.querySelector('.chip[aria-current]').dataset.variant === 'terse'`)
	tb.press("New variant")
	tb.fill("dialog input", "Not A Name")
	tb.waitText("dialog .complaint", "Small letters")
	tb.press("Create")
	tb.fill("dialog input", "default")
	tb.waitText("dialog .complaint", "There is one of that name")
	tb.fill("dialog input", "gentle")
	tb.press("Create")
	tb.wait(`document.querySelector('.chip[aria-current]').dataset.variant === 'gentle' && location.hash === '#/persona/code-reviewer/gentle'`)
	if got, want := tb.written(), "PUT /api/registry/personas/code-reviewer/variants/gentle If-None-Match *"; got != want {
		t.Errorf("the page wrote\n%s\nwant\n%s", got, want)
	}
	p.wantStored("code-reviewer", "gentle", "model", `"openai/gpt-6-mini"`)

	tb.press("Compare")
	tb.waitText("#main h1", "Variants of code-reviewer")
	tb.wait(`location.hash === '#/compare/code-reviewer/default/gentle'`)
	if got := eval[string](tb, `[...document.querySelectorAll('[data-field=prompt] tr.differs')].map(r => [...r.querySelectorAll('.code')].map(c => c.textContent).join(' | ')).join('\n')`); got != "only left: 2. say what breaks, and when, | only right: 2. say what breaks.\nonly left: 3. propose the smallest mend.\nonly left: Do not praise. Do not retell what the author knows. | only right: Do not praise. Five problems at most." {
		t.Errorf("the diff of the prompts is\n%s", got)
	}
	tb.press("2 lines the same")
	tb.wait(`document.querySelector('[data-field=prompt] tbody .code').textContent.startsWith('Read the whole')`)
	tb.press("Swap the sides")
	tb.wait(`location.hash === '#/compare/code-reviewer/gentle/default' && document.querySelector('.diff th').textContent === 'gentle'`)
	eval[any](tb, `(() => { const s = document.querySelector('.picks select'); s.value = 'terse'; s.dispatchEvent(new Event('change')) })()`)
	tb.wait(`location.hash === '#/compare/code-reviewer/terse/default'`)

	tb.hash("#/persona/code-reviewer/gentle")
	tb.press("Make active")
	tb.wait(`document.querySelector('.chip[data-variant=gentle] .chip-note')`)
	if info, err := p.reg.VariantList("code-reviewer"); err != nil || info.Active != "gentle" {
		t.Errorf("active: got %v, %v, want gentle", info.Active, err)
	}
	tb.click(`.chip[data-variant=terse]`)
	tb.press("Delete variant")
	tb.wait(`document.querySelector('dialog button.danger').disabled`)
	tb.fill("dialog input", "ters")
	tb.wait(`document.querySelector('dialog button.danger').disabled`)
	tb.fill("dialog input", "terse")
	tb.click("dialog button.danger")
	tb.wait(`!document.querySelector('.chip[data-variant=terse]') && document.querySelector('.chip[aria-current]').dataset.variant === 'gentle'`)
	if info, err := p.reg.VariantList("code-reviewer"); err != nil || len(info.Variants) != 2 {
		t.Errorf("variants: got %v, %v, want default and gentle", info.Variants, err)
	}
}

// cloning copies a persona, and deletes one when its id is typed.
func cloning(t *testing.T, browser context.Context) {
	p := newPlace(t, testWriter, researcher)
	tb := newTab(t, browser, p.url)
	tb.open("#/persona/researcher")
	tb.press("Clone")
	tb.fill("dialog input", "test-writer")
	tb.waitText("dialog .complaint", "There is a persona of that id")
	tb.fill("dialog input", "reader")
	tb.key(kb.Enter)
	tb.waitText("#main h1", "reader")
	tb.waitText("#count", "3 personas")
	p.wantStored("reader", "", "model", `"openai/gpt-6"`)

	tb.press("Delete")
	tb.key(kb.Escape)
	tb.wait(`!document.querySelector('dialog')`)
	tb.press("Delete")
	tb.fill("dialog input", "reader")
	tb.click("dialog button.danger")
	tb.waitText("#main h1", "Personas as code")
	tb.waitText("#count", "2 personas")
	for _, id := range []string{"researcher", "test-writer"} {
		tb.hash("#/persona/" + id)
		tb.waitText("#main h1", id)
		tb.press("Delete")
		tb.fill("dialog input", id)
		tb.click("dialog button.danger")
		tb.wait(`!document.querySelector('dialog, .detail')`)
	}
	tb.waitText("#main h1", "No personas yet")
	tb.waitText("#main code", "larva register")
	tb.shot("empty")
	if ids, err := p.reg.IDs(); err != nil || len(ids) != 0 {
		t.Errorf("left over: %v, %v", ids, err)
	}
	tb.press("Import a persona")
	tb.wait(`document.querySelector('dialog[open]')`)
}

// guarding keeps staged changes from going by accident.
func guarding(t *testing.T, browser context.Context) {
	p := company(t)
	tb := newTab(t, browser, p.url)
	tb.open("#/persona/planner")
	tb.fill(`[data-field=model] input`, "staged")
	tb.click(`.rows a[data-id=translator]`)
	tb.waitText("dialog h2", "Changes are not saved")
	tb.press("Stay")
	tb.wait(`location.hash === '#/persona/planner' && document.querySelector('[data-field=model] input').value === 'staged'`)
	tb.hash("#/graph")
	tb.press("Discard")
	tb.waitText("#main h1", "Who may call whom")
	p.wantStored("planner", "", "model", `"anthropic/claude-opus-5"`)
	tb.hash("#/persona/planner")
	tb.fill(`[data-field=model] input`, "kept")
	tb.click(`.rows a[data-id=translator]`)
	tb.click("dialog .primary")
	tb.waitText("#main h1", "translator")
	p.wantStored("planner", "", "model", `"kept"`)

	tb.fill(`[data-field=model] input`, "staged")
	asks := make(chan string, 1)
	if err := chromedp.Listen(tb.ctx, dialogType(asks)); err != nil {
		t.Fatal(err)
	}
	eval[any](tb, `void setTimeout(() => location.reload())`)
	if got := <-asks; got != "beforeunload" {
		t.Errorf("leaving the page opens %s, want beforeunload", got)
	}
	answerDialog(tb, false)
	tb.wait(`document.querySelector('[data-field=model] input').value === 'staged'`)
	tb.click("#discard")
}
