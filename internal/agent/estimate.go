package agent

import "larva.dev/larva/internal/model"

// What a token is taken for where no service has counted: characters are
// bytes here, which comes near the truth for other scripts too.
const (
	charsPerToken = 4
	imageTokens   = 1600
)

// prefix is what every request begins with, in tokens: system and tools.
func (r *run) prefix() int {
	n := len(r.system)
	for _, s := range r.Tools.Specs() {
		n += len(s.Name) + len(s.Description) + len(s.Schema)
	}
	return n / charsPerToken
}

// estimate is the size of messages in tokens.
func estimate(messages []model.Message) int {
	chars, images := 0, 0
	for _, m := range messages {
		for _, b := range m.Blocks {
			chars += len(b.Text)
			if c := b.Call; c != nil {
				chars += len(c.Tool) + len(c.Input) + len(c.Broken) + len(c.Extra)
			}
			if r := b.Result; r != nil {
				chars += len(r.Output)
				images += len(r.Images)
			}
			if b.Image != nil {
				images++
			}
			if b.Raw != nil {
				chars += len(b.Raw.JSON)
			}
		}
	}
	return chars/charsPerToken + images*imageTokens
}
