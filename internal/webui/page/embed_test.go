package page_test

import (
	"io/fs"
	"path"
	"regexp"
	"strings"
	"testing"

	"larva.dev/larva/internal/webui/page"
)

// TestIndex: the token stands in the page once, as text; nothing in the page
// is inline, and all that it names is embedded.
func TestIndex(t *testing.T) {
	t.Parallel()
	got := string(page.Index(`"><script>`))
	if !strings.Contains(got, `content="&#34;&gt;&lt;script&gt;"`) || strings.Contains(got, "{{token}}") {
		t.Errorf("the token is not in the page as text:\n%s", got)
	}
	for _, inline := range []string{`<style`, ` style=`, ` on\w+=`, `<script>`, `<script [^>]*>[^<]`, `https?://`} {
		if m := regexp.MustCompile(inline).FindString(got); m != "" {
			t.Errorf("the page holds %q, which its policy forbids", m)
		}
	}
	named := regexp.MustCompile(`(?:href|src)="/assets/([^"]+)"`).FindAllStringSubmatch(got, -1)
	if len(named) < 5 {
		t.Errorf("only %d assets are named", len(named))
	}
	for _, m := range named {
		if _, err := fs.Stat(page.Assets(), m[1]); err != nil {
			t.Error(err)
		}
	}
}

// TestAssets: modules import only each other, nothing comes from elsewhere,
// and no module can make markup of text.
func TestAssets(t *testing.T) {
	t.Parallel()
	imports := regexp.MustCompile(`(?:from|import) '([^']+)'`)
	forbidden := regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|DOMParser|setAttribute\('on|setAttribute\('style|(?:https?:)?//[a-z]+\.[a-z]`)
	n := 0
	err := fs.WalkDir(page.Assets(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		n++
		src, err := fs.ReadFile(page.Assets(), name)
		if err != nil {
			return err
		}
		text := strings.ReplaceAll(string(src), "http://www.w3.org/2000/svg", "")
		if m := forbidden.FindString(text); m != "" {
			t.Errorf("%s holds %q", name, m)
		}
		for _, m := range imports.FindAllStringSubmatch(text, -1) {
			if _, err := fs.Stat(page.Assets(), path.Clean(m[1])); err != nil || !strings.HasPrefix(m[1], "./") {
				t.Errorf("%s imports %s, which is not embedded", name, m[1])
			}
		}
		return nil
	})
	if err != nil || n < 30 {
		t.Errorf("looked at %d assets, %v", n, err)
	}
}
