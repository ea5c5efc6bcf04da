package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"larva.dev/larva/internal/proc"
)

const (
	// gitTime ends a git that hangs: a checkout of a large repository on a slow
	// disk takes minutes, not more.
	gitTime = 10 * time.Minute
	// maxOutput bounds what git may print: the names of a million files.
	maxOutput = 64 << 20
)

// git runs git in one place with nothing of the repository's own to run.
type git struct {
	environ []string
	dir     string   // where it runs
	at      []string // GIT_DIR=…, GIT_WORK_TREE=…: the repository is not looked for
	off     []setting
	quiet   []string // further variables, as GIT_INDEX_FILE
}

// gitError is a git that did not end well.
type gitError struct {
	verb   string
	exit   int
	signal string
	said   string // its first line on stderr
}

func (e *gitError) Error() string {
	what := fmt.Sprintf("exit %d", e.exit)
	if e.signal != "" {
		what = e.signal
	}
	if e.said != "" {
		what += ": " + e.said
	}
	return "git " + e.verb + ": " + what
}

// run gives what git prints on stdout.
func (g git) run(ctx context.Context, args ...string) (string, error) {
	return g.feed(ctx, nil, args...)
}

// feed is run with stdin.
func (g git) feed(ctx context.Context, stdin []byte, args ...string) (string, error) {
	var out limited
	c := proc.Command{Argv: append([]string{"git"}, args...), Dir: g.dir, Env: g.env(), Timeout: gitTime, Stdout: &out, MaxOutput: 16 << 10}
	if stdin != nil {
		c.Stdin = bytes.NewReader(stdin)
	}
	verb := args[0]
	r, err := proc.Run(ctx, c)
	switch {
	case err != nil:
		return "", fmt.Errorf("git %s: %w", verb, err)
	case r.Cancelled:
		return "", fmt.Errorf("git %s: %w", verb, context.Canceled)
	case r.TimedOut:
		return "", fmt.Errorf("git %s: %w", verb, context.DeadlineExceeded)
	case out.over:
		return "", fmt.Errorf("git %s: prints more than %d MiB", verb, maxOutput>>20)
	case r.Exit != 0:
		return out.b.String(), &gitError{verb: verb, exit: r.Exit, signal: r.Signal, said: said(r.Stderr)}
	}
	return out.b.String(), nil
}

// line is run for one line of output.
func (g git) line(ctx context.Context, args ...string) (string, error) {
	out, err := g.run(ctx, args...)
	return strings.TrimRight(out, "\r\n"), err
}

// with gives g with one more variable.
func (g git) with(kv string) git {
	g.quiet = append(append([]string(nil), g.quiet...), kv)
	return g
}

// exitIs says that git ended by itself with this code.
func exitIs(err error, code int) bool {
	var e *gitError
	return errors.As(err, &e) && e.exit == code && e.signal == ""
}

// said is the line that tells most: the first that says fatal or error, else
// the first.
func said(stderr []byte) string {
	first := ""
	for l := range strings.SplitSeq(strings.TrimSpace(string(stderr)), "\n") {
		l = strings.TrimSpace(l)
		if strings.HasPrefix(l, "fatal: ") || strings.HasPrefix(l, "error: ") {
			return clip(l)
		}
		if first == "" {
			first = l
		}
	}
	return clip(first)
}

// maxSaid of git's words tell what is wrong.
const maxSaid = 300

func clip(s string) string {
	if len(s) <= maxSaid {
		return s
	}
	return strings.ToValidUTF8(s[:maxSaid], "") + "…"
}

// fields splits NUL-separated output.
func fields(out string) []string {
	out = strings.TrimSuffix(out, "\x00")
	if out == "" {
		return nil
	}
	return strings.Split(out, "\x00")
}

// limited collects to a bound.
type limited struct {
	b    bytes.Buffer
	over bool
}

func (l *limited) Write(p []byte) (int, error) {
	if l.b.Len()+len(p) > maxOutput {
		l.over = true
		return 0, io.ErrShortWrite
	}
	return l.b.Write(p)
}
