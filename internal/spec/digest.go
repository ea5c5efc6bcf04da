package spec

import (
	"crypto/sha256"
	"encoding/hex"
)

// DigestField is the one field that the digest leaves out.
const DigestField = "spec_digest"

// Digest is "sha256:" and the SHA-256 of o's canonical JSON without
// spec_digest. Absent fields are not filled in.
func Digest(o *Object) string {
	return digestOf(AppendCanonical(make([]byte, 0, 2048), undigested(o)))
}

// Normalize gives a copy of o with spec_digest recomputed.
func Normalize(o *Object) *Object {
	bare := undigested(o)
	n := &Object{Members: make([]Member, 0, len(bare.Members)+1)}
	n.Members = append(n.Members, bare.Members...)
	n.Members = append(n.Members, Member{DigestField, Digest(bare)})
	return n
}

func digestOf(canonical []byte) string {
	sum := sha256.Sum256(canonical)
	var b [len("sha256:") + 2*sha256.Size]byte
	copy(b[:], "sha256:")
	hex.Encode(b[len("sha256:"):], sum[:])
	return string(b[:])
}

// undigested is o without spec_digest; o itself where there is none.
func undigested(o *Object) *Object {
	if !o.Has(DigestField) {
		return o
	}
	c := o.Clone()
	c.Delete(DigestField)
	return c
}
