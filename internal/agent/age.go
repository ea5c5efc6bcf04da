package agent

import (
	"fmt"
	"slices"
	"strings"

	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/model"
)

// Old results give way in steps: only above ageAt tenths of the window, only
// where that wins a tenth of it, and then all that are old at once. Between
// two steps every request begins with the bytes of the one before, so that a
// prompt cache stays warm.
const (
	ageAt    = 6    // tenths of the window
	ageKeeps = 2    // tenths of the window: what stands last in the conversation stays
	ageSize  = 2000 // bytes: a shorter result is worth more than what it costs
)

// age replaces old, large results by a line that says how to read them again.
func (r *run) age(window int) {
	old := r.oldMessages(window * ageKeeps / 10)
	won := 0
	for _, m := range r.messages[:old] {
		for _, b := range m.Blocks {
			if ages(b.Result) {
				won += estimate([]model.Message{{Blocks: []model.Block{b}}})
			}
		}
	}
	if won*10 < window {
		return
	}
	var said event.Aged
	for i, m := range r.messages[:old] {
		blocks := slices.Clone(m.Blocks)
		for k, b := range blocks {
			if !ages(b.Result) {
				continue
			}
			aged := *b.Result
			aged.Output, aged.Images = r.stub(b.Result), nil
			blocks[k].Result = &aged
			said.Results = append(said.Results, event.AgedResult{ID: aged.ID, Output: aged.Output})
		}
		r.messages[i].Blocks = blocks
	}
	r.context.measured = max(0, r.context.measured-won)
	// A session that goes on begins with the bytes that this run has sent.
	r.emit(said)
	r.emit(event.Notice{Code: "aged", Text: fmt.Sprintf("%d old results were left out of the conversation to make room, about %d tokens", len(said.Results), won)})
}

// oldMessages counts the messages before the last ones, which have so many
// tokens together.
func (r *run) oldMessages(keep int) int {
	n := len(r.messages)
	for have := 0; n > 0 && have < keep; n-- {
		have += estimate(r.messages[n-1 : n])
	}
	return n
}

func ages(res *model.Result) bool {
	return res != nil && (len(res.Output) > ageSize || len(res.Images) > 0)
}

// stub is the line in an old result's place. What was cut when it was new is
// kept already; the rest is kept now.
func (r *run) stub(res *model.Result) string {
	again := "call the tool again where it is needed"
	if strings.Contains(res.Output, rawMark(res.ID)) || r.keepRaw(res.ID, []byte(res.Output)) {
		again = "read it again with " + rawMark(res.ID)
	}
	what := fmt.Sprintf("%d bytes", len(res.Output))
	if n := len(res.Images); n > 0 {
		what += fmt.Sprintf(" and %d images", n)
	}
	return fmt.Sprintf("[old result left out to save room: %s; %s]", what, again)
}

func rawMark(id string) string { return fmt.Sprintf("%s with tool_call_id %q", rawTool, id) }

// shrinkLevels are the tries at a conversation that is too long even to be
// summarised: whole, with short results, the second half of that, the last
// quarter.
const shrinkLevels = 4

const shortResult = 1000 // bytes of a result from level 1 on

// shrink gives less and less of the conversation; messages stay as they are.
func shrink(messages []model.Message, level int) []model.Message {
	if level == 0 {
		return messages
	}
	n := len(messages)
	if level > 1 {
		messages = messages[n-max(1, n>>(level-1)):]
	}
	out := make([]model.Message, 0, len(messages))
	for _, m := range messages {
		blocks := slices.Clone(m.Blocks)
		for i, b := range blocks {
			switch {
			case b.Result != nil:
				short := *b.Result
				short.Output, short.Images = capOutput(short.Output, shortResult, ""), nil
				blocks[i].Result = &short
			case b.Image != nil:
				blocks[i] = model.Block{Text: "[an image]"}
			case level > 1:
				blocks[i].Text = capOutput(b.Text, maxRequest, "")
			}
		}
		out = append(out, model.Message{Role: m.Role, Blocks: blocks})
	}
	return out
}
