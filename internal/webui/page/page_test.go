package page_test

import (
	"context"
	"testing"
)

// flow is one way through the page, in a tab or several of the one browser.
type flow struct {
	name string
	run  func(t *testing.T, browser context.Context)
}

// TestPage walks every flow of the page in a real browser against the real
// server. What the console says against the page, and every breach of the
// content security policy, fails the flow.
func TestPage(t *testing.T) {
	browser := startBrowser(t)
	for _, f := range []flow{
		{"editing", editing},
		{"parameters", parameters},
		{"searching", searching},
		{"variants", variants},
		{"cloning", cloning},
		{"guarding", guarding},
		{"importing", importing},
		{"stale tabs", staleTabs},
		{"living", living},
		{"breaking", breaking},
		{"inertness", inertness},
		{"keyboard", keyboard},
		{"naming", naming},
		{"graphing", graphing},
		{"narrow", narrow},
		{"modules", modules},
		{"many", many},
		{"crowding", crowding},
		{"pictures", pictures},
	} {
		t.Run(f.name, func(t *testing.T) { f.run(t, browser) })
	}
}
