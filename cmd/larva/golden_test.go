package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"larva.dev/larva/internal/cli"
)

// golden is one case: commands run in a fresh home, what the last one prints,
// and what the registry holds after it.
type golden struct {
	Name             string            `json:"name"`
	Setup            [][]string        `json:"setup"`
	Argv             []string          `json:"argv"`
	Files            map[string]string `json:"files"`
	FilesAfterSetup  map[string]string `json:"files_after_setup"`
	RemoveAfterSetup []string          `json:"remove_after_setup"`
	Exit             int               `json:"exit"`
	Stdout           *string           `json:"stdout"`
	StdoutJSON       any               `json:"stdout_json"`
	StderrNonempty   bool              `json:"stderr_nonempty"`
	RegistryAfter    map[string]any    `json:"registry_after"`
	// Decided, in decided.jsonl, is the sentence of the design that makes our
	// answer another one than the handed case's.
	Decided string `json:"decided"`
}

// TestGolden runs the handed cases, and in their place the decided ones of
// the same name.
func TestGolden(t *testing.T) {
	t.Parallel()
	decided := map[string]golden{}
	for _, g := range readGolden(t, "decided.jsonl") {
		if g.Decided == "" {
			t.Errorf("decided.jsonl: %s: no sentence that decides", g.Name)
		}
		decided[g.Name] = g
	}
	rows := readGolden(t, "registry.jsonl")
	if len(rows) < 79 {
		t.Fatalf("got %d cases, want the 79 handed ones", len(rows))
	}
	for _, g := range rows {
		if d, ok := decided[g.Name]; ok {
			g = d
			delete(decided, g.Name)
		}
		t.Run(g.Name, func(t *testing.T) {
			t.Parallel()
			runGolden(t, g)
		})
	}
	for name, g := range decided { // ours alone: what a decision adds
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runGolden(t, g)
		})
	}
}

func readGolden(t *testing.T, name string) []golden {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "testdata", "golden", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var rows []golden
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var g golden
		if err := exact(lines.Bytes(), &g); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		rows = append(rows, g)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return rows
}

// exact decodes with numbers as they are written: 1 is not 1.0.
func exact(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	return d.Decode(v)
}

func runGolden(t *testing.T, g golden) {
	home, work := t.TempDir(), t.TempDir()
	for name, text := range g.Files {
		write(t, filepath.Join(work, name), text)
	}
	for _, argv := range g.Setup {
		if code, _, stderr := larva(home, work, argv); code != 0 {
			t.Fatalf("setup %v: exit %d: %s", argv, code, stderr)
		}
	}
	for name, text := range g.FilesAfterSetup {
		write(t, filepath.Join(home, name), text)
	}
	for _, name := range g.RemoveAfterSetup {
		if err := os.RemoveAll(filepath.Join(home, name)); err != nil {
			t.Fatal(err)
		}
	}
	code, stdout, stderr := larva(home, work, g.Argv)
	if code != g.Exit {
		t.Errorf("exit: got %d, want %d\nstdout: %s\nstderr: %s", code, g.Exit, stdout, stderr)
	}
	if (stderr != "") != g.StderrNonempty && (g.StderrNonempty || asksJSON(g.Argv)) {
		t.Errorf("stderr: got %q, want non-empty: %v", stderr, g.StderrNonempty)
	}
	switch {
	case g.Stdout != nil:
		if stdout != *g.Stdout {
			t.Errorf("stdout (-got +want):\n%s", cmp.Diff(stdout, *g.Stdout))
		}
	case g.StdoutJSON != nil:
		compareJSON(t, home, stdout, g)
	default:
		t.Error("the case says nothing about stdout")
	}
	if g.RegistryAfter != nil {
		compareRegistry(t, home, g.RegistryAfter)
	}
}

func asksJSON(argv []string) bool {
	for _, a := range argv {
		if a == "--json" {
			return true
		}
	}
	return false
}

func larva(home, work string, argv []string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = cli.Main(context.Background(), cli.Process{
		Args: argv, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs,
		Environ: []string{"HOME=" + home}, Dir: work,
	})
	return code, out.String(), errs.String()
}

func compareJSON(t *testing.T, home, stdout string, g golden) {
	t.Helper()
	var got any
	if err := exact([]byte(stdout), &got); err != nil {
		t.Fatalf("stdout is no JSON: %v\n%s", err, stdout)
	}
	if asksJSON(g.Argv) && (strings.Count(stdout, "\n") != 1 || !strings.HasSuffix(stdout, "\n")) {
		t.Errorf("stdout: got %d lines, want one", strings.Count(stdout, "\n"))
	}
	for _, r := range stdout {
		if r > 0x7e || r < 0x20 && r != '\n' {
			t.Fatalf("stdout: got %q, want ASCII", r)
		}
	}
	want := withHome(g.StdoutJSON, home)
	got = plain(got, want)
	if d := cmp.Diff(got, plain(want, nil)); d != "" {
		t.Errorf("stdout (-got +want):\n%s", d)
	}
}

// plain drops what the cases leave to us: message texts, the words of
// warnings (their count stays), the order of missing fields (we have one, the
// peer has none), and capabilities in the summaries of list, which ours add.
func plain(v, want any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		w, _ := want.(map[string]any)
		for k, item := range v {
			switch {
			case k == "message":
			case k == "warnings":
				list, _ := item.([]any)
				out["warnings_count"] = json.Number(strconv.Itoa(len(list)))
			case k == "capabilities" && w != nil && w[k] == nil && w["spec_digest"] != nil:
			default:
				out[k] = plain(item, w[k])
			}
		}
		if list, ok := out["errors"].([]any); ok {
			sortMissing(list)
		}
		return out
	case []any:
		w, _ := want.([]any)
		out := make([]any, len(v))
		for i, item := range v {
			var at any
			if i < len(w) {
				at = w[i]
			}
			out[i] = plain(item, at)
		}
		return out
	}
	return v
}

func sortMissing(list []any) {
	field := func(v any) string {
		m, _ := v.(map[string]any)
		if m["code"] != "MISSING_REQUIRED_FIELD" {
			return ""
		}
		d, _ := m["details"].(map[string]any)
		f, _ := d["field"].(string)
		return f
	}
	sort.SliceStable(list, func(i, j int) bool { return field(list[i]) < field(list[j]) })
}

func withHome(v any, home string) any {
	switch v := v.(type) {
	case string:
		return strings.ReplaceAll(v, "{HOME}", filepath.ToSlash(home))
	case map[string]any:
		out := map[string]any{}
		for k, item := range v {
			out[k] = withHome(item, home)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = withHome(item, home)
		}
		return out
	}
	return v
}

// compareRegistry compares every file of the registry as JSON.
func compareRegistry(t *testing.T, home string, want map[string]any) {
	t.Helper()
	got := map[string]any{}
	root := filepath.Join(home, ".larva", "registry")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(d.Name(), ".") {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(home, path)
		if err != nil {
			return err
		}
		var v any
		if err := exact(data, &v); err != nil {
			return err
		}
		got[filepath.ToSlash(rel)] = v
		return nil
	})
	if err != nil && len(want) > 0 {
		t.Fatal(err)
	}
	if d := cmp.Diff(got, want); d != "" {
		t.Errorf("registry (-got +want):\n%s", d)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
