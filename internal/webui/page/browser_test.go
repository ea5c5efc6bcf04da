package page_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// patience is how long a page may take for one step; only a failing test
// waits that long.
const patience = 20 * time.Second

// startBrowser starts the one browser that all flows share, in tabs. It lives
// until the test ends.
func startBrowser(t *testing.T) context.Context {
	t.Helper()
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.ExecPath(chromium(t)), chromedp.DisableGPU, chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-quic", true),
		// All flows in one renderer: to start one costs more than a step of a flow.
		chromedp.Flag("process-per-site", true), chromedp.Flag("renderer-process-limit", "1"), chromedp.Flag("disable-site-isolation-trials", true),
		chromedp.Flag("in-process-gpu", true), chromedp.Flag("hide-scrollbars", true), chromedp.WindowSize(1280, 860))
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox) // chromium refuses to build its sandbox as root
	}
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(stop)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("chromium does not start: %v", err)
	}
	return ctx
}

// chromium finds the browser. A machine without one skips the flows; CI may not.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			return p
		}
	}
	if os.Getenv("CI") != "" {
		t.Fatal("no chromium: scripts/setup.sh installs it")
	}
	t.Skip("no chromium: scripts/setup.sh installs it")
	return ""
}

// tab is one page of the browser on one server.
type tab struct {
	t   *testing.T
	ctx context.Context
	url string

	mu       sync.Mutex
	problems []string // what the console said that it should not
	allowed  []string // parts of messages that the flow brings about on purpose
	writes   []string // "METHOD path condition" of each request that changes something
	loads    int
}

// watchViolations notes breaches of the content security policy before any
// script of the page runs.
const watchViolations = `window.breaches = []; addEventListener('securitypolicyviolation', e => breaches.push(e.violatedDirective + ' ' + e.blockedURI + ' ' + e.sourceFile + ':' + e.lineNumber));`

// newTab opens an empty tab. What the console says against the page fails the test
// at its end.
func newTab(t *testing.T, browser context.Context, url string) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser)
	t.Cleanup(cancel)
	tb := &tab{t: t, ctx: ctx, url: url}
	tb.do(chromedp.Func(func(context.Context, *chromedp.Target) error { return nil }))
	if err := chromedp.Listen(ctx, tb.hear); err != nil {
		t.Fatal(err)
	}
	call(tb, func() error { _, err := chromedp.Call(ctx, log.Enable, struct{}{}); return err })
	call(tb, func() error { _, err := chromedp.Call(ctx, network.Enable, network.EnableParams{}); return err })
	call(tb, func() error {
		_, err := chromedp.Call(ctx, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
		return err
	})
	call(tb, func() error {
		_, err := chromedp.Call(ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: watchViolations})
		return err
	})
	t.Cleanup(tb.verdict)
	return tb
}

func call(tb *tab, f func() error) {
	tb.t.Helper()
	if err := f(); err != nil {
		tb.t.Fatal(err)
	}
}

// hear runs in the loop of the tab: it only notes.
func (tb *tab) hear(ev any) {
	var said string
	switch ev := ev.(type) {
	case *runtime.EventExceptionThrown:
		said = "exception: " + ev.ExceptionDetails.Text
		if ev.ExceptionDetails.Exception != nil {
			said += " " + ev.ExceptionDetails.Exception.Description
		}
	case *runtime.EventConsoleAPICalled:
		if ev.Type != runtime.ConsoleAPICalledTypeError && ev.Type != runtime.ConsoleAPICalledTypeWarning {
			return
		}
		said = fmt.Sprintf("console.%s", ev.Type)
		for _, a := range ev.Args {
			said += " " + a.Description + string(a.Value)
		}
	case *log.EventEntryAdded:
		if ev.Entry.Level != log.EntryLevelError && ev.Entry.Level != log.EntryLevelWarning {
			return
		}
		said = fmt.Sprintf("%s: %s %s", ev.Entry.Source, ev.Entry.Text, ev.Entry.URL)
	case *network.EventRequestWillBeSent:
		tb.noteWrite(ev.Request)
		return
	default:
		return
	}
	tb.mu.Lock()
	defer tb.mu.Unlock()
	tb.problems = append(tb.problems, said)
}

func (tb *tab) noteWrite(r *network.Request) {
	path := strings.TrimPrefix(r.URL, tb.url)
	if r.Method == "GET" || strings.HasPrefix(path, "/api/import/check") || path == "/api/personas/validate" {
		return
	}
	line := r.Method + " " + path
	for _, name := range []string{"If-Match", "If-None-Match"} {
		if v, ok := r.Headers[name]; ok {
			line += " " + name + " " + strings.Trim(fmt.Sprint(v), `"`)
		}
	}
	tb.mu.Lock()
	defer tb.mu.Unlock()
	tb.writes = append(tb.writes, line)
}

// written gives the writes since the last call, digests cut off.
func (tb *tab) written() string {
	tb.mu.Lock()
	defer tb.mu.Unlock()
	out := strings.Join(tb.writes, "\n")
	tb.writes = nil
	return regexp.MustCompile(`sha256:[0-9a-f]+`).ReplaceAllString(out, "sha256")
}

// allow lets a flow bring about a message that would fail it, by a part of it.
func (tb *tab) allow(part string) {
	tb.mu.Lock()
	defer tb.mu.Unlock()
	tb.allowed = append(tb.allowed, part)
}

func (tb *tab) verdict() {
	if tb.ctx.Err() == nil {
		for _, b := range eval[[]string](tb, `window.breaches ?? []`) {
			tb.t.Errorf("the content security policy is broken: %s", b)
		}
		if tb.t.Failed() {
			tb.shot("failed-" + strings.NewReplacer("/", "-", " ", "-").Replace(tb.t.Name()))
		}
	}
	tb.mu.Lock()
	defer tb.mu.Unlock()
	for _, p := range tb.problems {
		if !slices.ContainsFunc(tb.allowed, func(a string) bool { return strings.Contains(p, a) }) {
			tb.t.Errorf("the console says: %s", p)
		}
	}
}

func (tb *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	tb.t.Helper()
	if err := tb.try(steps...); err != nil {
		tb.t.Fatal(err)
	}
}

// try bounds the steps. The first steps of a tab bind it to their context, so
// those come without a bound (newTab).
func (tb *tab) try(steps ...chromedp.Action[chromedp.Void]) error {
	if chromedp.FromContext(tb.ctx).Target == nil {
		return chromedp.Do(tb.ctx, steps...)
	}
	ctx, cancel := context.WithTimeout(tb.ctx, patience)
	defer cancel()
	return chromedp.Do(ctx, steps...)
}

// open loads the page at a hash and waits until the list is there.
func (tb *tab) open(hash string) {
	tb.t.Helper()
	tb.loads++
	tb.do(chromedp.Navigate(fmt.Sprintf("%s/?%d%s", tb.url, tb.loads, hash))) // another query: a hash alone would load nothing
	tb.wait(`!document.querySelector('.loading, .skeleton') && document.querySelector('#main').children.length > 0`)
}

// visit goes to an address within the page and waits for what stands in its
// first heading.
func (tb *tab) visit(hash, heading string) {
	tb.t.Helper()
	tb.hash(hash)
	tb.waitText("#main h1", heading)
}

// hash changes the address within the page.
func (tb *tab) hash(hash string) {
	tb.t.Helper()
	eval[chromedp.Void](tb, `void (location.hash = `+quote(hash)+`)`)
}

// eval runs an expression in the page.
func eval[T any](tb *tab, js string) T {
	tb.t.Helper()
	ctx, cancel := context.WithTimeout(tb.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](js, chromedp.EvalAwaitPromise))
	if err != nil {
		tb.t.Fatalf("%s: %v", js, err)
	}
	return v
}

// wait lets the page run until an expression holds.
func (tb *tab) wait(js string) {
	tb.t.Helper()
	await[bool](tb, "!!("+js+")")
}

// await lets the page run until an expression gives something, and gives that:
// what a second look would find may be another thing.
func await[T any](tb *tab, js string) T {
	tb.t.Helper()
	got := eval[struct{ V *T }](tb, fmt.Sprintf(`new Promise(done => { const end = performance.now() + %d;
		const look = () => { let v = null; try { v = %s } catch {} v ? done({v}) : performance.now() > end ? done({}) : setTimeout(look, 8) }; look() })`,
		patience.Milliseconds()-1000, js))
	if got.V == nil {
		tb.t.Fatalf("the page never came to: %s\nit shows:\n%s", js, eval[string](tb, `document.querySelector('dialog[open]')?.innerText ?? document.body.innerText`))
	}
	return *got.V
}

// waitText waits until an element's text holds a part.
func (tb *tab) waitText(selector, part string) {
	tb.t.Helper()
	tb.wait(fmt.Sprintf(`document.querySelector(%s).textContent.includes(%s)`, quote(selector), quote(part)))
}

// text gives an element's text.
func (tb *tab) text(selector string) string {
	tb.t.Helper()
	return await[struct{ Text string }](tb, fmt.Sprintf(`{text: document.querySelector(%s).textContent}`, quote(selector))).Text
}

// click clicks the first element of a selector with the mouse, once it is
// there and nothing covers it.
func (tb *tab) click(selector string) {
	tb.t.Helper()
	tb.hit(fmt.Sprintf(`document.querySelector(%s)`, quote(selector)))
}

// press clicks the button or link that reads name, in the open dialog if there is one.
func (tb *tab) press(name string) {
	tb.t.Helper()
	tb.hit(fmt.Sprintf(`[...(document.querySelector('dialog[open]') ?? document).querySelectorAll('button, a, summary')]
		.find(e => e.checkVisibility() && (e.getAttribute('aria-label') ?? e.textContent).trim() === %s)`, quote(name)))
}

// hit clicks the element that an expression gives.
func (tb *tab) hit(element string) {
	tb.t.Helper()
	p := await[struct{ X, Y float64 }](tb, fmt.Sprintf(`(() => { const el = %s; if (!el?.checkVisibility()) return null;
		el.scrollIntoView({block: 'center', inline: 'center', behavior: 'instant'}); const r = el.getClientRects()[0];
		const [x, y] = [r.x + r.width / 2, r.y + r.height / 2]; const hit = document.elementFromPoint(x, y);
		return hit && (el.contains(hit) || hit.contains(el) && hit.closest('a, button, label, svg')) && !el.disabled ? {x, y} : null })()`, element))
	tb.do(chromedp.MouseClickXY(p.X, p.Y))
}

// fill replaces what a field holds by typing.
func (tb *tab) fill(selector, text string) {
	tb.t.Helper()
	tb.click(selector)
	eval[chromedp.Void](tb, fmt.Sprintf(`void document.querySelector(%s).select()`, quote(selector)))
	tb.insert(text)
}

// insert puts text where the focus is, as a paste does.
func (tb *tab) insert(text string) {
	tb.t.Helper()
	eval[chromedp.Void](tb, fmt.Sprintf(`void document.execCommand('insertText', false, %s)`, quote(text)))
}

// key presses keys, as kb names them.
func (tb *tab) key(keys string, modifiers ...chromedp.Modifier) {
	tb.t.Helper()
	tb.do(chromedp.KeyEvent(keys, chromedp.KeyModifiers(modifiers...)))
}

// deaf cuts the tab off from what the server tells by itself.
func (tb *tab) deaf() {
	tb.t.Helper()
	tb.waitText("#live-text", "live")
	eval[any](tb, `dispatchEvent(new PageTransitionEvent('pagehide'))`)
}

// dialogType tells of the browser's own dialogs.
func dialogType(to chan<- string) func(any) {
	return func(ev any) {
		if d, ok := ev.(*page.EventJavascriptDialogOpening); ok {
			select {
			case to <- string(d.Type):
			default:
			}
		}
	}
}

func answerDialog(tb *tab, accept bool) {
	tb.t.Helper()
	call(tb, func() error {
		_, err := chromedp.Call(tb.ctx, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: accept})
		return err
	})
}

// size sets the window's inner size.
func (tb *tab) size(width, height int64) {
	tb.t.Helper()
	tb.do(chromedp.EmulateViewport(width, height))
}

// media sets media features by pairs of name and value.
func (tb *tab) media(pairs ...string) {
	tb.t.Helper()
	var features []*emulation.MediaFeature
	for i := 0; i < len(pairs); i += 2 {
		features = append(features, &emulation.MediaFeature{Name: pairs[i], Value: pairs[i+1]})
	}
	call(tb, func() error {
		_, err := chromedp.Call(tb.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features})
		return err
	})
}

// shot takes a picture of the window into LARVA_SCREENSHOTS. Without it only
// a failed test takes one, into a directory that stays.
func (tb *tab) shot(name string) {
	tb.t.Helper()
	dir := os.Getenv("LARVA_SCREENSHOTS")
	if dir == "" && !tb.t.Failed() {
		return
	}
	if dir == "" {
		var err error
		if dir, err = os.MkdirTemp("", "larva-page-"); err != nil {
			tb.t.Error(err)
			return
		}
		tb.t.Logf("picture: %s", filepath.Join(dir, name+".png"))
	}
	ctx, cancel := context.WithTimeout(tb.ctx, patience)
	defer cancel()
	png, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		tb.t.Errorf("picture %s: %v", name, err)
		return
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		tb.t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644); err != nil {
		tb.t.Error(err)
	}
}

// quote writes a string as JavaScript.
func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}
