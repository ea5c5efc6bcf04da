package page_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// focus names what has the focus.
const focus = `(() => { const e = document.activeElement; return e.dataset?.id ?? e.id ?? e.tagName })()`

// keyboard goes through the page without a mouse.
func keyboard(t *testing.T, browser context.Context) {
	p := company(t)
	tb := newTab(t, browser, p.url)
	tb.open("")
	at := func(want string) { t.Helper(); tb.wait(focus + ` === ` + quote(want)) }
	tb.slash()
	at("search")
	tb.insert("write")
	tb.key(kb.ArrowDown)
	at("test-writer")
	tb.key(kb.ArrowUp)
	at("search")
	tb.key(kb.ArrowDown)
	tb.key(kb.ArrowDown)
	at("implementer")
	tb.key(kb.ArrowDown)
	at("implementer")
	tb.key(kb.Enter)
	tb.waitText("#main h1", "implementer")
	tb.wait(`document.activeElement.tagName === 'H1'`)
	tb.key(kb.Escape)
	at("implementer")

	tb.slash()
	tb.key(kb.Escape)
	tb.waitText("#count", "7 personas")
	tb.insert("translator")
	tb.key(kb.Enter)
	tb.waitText("#main h1", "translator")
	tb.tabTo(`document.activeElement.closest('[data-field=model]')`)
	tb.key("a", chromedp.ModifierCtrl)
	tb.insert("typed/by-keys")
	tb.tabTo(`document.activeElement.getAttribute('aria-label') === 'Add a capability family'`)
	tb.insert("shell")
	tb.key(kb.Enter)
	tb.wait(`document.activeElement.value === 'none' && document.activeElement.type === 'radio'`)
	tb.key(kb.ArrowRight)
	tb.wait(`document.activeElement.value === 'read_only'`)
	tb.key("s", chromedp.ModifierCtrl)
	tb.waitText(".toasts", "Saved")
	p.wantStored("translator", "", "model", `"typed/by-keys"`)
	p.wantStored("translator", "", "capabilities", `{"shell":"read_only"}`)

	// A dialog keeps the focus, Escape closes it and gives the focus back.
	tb.tabTo(`document.activeElement.id === 'delete'`)
	tb.key(kb.Enter)
	tb.wait(`document.querySelector('dialog[open]')?.contains(document.activeElement)`)
	for range 8 {
		tb.key(kb.Tab)
		if !eval[bool](tb, `document.activeElement === document.body || document.querySelector('dialog[open]').contains(document.activeElement)`) {
			t.Fatalf("Tab leaves the dialog for %s", eval[string](tb, focus))
		}
	}
	tb.key(kb.Escape)
	at("delete")

	tb.visit("#/graph", "Who may call whom")
	tb.tabTo(`document.activeElement.matches('.node')`)
	at("conductor")
	tb.key(kb.ArrowDown)
	at("planner")
	tb.key(kb.ArrowRight)
	tb.wait(`document.querySelectorAll('.edge.on').length > 0 && document.querySelector('.drawing.lit')`)
	tb.key(kb.ArrowLeft)
	at("planner")
	tb.key(kb.Enter)
	tb.waitText("#main h1", "planner")
	if got := eval[string](tb, `getComputedStyle(document.querySelector('#search')).outlineStyle`); got != "none" {
		t.Errorf("without focus the search has an outline %s", got)
	}
	tb.slash()
	if got := eval[string](tb, `getComputedStyle(document.activeElement).outlineStyle`); got != "solid" {
		t.Errorf("the focus cannot be seen: outline %s", got)
	}
}

// slash presses / as a keyboard does: the character comes only where the page
// lets the key through, which chromedp's key events do not ask.
func (tb *tab) slash() {
	tb.t.Helper()
	for _, typ := range []input.DispatchKeyEventType{input.DispatchKeyEventTypeRawKeyDown, input.DispatchKeyEventTypeKeyUp} {
		call(tb, func() error {
			_, err := chromedp.Call(tb.ctx, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: typ, Key: "/", Code: "Slash", WindowsVirtualKeyCode: 191})
			return err
		})
	}
}

// tabTo presses Tab until an expression holds.
func (tb *tab) tabTo(js string) {
	tb.t.Helper()
	for range 80 {
		tb.key(kb.Tab)
		if eval[bool](tb, `!!(`+js+`)`) {
			return
		}
	}
	tb.t.Fatalf("Tab never comes to %s", js)
}

// naming asks the browser's accessibility tree, in every view: each control
// has a name, each view one main landmark and one first heading, and no two
// controls of one view share an id.
func naming(t *testing.T, browser context.Context) {
	p := company(t)
	tb := newTab(t, browser, p.url)
	tb.open("#/persona/code-reviewer")
	look := func(view string) {
		t.Helper()
		for _, theme := range []string{"light", "dark"} {
			tb.media("prefers-color-scheme", theme, "prefers-reduced-motion", "reduce")
			if got := eval[string](tb, pale); got != "" {
				t.Errorf("%s, %s: text too pale to read: %s", view, theme, got)
			}
		}
		for _, bad := range tb.nameless() {
			t.Errorf("%s: %s", view, bad)
		}
		if got := eval[string](tb, `[...document.querySelectorAll('[id]')].map(e => e.id).filter((id, i, all) => all.indexOf(id) !== i).join()`); got != "" {
			t.Errorf("%s: ids that stand twice: %s", view, got)
		}
		if got := eval[int](tb, `document.querySelectorAll('main h1').length`); got != 1 {
			t.Errorf("%s: %d first headings, want 1", view, got)
		}
	}
	look("detail")
	tb.press("Edit the prompt")
	tb.fill(`[data-key=temperature] input`, "x")
	look("detail with changes")
	tb.click("#save")
	tb.wait(`document.querySelector('.toast.error')`)
	look("message")
	tb.click("#discard")
	for _, name := range []string{"New variant", "Clone", "Delete", "Import"} {
		tb.press(name)
		tb.wait(`document.querySelector('dialog[open]')`)
		look("dialog " + name)
		tb.key(kb.Escape)
		tb.wait(`!document.querySelector('dialog')`)
	}
	tb.click("#json")
	look("JSON")
	tb.visit("#/compare/code-reviewer", "Variants of")
	look("diff")
	tb.visit("#/graph/planner", "Whom planner may call")
	tb.press("As a table")
	look("graph")
	tb.visit("#/", "Personas as code")
	look("home")
	if got := eval[string](tb, `[...document.querySelectorAll('header, nav, main, [role=search], [role=region]')].map(e => (e.getAttribute('role') ?? e.tagName.toLowerCase())).join(' ')`); !strings.HasPrefix(got, "header search nav main region") {
		t.Errorf("the landmarks are %s", got)
	}
}

// pale lists texts whose contrast is below 4.5 to 1, or 3 to 1 for large ones.
// What is disabled does not count.
const pale = `(() => {
	const canvas = new OffscreenCanvas(1, 1).getContext('2d', {willReadFrequently: true});
	const rgba = c => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = c; canvas.fillRect(0, 0, 1, 1); const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data; return [r, g, b, a / 255] };
	const lum = c => { const [r, g, b] = c.map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b };
	const under = el => { const stack = []; for (let e = el; e; e = e.parentElement) { const c = rgba(getComputedStyle(e).backgroundColor); stack.push(c); if (c[3] === 1) break }
		return stack.reverse().reduce((base, c) => base.map((v, i) => v * (1 - c[3]) + c[i] * c[3]), [255, 255, 255]) };
	const out = new Set();
	const root = document.querySelector('dialog[open]') ?? document.body;
	const walk = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
	while (walk.nextNode()) {
		const el = walk.currentNode.parentElement;
		if (!walk.currentNode.data.trim() || !el.checkVisibility() || el.closest('.away, :disabled, title, svg, [hidden], option, .skip')) continue;
		const style = getComputedStyle(el);
		const [fg, bg] = [lum(rgba(style.color).slice(0, 3)), lum(under(el))];
		const ratio = (Math.max(fg, bg) + 0.05) / (Math.min(fg, bg) + 0.05);
		if (ratio < (parseFloat(style.fontSize) >= 24 ? 3 : 4.5)) out.add(walk.currentNode.data.trim().slice(0, 20) + ' ' + ratio.toFixed(2));
	}
	return [...out].join(', ');
})()`

// nameless lists the controls of the accessibility tree that have no name,
// and checks that there are some with one.
func (tb *tab) nameless() []string {
	tb.t.Helper()
	tree, err := chromedp.Call(tb.ctx, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
	if err != nil {
		tb.t.Fatal(err)
	}
	var out []string
	controls := 0
	for _, n := range tree.Nodes {
		if n.Ignored || n.Role == nil {
			continue
		}
		role, name := unquote(n.Role), ""
		if n.Name != nil {
			name = unquote(n.Name)
		}
		switch role {
		case "button", "link", "textbox", "searchbox", "combobox", "radio", "checkbox", "ComboBoxMenuSelect", "dialog", "navigation", "main", "search", "region", "radiogroup", "table", "DisclosureTriangle":
			controls++
			if strings.TrimSpace(name) == "" && role != "search" {
				out = append(out, fmt.Sprintf("a %s has no name", role))
			}
		}
	}
	if controls < 5 {
		out = append(out, fmt.Sprintf("only %d controls in the tree: was it read?", controls))
	}
	return out
}

func unquote(v *accessibility.Value) string { return strings.Trim(string(v.Value), `"`) }
