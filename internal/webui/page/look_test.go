package page_test

import ("testing";"os")

func TestLook(t *testing.T) {
	b := startBrowser(t)
	tb := newTab(t, b, os.Getenv("LARVA_TEST_URL"))
	tb.open("")
	tb.shot("home")
	tb.open("#/persona/code-reviewer")
	tb.shot("detail")
	tb.open("#/compare/code-reviewer/default/terse")
	tb.shot("diff")
	tb.open("#/graph")
	tb.shot("graph")
	tb.media("prefers-color-scheme", "dark")
	tb.open("#/persona/implementer")
	tb.shot("dark")
	tb.press("Import")
	tb.fill("dialog textarea", "{\n  \"id\": oops\n}\n")
	tb.waitText(".verdict", "problem")
	tb.shot("import")
	tb.size(360, 760)
	tb.open("")
	tb.shot("phone-list")
	tb.open("#/persona/code-reviewer")
	tb.shot("phone-detail")
}
