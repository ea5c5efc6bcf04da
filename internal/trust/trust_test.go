package trust

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestGrantRevokeStatus(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "deep", "trust.json")
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	check := func(project, hash string, want Status) {
		t.Helper()
		again, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := again.Status(project, "source", "a", hash); got != want {
			t.Errorf("status of %s in %s: got %s, want %s", hash, project, got, want)
		}
	}
	check("/p", "sha256:1", Untrusted)
	if err := s.Grant(context.Background(), Approval{Project: "/p", Kind: "source", Name: "a", Hash: "sha256:1"}); err != nil {
		t.Fatal(err)
	}
	check("/p", "sha256:1", Trusted)
	check("/p", "sha256:2", Changed)
	check("/q", "sha256:1", Untrusted)
	if err := s.Grant(context.Background(), Approval{Project: "/p", Kind: "source", Name: "a", Hash: "sha256:2"}); err != nil {
		t.Fatal(err)
	}
	check("/p", "sha256:1", Changed)
	if n, err := s.Revoke(context.Background(), "/p", "source", "a"); n != 1 || err != nil {
		t.Fatalf("revoke: got %d, %v, want 1, nil", n, err)
	}
	check("/p", "sha256:2", Untrusted)
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode: got %v, %v, want 0600", info.Mode(), err)
	}
}

func TestBrokenFileTrustsNothing(t *testing.T) {
	t.Parallel()
	for name, data := range map[string]string{
		"no json":      `{"version":1,"approvals":[`,
		"later format": `{"version":2,"approvals":[]}`,
	} {
		path := filepath.Join(t.TempDir(), "trust.json")
		if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(path)
		if err == nil || !strings.Contains(err.Error(), "nothing is trusted") {
			t.Errorf("%s: got %v, want an error that says nothing is trusted", name, err)
		}
		if got := s.Status("/p", "source", "a", "sha256:1"); got != Untrusted {
			t.Errorf("%s: got %s, want untrusted", name, got)
		}
		if err := s.Grant(context.Background(), Approval{Project: "/p"}); err == nil {
			t.Errorf("%s: grant over a broken file: got nil, want an error", name)
		}
		if after, _ := os.ReadFile(path); string(after) != data {
			t.Errorf("%s: the broken file was changed to %s", name, after)
		}
	}
}

func TestParallelGrantsAllSurvive(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "trust.json")
	var wg sync.WaitGroup
	errs := make([]error, 16)
	for i := range errs {
		wg.Add(1)
		go func() {
			defer wg.Done()
			s, err := Open(path)
			if err == nil {
				err = s.Grant(context.Background(), Approval{Project: "/p", Kind: "source", Name: fmt.Sprint(i), Hash: "h"})
			}
			errs[i] = err
		}()
	}
	wg.Wait()
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, err := range errs {
		if err != nil {
			t.Errorf("grant %d: %v", i, err)
		}
		if got := s.Status("/p", "source", fmt.Sprint(i), "h"); got != Trusted {
			t.Errorf("grant %d: got %s, want trusted", i, got)
		}
	}
}

func TestHashSeesEveryByte(t *testing.T) {
	t.Parallel()
	parts := func(a, b string) []Part { return []Part{{"x", []byte(a)}, {"y", []byte(b)}} }
	base := Hash("source", "id", parts("ab", "c"))
	for name, other := range map[string]string{
		"moved byte": Hash("source", "id", parts("a", "bc")),
		"kind":       Hash("profile", "id", parts("ab", "c")),
		"name":       Hash("source", "ie", parts("ab", "c")),
		"case":       Hash("source", "id", parts("aB", "c")),
		"part name":  Hash("source", "id", []Part{{"x", []byte("ab")}, {"z", []byte("c")}}),
	} {
		if other == base {
			t.Errorf("%s: hash did not change", name)
		}
	}
	if again := Hash("source", "id", []Part{{"y", []byte("c")}, {"x", []byte("ab")}}); again != base {
		t.Error("order of parts changed the hash")
	}
}
