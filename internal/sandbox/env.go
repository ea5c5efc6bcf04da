package sandbox

import (
	"path/filepath"
	"slices"
	"strings"
)

// providerKeys are the variables of model providers: they never pass, whatever
// a profile says. A trailing * stands for any end.
var providerKeys = [...]string{"ANTHROPIC_*", "CLAUDE_CODE_*", "OPENAI_*", "OPENROUTER_*", "GEMINI_*", "GOOGLE_API_KEY", "GOOGLE_GENERATIVE_AI_*",
	"AZURE_OPENAI_*", "MISTRAL_*", "GROQ_*", "XAI_*", "DEEPSEEK_*", "COHERE_*", "TOGETHER_*", "FIREWORKS_*", "PERPLEXITY_*", "CEREBRAS_*",
	"AWS_BEARER_TOKEN_BEDROCK", "CODEX_*", "LARVA_*"}

// meaning are variables that change what a judged line does; see tool/shell.
var meaning = [...]string{"BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "CDPATH", "GLOBIGNORE", "OLDPWD", "PWD", "PS4", "EXECIGNORE", "BASH_LOADABLES_PATH",
	"BASH_FUNC_*", "TMPDIR", "HOME", "PATH", "GIT_CONFIG_*"}

// doors are variables that lead out of the wall: agents that sign or act for
// the user, and proxies that cannot be reached from inside.
var doors = [...]string{"SSH_AUTH_SOCK", "SSH_AGENT_PID", "GPG_AGENT_INFO", "DBUS_SESSION_BUS_ADDRESS", "DBUS_SYSTEM_BUS_ADDRESS", "DOCKER_HOST",
	"CONTAINER_HOST", "XDG_RUNTIME_DIR", "WAYLAND_DISPLAY", "DISPLAY", "XAUTHORITY", "TMUX", "TMUX_PANE", "VSCODE_*",
	"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "FTP_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "ftp_proxy", "no_proxy"}

func named(list []string, name string) bool {
	return slices.ContainsFunc(list, func(p string) bool {
		if head, ok := strings.CutSuffix(p, "*"); ok {
			return strings.HasPrefix(name, head)
		}
		return name == p
	})
}

// environment is a command's: without what leads out, with what the user lets
// pass, and with a cache of the project's own.
func (w *Wall) environment(env []string) []string {
	out := make([]string, 0, len(env)+8)
	for _, kv := range env {
		if name, _, _ := strings.Cut(kv, "="); !named(doors[:], name) {
			out = append(out, kv)
		}
	}
	for _, name := range w.o.Pass {
		if named(providerKeys[:], strings.ToUpper(name)) || slices.Contains(w.o.Keys, name) || named(meaning[:], name) {
			continue
		}
		if v, ok := lookup(w.o.Environ, name); ok {
			out = append(without(out, name), name+"="+v)
		}
	}
	if cache := w.cache(); cache != "" {
		out = append(without(out, "XDG_CACHE_HOME"), "XDG_CACHE_HOME="+cache)
		out = append(without(out, "GOCACHE"), "GOCACHE="+filepath.Join(cache, "go-build"))
		out = append(without(out, "npm_config_cache"), "npm_config_cache="+filepath.Join(cache, "npm"))
	}
	if w.o.ReadOnly {
		out = append(without(out, "GIT_OPTIONAL_LOCKS"), "GIT_OPTIONAL_LOCKS=0")
	}
	return out
}

// cache is where builds keep things: Cache, in a read-only wall a directory
// that ends with the run.
func (w *Wall) cache() string {
	if w.o.ReadOnly {
		if w.o.Temp == "" {
			return ""
		}
		return filepath.Join(w.o.Temp, "cache")
	}
	return w.o.Cache
}

func lookup(environ []string, name string) (string, bool) {
	for i := len(environ) - 1; i >= 0; i-- {
		if n, v, ok := strings.Cut(environ[i], "="); ok && n == name {
			return v, true
		}
	}
	return "", false
}

func without(environ []string, name string) []string {
	return slices.DeleteFunc(environ, func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
}
