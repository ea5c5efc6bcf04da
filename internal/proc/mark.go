package proc

import (
	"crypto/rand"
	"strings"
)

// markKey is the variable by which a run's programs are found again.
const markKey = "LARVA_RUN"

// NewMark gives the mark of one run. A run inside a run keeps the outer one's
// in front of its own, so that ending the outer run finds its programs, too.
// The mark of one command is this and a number behind a ".": see Command.Mark.
func NewMark(environ []string) string {
	mark := rand.Text()
	if outer, ok := lookup(environ, markKey); ok && goodMark(outer) {
		return outer + "/" + mark
	}
	return mark
}

// goodMark keeps a foreign value out of patterns and from growing without end.
func goodMark(s string) bool {
	return s != "" && len(s) < 400 && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789./") == ""
}

// marks reports whether an environment as the kernel keeps it (entries ended by
// NUL) bears the mark, or one that begins with it.
func marks(environ, mark string) bool {
	for kv := range strings.SplitSeq(environ, "\x00") {
		rest, ok := strings.CutPrefix(kv, markKey+"="+mark)
		if ok && (rest == "" || rest[0] == '.' || rest[0] == '/') {
			return true
		}
	}
	return false
}
