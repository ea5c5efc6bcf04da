package diag

import "testing"

func TestWord(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"personas/a.cue", "personas/a.cue"},
		{".larva/config.cue#PreToolUse/1", ".larva/config.cue#PreToolUse/1"},
		{"sha256:0a", "sha256:0a"},
		{"", "''"},
		{"my personas", "'my personas'"},
		{"x; rm -rf ~", "'x; rm -rf ~'"},
		{"$(id)", "'$(id)'"},
		{"it's", `'it'\''s'`},
		{"~/x", "'~/x'"},
		{"#x", "'#x'"},
		{"a\nb", "'a\nb'"},
		{"größe.cue", "'größe.cue'"},
	} {
		if got := Word(c.text); got != c.want {
			t.Errorf("Word(%q): got %s, want %s", c.text, got, c.want)
		}
	}
}
