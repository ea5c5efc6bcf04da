package definition

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"sync"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/load"
	"larva.dev/larva/internal/nearest"
	"larva.dev/larva/internal/spec"
)

// guarded are the keys that restrict.
var guarded = []string{"tools", "allowed-tools", "disallowedTools", "permissionMode", "permission", "permissions", "isolation"}

// known are the keys that start a field where a frontmatter is no YAML: Claude
// Code's, and those of other collections that are often met.
var known = append([]string{"name", "description", "model", "maxTurns", "skills", "hooks", "background", "color", "effort", "memory",
	"mcpServers", "mcp-servers", "initialPrompt", "allowedTools", "disallowed-tools", "permission-mode", "argument-hint",
	"disable-model-invocation", "user-invocable", "emoji", "vibe", "category", "version", "author", "temperature", "handoffs", "dependencies"}, guarded...)

// without effect here, for a reason of their own.
var inert = map[string]string{
	"memory":        "larva keeps no memory of an agent",
	"mcpServers":    "servers are named in a profile or .mcp.json",
	"mcp-servers":   "servers are named in a profile or .mcp.json",
	"mcpservers":    "servers are named in a profile or .mcp.json",
	"initialPrompt": "a task or a run brings its own prompt",
}

// Source says where the bytes of a definition come from.
type Source struct {
	Path   string // the file, "" for none
	Shown  string // its name in messages
	Origin Origin
	Level  int
}

// Read reads one agent file. Where it gives none, the problem says why: it is
// an ordinary text (Skipped), or an agent that cannot be read (Error).
func Read(data []byte, src Source) (*Definition, *Problem) {
	switch first, late := load.Fenced(data); {
	case late:
		return nil, &Problem{Class: "F6", Kind: Error, Problem: diag.Problem{File: src.Shown, Line: 1, Col: 1,
			Message: "blank lines stand before the frontmatter, so nothing in it counts", Hint: "let --- be the first line"}}
	case !first:
		return nil, &Problem{Kind: Skipped, Problem: diag.Problem{File: src.Shown, Line: 1, Message: "there is no frontmatter: a text among the agents, and no agent"}}
	}
	f, p := load.Frontmatter(data, src.Shown, load.Keys{Known: known, Guarded: guarded})
	if p != nil {
		class := ""
		if strings.Contains(p.Message, "has no end") {
			class = "F6"
		}
		return nil, &Problem{Class: class, Kind: Error, Problem: *p}
	}
	r := &reader{f: f, d: &Definition{Path: src.Path, Shown: src.Shown, Origin: src.Origin, Level: src.Level, Raw: data, Line: 1,
		Extra: &spec.Object{}, front: f}}
	return r.read()
}

type reader struct {
	f *load.Front
	d *Definition
	// listed says that some list of tools was read, denies that one was not.
	listed bool
}

func (r *reader) read() (*Definition, *Problem) {
	if !r.f.Root.Has("name") && !r.f.Root.Has("description") && len(r.f.Lost) == 0 && !r.restricts() {
		return nil, r.fail(Skipped, "", "the frontmatter has neither a name nor a description: a text among the agents, and no agent", "")
	}
	for _, p := range r.f.Repairs {
		r.d.Notices = append(r.d.Notices, Problem{Class: p.Class, Kind: Note, Problem: p.Problem})
	}
	for _, m := range r.f.Root.Members {
		r.field(m.Key, m.Value)
	}
	r.lost()
	if p := r.text(); p != nil {
		return nil, p
	}
	if r.d.Denied {
		r.d.Tools = &Tools{}
	}
	sort.SliceStable(r.d.Notices, func(i, j int) bool { return r.d.Notices[i].Line < r.d.Notices[j].Line })
	return r.d, nil
}

func (r *reader) restricts() bool {
	return slices.ContainsFunc(r.f.Root.Members, func(m spec.Member) bool { return load.Guards(m.Key, guarded) != "" })
}

// note tells something of the key.
func (r *reader) note(class, key, hint, format string, args ...any) {
	line, col := r.f.At(key)
	r.d.Notices = append(r.d.Notices, Problem{Class: class, Kind: Note,
		Problem: diag.Problem{File: r.d.Shown, Line: line, Col: col, Path: clip(key), Message: fmt.Sprintf(format, args...), Hint: hint}})
}

// deny takes all tools away: the key restricts and cannot be read.
func (r *reader) deny(class, key, hint, format string, args ...any) {
	r.d.Denied = true
	r.note(class, key, hint, "%s, so the agent gets no tools", fmt.Sprintf(format, args...))
	r.d.Notices[len(r.d.Notices)-1].Denies = true
}

func (r *reader) fail(kind, key, message, hint string) *Problem {
	line, col := 1, 1
	if key != "" {
		line, col = r.f.At(key)
	}
	return &Problem{Kind: kind, Problem: diag.Problem{File: r.d.Shown, Line: line, Col: col, Path: key, Message: message, Hint: hint}}
}

func (r *reader) field(key string, v any) {
	d := r.d
	r.nested(key, v)
	switch key {
	case "name":
		d.Name, _ = r.word(key, v)
		d.Line, _ = r.f.At(key)
	case "description":
		d.Description, _ = r.word(key, v)
	case "color":
		d.Color, _ = r.word(key, v)
	case "effort":
		d.Effort, _ = r.word(key, v)
	case "model":
		r.model(v)
	case "tools":
		r.allow(key, v)
	case "allowed-tools", "allowedTools":
		r.note("S8", key, "write tools", "is a key of skills and commands; it is read as tools")
		r.allow(key, v)
	case "disallowedTools", "disallowed-tools":
		r.disallow(key, v)
	case "permissionMode", "permission-mode":
		r.mode(key, v)
	case "isolation":
		r.isolation(key, v)
	case "maxTurns":
		r.maxTurns(v)
	case "skills":
		r.skills(v)
	case "background":
		on, ok := v.(bool)
		if !ok && v != nil {
			r.note("", key, "write true or false", "%s is no yes or no and has no effect", kindOf(v))
		}
		d.Background = on
	case "hooks":
	default:
		r.other(key, v)
	}
}

// nested denies where a restriction stands inside of another field, which a
// wrong indent does. Servers have lists of tools of their own.
func (r *reader) nested(key string, v any) {
	o, ok := v.(*spec.Object)
	if !ok || key == "hooks" || strings.HasPrefix(strings.ToLower(key), "mcp") || load.Guards(key, guarded) != "" {
		return
	}
	for _, m := range o.Members {
		if g := load.Guards(m.Key, guarded); g != "" {
			r.deny("F4", key, "write "+g+": at the beginning of a line", "%s stands inside of it, where it restricts nothing", m.Key)
			return
		}
	}
}

// other keeps a key that means nothing here, unless it may have been meant to
// restrict.
func (r *reader) other(key string, v any) {
	g := load.Guards(key, guarded)
	if g == "" {
		g = nearest.Name(key, guarded)
	}
	switch {
	case g == "permission" || g == "permissions":
		r.deny("S8", key, "write tools and disallowedTools", "restricts the agent in another program's words")
	case g != "":
		r.deny("S8", key, "write "+g, "looks like %s and is not it", g)
	case inert[key] != "":
		r.note("S8", key, "", "has no effect: %s", inert[key])
	default:
		r.note("S8", key, "", "is not known here: kept as it is, without effect")
	}
	r.d.Extra.Members = append(r.d.Extra.Members, spec.Member{Key: key, Value: v})
}

// word is a text field.
func (r *reader) word(key string, v any) (string, bool) {
	switch x := v.(type) {
	case string:
		return strings.TrimSpace(x), true
	case spec.Number:
		return string(x), true // a name that is a number is a name
	case nil:
		return "", true
	}
	r.note("", key, "", "must be text, not %s; it has no effect", kindOf(v))
	return "", false
}

// model keeps a label as it is written. Of a list the first one counts.
func (r *reader) model(v any) {
	if list, ok := v.([]any); ok && len(list) > 0 {
		first, _ := list[0].(string)
		r.note("S4", "model", "a role of the profile holds fallbacks", "a list: only the first one, %q, counts", first)
		v = first
	}
	r.d.Model, _ = r.word("model", v)
}

func (r *reader) mode(key string, v any) {
	s, _ := v.(string)
	to, ok := map[string]string{"default": "default", "plan": "plan", "acceptedits": "accept-edits", "bypasspermissions": "yolo", "auto": "auto",
		"dontask": "default"}[plain(strings.ReplaceAll(strings.TrimSpace(s), "-", ""))]
	switch {
	case !ok:
		r.deny("", key, "modes: default, plan, acceptEdits, bypassPermissions", "the mode %s cannot be read", shown(v))
	case to == "yolo" || to == "auto" || to == "accept-edits":
		r.d.Mode = to
		r.note("", key, "", "%s never raises the mode of a run: it is lowered to %s where it is higher", s, to)
	case s == "dontAsk":
		r.d.Mode = to
		r.note("", key, "", "dontAsk is read as default: where there is a person, larva asks")
	default:
		r.d.Mode = to
	}
}

func (r *reader) isolation(key string, v any) {
	switch s, _ := v.(string); s {
	case "worktree":
		r.d.Isolation = s
	case "none":
	default:
		r.deny("", key, "isolation is worktree or none", "the isolation %s cannot be read", shown(v))
	}
}

func (r *reader) maxTurns(v any) {
	if n, ok := v.(spec.Number); ok && !n.IsFloat() {
		var turns int
		if _, err := fmt.Sscan(string(n), &turns); err == nil && turns > 0 {
			r.d.MaxTurns = turns
			return
		}
	}
	r.note("", "maxTurns", "write a number of at least 1", "%s cannot be read; the run's own bound holds", shown(v))
}

func (r *reader) skills(v any) {
	list, ok := texts(v)
	if !ok {
		r.note("", "skills", "write a list of names", "%s cannot be read and has no effect", shown(v))
	}
	for _, s := range list {
		for _, one := range strings.Split(s, ",") {
			if one = strings.TrimSpace(one); one != "" {
				r.d.Skills = append(r.d.Skills, one)
			}
		}
	}
}

// text checks the fields that an agent cannot be without.
func (r *reader) text() *Problem {
	d := r.d
	file := strings.TrimSuffix(filepath.Base(filepath.FromSlash(d.Shown)), filepath.Ext(d.Shown))
	if d.Name == "" {
		d.Name = file
		r.d.Notices = append(r.d.Notices, Problem{Class: "S5", Kind: Note, Problem: diag.Problem{File: d.Shown, Line: 1,
			Message: fmt.Sprintf("there is no name; it is called %q after the file", file), Hint: "write name: " + Slug(file)}})
	}
	if d.ID = Slug(d.Name); d.ID == "" {
		d.ID = Slug(file)
	}
	if !spec.ValidID(d.ID) {
		return r.fail(Error, "name", fmt.Sprintf("the name %q gives no id of at most %d of a-z, 0-9 and hyphens", clip(d.Name), spec.MaxIDLength), "write a name of such letters")
	}
	if d.ID != d.Name {
		line, col := r.f.At("name")
		d.Notices = append(d.Notices, Problem{Class: "S5", Kind: Note, Problem: diag.Problem{File: d.Shown, Line: max(line, 1), Col: col, Path: "name",
			Message: fmt.Sprintf("%q is no id: it is run as %s", clip(d.Name), d.ID)}})
	}
	if d.Description == "" {
		return r.fail(Error, "description", "there is no description, which says what the agent is for", "write description: and a sentence")
	}
	d.Prompt = strings.TrimSuffix(strings.TrimSuffix(r.f.Body, "\n"), "\r")
	if strings.TrimSpace(d.Prompt) == "" {
		return r.fail(Error, "", "nothing stands below the frontmatter, where the prompt is", "")
	}
	return nil
}

var buried = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:^|[\s,;{("'])(tools|allowed[-_]?tools|disallowed[-_]?tools|permission[-_]?mode)["']?[ \t]*:`)
})

// lost denies where a restriction may stand in what was read as something
// else: a line by itself, or, where no list was read at all, within a text.
func (r *reader) lost() {
	for _, p := range r.f.Lost {
		r.d.Denied = true
		p.Message += ", so the agent gets no tools"
		p.Hint = "mend the frontmatter: " + p.Path + ": at the beginning of a line, once"
		r.d.Notices = append(r.d.Notices, Problem{Class: "F4", Kind: Note, Denies: true, Problem: p})
	}
	if r.listed || r.d.Denied {
		return
	}
	for _, m := range r.f.Root.Members {
		s, ok := m.Value.(string)
		if !ok || !r.f.Raw[m.Key] {
			continue
		}
		if found := buried().FindStringSubmatch(s); found != nil {
			r.deny("F4", m.Key, "write "+found[1]+": on a line of its own", "is no YAML, and %s stands in it", found[1])
			return
		}
	}
}

// kindOf names a value's kind, shown is the value where it is short.
func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case string:
		return "text"
	case spec.Number:
		return "a number"
	case []any:
		return "a list"
	}
	return "an object"
}

func shown(v any) string {
	switch x := v.(type) {
	case string:
		return fmt.Sprintf("%q", clip(x))
	case spec.Number:
		return clip(string(x))
	case bool:
		return fmt.Sprint(x)
	}
	return kindOf(v)
}

// clip keeps a message on one line that a person reads.
func clip(s string) string {
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return s
}
