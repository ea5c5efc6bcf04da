package spec

import (
	"bufio"
	"encoding/json"
	"os"
	"testing"
)

// The rows are what an independent implementation of the contract answered.
func TestDigestGolden(t *testing.T) {
	t.Parallel()
	f, err := os.Open("testdata/digests.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows := 0
	for lines := bufio.NewScanner(f); lines.Scan(); rows++ {
		var row struct{ Name, Spec, Digest string }
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		o, err := ParseObject([]byte(row.Spec))
		if err != nil {
			t.Errorf("%s: %v", row.Name, err)
			continue
		}
		if got := Digest(o); got != row.Digest {
			t.Errorf("%s: got %s, want %s", row.Name, got, row.Digest)
		}
		n := Normalize(o)
		if got := n.String(DigestField); got != row.Digest {
			t.Errorf("%s: Normalize got %s, want %s", row.Name, got, row.Digest)
		}
		stored := AppendStored(nil, n, ContractFields)
		back, err := ParseObject(stored)
		if err != nil {
			t.Fatalf("%s: stored form: %v", row.Name, err)
		}
		if got := Digest(back); got != row.Digest {
			t.Errorf("%s: after storing got %s, want %s", row.Name, got, row.Digest)
		}
	}
	if rows < 10 {
		t.Errorf("got %d rows, want at least 10", rows)
	}
}

func TestDigestTellsAbsentFromFalse(t *testing.T) {
	t.Parallel()
	absent, explicit := &Object{}, &Object{Members: []Member{{"can_spawn", false}}}
	if a, b := Digest(absent), Digest(explicit); a == b {
		t.Errorf("got the same digest %s for absent and false", a)
	}
}
