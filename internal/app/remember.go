package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/load"
	"larva.dev/larva/internal/profile"
	"larva.dev/larva/internal/replace"
)

const privateHeader = "# What you answered \"always\" to in one project. Edit or delete lines as you like.\n"

// asking adds to a question where an "always" is kept.
func asking(ask func(context.Context, event.Question) event.Answer, path string) func(context.Context, event.Question) event.Answer {
	if ask == nil {
		return nil
	}
	return func(ctx context.Context, q event.Question) event.Answer {
		q.KeptIn = path
		return ask(ctx, q)
	}
}

// remember stores an allow rule in the project's private file and says where.
// What else the file holds, comments too, stays as it is.
func (a *App) remember(ctx context.Context, p where, rule string) (string, error) {
	path := p.privateFile()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	lock := flock.New(path + ".lock")
	wait, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if ok, err := lock.TryLockContext(wait, 20*time.Millisecond); err != nil || !ok {
		return "", fmt.Errorf("%s is locked: %w", path, err)
	}
	defer lock.Unlock()
	old, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	have, err := a.privateAllow(ctx, path)
	if err != nil {
		return "", err
	}
	if slices.Contains(have, rule) {
		return path, nil
	}
	return path, a.writePrivate(ctx, path, withRule(string(old), rule), append(have, rule))
}

// privateAllow reads the file's allow rules; none where there is no file.
func (a *App) privateAllow(ctx context.Context, path string) ([]string, error) {
	l, err := a.optional(ctx, path, load.Options{Dir: a.dir, Trusted: true})
	if err != nil || len(l) == 0 {
		return nil, err
	}
	return l[0].Profile.Permissions.Allow, nil
}

// withRule puts the rule at the end of the allow list of [permissions], or
// adds the list.
func withRule(text, rule string) string {
	line := "  " + tomlString(rule) + ",\n"
	const table = "[permissions]\n"
	switch {
	case strings.Contains(text, "\nallow = [\n"):
		return strings.Replace(text, "\nallow = [\n", "\nallow = [\n"+line, 1)
	case strings.Contains("\n"+text, "\n"+table):
		i := strings.Index("\n"+text, "\n"+table) + len(table)
		return text[:i] + "allow = [\n" + line + "]\n" + text[i:]
	case text == "":
		return privateHeader + "\n" + table + "allow = [\n" + line + "]\n"
	}
	return strings.TrimRight(text, "\n") + "\n\n" + table + "allow = [\n" + line + "]\n"
}

// tomlString is a TOML basic string.
func tomlString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// writePrivate writes the new text aside, reads it back, and renames it in
// only if it says exactly what it should: a file that somebody laid out in a
// way that withRule does not know is left alone.
func (a *App) writePrivate(ctx context.Context, path, text string, want []string) error {
	return replace.File(path, []byte(text), 0o600, func(aside string) error {
		l, err := load.Profile(ctx, aside, load.Options{Dir: a.dir, Trusted: true})
		if err == nil && !sameRules(l.Profile, want) {
			err = errors.New("its layout is not known")
		}
		if err != nil {
			return fmt.Errorf("%s was left as it is: %w", path, err)
		}
		return nil
	})
}

func sameRules(p profile.Profile, want []string) bool {
	a, b := slices.Clone(p.Permissions.Allow), slices.Clone(want)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}
