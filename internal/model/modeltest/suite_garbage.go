package modeltest

import (
	"math/rand/v2"
	"strings"
	"testing"

	"larva.dev/larva/internal/model"
)

// garbage puts damaged streams to an adapter. Each has to end in an answer or
// in a *model.Error; calls of an answer have their input or what broke.
func garbage(t *testing.T, p Protocol) {
	seeds := []string{
		p.Text("end", "one ", "two"), p.Think("hm", "yes"), p.Failure("x"),
		p.Calls("end", Call{"c1", "read", `{"path":"a"}`}, Call{"c2", "grep", `{"pattern":"b"}`}),
	}
	words := []string{"null", "{}", "[]", `""`, "0", "-1", "1e400", "true", "\n\n", `"index":`, `"type":`, "\x00", "\xff", "[DONE]", `{"error":`}
	r := rand.New(rand.NewPCG(1, 2))
	const rounds = 300
	replies := make([]Reply, rounds)
	for i := range replies {
		s := []byte(seeds[i%len(seeds)])
		for range 1 + r.IntN(6) {
			at := r.IntN(len(s))
			end := min(len(s), at+r.IntN(24))
			switch r.IntN(4) {
			case 0: // drop
				s = append(s[:at:at], s[end:]...)
			case 1: // repeat
				s = append(s[:end:end], s[at:]...)
			case 2: // put a word in its place
				s = append(append(s[:at:at], words[r.IntN(len(words))]...), s[end:]...)
			case 3: // swap two events
				events := strings.SplitAfter(string(s), "\n\n")
				a, b := r.IntN(len(events)), r.IntN(len(events))
				events[a], events[b] = events[b], events[a]
				s = []byte(strings.Join(events, ""))
			}
			if len(s) == 0 {
				s = []byte("\n")
			}
		}
		replies[i] = Reply{Body: string(s), Then: []string{"", "cut"}[i%2]}
	}
	m := p.at(Serve(t, replies...))
	answered := 0
	for i := range rounds {
		got := ask(t, m, prompt("hi")) // fails the test where the error is of another type
		if got.err != nil {
			continue
		}
		answered++
		ids := map[string]bool{}
		for _, b := range got.answer.Message.Blocks {
			if c := b.Call; c != nil {
				if c.ID == "" || ids[c.ID] || (c.Input == nil) != (c.Broken != "") {
					t.Errorf("stream %d: call %+v\n%s", i, c, replies[i].Body)
				}
				ids[c.ID] = true
			}
			if b.Raw != nil && model.CheckParams("", []model.Param{{Key: "k", Value: b.Raw.JSON}}) != nil {
				t.Errorf("stream %d: the opaque block is no JSON: %q", i, b.Raw.JSON)
			}
		}
	}
	if answered == 0 || answered == rounds {
		t.Errorf("%d of %d damaged streams were answers, want some of both", answered, rounds)
	}
}
