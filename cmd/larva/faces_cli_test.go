package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"testing"

	"larva.dev/larva/internal/cli"
	"larva.dev/larva/internal/spec"
)

// cliFace is the command line, run in this process.
type cliFace struct{ facePlace }

func (c cliFace) call(t *testing.T, row faceRow, params map[string]any) []byte {
	argv := c.argv(t, row.op, params)
	var out, errs bytes.Buffer
	code := cli.Main(context.Background(), cli.Process{
		Args: argv, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Environ: c.env(), Dir: c.work,
	})
	var got struct {
		Data  any
		Error *struct {
			Code    string
			Message string
			Details struct{ Report json.RawMessage }
		}
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil || bytes.Count(out.Bytes(), []byte("\n")) != 1 || errs.Len() > 0 {
		t.Errorf("%s: larva %q: got %q and %q on stderr, want one line of JSON (%v)", row.name, argv, out.String(), errs.String(), err)
		return nil
	}
	if failed := got.Error != nil; failed != (code == 1) {
		t.Errorf("%s: larva %q: exit %d with %s", row.name, argv, code, out.String())
	}
	text := c.placed(out.Bytes())
	// validate of an invalid persona fails on the command line, and carries the
	// report that the other faces give as their answer.
	if row.op == "validate" && got.Error != nil && got.Error.Code == "PERSONA_INVALID" {
		return append(append([]byte(`{"data":`), c.placed(got.Error.Details.Report)...), '}')
	}
	return text
}

// placed takes the file's name, line and column from the beginning of
// messages: only the command line reads a file.
func (c cliFace) placed(text []byte) []byte {
	place := regexp.MustCompile(`"` + regexp.QuoteMeta(filepath.Join(c.work, "spec.json")) + `:\d+:\d+: `)
	return place.ReplaceAll(text, []byte(`"`))
}

// argv puts parameters as arguments.
func (c cliFace) argv(t *testing.T, op string, params map[string]any) []string {
	str := func(name string) string { s, _ := params[name].(string); return s }
	args := []string{}
	add := func(a ...string) { args = append(args, a...) }
	if v, ok := params["variant"].(string); ok && op != "variant_activate" && op != "variant_delete" {
		add("--variant", v)
	}
	switch op {
	case "validate", "register":
		file := filepath.Join(c.work, "spec.json")
		if err := os.WriteFile(file, []byte(jsonOf(t, params["spec"])), 0o600); err != nil {
			t.Fatal(err)
		}
		return append([]string{op, file, "--json"}, args...)
	case "resolve":
		add(pairsOf(t, "--override", params["overrides"])...)
		return append([]string{"resolve", "--json"}, append(args, "--", str("id"))...)
	case "update":
		add(pairsOf(t, "--set", params["patches"])...)
		return append([]string{"update", "--json"}, append(args, "--", str("id"))...)
	case "update_batch":
		add(pairsOf(t, "--where", params["where"])...)
		add(pairsOf(t, "--set", params["patches"])...)
		if params["dry_run"] == true {
			add("--dry-run")
		}
		return append([]string{"update", "--json"}, args...)
	case "clone":
		return []string{"clone", "--json", "--", str("source_id"), str("new_id")}
	case "clear":
		return []string{"clear", "--json", "--confirm", str("confirm")}
	case "export":
		if params["all"] == true {
			add("--all")
		}
		ids, _ := params["ids"].([]any)
		for _, id := range ids {
			add("--id", id.(string))
		}
		return append([]string{"export", "--json"}, args...)
	case "list":
		return []string{"list", "--json"}
	case "delete":
		return []string{"delete", "--json", "--", str("id")}
	case "variant_list":
		return []string{"variant", "list", "--json", "--", str("id")}
	}
	return []string{"variant", strings.TrimPrefix(op, "variant_"), "--json", "--", str("id"), str("variant")}
}

// pairsOf puts an object's members as FLAG KEY=VALUE, sorted. Text goes as it
// is to a field that holds text, and as JSON elsewhere.
func pairsOf(t *testing.T, flag string, v any) []string {
	o, _ := v.(map[string]any)
	keys := make([]string, 0, len(o))
	for k := range o {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	var args []string
	for _, k := range keys {
		text := jsonOf(t, o[k])
		if s, ok := o[k].(string); ok {
			text = s
		}
		args = append(args, flag, k+"="+text)
	}
	return args
}

// jsonOf keeps numbers as they are written.
func jsonOf(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// fillDigests gives every spec in a wanted answer its digest.
func fillDigests(t *testing.T, v any) {
	t.Helper()
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			fillDigests(t, item)
		}
	case map[string]any:
		if v["spec_version"] != nil && v["spec_digest"] == nil {
			o, err := spec.ParseObject([]byte(jsonOf(t, v)))
			if err != nil {
				t.Fatal(err)
			}
			v["spec_digest"] = spec.Digest(o)
			return
		}
		for _, item := range v {
			fillDigests(t, item)
		}
	}
}
