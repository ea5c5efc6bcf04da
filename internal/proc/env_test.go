package proc

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEnvScrubsSecrets(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 30)
	for _, kv := range []string{
		"ANTHROPIC_API_KEY=a", "ANTHROPIC_AUTH_TOKEN=a", "OPENAI_API_KEY=a", "OPENAI_API_KEY_2=a", "openai_api_key=a",
		"AZURE_OPENAI_KEY=a", "GEMINI_API_KEY=a", "GOOGLE_APPLICATION_CREDENTIALS=/x", "GOOGLE_APPLICATION_CREDENTIALS_JSON={}",
		"AWS_ACCESS_KEY_ID=a", "AWS_SECRET_ACCESS_KEY=a", "AWS_SESSION_TOKEN=a", "AWS_BEARER_TOKEN_BEDROCK=a",
		"CLAUDE_CODE_OAUTH_TOKEN=a", "GITHUB_TOKEN=a", "GH_TOKEN=a", "HF_TOKEN=a", "NPM_TOKEN=a", "REPLICATE_API_TOKEN=a",
		"MY_ACCESS_TOKEN=a", "DB_PASSWORD=a", "PGPASSWORD=a", "SECRET=a", "TOKEN=a", "CLIENT_SECRET_BASE=a", "APP_SECRETS=a",
		"SOME_PRIVATE_KEY=a", "WATSONX_APIKEY=a", "GROQAPIKEY=a", "ANTHROPIC_CUSTOM_HEADERS=x-api-key: a",
		"HARMLESS=sk-ant-" + long, "HARMLESS=ghp_" + long, "HARMLESS=AIza" + long, "HARMLESS= xai-" + long, "HARMLESS=Bearer a/" + long,
	} {
		if got := Env([]string{kv}); len(got) != 1 || got[0] != "LARVA_DEPTH=1" {
			t.Errorf("Env(%q) = %q, want it scrubbed", kv, got)
		}
	}
}

func TestEnvKeepsTheRest(t *testing.T) {
	t.Parallel()
	for _, kv := range []string{
		"PATH=/bin", "HOME=/h", "LANG=C", "SSH_AUTH_SOCK=/s", "MAX_TOKENS=5", "XAUTHORITY=/x", "KEYBOARD=us", "KEYMAP=a", "SSH_PUBLIC_KEY=ssh-ed25519 AAAA",
		"MONKEY=1", "TOKENIZER=x", "GOFLAGS=-mod=mod", "EMPTY=", "SK=sk-short", "DIR=sk-learn/" + strings.Repeat("a", 30), "PATTERN=x", "COMPASS=n",
		"LARVA_HOME=/l", "HTTPS_PROXY=http://proxy.test:1", "TWO=a=b", "PASSENGER=x", "BYPASS=1",
	} {
		if got, want := Env([]string{kv}), []string{kv, "LARVA_DEPTH=1"}; !cmp.Equal(got, want) {
			t.Errorf("Env(%q) = %q, want %q", kv, got, want)
		}
	}
}

func TestEnvOrderExtraAndDepth(t *testing.T) {
	t.Parallel()
	got := Env([]string{"A=1", "LARVA_DEPTH=2", "B=1", "A=2", "noequals", "", "=x", "X_TOKEN=t"}, "X_TOKEN=named", "B=", "LARVA_DEPTH=0")
	want := []string{"A=2", "LARVA_DEPTH=3", "B=", "X_TOKEN=named"}
	if !cmp.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := Without([]string{"A=1", "MY=2", "B=3"}, "MY", "NONE"), []string{"A=1", "B=3"}; !cmp.Equal(got, want) {
		t.Errorf("Without = %q, want %q", got, want)
	}
}

func TestDepth(t *testing.T) {
	t.Parallel()
	for v, want := range map[string]int{"0": 0, "": 0, "1": 1, "7": 7, "-1": 1, "x": 1, "99999999999999999999": 1, " 0": 1} {
		if got := Depth([]string{"LARVA_DEPTH=" + v}); got != want {
			t.Errorf("Depth(%q) = %d, want %d", v, got, want)
		}
	}
	if got := Depth(nil); got != 0 {
		t.Errorf("Depth(nil) = %d, want 0", got)
	}
}

// The pattern lists and the names must not fall for a variable that the
// program could not do without.
func TestEnvOfThisMachineKeepsPath(t *testing.T) {
	t.Parallel()
	got := Env(os.Environ())
	if !slices.ContainsFunc(got, func(kv string) bool { return strings.HasPrefix(kv, "PATH=") }) {
		t.Errorf("no PATH in %q", got)
	}
}

func TestLookPath(t *testing.T) {
	t.Parallel()
	if os.PathSeparator != '/' {
		t.Skip("file modes")
	}
	dir := t.TempDir()
	second := t.TempDir()
	write := func(path string, mode os.FileMode) {
		t.Helper()
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(dir, "tool"), 0o755)
	write(filepath.Join(dir, "plain"), 0o644)
	write(filepath.Join(second, "plain"), 0o755)
	write(filepath.Join(second, "tool"), 0o755)
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	env := []string{"PATH=/nowhere", "PATH=:.:relative:" + dir + ":" + second}
	for name, want := range map[string]string{
		"tool":                     filepath.Join(dir, "tool"),
		"plain":                    filepath.Join(second, "plain"), // not executable in the first
		filepath.Join(dir, "tool"): filepath.Join(dir, "tool"),
	} {
		if got, err := LookPath(name, env); got != want || err != nil {
			t.Errorf("LookPath(%q) = %q, %v, want %q", name, got, err, want)
		}
	}
	for _, name := range []string{"folder", "none", "", "./tool", "../tool", "a/b", filepath.Join(dir, "plain"), dir, "env_test.go"} {
		if got, err := LookPath(name, env); err == nil || !errors.Is(err, ErrNotFound) {
			t.Errorf("LookPath(%q) = %q, %v, want ErrNotFound", name, got, err)
		}
	}
	if _, err := LookPath("tool", nil); !errors.Is(err, ErrNotFound) {
		t.Errorf("without a PATH: %v, want ErrNotFound", err)
	}
}
