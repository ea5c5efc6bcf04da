package webui

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"larva.dev/larva/internal/load"
	"larva.dev/larva/internal/ops"
	"larva.dev/larva/internal/registry"
)

const evalVerb = "__eval"

// TestMain lets the server under test read CUE in a child, as larva does.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && strings.HasPrefix(os.Args[1], "__") {
		if os.Args[1] != evalVerb {
			os.Exit(2)
		}
		os.Exit(load.EvalChild(os.Stdin, os.Stdout))
	}
	os.Exit(m.Run())
}

const (
	host  = "127.0.0.1:7400"
	token = "test-token"
)

const clerk = `{"spec_version":"0.1.0","id":"tide-clerk","description":"Keeps harbour tide tables tidy and current.",` +
	`"prompt":"Record each tide in order.","model":"acme/gamma-2","capabilities":{"filesystem":"read_write","shell":"read_only"}}`

const scout = `{"spec_version":"0.1.0","id":"reef-scout","description":"Surveys reef maps and reports hazards found.",` +
	`"prompt":"Survey the reef.","model":"acme/delta-1","capabilities":{"http":"none"},"can_spawn":["tide-clerk","nobody-here"]}`

// change gives a spec with some of its text replaced.
func change(s string, pairs ...string) string { return strings.NewReplacer(pairs...).Replace(s) }

// standing is a listener that is only asked where it stands.
type standing struct{ net.Listener }

func (standing) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7400} }

// fixture is a server over a registry of its own.
type fixture struct {
	*server
	t    testing.TB
	root string
	h    http.Handler
}

func serverFor(t testing.TB, specs ...string) *fixture {
	t.Helper()
	root := filepath.Join(t.TempDir(), "registry")
	s, err := newServer(Options{Ops: &ops.Service{Registry: registry.Open(root)}, Root: root, Token: token, Listener: standing{},
		Load: load.Options{Self: []string{os.Args[0], evalVerb}}})
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{server: s, t: t, root: root, h: s.handler()}
	for _, spec := range specs {
		f.must(200, f.do("POST", "/api/personas", spec))
	}
	return f
}

// do sends a request as a script with the token would. more is names and
// values of headers; a value "-" takes the header away.
func (f *fixture) do(method, path, body string, more ...string) *httptest.ResponseRecorder {
	f.t.Helper()
	r := httptest.NewRequest(method, "http://"+host+path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+token)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(more); i += 2 {
		switch {
		case more[i] == "Host":
			r.Host = more[i+1]
		case more[i+1] == "-":
			r.Header.Del(more[i])
		default:
			r.Header.Set(more[i], more[i+1])
		}
	}
	w := httptest.NewRecorder()
	f.h.ServeHTTP(w, r)
	return w
}

func (f *fixture) must(status int, w *httptest.ResponseRecorder) string {
	f.t.Helper()
	if w.Code != status {
		f.t.Fatalf("got %d %s, want %d", w.Code, w.Body, status)
	}
	return w.Body.String()
}

// failure is an error answer with its details as one string of JSON.
type answered struct {
	Code    string
	Number  int
	Message string
	Details string
}

func failureOf(t testing.TB, w *httptest.ResponseRecorder) answered {
	t.Helper()
	var v struct {
		Error *struct {
			Code    string          `json:"code"`
			Number  int             `json:"numeric_code"`
			Message string          `json:"message"`
			Details json.RawMessage `json:"details"`
		} `json:"error"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil || v.Error == nil {
		t.Fatalf("got %d %s, want an error envelope", w.Code, w.Body)
	}
	return answered{v.Error.Code, v.Error.Number, v.Error.Message, string(v.Error.Details)}
}

func (f *fixture) digest(path string) string {
	f.t.Helper()
	w := f.do("GET", path, "")
	f.must(200, w)
	return strings.Trim(w.Header().Get("ETag"), `"`)
}

// files lists what lies in the registry, with contents, to see that nothing
// was written.
func (f *fixture) files() string {
	f.t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(filepath.Dir(f.root), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		b.WriteString(path + "\n" + string(data) + "\n")
		return err
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return b.String()
}

var anyDigest = regexp.MustCompile(`sha256:[0-9a-f]{64}`)

func quoted(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

var anyMessage = regexp.MustCompile(`"message":"[^"]*"`)

func readFile(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
