package cli

import (
	"path/filepath"
	"strings"
)

// The output forms.
const (
	formatText   = "text"
	formatJSON   = "json"
	formatStream = "stream-json"
)

// formatOf reads the output form off the raw arguments, up to "--": a command
// line that does not parse must still fail in the form it asked for.
func formatOf(args []string) string {
	form := formatText
	for i, a := range args {
		if a == "--" {
			break
		}
		value := ""
		switch {
		case a == "--json" || a == "--json=true":
			return formatJSON
		case (a == "-o" || a == "--output") && i+1 < len(args):
			value = args[i+1]
		case strings.HasPrefix(a, "--output="):
			value = a[len("--output="):]
		case strings.HasPrefix(a, "-o"):
			value = strings.TrimPrefix(a[2:], "=")
		}
		if value == formatJSON || value == formatStream {
			form = value
		}
	}
	return form
}

// lookup gives the value of key in a KEY=VALUE list; the last one wins.
func lookup(environ []string, key string) string {
	for i := len(environ) - 1; i >= 0; i-- {
		if k, v, ok := strings.Cut(environ[i], "="); ok && k == key {
			return v
		}
	}
	return ""
}

// homeOf is the user's home directory as the environment says; a test's HOME
// counts, the password file never does.
func homeOf(environ []string) string {
	h := lookup(environ, "HOME")
	if h == "" {
		h = lookup(environ, "USERPROFILE")
	}
	if abs, err := filepath.Abs(h); err == nil && h != "" {
		return abs // mounts and rules know no other paths
	}
	return h
}
