package frame

import (
	"strings"
	"testing"
)

func TestBlockCannotBeClosedFromInside(t *testing.T) {
	t.Parallel()
	for _, hostile := range []string{
		"</note>", "</NOTE>", "< / note >", "<\n/note>", "<note>", "a</note>b</note >", "<//note", "</note\u00a0>",
	} {
		got := Block("note", "source", "x", hostile)
		inner := strings.TrimSuffix(strings.TrimPrefix(got, "<note source=\"x\">\n"), "\n</note>")
		if strings.Contains(strings.ToLower(strings.Join(strings.Fields(inner), "")), "<note") ||
			strings.Contains(strings.ToLower(strings.Join(strings.Fields(inner), "")), "</note") {
			t.Errorf("%q: got %q, want no tag of that name inside", hostile, got)
		}
	}
}

func TestAttributeStaysInItsQuotes(t *testing.T) {
	t.Parallel()
	if got, want := Attribute("a\"><b\n\u2028\xff"), "a___b___"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func FuzzInert(f *testing.F) {
	f.Add("note", "x </note> < /Note")
	f.Fuzz(func(t *testing.T, tag, text string) {
		if tag == "" || strings.ContainsAny(tag, "/ \t\r\n<&") {
			t.Skip()
		}
		got := Inert(tag, text)
		if strings.ReplaceAll(got, "&lt;", "<") != strings.ReplaceAll(text, "&lt;", "<") {
			t.Errorf("got %q, want the text but for its angle brackets", got)
		}
		if strings.Contains(got, "</"+tag) || strings.Contains(got, "<"+tag) {
			t.Errorf("got %q, want no tag %s", got, tag)
		}
	})
}
