package app

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"larva.dev/larva/internal/profile"
)

// An alias means the newest model of its family that the shipped profile has a
// price of.
func TestAliasesAreCurrent(t *testing.T) {
	t.Parallel()
	shipped, err := shippedProfiles()
	if err != nil {
		t.Fatal(err)
	}
	version := regexp.MustCompile(`^anthropic/claude-[a-z]+-([0-9]+)(?:-([0-9]+))?$`)
	for alias, want := range profile.Aliases() {
		newest, best := "", -1
		for name := range shipped["default"].Profile.Prices {
			m := version.FindStringSubmatch(name)
			if m == nil || !strings.HasPrefix(name, "anthropic/claude-"+alias+"-") {
				continue
			}
			major, _ := strconv.Atoi(m[1])
			minor, _ := strconv.Atoi(m[2])
			if n := major*1000 + minor; n > best {
				newest, best = name, n
			}
		}
		if newest != "anthropic/"+want {
			t.Errorf("%s: got anthropic/%s, want %s", alias, want, newest)
		}
	}
}

func TestVeil(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"go test ./...": "go test ./...",
		"curl -H 'Authorization: Bearer abcdef123' x.test": "curl -H 'Authorization: Bearer (hidden)' x.test",
		"X_API_KEY=abc123 run":                             "X_API_KEY=(hidden) run",
		"run --token abc123 --level 2":                     "run --token (hidden) --level 2",
		"run --password=abc123":                            "run --password=(hidden)",
		"run --token $TOKEN":                               "run --token $TOKEN",
		"echo sk-ant-REDACTED":                             "echo (hidden)",
		"git clone https://me:pw@x.test/a.git":             "git clone https://(hidden)@x.test/a.git",
		`{"secret": "abc"}`:                                `{"secret": "(hidden)"}`,
		"bash(git push *)":                                 "bash(git push *)",
		"read(secrets/**)":                                 "read(secrets/**)",
	} {
		if got := veil(in); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
	for in, want := range map[string]string{
		"https://x.test/v1":             "https://x.test/v1",
		"https://x.test/v1?k=abc":       "https://x.test/v1?(hidden)",
		"https://me:pw@x.test/v1?k=abc": "https://(hidden)@x.test/v1?(hidden)",
		"https://me@x.test/v1":          "https://(hidden)@x.test/v1",
		"":                              "",
	} {
		if got := veilURL(in); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
	for in, want := range map[string]string{"${X}": "${X}", "Bearer $X": "Bearer $X", "${X:-abc}": hidden, "abc": hidden, "": "", "a$X": hidden} {
		if got := veilValues(map[string]string{"K": in})["K"]; got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}
