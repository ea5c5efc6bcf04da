package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestOpencodeRun is a loop of tools through `larva opencode run`, with a
// persona that was registered as a person does it.
func TestOpencodeRun(t *testing.T) {
	t.Parallel()
	w := newOcWorld(t, ocSteps(ocReply{Calls: []ocCall{bashCall("printf x > made.txt; echo npm=$npm_config_fetch_retries")}}, ocReply{Text: "all done"}))
	w.persona("lead", map[string]any{"capabilities": map[string]any{"shell": "destructive", "filesystem": "destructive"}})
	url, tries := deadRegistry(t)
	w.env = []string{"npm_config_registry=" + url}
	r := w.opencode("run", "--agent", "lead", "word run")
	if r.code != 0 || !strings.Contains(r.stdout, "all done") || !w.there("made.txt") {
		t.Fatalf("made.txt is there: %v; %s", w.there("made.txt"), r)
	}
	requests, titles := w.mock.about("word run")
	if err := carries(requests, "PROMPT-OF-lead"); err != nil || len(requests) != 2 || len(titles) != 1 {
		t.Errorf("%d requests and %d for a title: %v", len(requests), len(titles), err)
	}
	if results := requests[len(requests)-1].results(); len(results) != 1 || strings.TrimSpace(results[0]) != "npm=" {
		t.Errorf("the command said %q, want nothing of larva's npm settings", results)
	}
	if n := tries.Load(); n < 1 || n > 3 {
		t.Errorf("the registry that is not there was asked %d times, want one a directory and no waiting for more", n)
	}
	// The rules read back from the real program are what was planned.
	ocSlots <- struct{}{}
	out, code := w.larva("doctor", "opencode", "lead", "--json")
	<-ocSlots
	if code != 0 || !strings.Contains(out, `"id":"lead"`) || !strings.Contains(out, `"wider":[]`) || !strings.Contains(out, `"version":"1.18.33"`) {
		t.Errorf("doctor opencode: exit %d\n%.1000s", code, out)
	}
}

// deadRegistry hangs up on whoever asks, and counts.
func deadRegistry(t *testing.T) (url string, tries *atomic.Int64) {
	t.Helper()
	tries = &atomic.Int64{}
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		tries.Add(1)
		panic(http.ErrAbortHandler)
	}))
	t.Cleanup(srv.Close)
	return srv.URL + "/", tries
}

// TestBridgeIsQuick measures what a request to a model waits for: one question
// to the helper that is already there.
func TestBridgeIsQuick(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	w := &ocWorld{t: t, home: home}
	w.put("lead", map[string]any{"prompt": strings.Repeat("Look at every line. ", 500)})
	cmd := exec.CommandContext(t.Context(), larvaProgram(t), "__bridge")
	cmd.Env, cmd.Stderr = []string{"HOME=" + home, "PATH=/usr/bin:/bin"}, os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	answers := bufio.NewReader(out)
	var digest string
	var took []time.Duration
	for i := range 200 {
		begin := time.Now()
		if _, err := fmt.Fprintf(in, `{"id":%d,"op":"resolve","persona":"lead","digest":%q}`+"\n", i, digest); err != nil {
			t.Fatal(err)
		}
		line, err := answers.ReadBytes('\n')
		if err != nil {
			t.Fatal(err)
		}
		took = append(took, time.Since(begin))
		var a struct {
			ID   int
			Data struct {
				Digest    string
				Unchanged bool
			}
		}
		if err := json.Unmarshal(line, &a); err != nil || a.ID != i || a.Data.Digest == "" || a.Data.Unchanged != (i > 0) {
			t.Fatalf("%v: %s", err, line)
		}
		digest = a.Data.Digest
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the helper ends with its input: %v", err)
	}
	slices.Sort(took)
	t.Logf("a warm refresh: median %s, 90%% below %s", took[100], took[180])
	if took[10] > 5*time.Millisecond { // a busy machine slows most of them, not the best twentieth
		t.Errorf("a warm refresh takes %s, want less than 5 ms", took[10])
	}
}

// TestBridgeRefuses holds the helper's answers where nothing is known: never
// a yes.
func TestBridgeRefuses(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	dir := t.TempDir()
	w := &ocWorld{t: t, home: home, dir: dir}
	w.put("reads", map[string]any{"capabilities": map[string]any{"filesystem": "read_only", "shell": "read_only"}})
	w.write("a.txt", "x")
	ask := func(fields string) string {
		return fmt.Sprintf(`{"op":"judge","host":"opencode","chain":["reads"],"personas":["reads"],"tool":"read","args":{"filePath":"a.txt"},"cwd":%q%s}`, dir, fields)
	}
	for _, row := range []struct{ line, want string }{
		{ask(``), `"behavior":"allow"`},
		{ask(`,"personas":[]`), `"behavior":"deny"`},
		{ask(`,"personas":["gone"]`), `"behavior":"deny"`},
		{ask(`,"personas":["reads","gone"]`), `"behavior":"deny"`},
		{ask(`,"personas":["../x"]`), `"behavior":"deny"`},
		{ask(`,"args":null`), `"behavior":"deny"`},
		{ask(`,"args":[]`), `"behavior":"deny"`},
		{ask(`,"args":{"filePath":7}`), `"behavior":"deny"`},
		{ask(`,"cwd":"relative"`), `"behavior":"deny"`},
		{ask(`,"cwd":"/nonexistent-directory"`), `"behavior":"deny"`},
		{ask(`,"tool":"nobody_knows"`), `"behavior":"deny"`},
		{ask(`,"tool":"lab_x"`), `"behavior":"deny"`},
		{ask(`,"tool":"bash","args":{"command":"touch b"}`), `"behavior":"deny"`},
		{ask(`,"tool":"bash","args":{"command":"ls","workdir":"/"}`), `"behavior":"deny"`},
		{ask(`,"tool":"apply_patch","args":{"patchText":"nothing"}`), `"behavior":"deny"`},
		{ask(`,"tool":"task","args":{"subagent_type":"reads"}`), `"behavior":"deny"`},
		{ask(`,"host":"elsewhere"`), `"error"`},
		{ask(`,"chain":[]`), `"error"`},
		{`{"op":"resolve","persona":"gone"}`, `"code":"PERSONA_NOT_FOUND"`},
		{`{"op":"resolve","persona":"../../etc"}`, `"error"`},
		{`{"op":"entries","permission":{"bash":"perhaps"}}`, `"error"`},
		{`{"op":"nothing"}`, `"error"`},
		{`no JSON`, `"error"`},
	} {
		cmd := exec.CommandContext(t.Context(), larvaProgram(t), "__bridge")
		cmd.Env, cmd.Stdin = []string{"HOME=" + home, "PATH=/usr/bin:/bin"}, strings.NewReader(row.line+"\n")
		got, err := cmd.Output()
		if err != nil || !strings.Contains(string(got), row.want) {
			t.Errorf("%s\ngot  %s%v\nwant %s", row.line, got, err, row.want)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "b")); err == nil {
		t.Error("the helper has run what it was asked about")
	}
}
