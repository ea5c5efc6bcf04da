package model

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"larva.dev/larva/internal/tool"
)

// brief builds messages from a short form: "u:text", "a:text", and in one
// message, parted by spaces: "!id" a call, "=id" a result, "~" an opaque block.
func brief(lines ...string) []Message {
	var out []Message
	for _, l := range lines {
		m := Message{Role: User}
		if l[0] == 'a' {
			m.Role = Assistant
		}
		for _, w := range strings.Fields(l[2:]) {
			switch w[0] {
			case '!':
				m.Blocks = append(m.Blocks, Block{Call: &Call{ID: w[1:], Tool: "t", Input: json.RawMessage(`{}`)}})
			case '=':
				m.Blocks = append(m.Blocks, Block{Result: &Result{ID: w[1:], Tool: "t", Output: fmt.Sprintf("out%d", len(m.Blocks))}})
			case '~':
				m.Blocks = append(m.Blocks, Block{Raw: &Raw{Provider: "p", JSON: json.RawMessage(`{}`)}})
			default:
				m.Blocks = append(m.Blocks, Block{Text: w})
			}
		}
		out = append(out, m)
	}
	return out
}

func long(messages []Message) []string {
	var out []string
	for _, m := range messages {
		s := string(m.Role[:1]) + ":"
		var words []string
		for _, b := range m.Blocks {
			switch {
			case b.Call != nil:
				words = append(words, "!"+b.Call.ID)
			case b.Result != nil && b.Result.Output == Unanswered:
				words = append(words, "?"+b.Result.ID)
			case b.Result != nil:
				words = append(words, "="+b.Result.ID+"/"+b.Result.Output)
			case b.Raw != nil:
				words = append(words, "~")
			default:
				words = append(words, b.Text)
			}
		}
		out = append(out, s+strings.Join(words, " "))
	}
	return out
}

func TestRepair(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		in   []string
		want []string
	}{
		{"sound", []string{"u:hi", "a:ok !1 !2", "u:=1 =2", "a:done"}, []string{"u:hi", "a:ok !1 !2", "u:=1/out0 =2/out1", "a:done"}},
		{"results in call order and first", []string{"u:hi", "a:!1 !2", "u:note =2 =1"}, []string{"u:hi", "a:!1 !2", "u:=1/out2 =2/out1 note"}},
		{"a missing result", []string{"u:hi", "a:!1 !2", "u:=2 on"}, []string{"u:hi", "a:!1 !2", "u:?1 =2/out0 on"}},
		{"no results at the end", []string{"u:hi", "a:!1"}, []string{"u:hi", "a:!1", "u:?1"}},
		{"a result twice", []string{"u:hi", "a:!1", "u:=1 =1"}, []string{"u:hi", "a:!1", "u:=1/out0"}},
		{"a result of nothing", []string{"u:hi =9", "a:ok", "u:=8", "a:more"}, []string{"u:hi", "a:ok more"}},
		{"one id twice in a batch", []string{"u:hi", "a:!1 !1", "u:=1 =1"}, []string{"u:hi", "a:!1 !1_2", "u:=1/out0 =1_2/out1"}},
		{"one id twice, the made-up one taken", []string{"u:hi", "a:!1_2 !1 !1", "u:=1_2 =1 =1"}, []string{"u:hi", "a:!1_2 !1 !1_3", "u:=1_2/out0 =1/out1 =1_3/out2"}},
		{"no id", []string{"u:hi", "a:! !", "u:= ="}, []string{"u:hi", "a:!call_1 !call_2", "u:=call_1/out0 =call_2/out1"}},
		{"the same id in a later turn", []string{"u:hi", "a:!1", "u:=1", "a:!1", "u:=1"}, []string{"u:hi", "a:!1", "u:=1/out0", "a:!1", "u:=1/out0"}},
		{"neighbours", []string{"u:a", "u:b", "a:c", "a:d !1", "u:=1", "u:e"}, []string{"u:a b", "a:c d !1", "u:=1/out0 e"}},
		{"calls in two messages", []string{"u:a", "a:!1", "a:!2", "u:=1", "u:=2"}, []string{"u:a", "a:!1 !2", "u:=1/out0 =2/out0"}},
		{"the assistant begins", []string{"a:hello", "u:hi"}, []string{"u:(earlier messages are left out)", "a:hello", "u:hi"}},
		{"only opaque blocks", []string{"u:hi", "a:~", "u:on"}, []string{"u:hi on"}},
		{"opaque blocks keep their place", []string{"u:hi", "a:~ x ~ !1", "u:=1"}, []string{"u:hi", "a:~ x ~ !1", "u:=1/out0"}},
		{"empty messages", []string{"u:", "u:hi", "a:", "u:on"}, []string{"u:hi on"}},
		{"nothing", nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			in := brief(c.in...)
			before := long(in)
			if d := cmp.Diff(long(Repair(in)), c.want); d != "" {
				t.Errorf("got -, want +:\n%s", d)
			}
			if d := cmp.Diff(long(in), before); d != "" {
				t.Errorf("the input was changed:\n%s", d)
			}
		})
	}
}

// sound says what of the promise of Repair a transcript breaks.
func sound(messages []Message) error {
	for i, m := range messages {
		want := User
		if i%2 == 1 {
			want = Assistant
		}
		if m.Role != want {
			return fmt.Errorf("message %d is of %s", i, m.Role)
		}
		if len(m.Blocks) == 0 {
			return fmt.Errorf("message %d is empty", i)
		}
		var calls []string
		seen := map[string]bool{}
		if i > 0 {
			for _, b := range messages[i-1].Blocks {
				if b.Call != nil {
					calls = append(calls, b.Call.ID)
				}
			}
		}
		for n, b := range m.Blocks {
			if b.Result != nil && (n >= len(calls) || b.Result.ID != calls[n]) {
				return fmt.Errorf("message %d: block %d is a result of %q", i, n, b.Result.ID)
			}
			if n < len(calls) && b.Result == nil {
				return fmt.Errorf("message %d: block %d is no result", i, n)
			}
			if b.Call != nil {
				if seen[b.Call.ID] || b.Call.ID == "" {
					return fmt.Errorf("message %d: id %q twice or empty", i, b.Call.ID)
				}
				seen[b.Call.ID] = true
			}
		}
		if i == len(messages)-1 && len(seen) > 0 {
			return fmt.Errorf("the last calls are not answered")
		}
		if len(m.Blocks) < len(calls) {
			return fmt.Errorf("message %d: %d blocks for %d calls", i, len(m.Blocks), len(calls))
		}
	}
	return nil
}

func FuzzRepair(f *testing.F) {
	f.Add([]byte("u=1 a!1!2 u=2=1 a!!"))
	f.Add([]byte("a~~!1u=1=1=2x"))
	f.Fuzz(func(t *testing.T, program []byte) {
		var in []Message
		for i, c := range program[:min(len(program), 200)] {
			id := string(rune('0' + i%3))
			switch c % 8 {
			case 0:
				in = append(in, Message{Role: User})
			case 1:
				in = append(in, Message{Role: Assistant})
			default:
				if len(in) == 0 {
					continue
				}
				m := &in[len(in)-1]
				b := Block{Text: "x"}
				switch {
				case c%8 == 2 && m.Role == Assistant:
					b = Block{Call: &Call{ID: id}}
				case c%8 == 3 && m.Role == Assistant:
					b = Block{Call: &Call{ID: []string{"", "0_2", "call_1"}[i%3]}}
				case c%8 == 4 && m.Role == Assistant:
					b = Block{Raw: &Raw{}}
				case c%8 < 5 && m.Role == User:
					b = Block{Result: &Result{ID: id}}
				case c%8 == 5:
					b = Block{}
				}
				m.Blocks = append(m.Blocks, b)
			}
		}
		once := Repair(in)
		if err := sound(once); err != nil {
			t.Fatalf("%v\nof   %v\nfrom %v", err, long(once), long(in))
		}
		if d := cmp.Diff(long(Repair(once)), long(once)); d != "" {
			t.Fatalf("a second repair changes something:\n%s", d)
		}
	})
}

func TestForget(t *testing.T) {
	t.Parallel()
	raw := Block{Raw: &Raw{Provider: "p", JSON: []byte(`{}`)}}
	in := []Message{
		{Role: User, Blocks: []Block{{Text: "a"}}}, {Role: Assistant, Blocks: []Block{raw, {Text: "b"}}},
		{Role: User, Blocks: []Block{{Text: "c"}}}, {Role: Assistant, Blocks: []Block{raw, {Text: "d"}}},
	}
	for n, want := range map[int]int{-1: 2, 0: 2, 1: 2, 2: 1, 3: 1, 4: 0, 9: 0} {
		got := 0
		for _, m := range Forget(in, n) {
			for _, b := range m.Blocks {
				if b.Raw != nil {
					got++
				}
			}
		}
		if got != want {
			t.Errorf("%d messages forgotten: %d opaque blocks are left, want %d", n, got, want)
		}
	}
	if len(in[1].Blocks) != 2 {
		t.Error("the input was changed")
	}
}

// A picture says something, also where no word stands beside it.
func TestRepairKeepsPictures(t *testing.T) {
	t.Parallel()
	got := Repair([]Message{{Role: User, Blocks: []Block{{Image: &tool.Image{MediaType: "image/png"}}}}})
	if len(got) != 1 || len(got[0].Blocks) != 1 || got[0].Blocks[0].Image == nil {
		t.Errorf("got %+v, want the picture", got)
	}
}

func TestSafeName(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"": "unknown", "read": "read", "functions.read:0": "functions_read_0", "ä b": "__b", "a_name_longer_than_it": "a_name_longer_th"} {
		if got := SafeName(in, 16); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}
