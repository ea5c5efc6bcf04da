package app

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"larva.dev/larva/internal/dialog"
	"larva.dev/larva/internal/proc"
	"larva.dev/larva/internal/session"
)

const (
	maxCandidates = 50
	maxFilesSeen  = 50_000 // looked at
	maxListing    = 4 << 20
	listTime      = 2 * time.Second // a person is typing
)

// Complete gives what may stand in place of the last word of line.
func (c *Chat) Complete(ctx context.Context, line string) []dialog.Candidate {
	t, s := c.now()
	if t == nil || !utf8.ValidString(line) {
		return nil
	}
	at := strings.LastIndexAny(line, " \t\n") + 1
	word := line[at:]
	switch name, _, command := strings.Cut(line, " "); {
	case strings.HasPrefix(word, "@"):
		return t.files(ctx, s, word[1:])
	case at == 0 && strings.HasPrefix(line, "/"):
		return commandsLike(c.Commands(), line[1:])
	case command && strings.HasPrefix(name, "/"):
		return t.arguments(ctx, name[1:], strings.Fields(line[:at])[1:], word)
	}
	return nil
}

func commandsLike(all []dialog.Command, prefix string) []dialog.Candidate {
	var out []dialog.Candidate
	for _, k := range all {
		if strings.HasPrefix(k.Name, prefix) {
			out = append(out, dialog.Candidate{Text: "/" + k.Name, Detail: strings.TrimSpace(k.Args + "  " + k.Help)})
		}
	}
	return out
}

// arguments completes those of the chat's own commands.
func (t *chatTalk) arguments(ctx context.Context, command string, before []string, word string) []dialog.Candidate {
	var all []dialog.Candidate
	words := func(list ...string) {
		for _, w := range list {
			all = append(all, dialog.Candidate{Text: w})
		}
	}
	switch {
	case command == "persona" && len(before) == 1:
		names, _ := t.app.VariantNames(before[0]) // one that is not stored has none to offer
		words(names...)
	case len(before) > 1, len(before) == 1 && command != "tasks":
	case command == "mode":
		for _, m := range []string{"default", "accept-edits", "plan", "auto", "yolo"} {
			all = append(all, dialog.Candidate{Text: m, Detail: modeHelp[m]})
		}
	case command == "tasks" && len(before) == 0:
		words("stop")
	case command == "tasks":
		words(append(t.hub.Running(), "all")...)
	case command == "persona", command == "model", command == "resume":
		pick := map[string]func(*chatTalk, context.Context, string) (dialog.Reply, error){
			"persona": (*chatTalk).pickPersona, "model": (*chatTalk).pickModel, "resume": (*chatTalk).pickSession}[command]
		r, err := pick(t, ctx, "")
		if err != nil || r.Pick == nil {
			return nil
		}
		for _, i := range r.Pick.Items {
			_, arg, _ := strings.Cut(i.Line, " ")
			detail := i.Detail
			if command == "resume" {
				detail = i.Label + "; " + detail
			}
			all = append(all, dialog.Candidate{Text: arg, Detail: detail})
		}
	}
	return slices.DeleteFunc(all, func(c dialog.Candidate) bool { return !strings.HasPrefix(c.Text, word) })
}

// files completes a path of the project: what git knows or has not ignored,
// else the directory. A prefix of the path or of its last part counts before a
// piece of it; what a rule does not let be read is not shown.
func (t *chatTalk) files(ctx context.Context, s *stand, word string) []dialog.Candidate {
	word = strings.Trim(word, `"`)
	type hit struct {
		path string
		rank int
	}
	var hits []hit
	low := strings.ToLower(word)
	for _, path := range t.listed(ctx, s) {
		p := strings.ToLower(path)
		rank := -1
		switch {
		case strings.HasPrefix(p, low):
			rank = 0
		case strings.HasPrefix(p[strings.LastIndex(p, "/")+1:], low):
			rank = 1
		case strings.Contains(p, low):
			rank = 2
		}
		if rank < 0 {
			continue
		}
		at := filepath.Join(s.roots.Cwd, filepath.FromSlash(path))
		if s.policy.ReadDenied(at, at) {
			continue
		}
		hits = append(hits, hit{path, rank})
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return a.rank - b.rank })
	var out []dialog.Candidate
	for _, h := range hits[:min(len(hits), maxCandidates)] {
		text := "@" + h.path
		if strings.ContainsAny(h.path, " \t\"'()[]{}") {
			text = `@"` + h.path + `"`
		}
		out = append(out, dialog.Candidate{Text: text})
	}
	return out
}

// listed are the files below the working directory, as slash paths from it.
func (t *chatTalk) listed(ctx context.Context, s *stand) []string {
	if s.gitRoot() != "" {
		// By these flags git starts no program that the repository's config names.
		res, err := proc.Run(ctx, proc.Command{Argv: []string{"git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.DevNull,
			"ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"}, Dir: s.roots.Cwd, Timeout: listTime, MaxOutput: maxListing,
			Env: proc.Env(t.app.environ, "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1")})
		if err == nil && res.Exit == 0 {
			return plainPaths(string(res.Stdout))
		}
	}
	var out []string
	_ = filepath.WalkDir(s.roots.Cwd, func(path string, e fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil || len(out) >= maxFilesSeen:
			return fs.SkipAll
		case err != nil:
			return fs.SkipDir
		case e.IsDir() && path != s.roots.Cwd && (strings.HasPrefix(e.Name(), ".") || e.Name() == "node_modules"):
			return fs.SkipDir
		case e.Type().IsRegular():
			if rel, err := filepath.Rel(s.roots.Cwd, path); err == nil {
				out = append(out, plainPaths(filepath.ToSlash(rel))...)
			}
		}
		return nil
	})
	return out
}

// plainPaths are those of a listing that can be typed.
func plainPaths(listing string) []string {
	var out []string
	for path := range strings.SplitSeq(listing, "\x00") {
		if path != "" && utf8.ValidString(path) && !strings.ContainsFunc(path, unicode.IsControl) && len(out) < maxFilesSeen {
			out = append(out, path)
		}
	}
	return out
}

const (
	historySessions = 5
	historyPrompts  = 200
)

// History are the prompts of the project's latest sessions: what they keep
// anyway, so that no other file has them.
func (c *Chat) History(ctx context.Context) []string {
	store, err := c.app.sessions()
	if err != nil {
		return nil
	}
	ids, err := store.IDs()
	if err != nil {
		return nil
	}
	var out []string
	for _, id := range ids[max(0, len(ids)-historySessions):] {
		if ctx.Err() != nil {
			return nil
		}
		s, err := session.Load(store.Path(id))
		if err != nil {
			continue
		}
		var typed []string
		for _, p := range s.Prompts() {
			if len(p.Text) <= 4000 { // what a command stands for was not typed
				typed = append(typed, p.Text)
			}
		}
		out = append(typed, out...)
	}
	return out[max(0, len(out)-historyPrompts):]
}
