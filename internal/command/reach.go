package command

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// What follows lets rules that forbid see commands in text that reaches
// another program: code for an interpreter, an option's command line, keys for
// a terminal, a script on standard input. It guesses; it never allows.

// coders read code: in their words, or on their input.
var coders = []string{"python", "pypy", "perl", "ruby", "irb", "node", "nodejs", "deno", "bun", "php", "lua", "luajit", "awk", "gawk", "mawk", "nawk", "osascript",
	"Rscript", "R", "julia", "expect", "tclsh", "gdb", "lldb", "vi", "vim", "nvim", "view", "ex", "ed", "emacs", "sqlite3", "psql", "mysql", "groovy", "scala", "elixir",
	"iex", "erl", "ghci", "runghc", "pwsh", "powershell", "jshell", "make", "gmake", "at", "batch", "crontab", "tmux", "screen", "zellij", "parallel", "ssh", "sed", "bc", "m4"}

// carriers take command lines as values of their options.
var carriers = []string{"tar", "bsdtar", "rsync", "scp", "sftp", "ssh", "man", "split", "sort", "zip", "nix-shell", "nix", "rg", "less", "watchexec", "entr", "fzf", "socat",
	"nc", "ncat", "hyperfine", "nodemon", "concurrently", "xterm", "gnome-terminal", "konsole", "alacritty", "kitty", "start-stop-daemon", "cargo", "wget", "gpg", "find", "fd", "mutt", "tig"}

// runners run their last words as a command.
var runners = []string{"npx", "bunx", "pnpx", "npm", "pnpm", "yarn", "bun", "bundle", "poetry", "uv", "uvx", "pdm", "hatch", "pipenv", "pipx", "conda", "mamba", "rye", "direnv", "mise", "asdf",
	"rbenv", "pyenv", "nvm", "docker", "podman", "nerdctl", "docker-compose", "kubectl", "watchexec", "entr", "dumb-init", "tini", "dotenv", "op", "aws-vault", "chpst", "rlwrap", "devbox", "flox",
	"script", "gtimeout", "catchsegv", "rustup", "opam", "stack", "cabal", "nix", "guix", "wine", "qemu-x86_64", "proot", "vagrant", "lxc", "multipass", "wsl"}

// doers are the words of runners behind which the command stands.
var doers = []string{"exec", "run", "x", "dlx", "shell", "develop", "activate", "env", "which", "-c", "--", "-x", "--exec", "--command"}

// known says that a program is one of a list; python3.12 is python.
func listed(list []string, name string) bool {
	return slices.Contains(list, name) || slices.Contains(list, strings.TrimRight(name, "0123456789.")) && name != ""
}

// reach adds what a command's words hold for another program.
func (g *guesser) reach(v []string) {
	name := base(v[0])
	args := v[1:]
	switch {
	case name == "git":
		g.reachGit(args)
		return
	case strings.HasPrefix(name, "ld-") || strings.HasPrefix(name, "ld.so"):
		g.suffixes(args)
		return
	}
	if listed(coders, name) {
		for i, a := range args {
			g.code(a)
			if name == "tmux" || name == "screen" || name == "zellij" {
				g.add(args[i:])
			}
		}
	}
	if listed(carriers, name) {
		for _, a := range args {
			g.value(a)
		}
	}
	if !listed(runners, name) {
		return
	}
	direct := slices.Contains([]string{"npx", "bunx", "pnpx", "uvx", "watchexec", "entr", "dumb-init", "tini", "chpst", "rlwrap", "script", "gtimeout", "catchsegv", "wine", "proot"}, name)
	for i, a := range args {
		if direct || slices.Contains(doers, a) {
			g.suffixes(args[i:])
			return
		}
	}
}

// suffixes adds every command that the words may end in.
func (g *guesser) suffixes(args []string) {
	for i, a := range args {
		if i > 12 || len(g.out) >= maxGuesses {
			return
		}
		if a != "" && a[0] != '-' {
			g.add(args[i:])
			if shells[base(a)] || a == "env" {
				words := make([]Word, 0, len(args)-i)
				for _, x := range args[i:] {
					words = append(words, static(x))
				}
				g.levels(words, maxScripts-2)
			}
		}
	}
}

// reachGit adds the command lines in git's settings and addresses, and what
// pushes by another name.
func (g *guesser) reachGit(args []string) {
	for i, a := range args {
		switch {
		case a == "-c" && i+1 < len(args):
			_, to, _ := strings.Cut(args[i+1], "=")
			g.parse(strings.TrimPrefix(to, "!"))
		case strings.HasPrefix(a, "--upload-pack") || strings.HasPrefix(a, "--receive-pack") || strings.HasPrefix(a, "--exec"):
			g.value(a)
		case strings.HasPrefix(a, "ext::"):
			g.parse(a[len("ext::"):])
		case a == "config":
			g.parse(strings.TrimPrefix(args[len(args)-1], "!"))
		case a == "send-pack" || a == "http-push", a == "dcommit" && i > 0 && args[i-1] == "svn",
			a == "push" && i > 0 && (args[i-1] == "subtree" || args[i-1] == "lfs"):
			g.add(append([]string{"git", "push"}, args[i+1:]...))
		}
	}
}

// value adds what stands behind an option's equals signs, and the word itself
// where it has several words in it.
func (g *guesser) value(a string) {
	rest := a
	for {
		_, after, ok := strings.Cut(rest, "=")
		if !ok {
			break
		}
		g.parse(strings.TrimPrefix(after, "!"))
		rest = after
	}
	for _, sign := range []string{"EXEC:", "SYSTEM:", "execute(", "execute:"} {
		if at := strings.Index(a, sign); at >= 0 {
			g.parse(strings.TrimSuffix(a[at+len(sign):], ")"))
		}
	}
	if strings.ContainsAny(a, " \t\n") && !strings.HasPrefix(a, "-") {
		g.parse(a)
	}
}

// code adds what code may run: itself, its lines, and the texts in quotes,
// alone and side by side as the words of one command.
func (g *guesser) code(text string) {
	if !strings.ContainsAny(text, " \t\n(`'\"") {
		return
	}
	if !spend(g.fuel, text) {
		g.short = true
		return
	}
	g.parse(text)
	lines := strings.Split(text, "\n")
	for _, l := range lines[:min(len(lines), 200)] {
		l = strings.TrimLeft(l, " \t@-!:\\.")
		for _, verb := range []string{"shell ", "system ", "term ", "silent !", "!", "spawn "} {
			l = strings.TrimPrefix(l, verb)
		}
		g.parse(l)
		if cmd, ok := strings.CutPrefix(strings.TrimLeft(l, "0123456789,$"), "e "); ok { // sed's 1e
			g.parse(cmd)
		}
		if f := strings.Fields(l); len(f) > 5 && strings.ContainsAny(f[0], "*0123456789@") { // a line of a crontab
			g.parse(strings.Join(f[5:], " "))
		}
	}
	g.quotes(text)
}

// quotes adds the texts in quotes.
func (g *guesser) quotes(text string) {
	var run []string
	flush := func() {
		if len(run) > 1 {
			g.add(run)
		}
		run = nil
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		if strings.IndexByte("'\"`", c) < 0 {
			if strings.IndexByte(" \t\n,[]()", c) < 0 {
				flush()
			}
			continue
		}
		end := i + 1
		for end < len(text) && text[end] != c {
			if text[end] == '\\' {
				end++
			}
			end++
		}
		if end >= len(text) {
			return
		}
		inner := strings.NewReplacer(`\"`, `"`, `\'`, `'`, `\n`, "\n", `\\`, `\`).Replace(text[i+1 : end])
		run = append(run, inner)
		if strings.ContainsAny(inner, " \t\n") { // a lone word is a name more often than a command
			g.parse(inner)
		}
		if strings.ContainsAny(inner, "'\"`") {
			g.quotes(inner)
		}
		i = end
	}
	flush()
}

// runsText are variables whose value a program runs.
func runsText(name string) bool {
	for _, end := range []string{"COMMAND", "EDITOR", "PAGER", "LESSOPEN", "LESSCLOSE", "SHELL", "RSH", "GIT_SSH", "ASKPASS", "BROWSER", "EXTERNAL_DIFF", "VISUAL", "MAKEFLAGS"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

// readsText says that a program runs what it reads on its input.
func readsText(v []string) bool {
	if len(v) == 0 {
		return false
	}
	name := base(v[0])
	return shells[name] || listed(coders, name) || listed(runners, name) || slices.Contains([]string{"sudo", "su", "doas", "chroot", "nsenter"}, name)
}

// inputOf is the text that a command's redirects surely give it to read.
func inputOf(s *syntax.Stmt) string {
	if s == nil {
		return ""
	}
	var out []string
	for _, r := range s.Redirs {
		switch {
		case r.Op == syntax.WordHdoc:
			if v, ok := literalWord(r.Word); ok {
				out = append(out, v)
			}
		case (r.Op == syntax.Hdoc || r.Op == syntax.DashHdoc) && r.Hdoc != nil:
			if v, ok := heredoc(r); ok {
				out = append(out, v)
			}
		}
	}
	return strings.Join(out, "\n")
}
