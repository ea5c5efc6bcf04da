package webui

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestReference holds docs/reference/rest.md to the table: a section for each
// route and for nothing else, marked where it needs the token.
func TestReference(t *testing.T) {
	t.Parallel()
	text := readFile(t, filepath.Join("..", "..", "docs", "reference", "rest.md"))
	sections := map[string]string{}
	for part := range strings.SplitSeq(text, "\n### ") {
		name, body, _ := strings.Cut(part, "\n")
		if strings.HasPrefix(name, "`") {
			body, _, _ = strings.Cut(body, "\n## ")
			sections[strings.Trim(name, "`")] = body
		}
	}
	for _, r := range table {
		name := r.method + " " + r.path
		body, ok := sections[name]
		if !ok {
			t.Errorf("rest.md has no section %s", name)
			continue
		}
		delete(sections, name)
		if got := strings.HasPrefix(body, "*Token.*"); got != r.token {
			t.Errorf("%s: marked %v, want %v", name, got, r.token)
		}
	}
	for name := range sections {
		t.Errorf("rest.md tells of %s, which is no route", name)
	}
	if len(table) != 26 {
		t.Errorf("got %d routes, want 26: a change is counted here, so that it is meant", len(table))
	}
	for _, limit := range []string{"16 MiB", "every 15 seconds", "At most 64 at once"} {
		if !strings.Contains(text, limit) {
			t.Errorf("rest.md does not say %q", limit)
		}
	}
}
