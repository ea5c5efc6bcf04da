package command

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// ran are lines that a real bash runs with programs that only note how they
// were called. What it ran must be among what Parse found, or the line must
// hold a command that is said to be unknown.
var ran = []string{
	"rm x", "r''m x", `\rm x`, `r\m "a b"`, "$'rm' x", `$'\x72\155' x`, "r\\\nm x", "true; rm x", "true && rm x", "false || rm x", "true | rm x", "rm x & wait", "(rm x)", "{ rm x; }", "! rm x", "time rm x",
	"echo $(rm x)", "echo `rm x`", "echo \"$(rm 'a b')\"", "cat <(rm x)", "cat <<E\n$(rm x)\nE", "cat <<'E'\n$(rm x)\nE", "cat <<\"E\"\n`rm x`\nE", "cat <<-E\n\t$(rm x)\n\tE", "cat <<< $(rm x)", "echo ${a:-$(rm x)}", "echo ${a:+$(rm x)}", "echo $((1 + $(rm x; echo 1)))", "x=$(rm x)", "ls > $(rm x; echo out)", "echo \\$(rm x", "echo '$(rm x)'", "echo \"\\$(rm x)\"", "echo \"'$(rm x)'\"", "echo '\"'$(rm x)'\"'",
	"if true; then rm x; fi", "if rm x; then true; else git y; fi", "for i in a b; do rm $i; done", "for ((i=0;i<2;i++)); do rm x; done", "while rm x; do break; done", "until rm x; do break; done", "case a in a) rm x;; b) git y;; esac", "case a in a) rm x;& b) git y;; esac", "f() { rm x; }; f", "function f { rm $1; }; f y", "f() (rm x); f", "[[ $(rm x) ]]", "(( $(rm x; echo 1) ))", "a=($(rm x))", "a[$(rm x; echo 1)]=2", "coproc rm x; wait", "select i in a; do rm x; break; done <<< 1",
	"env rm x", "env A=1 rm x", "env -i rm x", "env -u A rm x", "env -S 'rm x'", "command rm x", "nohup rm x", "nice rm x", "nice -n 5 rm x", "nice -5 rm x", "timeout 5 rm x", "timeout -k 1 5 rm x", "timeout --signal=KILL 5 rm x", "stdbuf -oL rm x", "setsid -w rm x", "exec rm x", "exec -a y rm x", "echo a b | xargs rm", "echo a | xargs -n1 rm -f", "echo a | xargs -I{} rm {}", "echo a | xargs -I % sh -c 'rm %'", "find . -maxdepth 0 -exec rm {} \\;", "find . -maxdepth 0 -exec rm {} +", "find . -maxdepth 0 -exec sh -c 'rm x' \\;", "A=1 B=2 rm x", ">out rm x", "2>&1 rm x", "rm x >out 2>&1",
	"sh -c 'rm x'", "bash -c 'rm x; git y'", "bash -c 'rm \"$1\"' _ y", "bash -ec 'rm x'", "bash -c \"rm 'a b'\"", "sh -c 'sh -c \"rm x\"'", "bash <<< 'rm x'", "bash <<E\nrm x\nE", "echo 'rm x' | sh", "printf 'rm x\\n' | bash", "eval rm x", "eval 'rm x; git y'", "trap 'rm x' EXIT", "X=rm; $X x", "X='rm x'; $X", "rm${IFS}x", "rm$IFS-f", "{rm,x}", "rm {a,b}{1,2}", "$(echo rm) x", "${nosuch}rm x", "r${nosuch}m x", "${nosuch:-rm} x", "x=rm; ${x} y", "a=r; ${a}m x",
	"x='$(rm x)'; echo ${x@P}", "x='a[$(rm x)]'; echo $((x))", "x='a[$(rm x)]'; echo ${!x}", "test -v 'a[$(rm x)]'", "[[ -v 'a[$(rm x)]' ]]", "unset 'a[$(rm x)]'", "printf -v 'a[$(rm x)]' y", "let 'a[$(rm x)]=1'", "read 'a[$(rm x)]' <<< 1", "x='a[$(rm x)]'; [[ $x -eq 1 ]]", "x='a[$(rm x)]'; (( x ))", "x='a[$(rm x)]'; y=(1); echo ${y[$x]}", "x='a[$(rm x)]'; y=abc; echo ${y:$x}", "declare 'a[$(rm x)]=1'",
	"shopt -s expand_aliases\nalias g=rm\ng x", "source <(echo rm x)", ". <(echo rm x)", "mapfile -C 'rm x' -c 1 a <<< b", "PROMPT_COMMAND='rm x'", "bash -ic 'rm x'", "g\\\nit status", "git\tstatus", "git status;rm x", "git status#rm x", "git status # rm x", "echo a;#\nrm x", "rm x \\\n  y", "echo \"a\nb\"; rm x", "a=1; rm $a ${a} \"$a\"", "true &&\nrm x", "if true\nthen\nrm x\nfi",
}

func TestAgainstBash(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash here to compare with")
	}
	dir := t.TempDir()
	bin, log := filepath.Join(dir, "bin"), filepath.Join(dir, "log")
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, n := range []string{"rm", "git"} {
		script := "#!" + bash + "\n{ printf '%s' \"${0##*/}\"; printf '\\037%s' \"$@\"; printf '\\n'; } >> " + log + "\n"
		if err := os.WriteFile(filepath.Join(bin, n), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	executed := 0
	for _, line := range ran {
		_ = os.Remove(log)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		cmd := exec.CommandContext(ctx, bash, "-c", line)
		cmd.Dir = dir
		cmd.Env = []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + dir}
		_ = cmd.Run()
		cancel()
		out, _ := os.ReadFile(log)
		l, err := Parse(line)
		if err != nil {
			continue // never allowed by a rule, whatever it runs
		}
		for call := range strings.Lines(string(out)) {
			executed++
			argv := strings.Split(strings.TrimSuffix(call, "\n"), "\x1f")
			if !found(l, argv) {
				t.Errorf("bash ran %q in %q; found only %s", argv, line, show(l))
			}
		}
	}
	t.Logf("COUNT %d lines, %d commands that bash ran", len(ran), executed)
	if executed < len(ran)*2/3 {
		t.Error("hardly anything ran: the comparison says nothing")
	}
}

// found says that a command is among the line's, surely or as a guess, or
// that some command of the line is said to be unknown.
func found(l *Line, argv []string) bool {
	for _, s := range l.Segments {
		if s.Dynamic != "" {
			return true
		}
		if len(s.Argv) == 0 || base(s.Argv[0].Name()) != argv[0] {
			continue
		}
		i := 0
		for _, w := range s.Argv {
			if i < len(argv) && w.Static && w.Value == argv[i] || i == 0 {
				i++
				continue
			}
			if !w.Static {
				return true // takes any number of words
			}
			i = -1
			break
		}
		if i == len(argv) || i == 1 && len(argv) == 2 && argv[1] == "" {
			return true
		}
	}
	return slices.ContainsFunc(l.Segments, func(s Segment) bool {
		return slices.ContainsFunc(s.Guesses, func(g []string) bool { return slices.Equal(g, argv) }) && s.Dynamic != ""
	})
}

func show(l *Line) string {
	var out []string
	for _, s := range l.Segments {
		out = append(out, dump(s))
	}
	return fmt.Sprint(out)
}
