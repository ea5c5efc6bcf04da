package app

import (
	"context"
	"regexp"
	"strings"
	"sync"

	"larva.dev/larva/internal/skill"
)

// diffMark is where a text that comes with the binary has its diff.
const diffMark = "{{diff}}"

var (
	pullRequest = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^#?([0-9]{1,9})$`) })
	// revision is what git may be given: one word that no shell reads as more,
	// and that is no option.
	revision = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_./@^~+-]*$`) })
)

const gitDiff = "git diff --no-ext-diff --no-textconv "

// review is the text of a command that comes with the binary. The first word of
// its arguments says which change is meant, where it can; the rest is what the
// person adds. A diff is text: nothing in it is looked for commands.
func (e *expansion) review(ctx context.Context, body, args string) string {
	var diff string
	ok := false
	rest := args
	if words := skill.Split(args); len(words) > 0 {
		if diff, ok = e.named(ctx, words[0]); ok || pullRequest().MatchString(words[0]) {
			rest = strings.TrimSpace(strings.TrimPrefix(args, words[0]))
			ok = true
		}
	}
	if !ok {
		diff = e.uncommitted(ctx)
	}
	text := strings.Replace(body, diffMark, diff, 1)
	if rest != "" {
		text += "\n\nThe person adds: " + rest
	}
	return text
}

// named is the change that a word means; ok is false where it means none.
func (e *expansion) named(ctx context.Context, word string) (diff string, ok bool) {
	if m := pullRequest().FindStringSubmatch(word); m != nil {
		return e.run(ctx, "gh pr diff "+m[1])
	}
	if !revision().MatchString(word) {
		return "", false
	}
	if strings.Contains(word, "..") {
		return e.quietly(ctx, gitDiff+word+" --")
	}
	if p := e.s.roots.Resolve(word, false); !p.Outside && exists(p.Real) {
		return e.quietly(ctx, gitDiff+"HEAD -- "+word)
	}
	branch, ok := e.quietly(ctx, gitDiff+word+"...HEAD --")
	if !ok {
		return "", false
	}
	return branch + "\n\n" + e.uncommitted(ctx), true
}

// quietly is run for a command that may well fail.
func (e *expansion) quietly(ctx context.Context, command string) (text string, ok bool) {
	if _, why := e.allowed(command); why != "" {
		return "", false
	}
	return e.run(ctx, command)
}

// uncommitted is what has not been committed yet.
func (e *expansion) uncommitted(ctx context.Context) string {
	status, ok := e.run(ctx, "git status --short")
	if !ok {
		return status
	}
	diff, _ := e.run(ctx, gitDiff+"HEAD --")
	return status + "\n\n" + diff
}
