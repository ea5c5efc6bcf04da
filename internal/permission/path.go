package permission

import (
	"errors"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"larva.dev/larva/internal/profile"
	"larva.dev/larva/internal/tool"
)

// pathPattern is a file pattern with gitignore's meaning, made absolute.
type pathPattern struct {
	glob  string // for doublestar; matches the path or a directory above it
	dir   bool   // it named a directory: only what is below matches
	front string // what everything that it matches begins with
}

// parsePath reads a file pattern. //x is absolute, ~/x in the home, /x below
// the rule file's own root, and anything else below the working directory,
// at any depth where it holds no slash but a last one. A rule that restricts
// also counts from the project's root: from a subdirectory it must not reach
// less.
func (r *rule) parsePath(pattern string, restricts bool, p Places) (hint string, err error) {
	if strings.HasPrefix(pattern, "!") {
		return "put what is excepted into the other list", errors.New("a pattern cannot be negated")
	}
	if runtime.GOOS == "windows" {
		pattern = strings.ReplaceAll(pattern, "\\", "/")
	}
	if !doublestar.ValidatePattern(pattern) {
		return "check its brackets and braces", errors.New("the pattern is no file pattern")
	}
	bases := []string{p.Cwd}
	rest := pattern
	switch {
	case strings.HasPrefix(pattern, "//"):
		bases, rest = []string{""}, "/"+strings.TrimLeft(pattern, "/")
	case pattern == "~" || strings.HasPrefix(pattern, "~/"):
		if p.Home == "" {
			return "", errors.New("there is no home directory")
		}
		bases, rest = []string{p.Home}, "/"+strings.TrimPrefix(strings.TrimPrefix(pattern, "~"), "/")
	case strings.HasPrefix(pattern, "~"):
		return "write ~/path or //path", errors.New("another user's home is not known")
	case strings.HasPrefix(pattern, "/"):
		bases = []string{r.root(p)}
	default:
		if restricts && p.Project != "" && p.Project != p.Cwd {
			bases = append(bases, p.Project)
		}
		if strings.HasPrefix(pattern, "./") || pattern == "." || strings.Contains(strings.TrimSuffix(pattern, "/"), "/") {
			rest = "/" + strings.TrimPrefix(pattern, "./")
		} else {
			rest = "/**/" + pattern
		}
	}
	for _, b := range bases {
		one := pathPattern{glob: rest}
		if one.dir = strings.HasSuffix(rest, "/") && rest != "/"; one.dir {
			one.glob = strings.TrimRight(rest, "/")
		}
		if b != "" {
			one.glob = path.Join(escape(filepath.ToSlash(b)), one.glob)
		}
		one.glob = fold(path.Clean(one.glob))
		if one.front = one.glob; strings.ContainsAny(one.glob, `*?[{\`) {
			one.front = one.glob[:strings.IndexAny(one.glob, `*?[{\`)]
		}
		one.front = strings.TrimSuffix(one.front, "/") // x/** matches x too
		r.paths = append(r.paths, one)
		if r.exact == "" && !strings.ContainsAny(pattern, `*?[{\`) && !one.dir {
			r.exact = fold(path.Join(filepath.ToSlash(b), strings.TrimPrefix(rest, "/**")))
		}
	}
	return "", nil
}

// FilePattern reads the file pattern of a rule as ParseRules does, for who
// judges by other rules than ours. The func takes absolute paths. restricts
// reads it as one of a list that forbids.
func FilePattern(r profile.Rule, pattern string, restricts bool, p Places) (func(path string) bool, error) {
	one := rule{Rule: r}
	if _, err := one.parsePath(pattern, restricts, p); err != nil {
		return nil, err
	}
	return func(path string) bool { return one.coversOne(path, restricts) }, nil
}

func escape(s string) string {
	var b strings.Builder
	for _, c := range s {
		if strings.ContainsRune(`*?[]{}\`, c) {
			b.WriteByte('\\')
		}
		b.WriteRune(c)
	}
	return b.String()
}

// fold makes the cases of a path alike where disks commonly do.
func fold(p string) string {
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" {
		return strings.ToLower(p)
	}
	return p
}

// matches says that the pattern names the path or a directory above it.
func (g pathPattern) matches(p string, restricts bool) bool {
	p = fold(filepath.ToSlash(p))
	if !strings.HasPrefix(p, g.front) {
		return false
	}
	self := !g.dir || restricts
	for first := true; ; first = false {
		if !first || self {
			if ok, _ := doublestar.Match(g.glob, p); ok {
				return true
			}
		}
		up := path.Dir(p)
		if up == p || up == "." {
			return false
		}
		p = up
	}
}

// covers says that a file rule speaks of a path. To restrict, the path as
// given or its target is enough; to allow, both must be named.
func (r *rule) covers(p tool.Path, restricts bool) bool {
	if r.kind == whole {
		return true
	}
	if p.Unknown || p.Abs == "" {
		return false
	}
	abs, real := r.coversOne(p.Abs, restricts), p.Real == "" || r.coversOne(p.Real, restricts)
	if p.Real == "" || restricts && !real {
		return abs
	}
	if restricts {
		return true
	}
	return abs && real
}

func (r *rule) coversOne(p string, restricts bool) bool {
	for _, g := range r.paths {
		if g.matches(p, restricts) {
			return true
		}
	}
	return false
}

// within says that p is dir or lies below it; an empty dir holds nothing.
func within(dir, p string) bool {
	if dir == "" || p == "" {
		return false
	}
	dir, p = fold(filepath.ToSlash(dir)), fold(filepath.ToSlash(p))
	return p == dir || strings.HasPrefix(p, strings.TrimSuffix(dir, "/")+"/")
}
