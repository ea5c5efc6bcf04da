package model

import "fmt"

// Unanswered is the result that Repair gives to a call that has none.
const Unanswered = "no result: the call was interrupted before it ended"

// Repair gives a transcript that every service accepts, whatever a crashed or
// interrupted run has left: roles alternate and begin with the user, each call
// has exactly one result, the results stand in call order and first in the
// user message after the call, and no call id occurs twice in one message.
// The input is not changed.
func Repair(messages []Message) []Message {
	merged := merge(messages)
	out := make([]Message, 0, len(merged)+2)
	for i := 0; i < len(merged); i++ {
		m := merged[i]
		if m.Role == User {
			out = append(out, withoutResults(m)) // results here answer nothing
			continue
		}
		written := m.Blocks
		m.Blocks = uniqueIDs(written)
		out = append(out, m)
		if !hasCall(m) {
			continue
		}
		var next Message
		if i+1 < len(merged) {
			i++
			next = merged[i]
		}
		out = append(out, answered(written, m.Blocks, next))
	}
	out = merge(out)
	if len(out) > 0 && out[0].Role == Assistant {
		out = append([]Message{{Role: User, Blocks: []Block{{Text: "(earlier messages are left out)"}}}}, out...)
	}
	return out
}

// merge joins neighbours of one role and drops what says nothing: empty
// blocks, and an assistant message that is nothing but opaque blocks.
func merge(messages []Message) []Message {
	var out []Message
	for _, m := range messages {
		var blocks []Block
		says := false
		for _, b := range m.Blocks {
			if b.Text == "" && b.Call == nil && b.Result == nil && b.Raw == nil && b.Image == nil {
				continue
			}
			blocks = append(blocks, b)
			says = says || b.Raw == nil
		}
		if !says {
			continue
		}
		if n := len(out); n > 0 && out[n-1].Role == m.Role {
			joined := append([]Block(nil), out[n-1].Blocks...)
			out[n-1].Blocks = append(joined, blocks...)
			continue
		}
		out = append(out, Message{Role: m.Role, Blocks: blocks})
	}
	return out
}

func hasCall(m Message) bool {
	for _, b := range m.Blocks {
		if b.Call != nil {
			return true
		}
	}
	return false
}

func withoutResults(m Message) Message {
	var blocks []Block
	for _, b := range m.Blocks {
		if b.Result == nil {
			blocks = append(blocks, b)
		}
	}
	return Message{Role: m.Role, Blocks: blocks}
}

// uniqueIDs renames a second call of one id and a call without one.
func uniqueIDs(blocks []Block) []Block {
	seen := map[string]int{}
	var out []Block
	for _, b := range blocks {
		if b.Call != nil {
			id := b.Call.ID
			seen[id]++
			if id == "" || seen[id] > 1 {
				c := *b.Call
				c.ID = fresh(id, seen)
				seen[c.ID]++
				b.Call = &c
			}
		}
		out = append(out, b)
	}
	return out
}

func fresh(id string, seen map[string]int) string {
	if id == "" {
		id = "call"
	}
	for n := max(seen[id], 1); ; n++ {
		if c := fmt.Sprintf("%s_%d", id, n); seen[c] == 0 {
			return c
		}
	}
}

// answered is the user message after an assistant message: one result for each
// call in call order, then the rest of next. written has the ids as the model
// gave them, calls the unique ones: the nth call of an id gets its nth result.
func answered(written, calls []Block, next Message) Message {
	byID := map[string][]*Result{}
	for _, b := range next.Blocks {
		if b.Result != nil {
			byID[b.Result.ID] = append(byID[b.Result.ID], b.Result)
		}
	}
	out := Message{Role: User}
	for i, b := range calls {
		if b.Call == nil {
			continue
		}
		r := Result{Tool: b.Call.Tool, Output: Unanswered, IsError: true}
		if have := byID[written[i].Call.ID]; len(have) > 0 {
			r = *have[0]
			byID[written[i].Call.ID] = have[1:]
		}
		r.ID = b.Call.ID
		out.Blocks = append(out.Blocks, Block{Result: &r})
	}
	out.Blocks = append(out.Blocks, withoutResults(next).Blocks...)
	return out
}

// Forget gives the messages without the opaque blocks of the first n: a
// service that no longer takes them back, since they are bound to a
// conversation that was changed, takes the rest. The input is not changed.
func Forget(messages []Message, n int) []Message {
	if n <= 0 {
		return messages
	}
	out := append([]Message(nil), messages...)
	for i := range out[:min(n, len(out))] {
		var blocks []Block
		for _, b := range out[i].Blocks {
			if b.Raw == nil {
				blocks = append(blocks, b)
			}
		}
		out[i].Blocks = blocks
	}
	return out
}
