package load

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	cueerrors "cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/parser"
	"cuelang.org/go/cue/token"

	"larva.dev/larva/internal/diag"
)

// maxMessage is the most of a message of CUE's that is kept: it may quote a
// whole prompt.
const maxMessage = 300

// faults turns CUE's errors into one fault a path, in the user's files. base is
// the path of the value that was checked; nil is the file.
func (e *evaluation) faults(err error, base []string) []cueFault {
	var list []cueFault
	seen := map[string]int{}
	for _, ce := range cueerrors.Errors(err) {
		f := e.fault(ce, base)
		noise := strings.Contains(f.Message, "errors in empty disjunction")
		key := f.Problem.Path
		if key == "" && len(f.Path) == 0 {
			key = "\x00" + f.File + fmt.Sprint(f.Line, f.Message)
		}
		i, had := seen[key]
		switch {
		case !had:
			seen[key] = len(list)
			list = append(list, f)
		case strings.Contains(list[i].Message, "errors in empty disjunction") && !noise:
			list[i] = f
		}
	}
	return deepest(list)
}

// deepest drops a fault where one further down says more.
func deepest(list []cueFault) []cueFault {
	return slices.DeleteFunc(slices.Clone(list), func(f cueFault) bool {
		return len(f.Path) > 0 && slices.ContainsFunc(list, func(g cueFault) bool {
			return len(g.Path) > len(f.Path) && slices.Equal(g.Path[:len(f.Path)], f.Path)
		})
	})
}

func (e *evaluation) fault(ce cueerrors.Error, base []string) cueFault {
	format, args := ce.Msg()
	f := cueFault{Path: relative(ce.Path(), base)}
	f.Problem = diag.Problem{File: e.u.Shown, Path: dotted(f.Path), Message: e.words(said(ce, fmt.Sprintf(format, args...)))}
	if f.Message == "" {
		f.Message = "cannot be loaded as CUE"
	}
	if len(e.u.Only) == 1 {
		f.File = e.shown(e.u.Only[0])
	}
	if e.u.File != "" {
		f.File = e.shown(e.u.File)
	}
	for _, p := range append([]token.Pos{ce.Position()}, ce.InputPositions()...) {
		if rel := e.rel(p); rel != "" {
			f.File, f.Line, f.Col = e.shown(rel), p.Line(), p.Column()
			break
		}
	}
	return f
}

// said is an error's message. Of one that wraps another CUE gives the outer
// words alone, which for an attribute are its bare name.
func said(ce cueerrors.Error, message string) string {
	if cause := errors.Unwrap(ce); cause != nil && (message == "" || message[0] == '@' && !strings.Contains(message, ":")) {
		return strings.TrimPrefix(message+": "+cause.Error(), ": ")
	}
	return message
}

// relative makes CUE's path one from the file: without the definition that the
// value was unified with, below base.
func relative(path, base []string) []string {
	var parts []string
	for i, p := range path {
		if strings.HasPrefix(p, "#") && i == 0 {
			if isSchemaDef(p) {
				continue
			}
			return base // inside a definition of the user's own
		}
		if sels := cue.ParsePath(p).Selectors(); len(sels) == 1 && sels[0].IsString() {
			p = sels[0].Unquoted()
		}
		parts = append(parts, p)
	}
	if len(base) == 0 || len(parts) >= len(base) && slices.Equal(parts[:len(base)], base) {
		return parts
	}
	return sub(base, parts...)
}

// isSchemaDef says whether CUE calls a value by the definition that we unified
// it with.
func isSchemaDef(p string) bool {
	return p == "#Persona" || p == "#PersonaSpec" || p == "#Profile" || p == "#Scenario" || p == "#PermissionTest"
}

// words makes a message of CUE's one line without places of our own making.
func (e *evaluation) words(s string) string {
	s = oneLine(s)
	for _, prefix := range []string{e.virtual + "/", e.virtual + `\`, e.virtual} {
		s = strings.ReplaceAll(s, prefix, "")
	}
	s = cueOwn().ReplaceAllString(s, "")
	switch {
	case strings.HasSuffix(s, "field not allowed"):
		s = "unknown field"
	case strings.HasPrefix(s, "field is required but not present"):
		s = missing
	case strings.Contains(s, "incomplete value "):
		s = noValue + s[strings.Index(s, "incomplete value ")+len("incomplete value "):]
	case strings.Contains(s, "errors in empty disjunction"):
		s = "fits none of what is allowed here"
	}
	return clipTo(s, maxMessage)
}

const noValue = "has no value yet, only "

// cueOwn finds the parts of a message that name the schema's definitions.
var cueOwn = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^#[A-Za-z]+(\.[A-Za-z0-9_"-]+)*: `)
})

// combine puts what the structural pass explained before what CUE says of
// other paths below base.
func combine(explained, faults []cueFault, base []string) []cueFault {
	out := slices.Clone(explained)
	for _, f := range faults {
		if !slices.ContainsFunc(explained, func(g cueFault) bool { return related(f.Path, g.Path) }) {
			out = append(out, f)
		}
	}
	return out
}

// related says whether one path lies at or below the other.
func related(a, b []string) bool {
	n := min(len(a), len(b))
	return slices.Equal(a[:n], b[:n])
}

// lenientSchema is a schema whose definitions allow anything, except those
// that are one literal and may be used as a value.
func lenientSchema() map[string]string {
	var b strings.Builder
	b.WriteString("package schema\n\n")
	for name, text := range schemaFiles() {
		f, err := parser.ParseFile(name, text)
		if err != nil {
			continue
		}
		for _, d := range f.Decls {
			field, ok := d.(*ast.Field)
			if !ok {
				continue
			}
			label, _, err := ast.LabelName(field.Label)
			if err != nil || !strings.HasPrefix(label, "#") {
				continue
			}
			if lit, ok := field.Value.(*ast.BasicLit); ok {
				fmt.Fprintf(&b, "%s: %s\n", label, lit.Value)
			} else {
				fmt.Fprintf(&b, "%s: _\n", label)
			}
		}
	}
	return map[string]string{"schema.cue": b.String()}
}
