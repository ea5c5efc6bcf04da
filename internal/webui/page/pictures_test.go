package page_test

import (
	"context"
	"testing"
)

// pictures takes the page in each of its states, for people to look at.
func pictures(t *testing.T, browser context.Context) {
	p := company(t)
	tb := newTab(t, browser, p.url)
	tb.size(1280, 860)
	tb.open("")
	tb.shot("list")
	tb.visit("#/persona/code-reviewer", "code-reviewer")
	tb.shot("detail")
	tb.fill(`[data-field=description] textarea`, "Reads changes, slowly and with care.")
	tb.press("Edit the prompt")
	tb.fill(".prompt-edit", "Read the whole change before you say anything.\n\nSay what breaks.\n")
	tb.shot("staged")
	tb.click("#discard")
	tb.visit("#/compare/code-reviewer/default/terse", "Variants of")
	tb.shot("diff")
	tb.visit("#/graph", "Who may call")
	tb.shot("graph")
	tb.visit("#/persona/translator", "translator")
	tb.press("Import")
	tb.fill("dialog textarea", "{\n  \"id\": \"Not An Id\",\n  \"description\": \"Says hello.\",\n  \"prompt\": \"Hello.\",\n  \"model\": \"openai/gpt-6\",\n  \"capabilities\": {\"shell\": \"sometimes\"},\n  \"tone\": \"warm\"\n}\n")
	tb.waitText(".verdict", "problem")
	tb.shot("import-error")
	tb.media("prefers-color-scheme", "dark")
	tb.press("Cancel")
	tb.visit("#/persona/implementer", "implementer")
	tb.shot("dark")
	tb.media("prefers-color-scheme", "light")
	tb.size(360, 740)
	tb.visit("#/", "Personas as code")
	tb.shot("phone-list")
	tb.visit("#/persona/code-reviewer", "code-reviewer")
	tb.shot("phone-detail")
	tb.click("[data-family=shell] .segment.destructive input")
	tb.shot("phone-staged")
	tb.click("#discard")
	tb.visit("#/compare/code-reviewer/default/terse", "Variants of")
	tb.shot("phone-diff")
	tb.visit("#/graph", "Who may call")
	tb.shot("phone-graph")
}
