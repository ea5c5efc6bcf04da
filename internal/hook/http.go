package hook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"regexp"
	"strings"
	"sync"
	"syscall"

	"larva.dev/larva/internal/profile"
)

// variable is $NAME or ${NAME} in a header.
var variable = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))`)
})

// headerComplaints finds variables that allowedEnvVars does not name: sent as
// they stand they would be wrong, sent empty they would be wrong too.
func headerComplaints(h profile.Hook) (out []complaint) {
	for name, value := range h.Headers {
		for _, v := range Variables(value) {
			if !contains(h.AllowedEnvVars, v) {
				out = append(out, complaint{"headers." + name, "the header holds $" + v + ", which allowedEnvVars does not name",
					"allowedEnvVars: [" + `"` + v + `"]`})
			}
		}
	}
	return out
}

// Variables are the names of variables that a text would have filled in.
func Variables(text string) []string {
	var out []string
	for _, m := range variable().FindAllStringSubmatch(text, -1) {
		if n := m[1] + m[2]; !contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// AllowedURL says whether one of the entries names the URL: all of it, or with
// a * at the end what lies below. Scheme, host and port are compared whole; a
// host that begins with *. stands for its subdomains.
func AllowedURL(entries []string, target string) bool {
	u, err := url.Parse(target)
	if err != nil || u.Host == "" || u.User != nil || u.Opaque != "" {
		return false
	}
	// The path as a server would read it: a prefix must not be left by "..".
	clean := path.Clean("/" + u.Path)
	if strings.HasSuffix(u.Path, "/") && clean != "/" {
		clean += "/"
	}
	if clean != u.Path && !(clean == "/" && u.Path == "") || strings.Contains(u.EscapedPath(), "%2") || strings.Contains(u.EscapedPath(), "%5") {
		return false
	}
	for _, e := range entries {
		if entryNames(e, u, clean) {
			return true
		}
	}
	return false
}

func entryNames(entry string, u *url.URL, clean string) bool {
	below := strings.HasSuffix(entry, "/*")
	e, err := url.Parse(strings.TrimSuffix(entry, "*"))
	if err != nil || e.Host == "" || e.User != nil || e.Scheme != u.Scheme || port(e) != port(u) {
		return false
	}
	have, want := strings.ToLower(u.Hostname()), strings.ToLower(e.Hostname())
	if sub, ok := strings.CutPrefix(want, "*."); ok {
		if !strings.HasSuffix(have, "."+sub) {
			return false
		}
	} else if have != want {
		return false
	}
	if below {
		return strings.HasPrefix(clean, oneOf(e.Path, "/"))
	}
	return clean == oneOf(e.Path, "/") && u.RawQuery == e.RawQuery
}

func port(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	return map[string]string{"http": "80", "https": "443"}[u.Scheme]
}

// runHTTP sends the payload and takes the answer's body for stdout.
func (r *Runner) runHTTP(ctx context.Context, h *ready, payload []byte) ran {
	failed := func(format string, args ...any) ran {
		return ran{exit: -1, fault: fmt.Sprintf(format, args...)}
	}
	if !AllowedURL(r.o.AllowedURLs, h.URL) {
		return failed("%s is not in your http_hooks.allowed_urls", shownURL(h.URL))
	}
	ctx, cancel := context.WithTimeout(ctx, h.timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.URL, bytes.NewReader(payload))
	if err != nil {
		return failed("%s cannot be asked", shownURL(h.URL))
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "larva")
	for name, value := range h.Headers {
		req.Header.Set(name, r.filled(value, h.AllowedEnvVars))
	}
	res, err := client().Do(req)
	if err != nil {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return failed("%s took longer than %v", shownURL(h.URL), h.timeout)
		}
		return failed("%s cannot be reached: %s", shownURL(h.URL), reach(err))
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxOutput+1))
	switch {
	case err != nil:
		return failed("the answer of %s broke off", shownURL(h.URL))
	case len(body) > maxOutput:
		return failed("%s answered with more than %d bytes", shownURL(h.URL), maxOutput)
	case res.StatusCode < 200 || res.StatusCode > 299:
		out := failed("%s answered with status %d", shownURL(h.URL), res.StatusCode)
		out.stdout = string(body)
		return out
	}
	return ran{stdout: string(body)}
}

// filled puts the values of the named variables into a header.
func (r *Runner) filled(text string, names []string) string {
	return variable().ReplaceAllStringFunc(text, func(m string) string {
		n := strings.Trim(m, "${}")
		if !contains(names, n) {
			return ""
		}
		value := ""
		for _, kv := range r.o.Environ {
			if k, v, ok := strings.Cut(kv, "="); ok && k == n {
				value = v
			}
		}
		return value
	})
}

// client follows no redirect, since only the first URL was allowed, uses no
// proxy and connects to no address by which a cloud gives out its keys.
func client() *http.Client {
	d := &net.Dialer{Control: func(_, address string, _ syscall.RawConn) error { return refuseAddress(address) }}
	return &http.Client{
		Transport:     &http.Transport{DialContext: d.DialContext, DisableKeepAlives: true, MaxResponseHeaderBytes: 64 << 10, ForceAttemptHTTP2: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// metadata are addresses of cloud metadata services outside link-local.
var metadata = []netip.Addr{netip.MustParseAddr("100.100.100.200"), netip.MustParseAddr("192.0.0.192"), netip.MustParseAddr("fd00:ec2::254"),
	netip.MustParseAddr("fd20:ce::254"), netip.MustParseAddr("168.63.129.16")}

var errMetadata = errors.New("the address is one that hooks may not reach (link-local, multicast or metadata)")

func refuseAddress(address string) error {
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	a := ap.Addr().Unmap().WithZone("")
	if a.IsLinkLocalUnicast() || a.IsMulticast() || a.IsUnspecified() {
		return errMetadata
	}
	for _, m := range metadata {
		if a == m {
			return errMetadata
		}
	}
	return nil
}

// reach is why a connection failed, without the URL that Go's error repeats.
func reach(err error) string {
	if errors.Is(err, errMetadata) {
		return errMetadata.Error()
	}
	var ue *url.Error
	if errors.As(err, &ue) {
		err = ue.Err
	}
	return err.Error()
}

// shownURL is a URL without what may be a secret in it.
func shownURL(s string) string {
	u, err := url.Parse(s)
	if err != nil {
		return "the URL"
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}
