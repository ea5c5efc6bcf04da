package mcpserve

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzMembers holds the walk over an object's members to encoding/json.
func FuzzMembers(f *testing.F) {
	for _, seed := range []string{`{}`, `{"a":1}`, ` { "a" : [1, {"b":"}]"}] , "c":"\"" ,"d":-1e5,"e":null } `, `{"a":{"b":[]},"":""}`, `{"\u0061":tRue}`, hello} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var want map[string]json.RawMessage
		if !json.Valid(data) || json.Unmarshal(data, &want) != nil || want == nil {
			return
		}
		got := map[string]json.RawMessage{}
		ok := members(data, func(key, value []byte) bool {
			var name string
			if err := json.Unmarshal([]byte(`"`+string(key)+`"`), &name); err != nil {
				t.Fatalf("key %q: %v", key, err)
			}
			got[name] = append(json.RawMessage(nil), value...)
			return true
		})
		if d := cmp.Diff(got, want); !ok || d != "" {
			t.Errorf("%q (-got +want):\n%s", data, d)
		}
	})
}
