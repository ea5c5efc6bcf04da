package command

import (
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// Word is one word of a command.
type Word struct {
	Text   string // as written
	Static bool   // Value is its value
	Value  string // after quotes are removed; up to the first unknown part otherwise
	// Glob says that Value is a file pattern; Pattern is Value with what was
	// quoted escaped by a backslash.
	Glob    bool
	Pattern string
	Ansi    bool // $'…' is in it
	Brace   bool // it came out of a brace expansion
	Number  bool // not static, but surely a number: $((1+2)), $#, $?
	Split   bool // an unquoted expansion: it may become no word or several

	parts []part
}

// Vars are the values of what a word may name symbolically; "" is unknown.
type Vars struct{ Home, Temp, Cwd string }

type kind int

const (
	lit kind = iota
	home
	temp
	cwd
	unknown
)

type part struct {
	kind   kind
	text   string // lit: the value; unknown: as written
	quoted bool
	guess  string // unknown: what it may become, for rules that forbid
}

// Resolve gives the word's value where it hangs on nothing but v. For a glob
// it is the pattern's text.
func (w Word) Resolve(v Vars) (string, bool) {
	var b strings.Builder
	for _, p := range w.parts {
		s := p.text
		switch p.kind {
		case home:
			s = v.Home
		case temp:
			s = v.Temp
		case cwd:
			s = v.Cwd
		case unknown:
			return b.String(), false
		}
		if p.kind != lit && s == "" {
			return b.String(), false
		}
		b.WriteString(s)
	}
	return b.String(), true
}

// ResolvePattern is Resolve for a glob: the symbolic parts escaped.
func (w Word) ResolvePattern(v Vars) (string, bool) {
	var b strings.Builder
	for _, p := range w.parts {
		if p.kind == lit && !p.quoted {
			b.WriteString(p.text)
			continue
		}
		one, ok := Word{parts: []part{p}}.Resolve(v)
		if !ok {
			return b.String(), false
		}
		b.WriteString(escapeGlob(one))
	}
	return b.String(), true
}

// Guesses are the words that an unknown word becomes if each variable has the
// only value that the line gives it. For what forbids; never for what allows.
func (w Word) Guesses() []string {
	if w.Static {
		return nil
	}
	return w.fields()
}

// guessed says that the word is known, or surely becomes one of its guesses.
func (w Word) guessed() bool {
	for _, p := range w.parts {
		if p.kind == unknown && p.guess == "" {
			return false
		}
	}
	return true
}

// Name is the word's value as a command or flag: "" unless static.
func (w Word) Name() string {
	if w.Static {
		return w.Value
	}
	return ""
}

// static makes a word from a value.
func static(s string) Word {
	return Word{Text: s, Static: true, Value: s, parts: []part{{kind: lit, text: s, quoted: true}}}
}

// unknownWord stands for words that a wrapper puts in at run time.
func unknownWord(text string) Word {
	return Word{Text: text, Split: true, parts: []part{{kind: unknown, text: text}}}
}

// word reads one word that holds no brace expansion any more.
func (w *walker) word(sw *syntax.Word) Word {
	out := Word{Text: w.slice(sw)}
	w.parts(&out, sw.Parts, false)
	out.finish()
	return out
}

// finish fills the derived fields from the parts.
func (w *Word) finish() {
	w.Static = true
	var val, pat strings.Builder
	for _, p := range w.parts {
		if p.kind != lit {
			w.Static = false
			break
		}
		val.WriteString(p.text)
		if p.quoted {
			pat.WriteString(escapeGlob(p.text))
		} else {
			pat.WriteString(p.text)
		}
	}
	w.Value = val.String()
	var bare strings.Builder
	for _, p := range w.parts {
		if p.kind == lit && !p.quoted {
			bare.WriteString(p.text)
		}
	}
	w.Glob = hasGlob(bare.String())
	if w.Glob {
		w.Pattern = pat.String()
	}
}

func (w *walker) parts(out *Word, parts []syntax.WordPart, quoted bool) {
	for i, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			w.literal(out, p.Value, quoted, i == 0 && len(out.parts) == 0, len(parts) > 1)
		case *syntax.SglQuoted:
			s := p.Value
			if p.Dollar {
				out.Ansi = true
				s, _, _ = expand.Format(nil, s, nil)
				s, _, _ = strings.Cut(s, "\x00")
			}
			out.parts = append(out.parts, part{kind: lit, text: s, quoted: true})
		case *syntax.DblQuoted:
			if len(p.Parts) == 0 {
				out.parts = append(out.parts, part{kind: lit, quoted: true})
			}
			w.parts(out, p.Parts, true)
		case *syntax.ParamExp:
			w.param(out, p, quoted)
		case *syntax.ArithmExp:
			out.Number = len(parts) == 1
			out.parts = append(out.parts, part{kind: unknown, text: w.slice(p), quoted: true})
		case *syntax.CmdSubst:
			out.Split = out.Split || !quoted
			out.parts = append(out.parts, part{kind: unknown, text: w.slice(p), quoted: quoted, guess: guessSubst(p)})
		default: // process substitutions, extended globs
			out.Split = out.Split || !quoted
			out.parts = append(out.parts, part{kind: unknown, text: w.slice(p), quoted: quoted})
		}
	}
}

// literal adds unquoted or double-quoted text with its backslashes taken off.
func (w *walker) literal(out *Word, s string, quoted, first, more bool) {
	// A tilde counts up to the first slash, and only if that stands unquoted.
	if !quoted && first && strings.HasPrefix(s, "~") && (!more || strings.Contains(s, "/")) {
		user, rest, ok := strings.Cut(s, "/")
		if s = ""; ok {
			s = "/" + rest
		}
		switch user {
		case "~":
			out.parts = append(out.parts, w.special("HOME", home, user))
		case "~+":
			out.parts = append(out.parts, w.special("PWD", cwd, user))
		default: // another user's home, ~-, a directory of the stack
			out.parts = append(out.parts, part{kind: unknown, text: user})
		}
	}
	var b strings.Builder
	flush := func(q bool) {
		if b.Len() > 0 {
			out.parts = append(out.parts, part{kind: lit, text: b.String(), quoted: q})
			b.Reset()
		}
	}
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		if quoted {
			if strings.IndexByte("\\$`\"", s[i+1]) >= 0 {
				i++
			}
			b.WriteByte(s[i])
			continue
		}
		flush(false)
		i++
		b.WriteByte(s[i])
		flush(true)
	}
	flush(quoted)
}

// special is a symbolic part, unknown where the line sets that variable.
func (w *walker) special(name string, k kind, text string) part {
	if w.vars.set(name) {
		v, _ := w.vars.value(name)
		return part{kind: unknown, text: text, guess: v, quoted: true}
	}
	return part{kind: k, text: text}
}

// param adds a parameter expansion.
func (w *walker) param(out *Word, p *syntax.ParamExp, quoted bool) {
	text := w.slice(p)
	if plain(p) {
		switch p.Param.Value {
		case "HOME":
			out.parts = append(out.parts, w.special("HOME", home, text))
			return
		case "TMPDIR":
			out.parts = append(out.parts, w.special("TMPDIR", temp, text))
			return
		case "PWD":
			out.parts = append(out.parts, w.special("PWD", cwd, text))
			return
		case "#", "?", "$", "!":
			out.Number = len(out.parts) == 0
			out.parts = append(out.parts, part{kind: unknown, text: text, quoted: true})
			return
		}
	}
	out.Split = out.Split || !quoted
	out.parts = append(out.parts, part{kind: unknown, text: text, quoted: quoted, guess: w.guessParam(p)})
}

// plain is $NAME or ${NAME} and nothing more.
func plain(p *syntax.ParamExp) bool {
	return p.Param != nil && p.NestedParam == nil && p.Index == nil && !p.Excl && !p.Length && !p.Width && !p.IsSet &&
		p.Slice == nil && p.Repl == nil && p.Exp == nil && p.Names == 0 && len(p.Modifiers) == 0 && p.Flags == nil
}

// hasGlob: a bracket without its other half is itself.
func hasGlob(s string) bool {
	at := strings.IndexByte(s, '[')
	return strings.ContainsAny(s, "*?") || at >= 0 && strings.IndexByte(s[at:], ']') > 0
}

func escapeGlob(s string) string {
	if !strings.ContainsAny(s, "*?[]{}\\") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if strings.IndexByte("*?[]{}\\", s[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
