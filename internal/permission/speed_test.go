package permission_test

import (
	"fmt"
	"testing"

	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/permission"
	"larva.dev/larva/internal/tool"
)

// tenParts is a line of ten commands; n makes it one that was not met before.
func tenParts(n int) string {
	return fmt.Sprintf("git status && git log | head -5; make a%d && ls src | wc -l; cat a.txt | grep x && git status -s; make b", n)
}

// table is a policy with 200 rules, as a long-lived project has them.
func table(tb testing.TB) *bench {
	b := newBench(tb)
	var rules []string
	for i := range 190 {
		rules = append(rules, fmt.Sprintf("bash(tool%d sub *)", i))
	}
	rules = append(rules, "bash(git status *)", "bash(git log *)", "bash(make *)", "edit(src/**)", "read(docs/**)")
	b.rules(rule(rules...), rule("bash(git push *)", "edit(x/**)"), rule("bash(rm *)", "read(secrets/**)", "edit(dev/**)"))
	return b
}

// A decision by 200 rules about ten commands stays cheap: what it allocates is
// bound, which does not hang on how busy the machine is.
func TestDecisionIsCheap(t *testing.T) {
	b := table(t)
	call, eff := b.prepare(tenParts(0))
	judge := func(c tool.Call, e tool.Effects) {
		if d := b.p.Judge(c, e, permission.HookSays{}); d.Verdict != event.Allow || len(d.Segments) != 10 {
			t.Fatalf("got %s of %d parts (%s), want allow of 10", d.Verdict, len(d.Segments), d.Reason)
		}
	}
	if got := testing.AllocsPerRun(50, func() { judge(call, eff) }); got > 200 {
		t.Errorf("a line that was met before: got %.0f allocations, want at most 200", got)
	}
	type one struct {
		c tool.Call
		e tool.Effects
	}
	var fresh []one
	for i := range 60 {
		c, e := b.prepare(tenParts(i + 1))
		fresh = append(fresh, one{c, e})
	}
	n := 0
	if got := testing.AllocsPerRun(50, func() { judge(fresh[n].c, fresh[n].e); n++ }); got > 1400 {
		t.Errorf("a new line: got %.0f allocations, want at most 1400", got)
	}
}

func BenchmarkJudge(b *testing.B) {
	bench := table(b)
	call, eff := bench.prepare(tenParts(0))
	b.ReportAllocs()
	b.ResetTimer()
	for b.Loop() {
		if d := bench.p.Judge(call, eff, permission.HookSays{}); d.Verdict != event.Allow {
			b.Fatal(d.Reason)
		}
	}
}

// BenchmarkJudgeNew reads every line anew.
func BenchmarkJudgeNew(b *testing.B) {
	bench := table(b)
	var calls []tool.Call
	var effs []tool.Effects
	for i := range 200 { // more than are kept
		c, e := bench.prepare(tenParts(i))
		calls, effs = append(calls, c), append(effs, e)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; b.Loop(); i++ {
		if d := bench.p.Judge(calls[i%200], effs[i%200], permission.HookSays{}); d.Verdict != event.Allow {
			b.Fatal(d.Reason)
		}
	}
}
