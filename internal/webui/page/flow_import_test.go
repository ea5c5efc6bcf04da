package page_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// importing pastes, sees problems where they are, mends, registers; takes a
// file; and is told why another contract is refused.
func importing(t *testing.T, browser context.Context) {
	p := company(t)
	tb := newTab(t, browser, p.url)
	tb.open("")
	tb.press("Import")
	bad := "{\n  \"id\": \"poet\",\n  \"description\": \"Writes short verse for release notes.\",\n  \"prompt\": \"Write a verse.\",\n  \"model\": \"openai/gpt-6\",\n  \"capabilities\": {\"shell\": \"ofte\u0301n\"},\n  \"spec_version\": \"0.1.0\"\n}\n"
	tb.fill("dialog textarea", bad)
	tb.waitText(".verdict", "1 problem")
	tb.wait(`document.querySelector('dialog .primary').disabled && document.querySelector('.gutter .bad').textContent === '6'`)
	tb.click(".place")
	if got := eval[string](tb, `(() => { const f = document.querySelector('dialog textarea'); return document.activeElement === f ? f.value.slice(f.selectionStart, f.selectionStart + 6) : 'no focus' })()`); got != "\"ofte\u0301" {
		t.Errorf("the place leads to %q, want the posture", got)
	}
	tb.fill("dialog textarea", "{\n  \"id\": poet\n}")
	tb.waitText(".place", "2:9")
	good := `{"id":"poet","description":"Writes short verse for release notes.","prompt":"Write a verse.","model":"openai/gpt-6","capabilities":{"shell":"none"},"model_params":{"temperature":1.0},"spec_version":"0.1.0"}`
	tb.fill("dialog textarea", good)
	tb.waitText(".verdict", "Valid: poet new")
	tb.press("Register")
	tb.waitText("#main h1", "poet")
	tb.waitText("#count", "8 personas")
	p.wantStored("poet", "", "model_params", `{"temperature":1.0}`)

	tb.press("Import")
	tb.fill("dialog textarea", `{"id":"poet","description":"Another contract than the stored one.","prompt":"Write.","model":"m","capabilities":{"shell":"none"},"spec_version":"0.1.0"}`)
	tb.waitText(".verdict", "registered already")
	tb.press("Register")
	tb.waitText(".verdict .bad", "1 problem")
	tb.waitText(".verdict", "another contract (description)")

	tb.fill("dialog textarea", `{"id":"poet","description":"Writes short verse for release notes.","prompt":"Write a haiku.","model":"m","capabilities":{"shell":"none"},"spec_version":"0.1.0"}`)
	tb.waitText(".verdict", "Valid: poet")
	tb.fill(`.as-variant input[type=text]`, "haiku")
	tb.press("Register")
	tb.wait(`location.hash === '#/persona/poet/haiku' && document.querySelector('.chip[aria-current]')?.dataset.variant === 'haiku'`)
	p.wantStored("poet", "haiku", "prompt", `"Write a haiku."`)

	file := filepath.Join(t.TempDir(), "scribe.md")
	if err := os.WriteFile(file, []byte("---\nid: scribe\ndescription: Keeps the minutes of a long meeting.\nmodel: openai/gpt-6\ncapabilities: {filesystem: read_write}\nspec_version: 0.1.0\n---\nKeep the minutes.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tb.press("Import")
	tb.do(chromedp.SetUploadFiles(chromedp.CSS(`dialog input[type=file]`), []string{file}, chromedp.NodeReady))
	tb.waitText(".verdict", "scribe")
	tb.press("Register")
	tb.waitText("#main h1", "scribe")

	dropped := `(() => { const d = new DataTransfer(); d.items.add(new File([` + quote(good) + `], 'poet.json')); dispatchEvent(new DragEvent('drop', {dataTransfer: d, cancelable: true, bubbles: true})) })()`
	eval[any](tb, dropped)
	tb.waitText(".verdict", "registered already")
	tb.press("Cancel")
}
