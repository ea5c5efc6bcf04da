package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"larva.dev/larva/internal/model/modeltest"
)

// peerFixtures answer only where the persona's own words are in the system
// prompt; the strict server gives 503 for anything else.
const peerFixtures = `{"fixtures":[
{"match":{"systemMessage":"You count the files of a harbour office.","userMessage":"How many?","hasToolResult":false},
 "response":{"content":"I will look.","toolCalls":[{"id":"toolu_1","name":"glob","arguments":{"pattern":"*.txt"}},{"id":"toolu_2","name":"bash","arguments":{"command":"git push"}}]}},
{"match":{"systemMessage":"You count the files of a harbour office.","toolCallId":"toolu_2"},
 "response":{"content":"There are 2 files."}}
]}`

// TestRunAgainstAnIndependentServer runs a registered persona with every
// protocol and with Google's address of one: a tool loop of two requests, a refused call, a key that stays
// where it belongs.
func TestRunAgainstAnIndependentServer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ provider, api, base string }{
		{"mock", "anthropic", ""}, {"mock", "openai", "/v1"}, {"mock", "responses", "/v1"}, {"gemini", "openai", "/v1beta/openai"},
	} {
		t.Run(c.provider+" "+c.api, func(t *testing.T) {
			t.Parallel()
			url := modeltest.StartAimock(t, peerFixtures)
			h := newHarbour(t, fmt.Sprintf("providers: %s: {api: %q, base_url: %q, key_env: \"HARBOUR_KEY\"}\nmodels: \"*\": \"%[1]s/m\"\n", c.provider, c.api, url+c.base))
			out, err := h.larva("run", "counter", "How many?", "-o", "json")
			if err != nil {
				t.Fatalf("run: %v\n%s", err, out)
			}
			var env struct {
				Data struct {
					Result, Model string
					Turns         int
					Denials       []struct{ Tool, Stage string }
				}
			}
			if err := json.Unmarshal(out, &env); err != nil {
				t.Fatalf("%v in %s", err, out)
			}
			d := env.Data
			if d.Result != "There are 2 files." || d.Turns != 2 || d.Model != c.provider+"/m" {
				t.Errorf("got %+v, want the second fixture's text after 2 turns of %s/m", d, c.provider)
			}
			if len(d.Denials) != 1 || d.Denials[0].Stage != "ceiling" {
				t.Errorf("denials: got %+v, want git push above the ceiling", d.Denials)
			}
			checkJournal(t, modeltest.Journal(t, url))

			out, err = h.larva("run", "counter", "How many?", "--override", "prompt=You are somebody else.", "-o", "json")
			if code := exitCode(err); code != 7 || !strings.Contains(string(out), `"code":"MODEL_FAILED"`) {
				t.Errorf("another persona: exit %d, %s; want the strict server's refusal and exit 7", code, out)
			}
			if strings.Contains(string(out), harbourKey) {
				t.Errorf("the key is in the output: %s", out)
			}
		})
	}
}

// checkJournal holds the requests to what a provider must get.
func checkJournal(t *testing.T, asked []modeltest.Asked) {
	t.Helper()
	if len(asked) != 2 {
		t.Fatalf("the server had %d requests, want 2", len(asked))
	}
	for i, a := range asked {
		if a.Answer.Status != 200 {
			t.Errorf("request %d was answered %d, want 200", i+1, a.Answer.Status)
		}
		if strings.Contains(string(a.Body), harbourKey) {
			t.Errorf("request %d has the key in its body", i+1)
		}
	}
	if body := string(asked[1].Body); !strings.Contains(body, "a.txt") || !strings.Contains(body, "stage: ceiling") {
		t.Errorf("the second request lacks the results: %.400s", body)
	}
}

const harbourKey = "sk-harbour-7711"

// harbour is a home with one registered persona and a project of two files.
type harbour struct {
	self, home, dir string
}

func newHarbour(t *testing.T, config string) *harbour {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	h := &harbour{self: self, home: t.TempDir(), dir: t.TempDir()}
	for path, text := range map[string]string{
		filepath.Join(h.home, ".config/larva/config.cue"): config,
		filepath.Join(h.dir, "a.txt"):                     "a\n",
		filepath.Join(h.dir, "b.txt"):                     "b\n",
		filepath.Join(h.dir, "counter.json"): `{"id": "counter", "spec_version": "0.1.0", "description": "Counts the files of a directory.",
			"prompt": "You count the files of a harbour office.", "model": "smart", "capabilities": {"filesystem": "read_only", "shell": "read_only", "git": "read_only"}}`,
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := h.larva("register", "counter.json"); err != nil {
		t.Fatalf("register: %v\n%s", err, out)
	}
	return h
}

// larva runs this test binary as larva and gives its stdout.
func (h *harbour) larva(args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, h.self)
	cmd.Args = append([]string{"larva"}, args...)
	cmd.Dir = h.dir
	cmd.Env = []string{"HOME=" + h.home, "PATH=" + os.Getenv("PATH"), "HARBOUR_KEY=" + harbourKey}
	return cmd.Output()
}

func exitCode(err error) int {
	if e, ok := err.(*exec.ExitError); ok {
		return e.ExitCode()
	}
	return 0
}
