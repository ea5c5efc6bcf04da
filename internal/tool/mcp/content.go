package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"larva.dev/larva/internal/mcpclient"
	"larva.dev/larva/internal/tool"
)

const (
	maxImage  = 5 << 20 // bytes of one that the model is shown
	maxImages = 4       // of a call
)

var pictures = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// shown is a result as the model reads it.
func shown(r mcpclient.Result) tool.Result {
	out := tool.Result{IsError: r.IsError}
	parts := Texts(r.Content, &out.Images)
	if len(r.Structured) > 0 && string(r.Structured) != "null" && !said(parts, r.Structured) {
		parts = append(parts, string(r.Structured))
	}
	out.Output = strings.Join(parts, "\n")
	if out.Output == "" && len(out.Images) == 0 {
		out.Output = "(no output)"
	}
	return out
}

// said says that a text holds the structured result already, as servers that
// speak to older clients do.
func said(parts []string, structured json.RawMessage) bool {
	var wrapped map[string]json.RawMessage
	if json.Unmarshal(structured, &wrapped) == nil && len(wrapped) == 1 && wrapped["result"] != nil && said(parts, wrapped["result"]) {
		return true // a list is wrapped, since the result has to be an object
	}
	return slices.ContainsFunc(parts, func(p string) bool {
		var a, b bytes.Buffer
		return json.Compact(&a, []byte(p)) == nil && json.Compact(&b, structured) == nil && a.String() == b.String()
	})
}

// Texts words contents for a model. Pictures that it may be shown go to images;
// nil shows none. Other bytes are told of, not given.
func Texts(list []mcpclient.Content, images *[]tool.Image) []string {
	var out []string
	for _, c := range list {
		switch {
		case c.Link:
			out = append(out, fmt.Sprintf("[a resource: %s, %s; read_mcp_resource reads it]", line(c.Text), line(c.URI)))
		case len(c.Data) > 0 && images != nil && slices.Contains(pictures, c.MediaType) && len(c.Data) <= maxImage && len(*images) < maxImages:
			*images = append(*images, tool.Image{MediaType: c.MediaType, Data: c.Data})
		case len(c.Data) > 0:
			out = append(out, fmt.Sprintf("[%s, %d bytes: not shown]", line(kind(c.MediaType)), len(c.Data)))
		case c.Text != "":
			out = append(out, strings.ToValidUTF8(c.Text, "\uFFFD"))
		}
	}
	return out
}

func kind(mediaType string) string {
	if mediaType == "" {
		return "data of an unknown kind"
	}
	return mediaType
}

// line keeps a word of a server's on its line and short.
func line(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " ")
	if utf8.RuneCountInString(s) > 300 {
		s = string([]rune(s)[:300]) + "…"
	}
	return s
}
