package webui

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"strconv"

	"larva.dev/larva/internal/webui/page"
)

// asset is one file of the page, in memory.
type asset struct {
	data []byte
	kind string
	etag string
}

// kinds are the types of the page's files. The system's own table is not
// asked: it may say anything, and the page must not depend on it.
var kinds = map[string]string{
	".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8",
	".svg": "image/svg+xml", ".json": "application/json", ".png": "image/png", ".woff2": "font/woff2",
}

func newAsset(name string, data []byte) asset {
	sum := sha256.Sum256(data)
	return asset{data, kinds[path.Ext(name)], strconv.Quote(hex.EncodeToString(sum[:16]))}
}

// assets reads all files that have one of our types.
func assets(tree fs.FS) (map[string]asset, error) {
	out := map[string]asset{}
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || kinds[path.Ext(name)] == "" {
			return err
		}
		data, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		out[name] = newAsset(name, data)
		return nil
	})
	return out, err
}

// servePage gives the page. It holds the token, so no cache may keep it.
func servePage(s *server, w http.ResponseWriter, _ *http.Request) {
	s.index.write(w)
}

// serveAsset gives one of the page's files by its exact name. It may be kept,
// but is asked for again each time: the next start may be another version.
func serveAsset(s *server, w http.ResponseWriter, r *http.Request) {
	a, ok := s.files[s.routes.match(r.Method, r.URL.EscapedPath()).params["name"]]
	if !ok {
		writeDetail(w, http.StatusNotFound)
		return
	}
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("ETag", a.etag)
	if r.Header.Get("If-None-Match") == a.etag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	a.write(w)
}

func (a asset) write(w http.ResponseWriter) {
	w.Header().Set("Content-Security-Policy", page.CSP)
	w.Header().Set("Content-Type", a.kind)
	w.Header().Set("Content-Length", strconv.Itoa(len(a.data)))
	_, _ = w.Write(a.data)
}
