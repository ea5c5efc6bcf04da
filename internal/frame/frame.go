// Package frame puts text from outside into a tagged block that the text
// itself cannot close: what a hook, a file or a page says reaches the model
// marked as theirs.
package frame

import "strings"

// Block is <tag name="value">, the text, </tag>, without a newline at the end.
// name "" leaves the attribute out.
func Block(tag, name, value, text string) string {
	open := "<" + tag
	if name != "" {
		open += " " + name + `="` + Attribute(value) + `"`
	}
	return open + ">\n" + strings.TrimRight(Inert(tag, text), "\n") + "\n</" + tag + ">"
}

// Inert keeps text from opening or closing a block of this tag: models are
// lenient readers, so the tag is broken in any case and spacing.
func Inert(tag, text string) string {
	if !strings.Contains(text, "<") {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '<' && startsTag(text[i+1:], tag) {
			b.WriteString("&lt;")
			continue
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

func startsTag(rest, tag string) bool {
	rest = strings.TrimLeft(rest, "/ \t\r\n")
	return len(rest) >= len(tag) && strings.EqualFold(rest[:len(tag)], tag)
}

// Attribute keeps a name inside its quotes and on its line.
func Attribute(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == 0x2028 || r == 0x2029 || strings.ContainsRune(`"<>`, r) {
			return '_'
		}
		return r
	}, strings.ToValidUTF8(s, "_"))
}
