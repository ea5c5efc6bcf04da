package main

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// dryRun is what larva opencode would start: what the real program gets.
func (w *ocWorld) dryRun(t *testing.T, args ...string) (argv, env []string, plugin string) {
	t.Helper()
	r := w.opencode(append([]string{"--larva-dry-run"}, args...)...)
	var plan struct {
		Argv  []string
		Set   []struct{ Name, Value string }
		Unset []string
	}
	if err := json.Unmarshal([]byte(r.stdout), &plan); err != nil || r.code != 0 {
		t.Fatalf("%v\n%s", err, r)
	}
	for _, e := range plan.Set {
		env = append(env, e.Name+"="+e.Value)
		if e.Name == "OPENCODE_CONFIG_CONTENT" {
			var config struct{ Plugin [][]any }
			if err := json.Unmarshal([]byte(e.Value), &config); err != nil || len(config.Plugin) != 1 {
				t.Fatalf("%v: %s", err, e.Value)
			}
			plugin = strings.TrimPrefix(config.Plugin[0][0].(string), "file://")
		}
	}
	return plan.Argv, env, plugin
}

// TestOpencodeWithoutPlugin starts the real program as larva would, and takes
// the plugin away in each way that there is: its agents can do nothing then,
// and no request goes out, not even with a model that exists.
func TestOpencodeWithoutPlugin(t *testing.T) {
	t.Parallel()
	w := newOcWorld(t, nil)
	w.put("lead", map[string]any{"capabilities": map[string]any{"shell": "destructive", "filesystem": "destructive"}})
	// Larva itself refuses before anything is started.
	for _, row := range []struct {
		args []string
		env  string
	}{{[]string{"run", "--agent", "lead", "--pure", "word"}, ""}, {[]string{"run", "--agent", "lead", "word"}, "OPENCODE_PURE=1"}} {
		w.env = nil
		if row.env != "" {
			w.env = []string{row.env}
		}
		if r := w.opencode(row.args...); r.code == 0 || !strings.Contains(strings.ToLower(r.stderr), "pure") {
			t.Errorf("%q %s: %s", row.args, row.env, r)
		}
	}
	w.env = nil
	_, env, plugin := w.dryRun(t, "run", "--agent", "lead", "word")
	broken := filepath.Join(t.TempDir(), "broken")
	w.write(filepath.Join(broken, "index.mjs"), "export default async () => { throw new Error('as scripted') }\n")
	for _, row := range []struct {
		name string
		args []string
		env  func(string) string
	}{
		{"--pure with a model", []string{"run", "--pure", "-m", "mock/mock-1", "--agent", "lead", "--title", "t", "word-pure"}, func(s string) string { return s }},
		{"no plugin", []string{"run", "--agent", "lead", "--title", "t", "word-none"}, func(s string) string {
			return strings.ReplaceAll(s, filepath.Dir(plugin), filepath.Join(broken, "none"))
		}},
		{"a plugin that throws", []string{"run", "--agent", "lead", "--title", "t", "word-throws"}, func(s string) string { return strings.ReplaceAll(s, filepath.Dir(plugin), broken) }},
	} {
		w.env = nil
		for _, e := range env {
			w.env = append(w.env, row.env(e))
		}
		before := len(w.mock.requests())
		r := w.plain(row.args...)
		requests := w.mock.requests()[before:]
		if slices.Contains(row.args, "-m") {
			// OpenCode takes the model's word over the agent's: the request goes out
			// as a refusal with no tool.
			for _, q := range requests {
				if len(q.Tools) != 0 || !strings.HasPrefix(q.System, "This persona could not be loaded.") {
					t.Errorf("%s: a request with %q and %.100q", row.name, q.Tools, q.System)
				}
			}
			continue
		}
		if len(requests) != 0 || r.code == 0 && r.stderr == "" {
			t.Errorf("%s: %d requests; %s", row.name, len(requests), r)
		}
	}
	for _, q := range w.mock.requests() {
		if strings.Contains(q.Raw, "[larva:") || strings.Contains(q.Raw, "PROMPT-OF-") {
			t.Errorf("request %d holds what only a plugin may say: %.300s", q.N, q.Raw)
		}
	}
}
