package skill

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strings"
	"sync"
	"unicode/utf8"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/load"
	"larva.dev/larva/internal/spec"
)

// The bounds of the published format.
const (
	maxName        = 64
	maxDescription = 1024
)

// guarded are the keys that restrict: one that may have been meant and cannot
// be read keeps the text from the model.
var guarded = []string{"disable-model-invocation", "user-invocable", "allowed-tools", "disallowed-tools"}

// known are the keys that start a field where a frontmatter is no YAML.
var known = append([]string{"name", "description", "argument-hint", "arguments", "model", "effort", "version", "license", "compatibility",
	"metadata", "when_to_use", "paths", "hooks", "context", "agent", "shell", "author", "category", "tags", "color"}, guarded...)

// inert are keys that say something elsewhere and nothing here.
var inert = map[string]string{
	"model":     "the run's persona and profile choose the model",
	"effort":    "the run's persona and profile choose it",
	"context":   "it is read where it is called",
	"agent":     "it is read where it is called",
	"hooks":     "hooks stand in a profile, in settings or in an agent's definition",
	"shell":     "commands run in the shell of the tool bash",
	"paths":     "the description says when it is for",
	"arguments": "arguments have no names here: write $1 to $9 or $ARGUMENTS",
}

// source says where the bytes come from.
type source struct {
	kind   Kind
	path   string
	shown  string
	origin Origin
	level  int
	// name is what the place says: a skill's directory, a command's file with its
	// directories before it.
	name string
}

// Read reads the bytes of one file that a person named; shown is its name in
// messages, and place what it is called where the text does not say.
func Read(data []byte, kind Kind, shown, place string) (*Skill, *Problem) {
	return read(data, source{kind: kind, shown: shown, origin: Personal, name: place})
}

type reader struct {
	s *Skill
	f *load.Front // nil: no frontmatter
}

func read(data []byte, src source) (*Skill, *Problem) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	fail := func(class, hint, format string, args ...any) (*Skill, *Problem) {
		return nil, &Problem{Class: class, Kind: Error, Problem: diag.Problem{File: src.shown, Line: 1, Col: 1, Message: fmt.Sprintf(format, args...), Hint: hint}}
	}
	if !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 {
		return fail("", "", "is no UTF-8 text")
	}
	r := &reader{s: &Skill{Kind: src.kind, Path: src.path, Shown: src.shown, Origin: src.origin, Level: src.level, Line: 1}}
	body := string(data)
	switch first, late := load.Fenced(data); {
	case late:
		return fail("F6", "let --- be the first line", "blank lines stand before the frontmatter, so nothing in it counts")
	case first:
		rest, hint := takeHint(data)
		f, p := load.Frontmatter(rest, src.shown, load.Keys{Known: known, Guarded: guarded})
		if p != nil {
			class := ""
			if strings.Contains(p.Message, "has no end") {
				class = "F6"
			}
			return nil, &Problem{Class: class, Kind: Error, Problem: *p}
		}
		r.f, body, r.s.Hint = f, f.Body, hint
	case src.kind == Skills:
		return fail("", "begin the file with ---, name:, description: and ---", "there is no frontmatter, which names the skill and says what it is for")
	}
	r.s.body = strings.Trim(strings.ReplaceAll(body, "\r\n", "\n"), "\n")
	r.s.Size = len(r.s.body)
	if strings.TrimSpace(r.s.body) == "" {
		return fail("", "", "nothing stands in it to be read by a model")
	}
	if r.f != nil {
		r.fields()
	}
	r.named(src.name)
	r.described()
	r.counted()
	sort.SliceStable(r.s.Notices, func(i, j int) bool { return r.s.Notices[i].Line < r.s.Notices[j].Line })
	return r.s, nil
}

func (r *reader) tell(class, kind, key, hint, format string, args ...any) {
	line, col := 1, 0
	if key != "" && r.f != nil {
		line, col = r.f.At(key)
	}
	r.s.Notices = append(r.s.Notices, Problem{Class: class, Kind: kind, Problem: diag.Problem{File: r.s.Shown, Line: max(line, 1), Col: col,
		Path: clip(key), Message: fmt.Sprintf(format, args...), Hint: hint}})
}

// Untold ends the message of what keeps a text from the model.
const Untold = ", so the model is not told of it"

// withhold keeps the text from the model: what it says of itself is not certain.
func (r *reader) withhold(class, key, hint, format string, args ...any) {
	r.s.UserOnly = true
	r.tell(class, Invalid, key, hint, "%s%s", fmt.Sprintf(format, args...), Untold)
}

func (r *reader) fields() {
	for _, p := range r.f.Repairs {
		if sure(p, r.f) {
			r.s.Notices = append(r.s.Notices, Problem{Class: p.Class, Kind: Note, Problem: p.Problem})
			continue
		}
		r.s.UserOnly = true
		p.Message += Untold
		r.s.Notices = append(r.s.Notices, Problem{Class: p.Class, Kind: Invalid, Problem: p.Problem})
	}
	for _, p := range r.f.Lost {
		r.s.UserOnly = true
		p.Message += Untold
		r.s.Notices = append(r.s.Notices, Problem{Class: "F4", Kind: Invalid, Problem: p})
	}
	for _, m := range r.f.Root.Members {
		r.field(m.Key, m.Value)
	}
}

// sure says that a repaired value can only have been meant so: one line of
// prose with a colon in it, or a star. Any other mistake may hide what the
// line was about.
func sure(p load.Repair, f *load.Front) bool {
	v, _ := f.Root.Get(p.Key)
	text, _ := v.(string)
	if f.Cut[p.Key] || text == "" {
		return false
	}
	switch p.Class {
	case "F2", "F3":
		return !strings.ContainsAny(text[:1], "[{\"'|>&!%@`#")
	case "F5":
		return slices.Contains(guarded[2:], p.Key)
	}
	return false
}

func (r *reader) field(key string, v any) {
	switch key {
	case "name":
		r.s.Name, _, _ = strings.Cut(r.word(key, v), "\n") // a name that could not be read by itself may have more lines
		r.s.Line, _ = r.f.At(key)
		if r.s.Kind == Commands {
			r.tell("S8", Note, key, "", "has no effect: a command is called as its file is")
			r.s.Name = ""
		}
	case "description":
		r.s.Description = r.word(key, v)
	case "argument-hint":
		if r.s.Hint == "" {
			r.s.Hint = oneLine(r.word(key, v))
		}
	case "disable-model-invocation":
		r.s.UserOnly = r.flag(key, v, false) || r.s.UserOnly
	case "user-invocable":
		r.s.ModelOnly = !r.flag(key, v, true)
	case "allowed-tools", "disallowed-tools":
		r.s.Ungranted = append(r.s.Ungranted, key)
		r.tell("S8", Note, key, "", "has no effect: what a run may do is not for this file to say, and every call is judged")
	case "license", "version", "author", "metadata", "compatibility", "category", "tags", "color", "when_to_use":
	default:
		r.other(key)
	}
}

func (r *reader) other(key string) {
	switch g := load.Guards(key, guarded[:2]); {
	case g != "":
		r.withhold("S8", key, "write "+g, "looks like %s and is not it", g)
	case inert[key] != "":
		r.tell("S8", Note, key, "", "has no effect: %s", inert[key])
	default:
		r.tell("S8", Note, key, "", "is not known here and has no effect")
	}
}

// word is a text field.
func (r *reader) word(key string, v any) string {
	switch x := v.(type) {
	case string:
		return strings.TrimSpace(x)
	case spec.Number:
		return string(x)
	case bool:
		return fmt.Sprint(x)
	case nil:
		return ""
	}
	r.withhold("", key, "write text", "must be text and is not")
	return ""
}

// flag reads a yes or no, absent where nothing is written. What cannot be read
// counts as yes, and keeps the text from the model.
func (r *reader) flag(key string, v any, absent bool) bool {
	switch x := v.(type) {
	case bool:
		return x
	case nil:
		return absent
	case string:
		switch strings.ToLower(strings.TrimSpace(x)) {
		case "true", "yes", "on":
			return true
		case "false", "no", "off":
			return false
		}
	}
	r.withhold("", key, "write true or false", "is neither true nor false")
	return true
}

// named settles what it is called by. place is what its directory or file says.
func (r *reader) named(place string) {
	s := r.s
	if s.Kind == Commands {
		s.Name = place
		s.ID = commandName(place)
		s.Plain = s.ID[strings.LastIndexByte(s.ID, ':')+1:]
		if s.ID == "" || s.Plain == "" {
			s.ID, s.Plain = "command", "command"
		}
		if s.ID != place {
			r.tell("S5", Note, "", "", "it is called /%s", s.ID)
		}
		return
	}
	if s.Name == "" {
		s.Name = place
		r.tell("S5", Invalid, "name", "write name: "+slug(place), "there is no name; it is called after its directory")
	}
	if s.ID = slug(s.Name); s.ID == "" {
		s.ID = slug(place)
	}
	switch {
	case s.ID == "":
		s.ID = "skill"
		r.withhold("S5", "name", "write a name of a-z, 0-9 and hyphens", "%q gives no name that can be called", clip(s.Name))
	case len(s.ID) > maxName:
		s.ID = strings.TrimRight(s.ID[:maxName], "-")
		r.withhold("S5", "name", "", "the name has more than %d characters", maxName)
	case s.ID != s.Name:
		r.tell("S5", Invalid, "name", "write name: "+s.ID, "%q is no name of a-z, 0-9 and hyphens: it is called %s", clip(s.Name), s.ID)
	case place != "" && s.ID != place:
		r.tell("S5", Note, "name", "", "differs from its directory %s: the name counts", clip(place))
	}
	s.Plain = s.ID
}

// described settles what it says of itself.
func (r *reader) described() {
	s := r.s
	s.Description = strings.TrimSpace(s.Description)
	switch n := utf8.RuneCountInString(s.Description); {
	case n == 0 && s.Kind == Commands:
		s.UserOnly = true
		s.Description = firstLine(s.body)
	case n == 0:
		r.withhold("", "description", "write description: and when to use it", "there is no description, which says when to use it")
	case n > maxDescription:
		r.tell("S7", Invalid, "description", "", "has %d characters, more than the %d of the format", n, maxDescription)
	}
}

// counted tells of arguments that are written for another program.
func (r *reader) counted() {
	if other := otherArguments().FindString(r.s.body); other != "" {
		r.tell("S8", Note, "", "", "%s is left as it is: arguments are counted from 1 here, $1 to $9 (Claude Code counts from 0)", other)
	}
}

var otherArguments = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$0\b|\$ARGUMENTS\[\d+\]`) })

// hintLine is where argument-hint stands; a value that goes on below is YAML's.
var hintLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^argument-hint:[ \t]*([^\r\n]*)(\r?\n[ \t]+\S)?`)
})

// takeHint takes the line of argument-hint out of a frontmatter: [a] [b] is no
// YAML, [a] is a list, and both are meant as they stand. What it gives has as
// many lines as before.
func takeHint(data []byte) (rest []byte, hint string) {
	end := bytes.Index(data, []byte("\n---"))
	m := hintLine().FindSubmatchIndex(data[:max(end, 0)])
	if m == nil || m[4] >= 0 {
		return data, ""
	}
	hint = strings.TrimSpace(string(data[m[2]:m[3]]))
	if hint == "" || strings.ContainsAny(hint[:1], "|>") {
		return data, ""
	}
	if q := hint[0]; (q == '"' || q == '\'') && len(hint) > 1 && hint[len(hint)-1] == q {
		return data, "" // a text in quotes is YAML
	}
	rest = slices.Concat(data[:m[2]], []byte(`""`), data[m[3]:])
	return rest, clipHint(hint)
}

func clipHint(s string) string {
	if r := []rune(s); len(r) > 200 {
		return string(r[:200]) + "…"
	}
	return s
}

// slug makes a name of a-z, 0-9 and hyphens.
func slug(name string) string {
	var b strings.Builder
	gap := false
	for _, c := range strings.ToLower(name) {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' {
			if gap && b.Len() > 0 {
				b.WriteByte('-')
			}
			gap = false
			b.WriteRune(c)
			continue
		}
		gap = true
	}
	return b.String()
}

// commandName keeps a file's name, but for what ends a word or leads elsewhere.
func commandName(place string) string {
	s := strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.ContainsRune("._:-", c):
			return c
		}
		return '-'
	}, place)
	return strings.Trim(s, "-.:")
}

// firstLine is the first line of a text, without what marks a heading.
func firstLine(body string) string {
	for l := range strings.SplitSeq(body, "\n") {
		if l = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(l), "#")); l != "" {
			return clipHint(l)
		}
	}
	return ""
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// clip keeps a message on one line that a person reads.
func clip(s string) string {
	s = oneLine(s)
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return s
}
