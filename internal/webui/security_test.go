package webui

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/spec"
)

// filled is a route's path with good segments in place of the braces.
func filled(r route, segment string) string {
	return strings.NewReplacer("{id}", segment, "{variant}", segment, "{name}", segment).Replace(r.path)
}

// TestGuarded sends to each route what nobody but the page or a script may
// send, and sees that it is turned away and changes nothing.
func TestGuarded(t *testing.T) {
	t.Parallel()
	f := serverFor(t, clerk, scout)
	before := f.files()
	huge := `{"text":"` + strings.Repeat("x", spec.MaxBytes) + `"}`
	body := `{"confirm":"CLEAR REGISTRY","prompt":"x","new_id":"copy","text":"{}"}`
	for _, r := range table {
		path := change(filled(r, "tide-clerk"), "variants/tide-clerk", "variants/default")
		type attempt struct {
			name   string
			status int
			header []string
		}
		attempts := []attempt{
			{"foreign host", 403, []string{"Host", "evil.example:7400"}},
			{"foreign port", 403, []string{"Host", "127.0.0.1:80"}},
			{"cross origin", 403, []string{"Origin", "https://evil.example"}},
			{"opaque origin", 403, []string{"Origin", "null"}},
			{"another port's page", 403, []string{"Origin", "http://127.0.0.1:3000", "Sec-Fetch-Site", "same-site"}},
			{"cross site", 403, []string{"Sec-Fetch-Site", "cross-site"}},
		}
		if r.token {
			attempts = append(attempts,
				attempt{"no token", 401, []string{"Authorization", "-"}},
				attempt{"wrong token", 401, []string{"Authorization", "Bearer test-tokeN"}},
				attempt{"token as a query", 401, []string{"Authorization", "-", "X-Other", token}},
				attempt{"plain text", 415, []string{"Content-Type", "text/plain"}},
				attempt{"a form", 415, []string{"Content-Type", "application/x-www-form-urlencoded"}},
				attempt{"another charset", 415, []string{"Content-Type", "application/json; charset=utf-16"}},
				attempt{"no type", 415, []string{"Content-Type", "-"}},
				attempt{"compressed", 415, []string{"Content-Encoding", "gzip"}},
			)
		}
		for _, a := range attempts {
			w := f.do(r.method, path+"?token="+token, body, a.header...)
			if w.Code != a.status {
				t.Errorf("%s %s, %s: got %d %s, want %d", r.method, r.path, a.name, w.Code, w.Body, a.status)
				continue
			}
			failureOf(t, w)
			if w.Header().Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("%s %s, %s: got a CORS header, want none", r.method, r.path, a.name)
			}
		}
		if strings.HasPrefix(r.path, "/api/") && r.body == objectBody {
			w := f.do(r.method, path, huge)
			if got := failureOf(t, w); w.Code != 413 || got.Code != "INVALID_INPUT" {
				t.Errorf("%s %s, oversize: got %d %s, want 413", r.method, r.path, w.Code, got.Code)
			}
		}
	}
	// One that does not say how long it is is read as far as the limit.
	r := httptest.NewRequest("POST", "http://"+host+"/api/personas", io.MultiReader(strings.NewReader(huge)))
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	f.h.ServeHTTP(w, r)
	if got := failureOf(t, w); w.Code != 413 || got.Details != `{"field":"params","limit":16777216}` {
		t.Errorf("oversize of unknown length: got %d %+v, want 413", w.Code, got)
	}
	if after := f.files(); after != before {
		t.Errorf("files are\n%s\nwant\n%s", after, before)
	}
}

// TestHeaders: every kind of answer carries the headers that keep it from
// being framed, sniffed, kept, or read by another origin.
func TestHeaders(t *testing.T) {
	t.Parallel()
	f := serverFor(t, clerk)
	for _, tt := range []struct{ method, path string }{
		{"GET", "/"}, {"GET", "/assets/main.js"}, {"GET", "/api/personas"}, {"GET", "/api/personas/nobody"}, {"GET", "/nothing"}, {"PUT", "/"}, {"POST", "/api/personas"},
	} {
		h := f.do(tt.method, tt.path, "", "Authorization", "-").Header()
		for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer",
			"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin"} {
			if got := h.Get(name); got != want {
				t.Errorf("%s %s: %s: got %q, want %q", tt.method, tt.path, name, got, want)
			}
		}
		csp := h.Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"} {
			if !strings.Contains(csp, want) || strings.Contains(csp, "unsafe") {
				t.Errorf("%s %s: got policy %q, want %q in it and nothing unsafe", tt.method, tt.path, csp, want)
			}
		}
		if want := map[bool]string{true: "no-cache", false: "no-store"}[tt.path == "/assets/main.js"]; h.Get("Cache-Control") != want {
			t.Errorf("%s %s: got Cache-Control %q, want %q", tt.method, tt.path, h.Get("Cache-Control"), want)
		}
	}
}

func TestPage(t *testing.T) {
	t.Parallel()
	f := serverFor(t, change(clerk, "Record each", "<script>alert(1)</script>"))
	w := f.do("GET", "/", "", "Authorization", "-")
	body := f.must(200, w)
	if got := w.Header().Get("Content-Type"); got != "text/html; charset=utf-8" {
		t.Errorf("got type %q, want HTML", got)
	}
	if strings.Count(body, token) != 1 || strings.Contains(body, "alert(1)") {
		t.Errorf("got %s, want the token once and no persona", body)
	}
	for _, bad := range []string{"<script>", "onclick=", "onload=", "style=", "http://", "https://", "javascript:"} {
		if strings.Contains(body, bad) {
			t.Errorf("the page holds %q, want nothing inline and nothing from elsewhere", bad)
		}
	}
	// A link on a page of another site leads in, to the page alone.
	nav := []string{"Authorization", "-", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}
	if w := f.do("GET", "/", "", nav...); w.Code != 200 {
		t.Errorf("a link to the page: got %d, want 200", w.Code)
	}
	if w := f.do("GET", "/api/personas", "", nav...); w.Code != 403 {
		t.Errorf("a link to data: got %d, want 403", w.Code)
	}
}

func TestAssets(t *testing.T) {
	t.Parallel()
	f := serverFor(t)
	for name, kind := range map[string]string{"main.js": "text/javascript; charset=utf-8", "base.css": "text/css; charset=utf-8", "icon.svg": "image/svg+xml"} {
		w := f.do("GET", "/assets/"+name, "")
		f.must(200, w)
		if got := w.Header().Get("Content-Type"); got != kind {
			t.Errorf("%s: got type %q, want %q", name, got, kind)
		}
		etag := w.Header().Get("ETag")
		if w := f.do("GET", "/assets/"+name, "", "If-None-Match", etag); w.Code != 304 || w.Body.Len() != 0 {
			t.Errorf("%s again: got %d and %d bytes, want 304 and none", name, w.Code, w.Body.Len())
		}
	}
	for name := range f.server.files {
		if strings.Contains(name, "/") {
			t.Errorf("%s lies in a folder, which no route reaches", name)
		}
	}
}

// TestTraversal puts what leads elsewhere into every segment of every path.
func TestTraversal(t *testing.T) {
	t.Parallel()
	f := serverFor(t, clerk)
	write(t, filepath.Join(filepath.Dir(f.root), "secret.json"), `{"secret":"kept"}`)
	before := f.files()
	evil := []string{"..", ".", "%2e%2e", "%2e%2e%2f%2e%2e%2fsecret", "..%2fsecret.json", "..%5c..%5csecret", "%2fetc%2fpasswd", "a%2fb", "%00", "tide-clerk%00", "tide-clerk%0a",
		"%ff%fe", "%c0%ae%c0%ae", ".aside", ".lock", "tide-clerk%2fvariants", "tide-clerk.", "%20tide-clerk", "TIDE-CLERK", "t%C4%B1de-clerk", "con", "%25", "%252e%252e", "-", "a--b",
		strings.Repeat("a", 5000), strings.Repeat("..%2f", 500), "%3Cscript%3E", "main.js%2f..%2f..%2fembed.go"}
	for _, r := range table {
		for _, segment := range evil {
			places := []string{}
			if strings.Contains(r.path, "{") {
				places = append(places, filled(r, segment))
			}
			if strings.Contains(r.path, "{variant}") {
				places = append(places, strings.NewReplacer("{id}", "tide-clerk", "{variant}", segment).Replace(r.path), strings.NewReplacer("{id}", segment, "{variant}", "default").Replace(r.path))
			}
			for i := range strings.Split(r.path, "/") {
				parts := strings.Split(filled(r, "tide-clerk"), "/")
				if i > 0 {
					parts[i] = segment
					places = append(places, strings.Join(parts, "/"))
				}
			}
			for _, path := range places {
				w := f.do(r.method, path, `{"id":"tide-clerk"}`)
				ok := w.Code == 200 && r.method == "GET" && !strings.Contains(path, "secret") && f.routes.match("GET", path).params["id"] == "tide-clerk"
				if !ok && (w.Code < 400 || w.Code > 499 || w.Header().Get("Content-Type") != "application/json") {
					t.Errorf("%s %.80s: got %d %s, want a clean 4xx", r.method, path, w.Code, w.Body)
				}
				if strings.Contains(w.Body.String(), "kept") || strings.Contains(w.Body.String(), "goroutine") {
					t.Errorf("%s %.80s: got %s", r.method, path, w.Body)
				}
			}
		}
	}
	if after := f.files(); after != before {
		t.Errorf("files are\n%s\nwant\n%s", after, before)
	}
}

// TestInert puts markup into every field that holds text; it comes back as
// the same text, as JSON.
func TestInert(t *testing.T) {
	t.Parallel()
	const markup = `</script><img src=x onerror=alert(1)>\u2028{{7*7}}<!--`
	fields := map[string]string{"description": `"Keeps ` + markup + `"`, "prompt": `"` + markup + `"`, "model": `"` + markup + `"`, "compaction_prompt": `"` + markup + `"`,
		"model_params": `{"` + markup + `":"` + markup + `"}`, "capabilities": `{"` + markup + `":"none"}`}
	o, err := spec.ParseObject([]byte(clerk))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range fields {
		v, err := spec.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		o.Set(name, v)
	}
	f := serverFor(t, string(spec.AppendCanonical(nil, o)))
	want := string(spec.AppendCanonical(nil, spec.Normalize(o)))
	for _, path := range []string{"/api/personas/tide-clerk", "/api/personas", "/api/graph", "/api/registry/personas", "/api/registry/personas/tide-clerk/specs"} {
		w := f.do("GET", path, "")
		f.must(200, w)
		if h := w.Header(); h.Get("Content-Type") != "application/json" || h.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: got %v, want JSON that is not sniffed", path, h)
		}
		if i := bytes.IndexFunc(w.Body.Bytes(), func(r rune) bool { return r > 126 }); i >= 0 {
			t.Errorf("%s: got a byte beyond ASCII at %d, want none", path, i)
		}
		if strings.HasSuffix(path, "tide-clerk") && w.Body.String() != `{"data":`+want+"}\n" {
			t.Errorf("%s: got %s, want %s", path, w.Body, want)
		}
	}
}

// TestFault: a fault of ours is an answer without its inside, and the server
// lives on.
func TestFault(t *testing.T) {
	t.Parallel()
	f := serverFor(t, clerk)
	var said []string
	f.Say = func(line string) { said = append(said, line) }
	f.routes = append(f.routes, newRouter([]route{
		{method: "GET", path: "/fault", run: func(*server, *call) (any, error) { panic("the inside") }},
		{method: "GET", path: "/late", serve: func(_ *server, w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("{")); panic("late") }},
	})...)
	w := f.do("GET", "/fault", "")
	if got := failureOf(t, w); w.Code != 500 || got.Code != "INTERNAL" || got.Number != 10 || strings.Contains(w.Body.String(), "inside") {
		t.Errorf("got %d %s, want 500 INTERNAL without the inside", w.Code, w.Body)
	}
	func() {
		defer func() {
			if v := recover(); v != http.ErrAbortHandler {
				t.Errorf("half an answer: got %v, want the connection cut", v)
			}
		}()
		f.do("GET", "/late", "")
	}()
	if len(said) != 2 || !strings.Contains(said[0], "GET /fault: the inside") {
		t.Errorf("got %q, want both told to the operator", said)
	}
	f.must(200, f.do("GET", "/api/personas", ""))
}

// TestNested: inside a run everything can be read and nothing changed.
func TestNested(t *testing.T) {
	t.Parallel()
	f := serverFor(t, clerk)
	f.Ops.Writable = func(operation string) error {
		return diag.New(diag.Nested, "%s is refused inside a larva run", operation).With("verb", operation)
	}
	before := f.files()
	bodies := map[string]string{"POST /api/personas": clerk, "PUT /api/registry/personas/{id}/variants/{variant}": clerk, "POST /api/personas/clear": `{"confirm":"CLEAR REGISTRY"}`,
		"POST /api/personas/update_batch": `{"where":{},"patches":{"model":"x"}}`, "POST /api/personas/{id}/clone": `{"new_id":"copy"}`,
		"POST /api/import": `{"text":` + quoted(clerk) + `}`, "POST /api/import/check": `{"text":` + quoted(clerk) + `}`}
	for _, r := range table {
		if !r.token {
			continue
		}
		body := bodies[r.method+" "+r.path]
		if body == "" {
			body = `{"prompt":"x"}`
		}
		w := f.do(r.method, change(filled(r, "tide-clerk"), "variants/tide-clerk", "variants/default"), body)
		if r.path == "/api/import/check" {
			f.must(200, w)
		} else if got := failureOf(t, w); w.Code != 403 || got.Code != "NESTED" {
			t.Errorf("%s %s: got %d %s, want 403 NESTED", r.method, r.path, w.Code, w.Body)
		}
	}
	f.must(200, f.do("GET", "/api/personas", ""))
	if after := f.files(); after != before {
		t.Errorf("files are\n%s\nwant\n%s", after, before)
	}
}

// TestHead: HEAD is GET without a body, and no way around the token.
func TestHead(t *testing.T) {
	t.Parallel()
	f := serverFor(t, clerk)
	s := httptest.NewServer(f.h)
	defer s.Close()
	req, err := http.NewRequest("HEAD", s.URL+"/api/personas", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = host
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if want := int64(f.do("GET", "/api/personas", "").Body.Len()); resp.StatusCode != 200 || resp.ContentLength != want {
		t.Errorf("got %d, length %d, want 200, %d", resp.StatusCode, resp.ContentLength, want)
	}
}
