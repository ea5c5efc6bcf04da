package loopback

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net/http"
	"strings"

	"larva.dev/larva/internal/diag"
)

// TokenVariable is the environment variable that sets the token.
const TokenVariable = "LARVA_TOKEN"

// TokenHeader carries the token where Authorization: Bearer does not.
const TokenHeader = "X-Larva-Token"

// maxToken keeps a token well inside the header limit.
const maxToken = 4096

// Token gives the token of this start: set is the value of LARVA_TOKEN, and
// where that is empty 256 random bits are drawn and fresh is true, so that the
// caller can say it once. A set one must be printable ASCII without spaces,
// since it has to pass through a header.
func Token(set string) (token string, fresh bool, err error) {
	if set == "" {
		b := make([]byte, 32)
		_, _ = rand.Read(b) // never fails: the runtime ends the process instead
		return hex.EncodeToString(b), true, nil
	}
	if len(set) > maxToken || strings.IndexFunc(set, func(r rune) bool { return r <= ' ' || r > '~' }) >= 0 {
		return "", false, diag.Usage("%s must be printable ASCII without spaces, at most %d characters", TokenVariable, maxToken).
			WithHint("openssl rand -hex 32 makes a good one")
	}
	return set, false, nil
}

// HasToken says whether r carries the token, as Authorization: Bearer or as
// X-Larva-Token. It takes as long for a wrong token as for a right one.
func HasToken(r *http.Request, token string) bool {
	got := r.Header.Get(TokenHeader)
	if scheme, rest, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok && strings.EqualFold(scheme, "Bearer") {
		got = strings.TrimLeft(rest, " ")
	}
	a, b := sha256.Sum256([]byte(got)), sha256.Sum256([]byte(token))
	return token != "" && subtle.ConstantTimeCompare(a[:], b[:]) == 1
}
