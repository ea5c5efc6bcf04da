package skill

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Part is a piece of an expanded text: words, or a command whose output takes
// its place.
type Part struct {
	Text string
	// Command is what stands between !` and `, as the file has it; "" for words.
	Command string
	// Argued says that the command asks for arguments. They are never put into
	// one: they would be code.
	Argued bool
}

// maxCommands is how many commands of one text are run; the rest stays text.
const maxCommands = 20

// Expand puts arguments into a text. $ARGUMENTS is all of them, $1 to $9 each
// one, counted from 1; \$1 is $1 itself. Where the text asks for none and there
// are some, they stand at its end. Commands are found in body alone, so that
// nothing in args is ever one.
func Expand(body, args string) []Part {
	e := &expanding{body: body, args: strings.TrimSpace(args)}
	e.words = Split(e.args)
	e.run()
	if !e.used && e.args != "" {
		e.text.WriteString("\n\nArguments: " + e.args)
	}
	e.flush()
	return e.parts
}

type expanding struct {
	body, args string
	words      []string
	used       bool
	commands   int
	text       strings.Builder
	parts      []Part
}

func (e *expanding) flush() {
	if e.text.Len() > 0 {
		e.parts = append(e.parts, Part{Text: e.text.String()})
		e.text.Reset()
	}
}

func (e *expanding) run() {
	for i := 0; i < len(e.body); {
		rest := e.body[i:]
		switch rest[0] {
		case '\\':
			if n := placeholder(rest[1:]); n > 0 {
				e.text.WriteString(rest[1 : 1+n])
				i += 1 + n
				continue
			}
		case '$':
			if n := placeholder(rest); n > 0 {
				e.put(rest[1:n])
				i += n
				continue
			}
		case '!':
			if c := commandAt(rest); c != "" && e.commands < maxCommands && opens(e.body[:i]) {
				e.commands++
				e.flush()
				e.parts = append(e.parts, Part{Command: strings.TrimSpace(c), Argued: asks(c)})
				e.used = e.used || asks(c)
				i += len("!``") + len(c)
				continue
			}
		}
		e.text.WriteByte(rest[0])
		i++
	}
}

func (e *expanding) put(name string) {
	e.used = true
	if name == "ARGUMENTS" {
		e.text.WriteString(e.args)
		return
	}
	if n := int(name[0] - '1'); n < len(e.words) {
		e.text.WriteString(e.words[n])
	}
}

// placeholder is how many bytes of a placeholder stand at the start of s.
func placeholder(s string) int {
	const all = "$ARGUMENTS"
	if strings.HasPrefix(s, all) {
		if rest := s[len(all):]; rest != "" && (wordByte(rest[0]) || rest[0] == '[' && len(rest) > 1 && digit(rest[1])) {
			return 0
		}
		return len(all)
	}
	if len(s) < 2 || s[0] != '$' || s[1] < '1' || s[1] > '9' || len(s) > 2 && wordByte(s[2]) {
		return 0
	}
	return 2
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

func wordByte(c byte) bool {
	return digit(c) || c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// asks says that a command has a placeholder in it.
func asks(command string) bool {
	for i := range len(command) {
		if placeholder(command[i:]) > 0 {
			return true
		}
	}
	return strings.Contains(command, "${") || strings.Contains(command, "$ARGUMENTS") || strings.Contains(command, "$@") || strings.Contains(command, "$*")
}

// commandAt is the command of a !`command` at the start of s, "" for none.
func commandAt(s string) string {
	if !strings.HasPrefix(s, "!`") {
		return ""
	}
	end := strings.IndexAny(s[2:], "`\n")
	if end <= 0 || s[2+end] != '`' || strings.TrimSpace(s[2:2+end]) == "" {
		return ""
	}
	return s[2 : 2+end]
}

// opens says that a command may begin behind this text.
func opens(before string) bool {
	r, size := utf8.DecodeLastRuneInString(before)
	return size == 0 || unicode.IsSpace(r) || strings.ContainsRune("([{:*", r)
}

// Split takes arguments apart at white space; quotes keep words together. A
// quote that is not closed is a letter like any other.
func Split(args string) []string {
	var out []string
	for args = strings.TrimSpace(args); args != ""; args = strings.TrimSpace(args) {
		var word strings.Builder
		for args != "" {
			r, size := utf8.DecodeRuneInString(args)
			if unicode.IsSpace(r) {
				break
			}
			if r == '"' || r == '\'' {
				if end := strings.IndexByte(args[1:], byte(r)); end >= 0 {
					word.WriteString(args[1 : 1+end])
					args = args[2+end:]
					continue
				}
			}
			word.WriteString(args[:size])
			args = args[size:]
		}
		out = append(out, word.String())
	}
	return out
}
