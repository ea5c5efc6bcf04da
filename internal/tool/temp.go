package tool

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// TempName is a fresh name beside a file that is about to be replaced. It
// tells which file it is for, so that what a crash leaves can be found.
func TempName(name string) string { return tempFor(name) + rand.Text() + ".tmp" }

// IsTemp says that a name was given for replacing this file.
func IsTemp(temp, name string) bool {
	return strings.HasPrefix(temp, tempFor(name)) && strings.HasSuffix(temp, ".tmp")
}

func tempFor(name string) string {
	sum := sha256.Sum256([]byte(name))
	return ".larva-" + hex.EncodeToString(sum[:6]) + "-"
}
