package diag

import "strings"

// Word writes text as one word of a command line, so that a hint means the
// same where it is typed: in single quotes unless it is plain. A name from a
// repository must not become a second command.
func Word(text string) string {
	if text != "" && strings.IndexFunc(text, special) < 0 && !strings.HasPrefix(text, "~") && !strings.HasPrefix(text, "#") {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// special are runes that a shell could take for something else than text.
func special(r rune) bool {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
		return false
	}
	return !strings.ContainsRune("-_./:@%+=,#~", r)
}
