// Package page is what `larva serve` shows a person: plain HTML, one sheet of
// style and ES modules, embedded as they are written. Nothing is built, nothing
// comes from elsewhere, and no text of a persona ever becomes markup: the
// policy below forbids it and the scripts set text only.
package page

import (
	"bytes"
	"embed"
	"html"
	"io/fs"
)

// CSP is the policy that the page is written for. Trusted types leave no way
// to turn a string into markup; style and script come from files alone.
const CSP = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
	"require-trusted-types-for 'script'; trusted-types 'none'"

//go:embed index.html
var index []byte

//go:embed assets
var assets embed.FS

// Index gives the page with the token that its writes carry, which holds for
// one start of the server.
func Index(token string) []byte {
	return bytes.Replace(index, []byte("{{token}}"), []byte(html.EscapeString(token)), 1)
}

// Assets gives the files that the page asks for below /assets/.
func Assets() fs.FS {
	sub, err := fs.Sub(assets, "assets")
	if err != nil {
		panic(err) // the name is the constant above
	}
	return sub
}
