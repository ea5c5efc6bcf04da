package spec

import (
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"
)

// Validate checks v and warns. known says whether an id is in the registry;
// nil leaves that warning out. v has to be an *Object: anything else is the
// caller's error and reported as a spec of the wrong type.
func Validate(v any, known func(id string) bool) Report {
	o, ok := v.(*Object)
	if !ok || o == nil {
		return Report{Errors: []Issue{{
			Code:    "INVALID_FIELD_TYPE",
			Message: "a PersonaSpec must be an object, got " + show(v),
			Details: &Object{Members: []Member{{"field", ""}, {"value", v}}},
		}}, Warnings: []string{}}
	}
	r := Report{Errors: Check(o), Warnings: Warnings(o, known)}
	r.Valid = len(r.Errors) == 0
	if r.Errors == nil {
		r.Errors = []Issue{}
	}
	return r
}

// Warnings gives what is odd about a spec without being wrong, in the order
// of the registry contract (section 1.2); never nil. It looks at what is
// there, also of a spec that Check refuses. known is as for Validate.
func Warnings(o *Object, known func(id string) bool) []string {
	w := []string{}
	caps, _ := get[*Object](o, "capabilities")
	if caps != nil {
		w = append(w, ofCapabilities(caps)...)
	}
	description := o.String("description")
	w = append(w, ofDescription(description)...)
	if caps != nil {
		w = append(w, ofReaders(o.String("id"), description, caps)...)
	}
	if list, ok := get[[]any](o, "can_spawn"); ok && known != nil {
		w = append(w, ofSpawn(list, known)...)
	}
	return w
}

func get[T any](o *Object, key string) (T, bool) {
	v, _ := o.Get(key)
	t, ok := v.(T)
	return t, ok
}

func ofCapabilities(caps *Object) []string {
	if len(caps.Members) == 0 {
		return []string{"capabilities is empty: the persona declares no family, so it may read its project and no more"}
	}
	var w, unknown []string
	nothing := true
	for _, m := range caps.Members {
		if !contains(families[:], m.Key) {
			unknown = append(unknown, m.Key)
		}
		if m.Value != "none" {
			nothing = false
		}
	}
	if len(unknown) > 0 {
		w = append(w, "unknown capability families: "+joined(unknown))
	}
	if nothing {
		w = append(w, "every capability is none: the persona can use no tool")
	}
	return w
}

// The lengths between which a description is neither a stub nor an essay, in
// code points.
const (
	shortestDescription = 20
	longestDescription  = 500
)

var (
	promptOpenings = []string{"you are ", "act as ", "follow these ", "always ", "never ", "respond with "}
	promptPhrases  = []string{"you are ", "respond with ", "step-by-step", "do not ", "must "}
	// "audit" and "review" also stand for auditor and reviewer.
	readerWords = []string{"audit", "read-only", "readonly", "review", "validate", "validator"}
)

func ofDescription(description string) []string {
	var w []string
	text := strings.TrimFunc(description, space)
	if n := utf8.RuneCountInString(text); n > 0 && (n < shortestDescription || n > longestDescription) {
		w = append(w, fmt.Sprintf("description has %s, %d to %d read best", plural(n, "character", "characters"), shortestDescription, longestDescription))
	}
	lower := strings.ToLower(text)
	if hasPrefix(lower, promptOpenings) || strings.Contains(description, "\n") && hasAny(lower, promptPhrases) {
		w = append(w, "description reads like a prompt: it should say what the persona is for")
	}
	return w
}

func ofReaders(id, description string, caps *Object) []string {
	if !hasAny(strings.ToLower(id+" "+description), readerWords) {
		return nil
	}
	var changing []string
	for _, m := range caps.Members {
		if m.Value == "read_write" || m.Value == "destructive" {
			changing = append(changing, m.Key+"="+m.Value.(string))
		}
	}
	if len(changing) == 0 {
		return nil
	}
	return []string{"the persona sounds like a reader but may change things: " + joined(changing)}
}

func ofSpawn(list []any, known func(id string) bool) []string {
	seen := map[string]bool{}
	var missing []string
	for _, v := range list {
		id, ok := v.(string)
		if !ok || seen[id] || !ValidID(id) {
			continue
		}
		seen[id] = true
		if !known(id) {
			missing = append(missing, id)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return []string{"can_spawn names personas that are not registered: " + joined(missing)}
}

// joined sorts names that came from outside and puts them on one line.
func joined(names []string) string {
	sort.Strings(names)
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = plain(n)
	}
	return strings.Join(out, ", ")
}

func hasPrefix(s string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

func hasAny(s string, words []string) bool {
	for _, w := range words {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}
