package webui

import (
	"net/http"
	"strings"
	"testing"
)

// FuzzMatch: whatever the path, a route that matches has each of its
// parameters filled, as many segments as the path, and a method of its own.
func FuzzMatch(f *testing.F) {
	for _, r := range table {
		f.Add(r.method, r.path)
	}
	for _, p := range []string{"", "/", "//", "/api/personas/%2e%2e", "/api/personas/%zz", "*", "/api/personas/a%2fb", "/%00"} {
		f.Add("GET", p)
	}
	routes := newRouter(table)
	f.Fuzz(func(t *testing.T, method, path string) {
		m := routes.match(method, path)
		if m.route == nil {
			return
		}
		if len(m.allow) == 0 || m.route.method != method && method != http.MethodHead {
			t.Errorf("%q %q: got %s %s, allow %v", method, path, m.route.method, m.route.path, m.allow)
		}
		if got, want := strings.Count(path, "/"), strings.Count(m.route.path, "/"); got != want {
			t.Errorf("%q: got %d segments, want the %d of %s", path, got, want, m.route.path)
		}
		if got, want := len(m.params), strings.Count(m.route.path, "{"); got != want {
			t.Errorf("%q: got parameters %v, want %d", path, m.params, want)
		}
		for name, value := range m.params {
			if value == "" {
				t.Errorf("%q: got an empty %s", path, name)
			}
		}
	})
}

// FuzzDigests: what a condition's header gives is never empty, and is fit to
// be compared with a digest and shown.
func FuzzDigests(f *testing.F) {
	for _, v := range []string{`"a"`, `a`, `*`, `"a", "b"`, `W/"a"`, ``, `,`, `"`, `""`, "a\tb"} {
		f.Add(v)
	}
	f.Fuzz(func(t *testing.T, value string) {
		list, there, err := digests([]string{value}, "if_match")
		if err != nil {
			return
		}
		if !there || len(list) == 0 {
			t.Errorf("%q: got %v %v, want a list", value, list, there)
		}
		for _, d := range list {
			if d == "" || strings.ContainsAny(d, "\" \t\n,") {
				t.Errorf("%q: got %q", value, d)
			}
		}
	})
}
