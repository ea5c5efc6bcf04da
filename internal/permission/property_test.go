package permission_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"larva.dev/larva/internal/capability"
	"larva.dev/larva/internal/command"
	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/permission"
)

// A fragment is a simple command of which we know what it needs.
type fragment struct {
	text  string
	needs []capability.Need
}

func need(pairs ...any) []capability.Need {
	var out []capability.Need
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, capability.Need{Family: pairs[i].(string), Posture: pairs[i+1].(capability.Posture)})
	}
	return out
}

var fragments = []fragment{
	{"ls -la", need("shell", capability.ReadOnly)},
	{"cat src/a.go", need("shell", capability.ReadOnly)},
	{"git status -s", need("git", capability.ReadOnly)},
	{"git add a.txt", need("git", capability.ReadWrite)},
	{"git push origin", need("git", capability.Destructive, "network", capability.ReadWrite)},
	{"touch b.txt", need("shell", capability.ReadWrite)},
	{"make all", need("shell", capability.ReadWrite)},
	{"rm -r b.txt", need("shell", capability.Destructive)},
	{"curl https://x.test", need("shell", capability.ReadWrite, "network", capability.ReadWrite)},
	{"nosuch x", need("shell", capability.Destructive)},
	{"echo hi > out.txt", need("filesystem", capability.ReadWrite)},
	{"sed -i s/a/b/ a.txt", need("shell", capability.ReadWrite)},
}

// wraps put a line into another one that runs it.
var wraps = []string{"%s", "%s", "timeout 5 %s", "env %s", "nice -n 2 %s", "nohup %s", "command %s", "( %s )", "{ %s; }", "true && %s", "false || %s", "if %s; then true; fi", "for i in a; do %s; done", "while %s; do break; done",
	"echo $(%s)", "echo \"$(%s)\"", "cat <(%s)", "time %s", "! %s", "case x in x) %s;; esac", "A=1 %s", "%s | wc -l", "{ %s & }", "f() { %s; }; f", "exec %s", "stdbuf -oL %s"}

// simple wraps need a simple command inside, not a list.
func isSimple(s string) bool {
	return !strings.ContainsAny(s, "(){};&|\n!") && !strings.HasPrefix(s, "if ") && !strings.HasPrefix(s, "time ") && !strings.HasPrefix(s, "A=")
}

func genLine(r *rand.Rand) (line string, used []fragment) {
	parts := 1 + r.IntN(3)
	var lines []string
	for range parts {
		f := fragments[r.IntN(len(fragments))]
		used = append(used, f)
		s := f.text
		for range r.IntN(3) {
			w := wraps[r.IntN(len(wraps))]
			word := strings.HasSuffix(w, " %s") && !strings.ContainsAny(w, "&|!") && w != "time %s"
			if word && !isSimple(s) {
				continue
			}
			s = fmt.Sprintf(w, s)
		}
		if r.IntN(6) == 0 && !strings.Contains(s, "'") {
			s = "bash -c '" + s + "'"
		}
		lines = append(lines, s)
	}
	return strings.Join(lines, []string{"; ", " && ", " || ", "\n"}[r.IntN(4)]), used
}

func TestJudgeProperties(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := rand.New(rand.NewPCG(1, 2))
	allows := []string{"bash", "bash(git *)", "bash(touch *)", "bash(make *)", "bash(curl *)", "bash(nosuch *)", "edit", "bash(ls *)", "bash(rm *)"}
	denies := map[string]string{"bash(rm *)": "rm -r b.txt", "bash(git push *)": "git push origin", "bash(curl *)": "curl https://x.test", "bash(nosuch *)": "nosuch x", "edit(out.txt)": "echo hi > out.txt", "bash(make *)": "make all"}
	var deny []string
	for d := range denies {
		deny = append(deny, d)
	}
	slices.Sort(deny)
	postures := []string{"none", "read_only", "read_write", "destructive"}
	allowed, denied := 0, 0
	const rounds = 2500
	for i := range rounds {
		line, used := genLine(r)
		if _, err := command.Parse(line); err != nil {
			continue // never allowed by a rule: TestStages
		}
		var a, d []string
		for _, x := range allows {
			if r.IntN(3) == 0 {
				a = append(a, x)
			}
		}
		for _, x := range deny {
			if r.IntN(8) == 0 {
				d = append(d, x)
			}
		}
		b.rules(rule(a...), nil, rule(d...))
		b.p.Ceiling, b.p.Sandboxed = nil, r.IntN(8) == 0
		if r.IntN(2) == 0 {
			b.p.Ceiling = capability.Ceiling{}
			for _, f := range []string{"shell", "git", "filesystem", "network"} {
				if r.IntN(5) > 0 {
					b.p.Ceiling[f], _ = capability.Parse(postures[r.IntN(4)])
				}
			}
		}
		verdicts := map[string]event.Decision{}
		for _, mode := range []string{permission.Default, permission.AcceptEdits, permission.Plan, permission.Yolo} {
			b.p.Mode = mode
			dec := b.bash(line)
			verdicts[mode] = dec
			for _, x := range d {
				for _, f := range used {
					if f.text == denies[x] && dec.Verdict != event.Deny {
						t.Fatalf("round %d, mode %s: deny %s does not stop %q: %s by %s", i, mode, x, line, dec.Verdict, dec.Stage)
					}
				}
			}
			if dec.Verdict == event.Allow && b.p.Ceiling != nil {
				for _, f := range used {
					for _, n := range f.needs {
						// Inside a sandbox an unknown command needs less.
						if c, ok := b.p.Ceiling[n.Family]; ok && n.Posture > c && !(b.p.Sandboxed && strings.HasPrefix(f.text, "nosuch") && c == capability.ReadWrite) {
							t.Fatalf("round %d, mode %s: %q is allowed by %s above the ceiling %v", i, mode, line, dec.Stage, b.p.Ceiling)
						}
					}
				}
			}
			if dec.Verdict == event.Allow && mode == permission.Plan {
				for _, f := range used {
					if capability.Highest(f.needs) > capability.ReadOnly {
						t.Fatalf("round %d: plan mode allows %q by %s", i, line, dec.Stage)
					}
				}
			}
		}
		base, yolo := verdicts[permission.Default], verdicts[permission.Yolo]
		if base.Verdict == event.Deny && yolo.Verdict != event.Deny {
			t.Fatalf("round %d: yolo lifts a refusal of %q: %s", i, line, base.Reason)
		}
		for _, why := range base.Reasons {
			stage, _, _ := strings.Cut(why, ":")
			if base.Verdict == event.Ask && stage != "default" && stage != "network" && yolo.Verdict == event.Allow {
				t.Fatalf("round %d: yolo answers the question %q of %q", i, why, line)
			}
		}
		switch base.Verdict {
		case event.Allow:
			allowed++
		case event.Deny:
			denied++
		}
	}
	t.Logf("COUNT %d generated lines: %d allowed, %d denied, %d asked in mode default", rounds, allowed, denied, rounds-allowed-denied)
	if allowed < rounds/20 || denied < rounds/20 {
		t.Error("the generator is one-sided: nothing much was tested")
	}
}
