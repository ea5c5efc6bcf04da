package worktree

import (
	"fmt"
	"strconv"
	"strings"

	"larva.dev/larva/internal/diag"
)

// What Report.Merges says.
const (
	MergesClean   = "clean"
	MergesNot     = "conflicts"
	MergesUnknown = "unknown" // an older git, a merge driver of the repository's own, or no HEAD to merge into
)

// maxListed files are named; the rest is counted.
const maxListed = 20

// Report is what became of a task's worktree.
type Report struct {
	Name         string   `json:"name"`
	Dir          string   `json:"dir"`
	Repo         string   `json:"repo"`
	Branch       string   `json:"branch"` // that holds the work
	Base         string   `json:"base"`
	Head         string   `json:"head"` // the commit that holds the work; Base where there is none
	Commits      int      `json:"commits"`
	Leftovers    bool     `json:"leftovers"` // the last commit is ours: what the task had not committed
	Files        []string `json:"files"`     // "M path", 20 at most
	FileCount    int      `json:"file_count"`
	Merges       string   `json:"merges"` // clean, conflicts, unknown; "" where there is nothing to merge
	Conflicts    []string `json:"conflicts"`
	Ignored      []string `json:"ignored"` // files that git ignores: in no commit
	IgnoredCount int      `json:"ignored_count"`
	Switched     bool     `json:"switched"` // the task has left the branch that was made for it
	Removed      bool     `json:"removed"`  // worktree and branch are gone: there was nothing in them
	Notes        []string `json:"notes"`
	Commands     Commands `json:"commands"`
}

// Commands are what a person types next; "" where there is nothing to do.
type Commands struct {
	Diff    string `json:"diff"`
	Merge   string `json:"merge"`
	Cleanup string `json:"cleanup"`
}

// Text is the report for a person and for the parent's model: plain lines.
func (r Report) Text() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	switch {
	case r.Removed:
		line("Worktree: the task has left nothing to keep; worktree and branch %s are removed.", r.Branch)
	case r.Commits == 0 && r.FileCount == 0:
		line("Worktree: kept in %s, branch %s.", diag.Word(r.Dir), diag.Word(r.Branch))
	default:
		last := ""
		if r.Leftovers {
			last = ", the last of them what the task had left uncommitted"
			if r.Commits == 1 {
				last = ": what the task had left uncommitted"
			}
		}
		line("Worktree: branch %s has %s%s.", diag.Word(r.Branch), count(r.Commits, "commit", "commits"), last)
		line("Directory: %s", diag.Word(r.Dir))
	}
	list := func(title string, names []string, n int) {
		if n == 0 {
			return
		}
		line("%s (%d):", title, n)
		for _, f := range names {
			line("  %s", show(f))
		}
		if n > len(names) {
			line("  … and %d more", n-len(names))
		}
	}
	if r.FileCount > 0 {
		line("Files (%d):", r.FileCount)
		for _, f := range r.Files {
			line("  %s %s", f[:1], show(f[2:]))
		}
		if r.FileCount > len(r.Files) {
			line("  … and %d more", r.FileCount-len(r.Files))
		}
	}
	switch r.Merges {
	case MergesClean:
		line("It merges cleanly.")
	case MergesNot:
		list("It does not merge cleanly; conflicts", r.Conflicts, len(r.Conflicts))
	case MergesUnknown:
		line("Whether it merges cleanly is not known.")
	}
	if r.Removed {
		list("Files that git ignores went with it", r.Ignored, r.IgnoredCount)
	} else {
		list("Files that git ignores are in no commit", r.Ignored, r.IgnoredCount)
	}
	for _, n := range r.Notes {
		line("Note: %s.", n)
	}
	for _, c := range [...]struct{ what, cmd string }{{"Review", r.Commands.Diff}, {"Merge", r.Commands.Merge}, {"Clean up", r.Commands.Cleanup}} {
		if c.cmd != "" {
			line("%s: %s", c.what, c.cmd)
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// show is a file's name as it is, quoted where it would break the line or
// reach into a terminal.
func show(name string) string {
	if q := strconv.Quote(name); q[1:len(q)-1] != name {
		return q
	}
	return name
}
