package modeltest_test

import (
	"testing"

	"larva.dev/larva/internal/model/modeltest"
)

func TestStartAimock(t *testing.T) {
	t.Parallel()
	base := modeltest.StartAimock(t, `{"fixtures":[{"match":{"userMessage":"x"},"response":{"content":"y"}}]}`)
	if got := modeltest.Journal(t, base); len(got) != 0 {
		t.Fatalf("a fresh server has had %d requests, want 0", len(got))
	}
}
