package page_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"larva.dev/larva/internal/ops"
	"larva.dev/larva/internal/registry"
	"larva.dev/larva/internal/spec"
	"larva.dev/larva/internal/webui"
)

// writeEnv makes the test binary another process that writes one patch to a
// registry: "ROOT ID PATCH", and nothing else.
const writeEnv = "LARVA_PAGE_TEST_WRITE"

func TestMain(m *testing.M) {
	if os.Getenv(writeEnv) != "" {
		if err := writeFromOutside(os.Args[1], os.Args[2], os.Args[3]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func writeFromOutside(root, id, patch string) error {
	v, err := spec.Parse([]byte(patch))
	if err != nil {
		return err
	}
	_, err = registry.Open(root).Update(id, v.(*spec.Object), "")
	return err
}

// place is a registry with a server on it.
type place struct {
	t      *testing.T
	root   string
	reg    *registry.Registry
	url    string
	stop   func()
	starts int // each start has a token of its own
}

// newPlace serves a registry of the given specs, each stored as its variant
// default, or as NAME where the text begins with "NAME ".
func newPlace(t *testing.T, specs ...string) *place {
	t.Helper()
	p := &place{t: t, root: filepath.Join(t.TempDir(), "registry")}
	p.reg = registry.Open(p.root)
	for _, s := range specs {
		p.register("", s)
	}
	p.serve("127.0.0.1:0")
	return p
}

// serve starts a server, which ends with the test.
func (p *place) serve(addr string) {
	p.t.Helper()
	l, err := net.Listen("tcp", addr)
	if err != nil {
		p.t.Fatal(err)
	}
	p.url = "http://" + l.Addr().String()
	p.starts++
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- webui.Serve(ctx, webui.Options{Ops: &ops.Service{Registry: p.reg}, Root: p.root, Listener: l,
			Token: fmt.Sprintf("token-%d-of-%s", p.starts, p.t.Name()), Say: func(line string) { p.t.Log(line) }})
	}()
	stopped := false
	p.stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-done; err != nil {
			p.t.Errorf("the server ends with %v", err)
		}
	}
	p.t.Cleanup(p.stop)
}

func (p *place) register(variant, text string) {
	p.t.Helper()
	v, err := spec.Parse([]byte(text))
	if err != nil {
		p.t.Fatalf("%s: %v", text, err)
	}
	if _, err := p.reg.Register(v.(*spec.Object), variant); err != nil {
		p.t.Fatalf("%s: %v", text, err)
	}
}

// crowd is n rows of the list.
func crowd(n int) any {
	models := []string{"anthropic/claude-sonnet-5", "openai/gpt-6", "mistral/large"}
	var rows []map[string]any
	for i := range n {
		rows = append(rows, map[string]any{"id": fmt.Sprintf("persona-%05d", i), "model": models[i%3], "spec_digest": fmt.Sprintf("sha256:%064d", i),
			"description":  fmt.Sprintf("Does thing number %d of many, in a sentence as long as such sentences are.", i),
			"capabilities": map[string]string{"shell": "none"}})
	}
	return rows
}

// answer puts a server before the place that answers some paths itself and
// hands everything else on. To store and watch ten thousand personas takes
// longer than all other flows together; what that costs the registry is
// measured where it is made.
func (p *place) answer(answers map[string]any) {
	p.t.Helper()
	bodies := map[string][]byte{}
	for path, data := range answers {
		body, err := json.Marshal(map[string]any{"data": data})
		if err != nil {
			p.t.Fatal(err)
		}
		bodies[path] = body
	}
	behind, err := url.Parse(p.url)
	if err != nil {
		p.t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(behind)
		r.Out.Header.Del("Origin") // it names the server in front
	}, FlushInterval: -1}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, ok := bodies[r.URL.Path]
		if !ok || r.Method != http.MethodGet {
			proxy.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(body)
	}))
	p.t.Cleanup(func() { front.CloseClientConnections(); front.Close() })
	p.url = front.URL
}

// outside lets another process patch a persona.
func (p *place) outside(id, patch string) {
	p.t.Helper()
	self, err := os.Executable()
	if err != nil {
		p.t.Fatal(err)
	}
	cmd := exec.Command(self, p.root, id, patch)
	cmd.Env = append(os.Environ(), writeEnv+"=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		p.t.Fatalf("the other process: %v\n%s", err, out)
	}
}

// stored gives one field of a stored variant as canonical JSON, "" where it
// is not there.
func (p *place) stored(id, variant, field string) string {
	p.t.Helper()
	o, err := p.reg.Resolve(id, variant, nil)
	if err != nil {
		p.t.Fatalf("%s/%s: %v", id, variant, err)
	}
	v, ok := o.Get(field)
	if !ok {
		return ""
	}
	return string(spec.AppendCanonical(nil, v))
}

// wantStored checks one stored field.
func (p *place) wantStored(id, variant, field, want string) {
	p.t.Helper()
	if got := p.stored(id, variant, field); got != want {
		p.t.Errorf("stored %s of %s/%s: got %s, want %s", field, id, variant, got, want)
	}
}
