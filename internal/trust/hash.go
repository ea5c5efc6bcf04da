package trust

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"slices"
)

// Part is one named piece of what an item consists of: its own text before
// any variable is expanded, or the bytes of a project file that it names.
type Part struct {
	Name  string
	Bytes []byte
}

// Hash is the item's hash: sha256 over kind, name and all parts, each with
// its length, parts in order of name, so that no byte can move unseen.
func Hash(kind, name string, parts []Part) string {
	parts = slices.Clone(parts)
	slices.SortStableFunc(parts, func(a, b Part) int { return slices.Compare([]byte(a.Name), []byte(b.Name)) })
	h := sha256.New()
	put(h, []byte(kind))
	put(h, []byte(name))
	for _, p := range parts {
		put(h, []byte(p.Name))
		put(h, p.Bytes)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

func put(h hash.Hash, b []byte) {
	var n [8]byte
	binary.BigEndian.PutUint64(n[:], uint64(len(b)))
	h.Write(n[:])
	h.Write(b)
}
