package load

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"larva.dev/larva/internal/profile"
)

func TestSignInOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		oauth, fault string
		want         *profile.ServerOAuth
	}{
		{oauth: `null`}, {oauth: `false`},
		{oauth: `{}`, want: &profile.ServerOAuth{}},
		{oauth: `{"clientId":"a","callbackPort":8080}`, want: &profile.ServerOAuth{ClientID: "a", RedirectPort: 8080}},
		{oauth: `{"clientId":"a","scope":"x  y"}`, want: &profile.ServerOAuth{ClientID: "a", Scopes: []string{"x", "y"}}},
		{oauth: `{"client_id":"a","client_secret_env":"S","scopes":["x"]}`, want: &profile.ServerOAuth{ClientID: "a", ClientSecretEnv: "S", Scopes: []string{"x"}}},
		{oauth: `{"clientId":"a","clientSecret":"s"}`, fault: "belongs into the environment"},
		{oauth: `{"callbackPort":70000}`, fault: "from 1 to 65535"},
		{oauth: `true`, fault: "cannot unmarshal"}, {oauth: `{"clientId":1}`, fault: "cannot unmarshal"},
	} {
		for _, kind := range []string{"http", "remote"} {
			got, err := serverOf([]byte(`{"type":"` + kind + `","url":"https://x.test/mcp","oauth":` + c.oauth + `}`))
			if fault := fmt.Sprint(err); c.fault == "" && err != nil || !strings.Contains(fault, c.fault) {
				t.Errorf("%s %s: got %s, want %q", kind, c.oauth, fault, c.fault)
			}
			if c.fault == "" && !cmp.Equal(got.OAuth, c.want) {
				t.Errorf("%s %s: %s", kind, c.oauth, cmp.Diff(got.OAuth, c.want))
			}
		}
	}
}
