package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// opencodeRounds is how often both are started: a start takes seconds.
const opencodeRounds = 9

// opencode compares a run with one tool through larva with the same run
// without it. It is left out where the pinned OpenCode is not fetched.
func (b *bench) opencode() error {
	program, err := filepath.Abs("scripts/peers/opencode/node_modules/opencode-linux-x64/bin/opencode")
	if err != nil {
		return err
	}
	if _, err := os.Stat(program); err != nil || runtime.GOOS != "linux" {
		return nil
	}
	srv := httptest.NewServer(http.HandlerFunc(chat))
	defer srv.Close()
	home := filepath.Join(b.dir, "opencode")
	if err := fill(home, 1); err != nil {
		return err
	}
	if err := b.opencodePersona(home); err != nil {
		return err
	}
	config, err := json.Marshal(map[string]any{"model": "mock/m", "small_model": "mock/m", "share": "disabled", "autoupdate": false,
		"provider": map[string]any{"mock": map[string]any{"npm": "@ai-sdk/openai-compatible", "options": map[string]any{"baseURL": srv.URL, "apiKey": "x"},
			"models": map[string]any{"m": map[string]any{"name": "m", "tool_call": true, "limit": map[string]any{"context": 200000, "output": 8192}}}}},
		"agent": map[string]any{"plain": map[string]any{"prompt": "Work.", "model": "mock/m", "permission": map[string]any{"*": "allow"}}}})
	if err != nil {
		return err
	}
	b.extra = []string{"PATH=" + filepath.Dir(program) + ":/usr/bin:/bin", "OPENCODE_CONFIG_CONTENT=" + string(config), "OPENCODE_DISABLE_MODELS_FETCH=1",
		"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1", "npm_config_offline=true"}
	defer func() { b.extra = nil }()
	return b.opencodePairs(home, []string{program, "run", "--title", "t", "--agent", "plain", "go"}, []string{b.larva, "opencode", "run", "--title", "t", "--agent", "bench", "go"})
}

// opencodePersona may do everything, like the agent that it is compared with.
func (b *bench) opencodePersona(home string) error {
	file := filepath.Join(b.dir, "bench.json")
	p := persona("bench")
	p["model"], p["prompt"], p["capabilities"] = "mock/m", "Work.", map[string]string{"shell": "destructive", "filesystem": "destructive"}
	if err := writeJSON(file, p); err != nil {
		return err
	}
	_, err := b.once(home, b.larva, "register", file)
	return err
}

func (b *bench) opencodePairs(home string, plain, ours []string) error {
	var added []time.Duration
	var all []time.Duration
	for i := range opencodeRounds + 1 {
		first, err := b.once(home, plain...)
		if err != nil {
			return err
		}
		second, err := b.once(home, ours...)
		if err != nil {
			return err
		}
		if i > 0 { // the first has the caches to fill
			added, all = append(added, second.wall-first.wall), append(all, first.wall)
		}
	}
	slices.Sort(added)
	slices.Sort(all)
	most := time.Duration(float64(150*time.Millisecond) * max(b.busy, 1))
	got := added[len(added)/2]
	b.note("opencode run with one tool, added by larva", fmt.Sprintf("%s on %s", ms(got), ms(all[len(all)/2])), ms(most), got <= most)
	return nil
}

// chat is a model that calls one tool and is done.
func chat(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 16<<20))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	delta, finish := `{"role":"assistant","content":"done"}`, "stop"
	if !strings.Contains(string(body), `"role":"tool"`) {
		delta, finish = `{"role":"assistant","tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"bash","arguments":"{\"command\":\"ls\",\"description\":\"d\"}"}}]}`, "tool_calls"
	}
	for _, part := range []string{`{"index":0,"delta":` + delta + `,"finish_reason":null}`, `{"index":0,"delta":{},"finish_reason":"` + finish + `"}`} {
		_, _ = fmt.Fprintf(w, "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[%s]}\n\n", part)
	}
	_, _ = fmt.Fprint(w, "data: [DONE]\n\n")
}
