package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/mcpclient"
	"larva.dev/larva/internal/replace"
	"larva.dev/larva/internal/trust"
)

// toolsDigest is what the yes to a project's server covers beside its hash: the
// names of its tools and what they say of themselves.
func toolsDigest(st mcpclient.Status) string {
	h := sha256.New()
	for _, t := range st.Tools {
		fmt.Fprintf(h, "%q %t %t\n", t.Name, t.ReadOnly, t.Destructive)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

// pin holds a project's servers to the tools that they had when they were first
// used after the yes: one that has others now is not used, and asked about
// again.
func (a *App) pin(ctx context.Context, s *stand, c *crew) error {
	data, err := a.DataDir()
	if err != nil {
		return err
	}
	path := filepath.Join(data, "mcp-tools.json")
	pins := map[string]string{}
	if text, err := os.ReadFile(path); err == nil {
		_ = json.Unmarshal(text, &pins) // one that cannot be read pins anew
	}
	store, err := a.trustStore(s.at)
	if err != nil {
		return err
	}
	changed := false
	for _, st := range c.Status() {
		i := slices.IndexFunc(c.entries, func(e serverEntry) bool { return e.Name == st.Name })
		if st.State != mcpclient.Connected || i < 0 || c.entries[i].Item == nil {
			continue
		}
		it := c.entries[i].Item
		key, now := pinKey(store, s.at, *it), toolsDigest(st)
		switch was := pins[key]; {
		case was == now:
		case was == "":
			pins[key], changed = now, true
		default:
			c.Refuse(st.Name, errors.New("it has other tools than when it was trusted (see: larva trust list)"))
			delete(pins, key)
			changed = true
			if _, err := store.Revoke(ctx, s.at.common, it.Kind, it.Name); err != nil {
				return err
			}
		}
	}
	if !changed {
		return nil
	}
	text, err := json.MarshalIndent(pins, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(data, 0o700); err != nil {
		return nil // a run that cannot be recorded has told of it
	}
	if err := replace.File(path, append(text, '\n'), 0o600, nil); err != nil {
		return diag.New(diag.Internal, "%s cannot be written: %v", path, err).With("path", path)
	}
	return nil
}

// pinKey names one yes: a new one pins anew.
func pinKey(store *trust.Store, at where, it TrustItem) string {
	granted := ""
	for _, r := range store.Recorded(at.common) {
		if r.Kind == it.Kind && r.Name == it.Name && r.Hash == it.Hash {
			granted = r.Granted.UTC().Format(time.RFC3339)
		}
	}
	return strings.Join([]string{at.common, it.Name, it.Hash, granted}, "\n")
}
