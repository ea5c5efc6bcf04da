package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// restFace is larva serve.
type restFace struct {
	url, token string
}

func openREST(t *testing.T, p facePlace) caller {
	c := startLarva(t, p, "serve", "--no-open", "--port", "0")
	line, err := c.out.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	said, err := bufio.NewReader(c.errs).ReadString('\n')
	token, ok := strings.CutPrefix(strings.TrimSpace(said), "token: ")
	if err != nil || !ok {
		t.Fatalf("serve says %q (%v), want the token", said, err)
	}
	return restFace{strings.TrimRight(strings.TrimSpace(line), "/"), token}
}

// ask is one request; a nil body is none.
type ask struct {
	method, path string
	body         any
	under        string // where in data the answer stands
}

// asks puts an operation as requests: one, or for reads every route that
// answers it.
func asks(op string, params map[string]any) []ask {
	str := func(name string) string { s, _ := params[name].(string); return url.PathEscape(s) }
	without := func(names ...string) map[string]any {
		rest := map[string]any{}
		for k, v := range params {
			rest[k] = v
		}
		for _, n := range names {
			delete(rest, n)
		}
		return rest
	}
	id := "/api/personas/" + str("id")
	variants := "/api/registry/personas/" + str("id") + "/variants"
	variant := variants + "/" + str("variant")
	_, named := params["variant"].(string)
	switch op {
	case "validate":
		return []ask{{"POST", "/api/personas/validate", params["spec"], ""}}
	case "register":
		if !named {
			return []ask{{"POST", "/api/personas", params, ""}}
		}
		s, _ := params["spec"].(map[string]any)
		of, _ := s["id"].(string)
		if route, ok := params["route_id"].(string); ok { // what the path says in place of the spec
			of = route
		}
		return []ask{{"PUT", "/api/registry/personas/" + url.PathEscape(of) + "/variants/" + str("variant"), s, ""}}
	case "resolve":
		list := []ask{{"POST", id + "/resolve", without("id"), ""}}
		if _, over := params["overrides"]; over {
			return list
		}
		if named {
			return append(list, ask{"GET", variant, nil, "spec"})
		}
		return append(list, ask{"GET", id, nil, ""})
	case "list":
		return []ask{{"GET", "/api/personas", nil, ""}}
	case "update":
		if named {
			return []ask{{"PATCH", variant, params["patches"], ""}}
		}
		return []ask{{"PATCH", id, params["patches"], ""}}
	case "update_batch", "export", "clear":
		return []ask{{"POST", "/api/personas/" + op, params, ""}}
	case "clone":
		return []ask{{"POST", "/api/personas/" + str("source_id") + "/clone", without("source_id"), ""}}
	case "delete":
		return []ask{{"DELETE", id, nil, ""}}
	case "variant_list":
		return []ask{{"GET", variants, nil, ""}}
	case "variant_activate":
		return []ask{{"POST", variant + "/activate", nil, ""}}
	}
	return []ask{{"DELETE", variant, nil, ""}}
}

func (f restFace) call(t *testing.T, row faceRow, params map[string]any) []byte {
	var first []byte
	for i, a := range asks(row.op, params) {
		got := f.request(t, row, a)
		if i == 0 {
			first = got
			continue
		}
		var x, y any
		if exact(first, &x) != nil || exact(got, &y) != nil {
			return got
		}
		if d := cmp.Diff(y, x); d != "" {
			t.Errorf("%s: rest: two routes differ (-%s %s +the first):\n%s", row.name, a.method, a.path, d)
		}
	}
	return first
}

func (f restFace) request(t *testing.T, row faceRow, a ask) []byte {
	t.Helper()
	var body io.Reader
	if a.body != nil {
		body = strings.NewReader(jsonOf(t, a.body))
	}
	req, err := http.NewRequestWithContext(t.Context(), a.method, f.url+a.path, body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+f.token)
	if a.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if row.match != "" {
		req.Header.Set("If-Match", row.match)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Data  json.RawMessage
		Error *struct{ Code string }
	}
	if err := json.Unmarshal(text, &got); err != nil || (got.Data == nil) == (got.Error == nil) {
		t.Errorf("%s: %s %s: got %d %.300s, want data or error (%v)", row.name, a.method, a.path, res.StatusCode, text, err)
		return nil
	}
	want := http.StatusOK
	if got.Error != nil {
		want = contractStatus(got.Error.Code)
	}
	if res.StatusCode != want {
		t.Errorf("%s: %s %s: got status %d, want %d: %s", row.name, a.method, a.path, res.StatusCode, want, text)
	}
	if a.under == "" || got.Error != nil {
		return bytes.TrimSpace(text)
	}
	var data map[string]json.RawMessage
	if err := json.Unmarshal(got.Data, &data); err != nil {
		t.Fatal(err)
	}
	return append(append([]byte(`{"data":`), data[a.under]...), '}')
}

// contractStatus is the HTTP status of a code: the registry contract, section
// 8, and for codes that it does not know, what is decided since.
func contractStatus(code string) int {
	switch code {
	case "PERSONA_NOT_FOUND", "VARIANT_NOT_FOUND":
		return 404
	case "ACTIVE_VARIANT_DELETE_FORBIDDEN", "LAST_VARIANT_DELETE_FORBIDDEN", "STALE_WRITE":
		return 409
	case "NESTED":
		return 403
	case "INTERNAL":
		return 500
	}
	if strings.HasPrefix(code, "REGISTRY_") {
		return 500
	}
	return 400
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	abs, err := filepath.Abs(filepath.FromSlash(path))
	if err != nil {
		t.Fatal(err)
	}
	return abs
}
