package oauth

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"golang.org/x/oauth2"

	"larva.dev/larva/internal/replace"
)

// record is what is kept of one sign-in. The secret parts stand in the keyring
// instead where InKeyring says so.
type record struct {
	Version    int       `json:"version"`
	Server     string    `json:"server"`
	URL        string    `json:"url"`
	Issuer     string    `json:"issuer,omitempty"`
	Resource   string    `json:"resource,omitempty"`
	TokenURL   string    `json:"token_url"`
	Revocation string    `json:"revocation_url,omitempty"`
	ClientID   string    `json:"client_id"`
	AuthStyle  int       `json:"auth_style,omitempty"` // as oauth2.AuthStyle counts
	Scopes     []string  `json:"scopes,omitempty"`
	Expiry     time.Time `json:"expiry,omitzero"`
	InKeyring  bool      `json:"in_keyring,omitempty"`
	secrets
}

type secrets struct {
	Access       string `json:"access_token,omitempty"`
	Refresh      string `json:"refresh_token,omitempty"`
	ClientSecret string `json:"client_secret,omitempty"` // of a client that registered itself
}

// early is how long before its end a token counts as run out: the request that
// carries it needs time, too.
const early = 10 * time.Second

func (r *record) valid(now time.Time) bool {
	return r.Access != "" && (r.Expiry.IsZero() || now.Add(early).Before(r.Expiry))
}

func (r *record) token() *oauth2.Token {
	return &oauth2.Token{AccessToken: r.Access, TokenType: "Bearer", Expiry: r.Expiry}
}

// store is the file of one server. Writers hold its lock; a reader sees a whole
// file always.
type store struct {
	dir, name, url string
	ring           Keyring
}

// path is <name>-<hash of the address>.json: the same name for another address
// is another sign-in.
func (s store) path() string {
	sum := sha256.Sum256([]byte(s.url))
	return filepath.Join(s.dir, plain(s.name)+"-"+hex.EncodeToString(sum[:8])+".json")
}

// plain makes a name from a configuration a part of a file name.
func plain(name string) string {
	out := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, name)
	return out[:min(len(out), 64)]
}

// load gives what is kept, nil for nothing.
func (s store) load(ctx context.Context) (*record, error) {
	data, err := os.ReadFile(s.path())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("the sign-in of %s: %w", s.name, err)
	}
	var r record
	if err := json.Unmarshal(data, &r); err != nil || r.Version != 1 || r.URL != s.shown() {
		return nil, fmt.Errorf("the sign-in of %s: %s is damaged; `larva server logout` removes it", s.name, s.path())
	}
	if r.InKeyring {
		if s.ring == nil {
			return nil, nil // kept in a session with a keyring, read in one without
		}
		text, err := s.ring.Get(ctx, s.key())
		if err != nil || json.Unmarshal([]byte(text), &r.secrets) != nil {
			return nil, nil // locked or emptied: as good as not signed in
		}
	}
	return &r, nil
}

// save writes r. The lock is held.
func (s store) save(ctx context.Context, r record) error {
	r.Version, r.Server, r.URL, r.InKeyring = 1, s.name, s.shown(), false
	if s.ring != nil {
		text, err := json.Marshal(r.secrets)
		if err == nil && s.ring.Set(ctx, s.key(), string(text)) == nil {
			r.InKeyring, r.secrets = true, secrets{}
		}
	}
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return replace.File(s.path(), append(data, '\n'), 0o600, nil)
}

// remove deletes what is kept. The lock is held.
func (s store) remove(ctx context.Context) error {
	if s.ring != nil {
		s.ring.Delete(ctx, s.key()) // nothing there is fine, and the file says where to look
	}
	if err := os.Remove(s.path()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// shown is the address without what may be a secret in it; the file's name tells
// two addresses apart.
func (s store) shown() string {
	u, err := url.Parse(s.url)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host + u.EscapedPath()
}

// exists says whether anything is kept, readable or not.
func (s store) exists() bool {
	_, err := os.Lstat(s.path())
	return err == nil
}

func (s store) key() string { return strings.TrimSuffix(filepath.Base(s.path()), ".json") }

// lock keeps other processes from renewing at the same time: a refresh token
// that is used twice ends the sign-in at many servers. It spans a renewal.
func (s store) lock(ctx context.Context) (unlock func(), err error) {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, err
	}
	l := flock.New(strings.TrimSuffix(s.path(), ".json") + ".lock")
	ctx, cancel := context.WithTimeout(ctx, 45*time.Second) // longer than a renewal by another process
	defer cancel()
	if ok, err := l.TryLockContext(ctx, 20*time.Millisecond); err != nil || !ok {
		return nil, fmt.Errorf("the sign-in of %s is held by another process: %w", s.name, err)
	}
	return func() { l.Unlock() }, nil
}
