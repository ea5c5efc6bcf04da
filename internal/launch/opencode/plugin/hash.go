package plugin

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
)

// Hash names the modules' content: twelve hex digits of a SHA-256 over names
// and bytes.
func Hash() string {
	h := sha256.New()
	names, err := fs.Glob(Files, "*") // sorted; the pattern is a good one
	if err != nil {
		return ""
	}
	for _, name := range names {
		text, err := fs.ReadFile(Files, name)
		if err != nil {
			return ""
		}
		_, _ = h.Write([]byte(name + "\x00" + string(text) + "\x00")) // a hash takes everything
	}
	return hex.EncodeToString(h.Sum(nil))[:12]
}
