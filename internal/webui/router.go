package webui

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// route is one row of the table.
type route struct {
	method, path string // a segment in braces stands for any one that is not empty
	token        bool   // it changes something, or starts a program
	body         body
	// run gives what stands under data. serve, where it is set, answers itself.
	run   func(*server, *call) (any, error)
	serve func(*server, http.ResponseWriter, *http.Request)
}

// body says what a route reads.
type body int

const (
	noBody body = iota
	objectBody
)

// router finds routes. It works on the escaped path: an encoded slash stays
// inside its segment, and no path is cleaned or redirected, so what a handler
// sees is what was sent.
type router []compiled

type compiled struct {
	*route
	segments []string
}

func newRouter(table []route) router {
	r := make(router, len(table))
	for i := range table {
		r[i] = compiled{&table[i], strings.Split(table[i].path, "/")[1:]}
	}
	return r
}

// match is a route with the values of its braces; without a route, allow are
// the methods that the path knows.
type match struct {
	route  *route
	params map[string]string
	allow  []string
}

// match finds the route. A row without braces goes before one with them.
// HEAD is GET without a body.
func (rt router) match(method, escaped string) match {
	segments, ok := split(escaped)
	if !ok {
		return match{}
	}
	if method == http.MethodHead {
		method = http.MethodGet
	}
	var m match
	for _, c := range rt {
		params, ok := c.fits(segments)
		if !ok {
			continue
		}
		if !slices.Contains(m.allow, c.method) {
			m.allow = append(m.allow, c.method)
		}
		if c.method == method && (m.route == nil || len(params) < len(m.params)) {
			m.route, m.params = c.route, params
		}
	}
	if slices.Contains(m.allow, http.MethodGet) {
		m.allow = append(m.allow, http.MethodHead)
	}
	slices.Sort(m.allow)
	return m
}

func split(escaped string) ([]string, bool) {
	rest, ok := strings.CutPrefix(escaped, "/")
	if !ok {
		return nil, false
	}
	segments := strings.Split(rest, "/")
	for i, s := range segments {
		plain, err := url.PathUnescape(s)
		if err != nil {
			return nil, false
		}
		segments[i] = plain
	}
	return segments, true
}

func (c compiled) fits(segments []string) (map[string]string, bool) {
	if len(segments) != len(c.segments) {
		return nil, false
	}
	var params map[string]string
	for i, want := range c.segments {
		name, open := strings.CutPrefix(want, "{")
		switch {
		case !open:
			if segments[i] != want {
				return nil, false
			}
		case segments[i] == "":
			return nil, false
		default:
			if params == nil {
				params = map[string]string{}
			}
			params[strings.TrimSuffix(name, "}")] = segments[i]
		}
	}
	return params, true
}

// route answers one request.
func (s *server) route(w http.ResponseWriter, r *http.Request) {
	m := s.routes.match(r.Method, r.URL.EscapedPath())
	switch {
	case m.route == nil && len(m.allow) == 0:
		writeDetail(w, http.StatusNotFound)
	case m.route == nil:
		w.Header().Set("Allow", strings.Join(m.allow, ", "))
		writeDetail(w, http.StatusMethodNotAllowed)
	case m.route.serve != nil:
		m.route.serve(s, w, r)
	default:
		s.answer(w, r, m)
	}
}
