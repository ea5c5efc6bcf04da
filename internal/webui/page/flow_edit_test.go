package page_test

import (
	"context"
	"testing"

	"github.com/chromedp/chromedp"
)

// editing changes each field, sees the save bar part them, and saves: the
// contract by PATCH, the active implementation by PATCH, a named one by PUT.
func editing(t *testing.T, browser context.Context) {
	p := company(t)
	tb := newTab(t, browser, p.url)
	tb.open("#/persona/code-reviewer")
	if got := tb.text(".digest"); len(got) != 12 || "\"sha256:"+got != p.stored("code-reviewer", "", "spec_digest")[:20] {
		t.Errorf("short digest: got %q, want the beginning of %s", got, p.stored("code-reviewer", "", "spec_digest"))
	}

	tb.fill(`[data-field=description] textarea`, "Reads changes, slowly and with care.")
	tb.wait(`!document.querySelector('.save-bar').hidden`)
	tb.click(`[data-family=git] .segment.read_write input`)
	tb.click(`[data-field=can_spawn] input[value=any]`)
	tb.fill(`[data-field=model] input`, "openai/gpt-6")
	if got := tb.text(".staged"); got != "Contract Description, Capabilities, May callVariant default Model" {
		t.Errorf("the save bar says %q", got)
	}
	tb.click("#discard")
	tb.wait(`document.querySelector('.save-bar').hidden`)
	if got := eval[string](tb, `document.querySelector('[data-field=model] input').value`); got != "anthropic/claude-sonnet-5" {
		t.Errorf("after Discard the model is %q", got)
	}

	tb.fill(`[data-field=description] textarea`, "Reads changes, slowly and with care.")
	tb.click(`[data-family=git] .segment.read_write input`)
	tb.click(`[data-field=can_spawn] input[value=list]`)
	tb.fill(`[data-field=can_spawn] .adder input`, "planner, ghost")
	tb.press("Add") // the first Add is that of the parameters: nothing is typed there, so nothing happens
	tb.click(`[data-field=can_spawn] .adder button`)
	tb.waitText(".tag.dangling", "ghost missing")
	tb.press("Remove test-writer")
	tb.fill(`[data-field=model] input`, "openai/gpt-6")
	tb.press("Copy the prompt")
	tb.waitText(".toasts", "Copied")
	tb.press("Edit the prompt")
	tb.fill(`.prompt-edit`, "Read it.\n<b>Twice.</b>")
	tb.click("#save")
	tb.waitText(".toasts", "Saved")
	want := "PATCH /api/personas/code-reviewer If-Match sha256\nPATCH /api/personas/code-reviewer If-Match sha256"
	if got := tb.written(); got != want {
		t.Errorf("the page wrote\n%s\nwant\n%s", got, want)
	}
	p.wantStored("code-reviewer", "", "description", `"Reads changes, slowly and with care."`)
	p.wantStored("code-reviewer", "", "capabilities", `{"filesystem":"read_only","git":"read_write","shell":"none"}`)
	p.wantStored("code-reviewer", "", "can_spawn", `["planner","ghost"]`)
	p.wantStored("code-reviewer", "", "model", `"openai/gpt-6"`)
	p.wantStored("code-reviewer", "", "prompt", `"Read it.\n<b>Twice.</b>"`)
	tb.wait(`document.querySelector('.save-bar').hidden`)

	tb.click(`.chip[data-variant=terse]`)
	tb.wait(`document.querySelector('.detail').dataset.variant === 'terse'`)
	tb.fill(`[data-field=model] input`, "mistral/small")
	tb.click(`[data-field=can_spawn] input[value=none]`)
	tb.key("s", chromedp.ModifierCtrl)
	tb.waitText(".toasts", "Saved")
	tb.wait(`document.querySelector('.save-bar').hidden`)
	want = "PATCH /api/personas/code-reviewer If-Match sha256\nPUT /api/registry/personas/code-reviewer/variants/terse If-Match sha256"
	if got := tb.written(); got != want {
		t.Errorf("the page wrote\n%s\nwant\n%s", got, want)
	}
	p.wantStored("code-reviewer", "terse", "model", `"mistral/small"`)
	p.wantStored("code-reviewer", "default", "model", `"openai/gpt-6"`)
	p.wantStored("code-reviewer", "default", "can_spawn", `false`)
}

// parameters edits model_params: numbers keep how they are written, what is
// no JSON is text, what the contract refuses is said beside the field, and
// taking one away puts the implementation as a whole.
func parameters(t *testing.T, browser context.Context) {
	p := newPlace(t, `{"id":"a","description":"A persona with odd parameters.","prompt":"Hi.","model":"m","capabilities":{},"spec_version":"0.1.0",
		"model_params":{"big":123456789012345678901234567890,"float":1.0,"nested":{"x":[1.50,true,null]},"temperature":0.70,"word":"5","plain":"text"},"compaction_prompt":"Short."}`)
	tb := newTab(t, browser, p.url)
	tb.open("#/persona/a")
	value := func(key string) string {
		return eval[string](tb, `document.querySelector('[data-key=`+key+`] input').value`)
	}
	for key, want := range map[string]string{"big": "123456789012345678901234567890", "float": "1.0", "nested": `{"x":[1.5,true,null]}`, "temperature": "0.7", "word": `"5"`, "plain": "text"} {
		if got := value(key); got != want {
			t.Errorf("%s shows %s, want %s", key, got, want)
		}
	}
	tb.fill(`[data-field=model] input`, "other")
	tb.fill(`[data-key=temperature] input`, "1.0")
	tb.click("#save")
	tb.waitText(".toasts", "Saved")
	p.wantStored("a", "", "model_params", `{"big":123456789012345678901234567890,"float":1.0,"nested":{"x":[1.5,true,null]},"plain":"text","temperature":1.0,"word":"5"}`)

	tb.fill(`[data-key=temperature] input`, "warm")
	tb.waitText(`[data-key=temperature] .complaint`, "wants a number from 0 to 2")
	if got := tb.text(`[data-key=temperature] .type`); got != "text" {
		t.Errorf("type of warm: %q", got)
	}
	tb.click("#save")
	tb.waitText(`[data-field=model_params] .section-content > .complaint`, "temperature")
	tb.fill(`[data-key=temperature] input`, "2")
	tb.press("Remove big")
	tb.fill(`[data-field=model_params] .adder input`, "top_k")
	tb.click(`[data-field=model_params] .adder button`)
	tb.fill(`[data-key=top_k] input`, "12")
	tb.click(`[data-field=compaction_prompt] summary`)
	tb.press("Remove the compaction prompt")
	tb.written()
	tb.click("#save")
	tb.wait(`document.querySelector('.save-bar').hidden`)
	if got, want := tb.written(), "PUT /api/registry/personas/a/variants/default If-Match sha256"; got != want {
		t.Errorf("the page wrote\n%s\nwant\n%s", got, want)
	}
	p.wantStored("a", "", "model_params", `{"float":1.0,"nested":{"x":[1.5,true,null]},"plain":"text","temperature":2,"top_k":12,"word":"5"}`)
	p.wantStored("a", "", "compaction_prompt", "")

	tb.fill(`[data-field=description] textarea`, " ")
	tb.click("#save")
	tb.waitText(`[data-field=description] .section-content > .complaint`, "blank")
	tb.click("#discard")
	tb.press("Add a compaction prompt")
	tb.insert("Keep the names.")
	tb.click("#json")
	tb.waitText(".json pre", `"compaction_prompt": "Keep the names."`)
	tb.click("#save")
	tb.waitText(".json pre", "spec_digest")
	p.wantStored("a", "", "compaction_prompt", `"Keep the names."`)
}
