package app

import (
	"maps"
	"net/url"
	"regexp"
	"slices"

	"larva.dev/larva/internal/profile"
)

// hidden stands for what is not shown.
const hidden = "(hidden)"

var (
	// reference is a value that only names variables: it holds no secret itself.
	reference = regexp.MustCompile(`^(?:(?i:bearer|basic|token) )?(?:\$\{[A-Za-z_][A-Za-z0-9_]*\}|\$[A-Za-z_][A-Za-z0-9_]*)+$`)
	// keyed is a word that says its value is a secret, and the value.
	keyed = regexp.MustCompile(`(?i)((?:[a-z0-9_-]*(?:api[_-]?key|token|secret|passwo?r?d|passwd|credential)s?|authorization)["']?(?:\s*[=:]\s*|\s+)["']?(?:(?:bearer|basic|token)\s+)?)([^\s"'$]+)`)
	// scheme is a token behind the word for its kind.
	scheme = regexp.MustCompile(`(?i)\b((?:bearer|basic)\s+)([A-Za-z0-9._~+/=-]{6,})`)
	// formed are tokens that are known by their form.
	formed = regexp.MustCompile(`\b(?:sk-|rk-|pk_|sk_|gh[pousr]_|github_pat_|glpat-|xox[abprs]-|AKIA|AIza|eyJ[A-Za-z0-9_-]+\.)[A-Za-z0-9._-]{6,}`)
	// inURL are a URL's user and password.
	inURL = regexp.MustCompile(`(://)[^/\s@"']+@`)
)

// veil takes out of a text what looks like a secret.
func veil(s string) string {
	s = inURL.ReplaceAllString(s, "${1}"+hidden+"@")
	s = keyed.ReplaceAllString(s, "${1}"+hidden)
	s = scheme.ReplaceAllString(s, "${1}"+hidden)
	return formed.ReplaceAllString(s, hidden)
}

// veilURL also takes out what stands behind a question mark: tokens are put
// there under any name.
func veilURL(s string) string {
	u, err := url.Parse(s)
	if err != nil || s == "" {
		return veil(s)
	}
	if u.RawQuery == "" && u.Fragment == "" && u.User == nil {
		return veil(s)
	}
	out := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	text := out.String()
	if u.User != nil {
		text = inURL.ReplaceAllString(s, "${1}"+hidden+"@")
		if q := slices.Index([]byte(text), '?'); q >= 0 {
			text = text[:q]
		}
	}
	if u.RawQuery != "" {
		text += "?" + hidden
	}
	return veil(text)
}

// veilValues shows of a map's values those that only name variables.
func veilValues(m map[string]string) map[string]string {
	out := maps.Clone(m)
	for k, v := range out {
		if v != "" && !reference.MatchString(v) {
			out[k] = hidden
		}
	}
	return out
}

func veilAll(list []string) []string {
	out := slices.Clone(list)
	for i, s := range out {
		out[i] = veil(s)
		if i > 0 && secretFlag.MatchString(list[i-1]) && !reference.MatchString(s) {
			out[i] = hidden
		}
	}
	return out
}

// secretFlag is an option whose value is the word behind it.
var secretFlag = regexp.MustCompile(`(?i)^--?[a-z0-9_-]*(?:key|token|secret|passwo?r?d|passwd|auth|credential)s?$`)

// veiled is a profile to be shown: no value of a server's environment or
// headers, and nothing that looks like a secret elsewhere.
func veiled(p profile.Profile) profile.Profile {
	p.Providers = maps.Clone(p.Providers)
	for name, s := range p.Providers {
		s.BaseURL = veilURL(s.BaseURL)
		p.Providers[name] = s
	}
	p.Servers = maps.Clone(p.Servers)
	for name, s := range p.Servers {
		s.Command, s.Args, s.URL = veil(s.Command), veilAll(s.Args), veilURL(s.URL)
		s.Env, s.Headers = veilValues(s.Env), veilValues(s.Headers)
		p.Servers[name] = s
	}
	hooks := map[string][]profile.Hooks{}
	for event, list := range p.Hooks {
		for _, hs := range list {
			hs.Hooks = slices.Clone(hs.Hooks)
			for i, h := range hs.Hooks {
				h.Command, h.Args, h.Prompt, h.URL, h.Headers = veil(h.Command), veilAll(h.Args), veil(h.Prompt), veilURL(h.URL), veilValues(h.Headers)
				hs.Hooks[i] = h
			}
			hooks[event] = append(hooks[event], hs)
		}
	}
	if p.Hooks != nil {
		p.Hooks = hooks
	}
	p.HTTPHooks.AllowedURLs = slices.Clone(p.HTTPHooks.AllowedURLs)
	for i, u := range p.HTTPHooks.AllowedURLs {
		p.HTTPHooks.AllowedURLs[i] = veilURL(u)
	}
	p.Permissions = profile.Permissions{Allow: veilAll(p.Permissions.Allow), Ask: veilAll(p.Permissions.Ask), Deny: veilAll(p.Permissions.Deny)}
	return p
}
