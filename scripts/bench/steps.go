package main

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// size is the stripped binary's.
func (b *bench) size() error {
	info, err := os.Stat(b.larva)
	if err != nil {
		return err
	}
	b.note("stripped binary", mb(info.Size()), "85 MB", info.Size() < 85e6)
	return nil
}

func persona(id string) map[string]any {
	return map[string]any{"id": id, "spec_version": "0.1.0", "description": "Measures how fast a registry is read.",
		"prompt": strings.Repeat("Read what is there and say it. ", 24), "model": "bench/model",
		"capabilities": map[string]string{"filesystem": "read_only", "git": "read_only"},
		"model_params": map[string]any{"temperature": 0.2, "max_tokens": 4096}}
}

func writeJSON(path string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o600)
}

// quiet is what the bare program takes on the machine that the limits were
// set for, with nothing else running. Limits in milliseconds grow by as much
// as it takes longer here and now.
const quiet = 2500 * time.Microsecond

func (b *bench) within(what string, took, limit time.Duration) {
	text := ms(limit)
	if b.busy > 1 {
		text = fmt.Sprintf("%s (%s on the reference machine, this one is %.1fx slower)", ms(time.Duration(float64(limit)*b.busy)), ms(limit), b.busy)
	}
	b.note(what, ms(took), text, float64(took) <= float64(limit)*b.busy)
}

// validate compares a cold validate of one JSON file with a bare program.
func (b *bench) validate() error {
	home := filepath.Join(b.dir, "validate")
	file := filepath.Join(home, "a.json")
	if err := writeJSON(file, persona("a")); err != nil {
		return err
	}
	bare, err := b.build("bare")
	if err != nil {
		return err
	}
	s, err := b.pairs(31, home, []string{b.larva, "validate", file}, []string{bare, "validate", file})
	if err != nil {
		return err
	}
	b.busy = max(1, ratio(s[1].wall, quiet))
	b.within("validate one JSON file, cold", s[0].wall, 15*time.Millisecond)
	r := ratio(s[0].wall, s[1].wall)
	b.note("the same, against a bare kong program", fmt.Sprintf("%.1fx of %s", r, ms(s[1].wall)), "6x", r <= 6)
	return nil
}

// fill writes n personas of about 1 KiB in the registry's layout.
func fill(home string, n int) error {
	for i := range n {
		id := fmt.Sprintf("p-%05d", i)
		p := persona(id)
		dir := filepath.Join(home, ".larva", "registry", id)
		contract := map[string]any{"id": id, "description": p["description"], "capabilities": p["capabilities"], "spec_version": p["spec_version"]}
		variant := map[string]any{"prompt": p["prompt"], "model": p["model"], "model_params": p["model_params"]}
		for name, v := range map[string]any{"manifest.json": map[string]string{"active": "default"}, "contract.json": contract, "variants/default.json": variant} {
			if err := writeJSON(filepath.Join(dir, name), v); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *bench) home(n int) (string, error) {
	home := filepath.Join(b.dir, fmt.Sprintf("home-%d", n))
	if _, err := os.Stat(home); err == nil {
		return home, nil
	}
	return home, fill(home, n)
}

// thousand compares list and export with a plain loop over the same files.
func (b *bench) thousand() error {
	home, err := b.home(1000)
	if err != nil {
		return err
	}
	plain, err := b.build("plain")
	if err != nil {
		return err
	}
	s, err := b.pairs(15, home, []string{b.larva, "list", "--json"}, []string{b.larva, "export", "--all", "--json"},
		[]string{plain, filepath.Join(home, ".larva", "registry")})
	if err != nil {
		return err
	}
	for i, what := range []string{"list --json, 1,000 personas", "export --all --json, 1,000 personas"} {
		r := ratio(s[i].wall, s[2].wall)
		b.note(what+", against a plain read loop", fmt.Sprintf("%s, %.1fx", ms(s[i].wall), r), "4x", r <= 4)
	}
	return nil
}

// tenThousand checks that ten times the personas take ten times the time.
func (b *bench) tenThousand() error {
	small, err := b.home(1000)
	if err != nil {
		return err
	}
	big, err := b.home(10000)
	if err != nil {
		return err
	}
	for _, argv := range [][]string{{"list", "--json"}, {"export", "--all", "--json"}} {
		// Processor time is steadier than the clock, and the least disturbed of
		// several runs steadier still. The start of the process is no part of
		// what grows.
		zero, one, ten, err := b.least(9, argv, b.dir, small, big)
		if err != nil {
			return err
		}
		r := ratio(ten.cpu-zero.cpu, one.cpu-zero.cpu)
		b.note(strings.Join(argv, " ")+", 10,000 against 1,000 personas, processor time", fmt.Sprintf("%.1fx", r), "13x", r <= 13)
		b.note(strings.Join(argv, " ")+", 10,000 personas, memory", mb(ten.rss), "100 MB", ten.rss < 100e6)
	}
	return nil
}

// least runs argv in three homes by turns and gives the least processor time
// of each, with the largest memory of the last.
func (b *bench) least(n int, argv []string, homes ...string) (zero, one, ten sample, err error) {
	best := make([]sample, len(homes))
	for range n {
		for i, home := range homes {
			s, err := b.once(home, append([]string{b.larva}, argv...)...)
			if err != nil {
				return zero, one, ten, err
			}
			if best[i].cpu == 0 || s.cpu < best[i].cpu {
				best[i].cpu = s.cpu
			}
			best[i].rss = max(best[i].rss, s.rss)
		}
	}
	return best[0], best[1], best[2], nil
}

// update checks that an update costs the same in a registry of any size.
func (b *bench) update() error {
	small, err := b.home(10)
	if err != nil {
		return err
	}
	big, err := b.home(10000)
	if err != nil {
		return err
	}
	var few, many []sample
	for i := range 25 {
		for _, at := range []struct {
			home string
			to   *[]sample
		}{{small, &few}, {big, &many}} {
			s, err := b.once(at.home, b.larva, "update", "p-00003", "--set", fmt.Sprintf("prompt=Round %d.", i))
			if err != nil {
				return err
			}
			*at.to = append(*at.to, s)
		}
	}
	r := ratio(median(many).wall, median(few).wall)
	b.note("update one persona of 10,000, against one of 10", fmt.Sprintf("%s, %.2fx", ms(median(many).wall), r), "1.3x", r <= 1.3)
	return nil
}

// parallel runs 24 updates of one persona at once; all of them must be there.
func (b *bench) parallel() error {
	home, err := b.home(10)
	if err != nil {
		return err
	}
	const n = 24
	errs := make([]error, n)
	var wg sync.WaitGroup
	start := time.Now()
	for i := range n {
		wg.Add(1)
		go func() {
			defer wg.Done()
			_, errs[i] = b.once(home, b.larva, "update", "p-00001", "--set", fmt.Sprintf("model_params.k%d=%d", i, i))
		}()
	}
	wg.Wait()
	took := time.Since(start)
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	data, err := os.ReadFile(filepath.Join(home, ".larva/registry/p-00001/variants/default.json"))
	if err != nil {
		return err
	}
	var v struct {
		Params map[string]any `json:"model_params"`
	}
	if err := json.Unmarshal(data, &v); err != nil {
		return err
	}
	survived := 0
	for i := range n {
		if _, ok := v.Params[fmt.Sprintf("k%d", i)]; ok {
			survived++
		}
	}
	b.note("24 parallel updates of one persona that survive", fmt.Sprintf("%d in %s", survived, ms(took)), "24", survived == n)
	return nil
}

// oneTurn runs one turn against a server on this machine that answers at once.
func (b *bench) oneTurn() error {
	var spent time.Duration
	var mu sync.Mutex
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, `data: {"id":"1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"Done."},"finish_reason":null}]}`+"\n\n")
		fmt.Fprint(w, `data: {"id":"1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
		mu.Lock()
		spent = time.Since(start)
		mu.Unlock()
	})}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	defer func() { srv.Close(); <-served }()

	home := filepath.Join(b.dir, "one-turn")
	if err := writeJSON(filepath.Join(home, "p.json"), persona("p")); err != nil {
		return err
	}
	config := fmt.Sprintf("providers: bench: {api: \"openai\", base_url: \"http://%s/v1\", key_env: \"\"}\nmodels: \"*\": \"bench/m\"\n", l.Addr())
	dir := filepath.Join(home, "config", "larva")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "config.cue"), []byte(config), 0o600); err != nil {
		return err
	}
	reg := exec.Command(b.larva, "register", filepath.Join(home, "p.json"))
	reg.Env = b.env(home)
	if out, err := reg.CombinedOutput(); err != nil {
		return fmt.Errorf("register: %w\n%s", err, out)
	}
	s, err := b.several(21, home, b.larva, "run", "p", "Say it.", "-o", "json")
	if err != nil {
		return err
	}
	mu.Lock()
	defer mu.Unlock()
	b.within("run, one turn against a server here, without the server's time", s.wall-spent, 60*time.Millisecond)
	b.note("the same, memory", mb(s.rss), "70 MB", s.rss < 70e6)
	return nil
}
