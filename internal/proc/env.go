package proc

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// depthKey says in every child how many runs it is inside of.
const depthKey = "LARVA_DEPTH"

// What a variable that holds a key, a token or credentials is called. Names are
// whole; ends follow "_" or are the whole name; tails end a name anyhow; parts
// stand anywhere between "_".
var (
	secretNames = [...]string{"ANTHROPIC_CUSTOM_HEADERS", "AWS_ACCESS_KEY_ID", "CODEX_AUTH_JSON", "DOCKER_AUTH_CONFIG", "MYSQL_PWD",
		"PGPASSFILE", "REDISCLI_AUTH", "SSHPASS", "AZURE_CLIENT_CERTIFICATE_PATH", "VAULT_ROLE_ID"}
	secretEnds  = [...]string{"KEY", "PASS", "PASSWD", "PASSPHRASE", "PAT", "TOKEN_FILE", "CREDENTIAL", "AUTHORIZATION", "BEARER", "COOKIE"}
	secretTails = [...]string{"APIKEY", "TOKEN", "PASSWORD", "SECRET"}
	secretParts = [...]string{"SECRET", "SECRETS", "API_KEY", "API_KEYS", "APIKEY", "APIKEYS", "ACCESS_KEY", "PRIVATE_KEY", "ACCESS_TOKEN", "AUTH_TOKEN",
		"OAUTH_TOKEN", "REFRESH_TOKEN", "SESSION_TOKEN", "BEARER_TOKEN", "API_TOKEN", "CREDENTIALS", "SERVICE_ACCOUNT_JSON"}

	// secretValues are how keys of known services begin. Such a value is a key
	// whatever its variable is called.
	secretValues = [...]string{"sk-", "sk_live_", "rk_live_", "AIza", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xoxb-", "xoxp-",
		"xai-", "hf_", "gsk_", "r8_", "pplx-", "AKIA", "ASIA", "npm_", "pypi-", "dop_v1_", "ya29.", "tvly-", "nvapi-", "fw_", "csk-", "Bearer "}
)

// minSecretValue keeps short ordinary words that happen to begin like a key.
const minSecretValue = 20

// Env gives environ without provider keys and tokens, with extra ("NAME=value",
// named by the user's own configuration and so not scrubbed) put over it, and
// with LARVA_DEPTH one higher. Of a name given twice the last value counts, as
// it does for a started program. Keys that a profile names (key_env) are the
// caller's to take out: see Without.
func Env(environ []string, extra ...string) []string {
	values := map[string]string{}
	var order []string
	put := func(kv string) {
		name, _, ok := split(kv)
		if !ok {
			return
		}
		k := fold(name)
		if _, seen := values[k]; !seen {
			order = append(order, k)
		}
		values[k] = kv
	}
	for _, kv := range environ {
		put(kv)
	}
	for k, kv := range values {
		if name, value, _ := split(kv); secret(name, value) {
			values[k] = ""
		}
	}
	for _, kv := range extra {
		put(kv)
	}
	put(depthKey + "=" + strconv.Itoa(Depth(environ)+1))
	out := make([]string, 0, len(order))
	for _, k := range order {
		if values[k] != "" {
			out = append(out, values[k])
		}
	}
	return out
}

// Without gives environ without the named variables.
func Without(environ []string, names ...string) []string {
	drop := map[string]bool{}
	for _, n := range names {
		drop[fold(n)] = true
	}
	var out []string
	for _, kv := range environ {
		if name, _, ok := split(kv); ok && !drop[fold(name)] {
			out = append(out, kv)
		}
	}
	return out
}

// Depth is how many runs this environment is inside of: 0 outside of any. A
// value that is no number counts as 1, so that a damaged one never reads as
// outside.
func Depth(environ []string) int {
	v, ok := lookup(environ, depthKey)
	if !ok || v == "" {
		return 0
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 0 || n > 1<<20 {
		return 1
	}
	return n
}

// LookPath finds a program in environ's PATH and gives its absolute path. The
// current directory is never searched: empty and relative entries of PATH are
// passed over. An absolute name is checked as it is. Errors wrap ErrNotFound.
func LookPath(name string, environ []string) (string, error) {
	if filepath.IsAbs(name) {
		if p, ok := isProgram(name, environ); ok {
			return p, nil
		}
		return "", fmt.Errorf("%s: %w", name, ErrNotFound)
	}
	if name == "" || strings.ContainsAny(name, `/\`) {
		return "", fmt.Errorf("%q: %w: neither a bare name nor an absolute path", name, ErrNotFound)
	}
	path, _ := lookup(environ, "PATH")
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if p, ok := isProgram(filepath.Join(dir, name), environ); ok {
			return p, nil
		}
	}
	return "", fmt.Errorf("%s: %w", name, ErrNotFound)
}

// isProgram tries the path and, on Windows, the path with each of PATHEXT's
// endings.
func isProgram(path string, environ []string) (string, bool) {
	tries := []string{path}
	if runtime.GOOS == "windows" {
		exts, ok := lookup(environ, "PATHEXT")
		if !ok || exts == "" {
			exts = ".COM;.EXE;.BAT;.CMD"
		}
		for _, e := range strings.Split(exts, ";") {
			tries = append(tries, path+strings.ToLower(e))
		}
	}
	for _, p := range tries {
		if fi, err := os.Stat(p); err == nil && executable(fi) {
			return p, true
		}
	}
	return "", false
}

// lookup gives the last value of a variable.
func lookup(environ []string, name string) (string, bool) {
	for i := len(environ) - 1; i >= 0; i-- {
		if n, v, ok := split(environ[i]); ok && fold(n) == fold(name) {
			return v, true
		}
	}
	return "", false
}

// split cuts NAME=value. Windows has names that begin with "=".
func split(kv string) (name, value string, ok bool) {
	if kv == "" {
		return "", "", false
	}
	i := strings.IndexByte(kv[1:], '=')
	if i < 0 || kv[0] == '=' && runtime.GOOS != "windows" {
		return "", "", false
	}
	return kv[:i+1], kv[i+2:], true
}

func fold(name string) string {
	if runtime.GOOS == "windows" {
		return strings.ToUpper(name)
	}
	return name
}

// secret reports whether a variable holds a key, a token or credentials.
func secret(name, value string) bool {
	return secretName(strings.ToUpper(name)) || secretValue(value)
}

func secretName(n string) bool {
	if strings.HasSuffix(n, "PUBLIC_KEY") {
		return false
	}
	for _, name := range secretNames {
		if n == name {
			return true
		}
	}
	for _, end := range secretEnds {
		if n == end || strings.HasSuffix(n, "_"+end) {
			return true
		}
	}
	for _, tail := range secretTails {
		if strings.HasSuffix(n, tail) {
			return true
		}
	}
	for _, part := range secretParts {
		if strings.Contains("_"+n+"_", "_"+part+"_") {
			return true
		}
	}
	return false
}

func secretValue(value string) bool {
	v := strings.TrimLeft(value, " \t")
	if len(v) < minSecretValue || strings.ContainsAny(v, "/\\") && !strings.HasPrefix(v, "Bearer ") {
		return false // too short, or a path
	}
	for _, p := range secretValues {
		if strings.HasPrefix(v, p) {
			return true
		}
	}
	return false
}
