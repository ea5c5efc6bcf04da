package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestBadInput registers what a careless or hostile person may write. Each
// ends in one clear error with its code, and the registry stays empty.
func TestBadInput(t *testing.T) {
	t.Parallel()
	spec := func(field, value string) string {
		fields := map[string]string{"id": `"x"`, "description": `"Reviews changes with care."`, "prompt": `"p"`, "model": `"m"`,
			"capabilities": `{"git":"read_only"}`, "spec_version": `"0.1.0"`}
		fields[field] = value
		var list []string
		for k, v := range fields {
			list = append(list, `"`+k+`":`+v)
		}
		return "{" + strings.Join(list, ",") + "}"
	}
	for name, c := range map[string]struct {
		text string
		exit int
		code string
	}{
		"null id":             {spec("id", "null"), 1, "PERSONA_INVALID"},
		"null prompt":         {spec("prompt", "null"), 1, "PERSONA_INVALID"},
		"null can_spawn":      {spec("can_spawn", "null"), 1, "PERSONA_INVALID"},
		"null model_params":   {spec("model_params", "null"), 1, "PERSONA_INVALID"},
		"null spec_digest":    {spec("spec_digest", "null"), 1, "PERSONA_INVALID"},
		"NaN":                 {spec("model_params", `{"x":NaN}`), 2, "INVALID_INPUT"},
		"Infinity":            {spec("model_params", `{"x":-Infinity}`), 2, "INVALID_INPUT"},
		"beyond float64":      {spec("model_params", `{"x":1e400}`), 2, "INVALID_INPUT"},
		"5000 digits":         {spec("model_params", `{"x":`+strings.Repeat("7", 5000)+`}`), 2, "INVALID_INPUT"},
		"5000 levels":         {spec("model_params", strings.Repeat(`{"x":`, 5000)+"1"+strings.Repeat("}", 5000)), 2, "INVALID_INPUT"},
		"duplicate key":       {`{"id":"a","id":"b"}`, 2, "INVALID_INPUT"},
		"duplicate inside":    {spec("model_params", `{"x":1,"x":1}`), 2, "INVALID_INPUT"},
		"1001 entries":        {spec("can_spawn", "["+strings.Repeat(`"a",`, 1000)+`"a"]`), 2, "INVALID_INPUT"},
		"invalid UTF-8":       {spec("prompt", "\"\xff\xfe\""), 2, "INVALID_INPUT"},
		"byte order mark":     {"\ufeff" + spec("prompt", `"p"`), 2, "INVALID_INPUT"},
		"lone surrogate":      {spec("prompt", `"\ud800"`), 2, "INVALID_INPUT"},
		"300-character id":    {spec("id", `"`+strings.Repeat("a", 300)+`"`), 1, "PERSONA_INVALID"},
		"id with newline":     {spec("id", `"a\n"`), 1, "PERSONA_INVALID"},
		"blank description":   {spec("description", `"\u2003\u00a0"`), 1, "PERSONA_INVALID"},
		"1.0 is no integer":   {spec("model_params", `{"top_k":1.0}`), 1, "PERSONA_INVALID"},
		"nothing at all":      {"", 2, "INVALID_INPUT"},
		"half a document":     {`{"id":`, 2, "INVALID_INPUT"},
		"two documents":       {"{}{}", 2, "INVALID_INPUT"},
		"a list":              {"[]", 2, "INVALID_INPUT"},
		"control in a string": {"{\"id\":\"a\x01\"}", 2, "INVALID_INPUT"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home, work := t.TempDir(), t.TempDir()
			write(t, filepath.Join(work, "p.json"), c.text)
			for _, form := range [][]string{nil, {"--json"}} {
				code, stdout, stderr := larva(home, work, append([]string{"register", "p.json"}, form...))
				if code != c.exit {
					t.Errorf("exit: got %d, want %d\n%s%s", code, c.exit, stdout, stderr)
				}
				if form == nil {
					if stdout != "" || !strings.HasPrefix(stderr, "larva register: "+c.code+": ") || strings.Contains(stderr, "goroutine") {
						t.Errorf("got stdout %q, stderr %.300q; want one %s", stdout, stderr, c.code)
					}
					continue
				}
				var e struct {
					Error struct{ Code, Message string }
				}
				if err := json.Unmarshal([]byte(stdout), &e); err != nil || stderr != "" || e.Error.Code != c.code || !strings.Contains(e.Error.Message, "p.json:") {
					t.Errorf("got %.300q, stderr %q; want the envelope of %s with a place", stdout, stderr, c.code)
				}
			}
			if entries, err := os.ReadDir(filepath.Join(home, ".larva")); err == nil {
				t.Errorf("the registry has been touched: %v", entries)
			}
		})
	}
}

// TestLongDescription: 200,000 characters are legal, worth a warning and no more.
func TestLongDescription(t *testing.T) {
	t.Parallel()
	home, work := t.TempDir(), t.TempDir()
	write(t, filepath.Join(work, "p.json"), `{"id":"x","description":"`+strings.Repeat("ä", 200_000)+`","prompt":"p","model":"m","capabilities":{"git":"read_only"},"spec_version":"0.1.0"}`)
	if code, stdout, stderr := larva(home, work, []string{"validate", "p.json"}); code != 0 || !strings.Contains(stdout, "warning: description") {
		t.Errorf("validate: exit %d, %.200q %.200q; want 0 and a warning", code, stdout, stderr)
	}
	if code, _, stderr := larva(home, work, []string{"register", "p.json"}); code != 0 {
		t.Errorf("register: exit %d, %.200q", code, stderr)
	}
}

// TestRegistryWithoutPermission: a registry that may not be read or written is
// said with its path, whatever the verb.
func TestRegistryWithoutPermission(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		return // modes mean nothing there
	}
	home, work := t.TempDir(), t.TempDir()
	write(t, filepath.Join(home, ".larva", "registry"), "a file where the registry should be")
	write(t, filepath.Join(work, "p.json"), `{"id":"x","description":"Reviews changes with care.","prompt":"p","model":"m","capabilities":{},"spec_version":"0.1.0"}`)
	for _, argv := range [][]string{{"list"}, {"register", "p.json"}, {"resolve", "x"}, {"update", "x", "--set", "model=y"}, {"delete", "x"},
		{"export", "--all"}, {"doctor"}, {"clear", "--confirm", "CLEAR REGISTRY"}, {"clone", "x", "y"}, {"variant", "list", "x"}} {
		code, stdout, stderr := larva(home, work, argv)
		if code != 1 || stdout != "" || stderr == "" || strings.Contains(stderr, "goroutine") || strings.Contains(stderr, ": INTERNAL: ") {
			t.Errorf("%v: exit %d, stdout %q, stderr %q; want 1 and an error of the registry", argv, code, stdout, stderr)
		}
	}
	if code, stdout, _ := larva(home, work, []string{"validate", "p.json"}); code != 0 {
		t.Errorf("validate: exit %d, %q; want 0: it needs no registry", code, stdout)
	}
}
