package webui

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

const noDigest = "sha256:0000000000000000000000000000000000000000000000000000000000000000"

// TestConditions: every way to say what the client saw, on every route that
// writes one spec. NOW stands for the digest there is, OTHER for the variant
// other's.
func TestConditions(t *testing.T) {
	t.Parallel()
	const variants = "/api/registry/personas/tide-clerk/variants"
	stale := func(variant, expected, actual string) string {
		if variant != "" {
			variant = `,"variant":"` + variant + `"`
		}
		return `{"actual":` + actual + `,"expected":` + expected + `,"persona_id":"tide-clerk"` + variant + `}`
	}
	no := `"` + noDigest + `"`
	tests := []struct {
		name, method, path, body string
		header, value            string
		status                   int
		details                  string // of a failure
	}{
		{"patch, quoted", "PATCH", "/api/personas/tide-clerk", `{"model":"n"}`, "If-Match", `"NOW"`, 200, ""},
		{"patch, bare", "PATCH", "/api/personas/tide-clerk", `{"model":"n"}`, "If-Match", `NOW`, 200, ""},
		{"patch, any", "PATCH", "/api/personas/tide-clerk", `{"model":"n"}`, "If-Match", `*`, 200, ""},
		{"patch, one of a list", "PATCH", "/api/personas/tide-clerk", `{"model":"n"}`, "If-Match", no + `, "NOW"`, 200, ""},
		{"patch, list with any", "PATCH", "/api/personas/tide-clerk", `{"model":"n"}`, "If-Match", no + `,*`, 200, ""},
		{"patch, stale", "PATCH", "/api/personas/tide-clerk", `{"model":"n"}`, "If-Match", no, 409, stale("", no, `"NOW"`)},
		{"patch, stale list", "PATCH", "/api/personas/tide-clerk", `{"model":"n"}`, "If-Match", no + `, "x"`, 409, stale("", no, `"NOW"`)},
		{"patch, another variant's", "PATCH", "/api/personas/tide-clerk", `{"model":"n"}`, "If-Match", `"OTHER"`, 409, stale("", `"OTHER"`, `"NOW"`)},
		{"patch, weak", "PATCH", "/api/personas/tide-clerk", `{"model":"n"}`, "If-Match", `W/"NOW"`, 400, `{"field":"if_match"}`},
		{"patch, empty", "PATCH", "/api/personas/tide-clerk", `{"model":"n"}`, "If-Match", ``, 400, `{"field":"if_match"}`},
		{"patch, an empty item", "PATCH", "/api/personas/tide-clerk", `{"model":"n"}`, "If-Match", `"NOW",`, 400, `{"field":"if_match"}`},
		{"patch, two words", "PATCH", "/api/personas/tide-clerk", `{"model":"n"}`, "If-Match", `a b`, 400, `{"field":"if_match"}`},
		{"patch, must be new", "PATCH", "/api/personas/tide-clerk", `{"model":"n"}`, "If-None-Match", `*`, 409, stale("", "null", `"NOW"`)},
		{"patch, must not be that", "PATCH", "/api/personas/tide-clerk", `{"model":"n"}`, "If-None-Match", `"NOW"`, 400, `{"field":"if_none_match"}`},
		{"patch of nobody", "PATCH", "/api/personas/nobody", `{"model":"n"}`, "If-Match", `*`, 409, `{"actual":null,"expected":"*","persona_id":"nobody"}`},
		{"patch a variant", "PATCH", variants + "/other", `{"model":"n"}`, "If-Match", `"OTHER"`, 200, ""},
		{"patch a variant, stale", "PATCH", variants + "/other", `{"model":"n"}`, "If-Match", `"NOW"`, 409, stale("other", `"NOW"`, `"OTHER"`)},
		{"put", "PUT", variants + "/other", clerk, "If-Match", `"OTHER"`, 200, ""},
		{"put, stale", "PUT", variants + "/other", clerk, "If-Match", `"NOW"`, 409, stale("other", `"NOW"`, `"OTHER"`)},
		{"put, gone", "PUT", variants + "/none", clerk, "If-Match", `"NOW"`, 409, stale("none", `"NOW"`, "null")},
		{"put, any, gone", "PUT", variants + "/none", clerk, "If-Match", `*`, 409, stale("none", `"*"`, "null")},
		{"put, new", "PUT", variants + "/none", clerk, "If-None-Match", `*`, 200, ""},
		{"put, not new", "PUT", variants + "/other", clerk, "If-None-Match", `*`, 409, stale("other", "null", `"OTHER"`)},
		{"post, stale", "POST", "/api/personas", clerk, "If-Match", no, 409, stale("default", no, `"NOW"`)},
		{"post", "POST", "/api/personas", clerk, "If-Match", `"NOW"`, 200, ""},
		{"activate, stale", "POST", variants + "/other/activate", "", "If-Match", `"NOW"`, 409, stale("other", `"NOW"`, `"OTHER"`)},
		{"activate", "POST", variants + "/other/activate", "", "If-Match", `"OTHER"`, 200, ""},
		{"delete a variant, stale", "DELETE", variants + "/other", "", "If-Match", `"NOW"`, 409, stale("other", `"NOW"`, `"OTHER"`)},
		{"delete a variant", "DELETE", variants + "/other", "", "If-Match", `"OTHER"`, 200, ""},
		{"delete, stale", "DELETE", "/api/personas/tide-clerk", "", "If-Match", no, 409, stale("", no, `"NOW"`)},
		{"delete", "DELETE", "/api/personas/tide-clerk", "", "If-Match", `"NOW"`, 200, ""},
		{"clear has no one spec", "POST", "/api/personas/clear", `{"confirm":"CLEAR REGISTRY"}`, "If-Match", `"NOW"`, 400, "*"},
		{"batch has no one spec", "POST", "/api/personas/update_batch", `{"where":{},"patches":{}}`, "If-Match", `"NOW"`, 400, "*"},
		{"clone has no one spec", "POST", "/api/personas/tide-clerk/clone", `{"new_id":"x"}`, "If-Match", `"NOW"`, 400, "*"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := serverFor(t, clerk)
			f.must(200, f.do("PUT", variants+"/other", change(clerk, "gamma-2", "gamma-9")))
			fill := strings.NewReplacer("NOW", f.digest("/api/personas/tide-clerk"), "OTHER", f.digest(variants+"/other"))
			before := f.files()
			w := f.do(tt.method, tt.path, tt.body, tt.header, fill.Replace(tt.value))
			if w.Code != tt.status {
				t.Fatalf("got %d %s, want %d", w.Code, w.Body, tt.status)
			}
			if tt.status == 200 {
				return
			}
			got := failureOf(t, w)
			if want := fill.Replace(tt.details); want != "*" && got.Details != want {
				t.Errorf("got %s, want %s", got.Details, want)
			}
			if wantCode := map[int]string{409: "STALE_WRITE", 400: "INVALID_INPUT"}[tt.status]; got.Code != wantCode {
				t.Errorf("got %s, want %s", got.Code, wantCode)
			}
			if after := f.files(); after != before {
				t.Errorf("files are\n%s\nwant\n%s", after, before)
			}
		})
	}
}

// TestTwoTabs: of many that saw the same spec one writes, and none of the
// writes is lost.
func TestTwoTabs(t *testing.T) {
	t.Parallel()
	const tabs = 16
	f := serverFor(t, clerk)
	seen := f.digest("/api/personas/tide-clerk")
	status := make([]int, tabs)
	var wg sync.WaitGroup
	for i := range tabs {
		wg.Add(1)
		go func() {
			defer wg.Done()
			status[i] = f.do("PATCH", "/api/personas/tide-clerk", fmt.Sprintf(`{"model":"tab-%d"}`, i), "If-Match", `"`+seen+`"`).Code
		}()
	}
	wg.Wait()
	won := -1
	for i, code := range status {
		switch {
		case code == 200 && won < 0:
			won = i
		case code != 409:
			t.Errorf("tab %d: got %d, want one 200 and else 409 in %v", i, code, status)
		}
	}
	if body := f.do("GET", "/api/personas/tide-clerk", "").Body.String(); !strings.Contains(body, fmt.Sprintf(`"model":"tab-%d"`, won)) {
		t.Errorf("got %s, want the model of tab %d", body, won)
	}
}
