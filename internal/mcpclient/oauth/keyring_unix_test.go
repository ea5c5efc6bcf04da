//go:build unix

package oauth

import (
	"os"
	"path/filepath"
	"testing"
)

// secretToolScript is the desktop's program in small: it keeps a secret in a
// file that its last argument names, and shows what it was called with.
const secretToolScript = `#!/bin/sh
cd "$(dirname "$0")"
echo "$@" >>calls
for last; do :; done
case $1 in
store) cat >"kept-$last" ;;
lookup) cat "kept-$last" 2>/dev/null ;;
clear) rm -f "kept-$last" ;;
esac
`

func TestSecretTool(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "secret-tool"), []byte(secretToolScript), 0o700); err != nil {
		t.Fatal(err)
	}
	path, bus := "PATH="+dir+":/usr/bin:/bin", "DBUS_SESSION_BUS_ADDRESS=unix:path=/nowhere"
	for _, environ := range [][]string{{path}, {path, "DBUS_SESSION_BUS_ADDRESS="}, {"PATH=/nowhere", bus}} {
		if k := SecretTool(environ); k != nil {
			t.Errorf("%v: got a keyring, want none", environ)
		}
	}
	k := SecretTool([]string{path, bus})
	if k == nil {
		t.Fatal("got no keyring, want one")
	}
	ctx := t.Context()
	if got, err := k.Get(ctx, "web"); err == nil {
		t.Errorf("before: got %q, want an error", got)
	}
	if err := k.Set(ctx, "web", `{"access_token":"hush"}`); err != nil {
		t.Fatal(err)
	}
	if got, err := k.Get(ctx, "web"); got != `{"access_token":"hush"}` || err != nil {
		t.Errorf("got %q, %v, want what was set", got, err)
	}
	if err := k.Delete(ctx, "web"); err != nil {
		t.Fatal(err)
	}
	if got, err := k.Get(ctx, "web"); err == nil {
		t.Errorf("deleted: got %q, want an error", got)
	}
	want := "lookup service larva account web\nstore --label=larva web service larva account web\nlookup service larva account web\nclear service larva account web\nlookup service larva account web\n"
	if got, err := os.ReadFile(filepath.Join(dir, "calls")); string(got) != want || err != nil {
		t.Errorf("got calls\n%s, %v, want\n%s", got, err, want)
	}
}
