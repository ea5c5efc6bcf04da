package event

import (
	"crypto/rand"
	"encoding/hex"
	"time"
)

// NewSessionID names a session: its UTC start and six random hex digits,
// YYYYMMDD-HHMMSS-xxxxxx. Names sort by time.
func NewSessionID(now time.Time) string {
	var b [3]byte
	rand.Read(b[:]) // never fails: it ends the program where no randomness can be had
	return now.UTC().Format("20060102-150405-") + hex.EncodeToString(b[:])
}
