package anthropic

import (
	"encoding/json"
	"strconv"
	"strings"

	"larva.dev/larva/internal/model"
	"larva.dev/larva/internal/model/wire"
)

// What is sent as max_tokens where nobody says: the protocol needs a number.
// Every model since Claude 3.5 takes the first, every one since Claude 4 the
// second, and those that think by themselves, whose thoughts count, the third.
const (
	answerTokens   = 8 << 10
	answerTokens4  = 16 << 10
	thinkingTokens = 32 << 10
)

// minBudget is the least that the protocol takes for thinking.
const minBudget = 1024

// budgets in tokens for models that think on a budget. With the answer's room
// the largest fits what those models can say at once (64,000).
var budgets = map[string]int{"minimal": minBudget, "low": 4 << 10, "medium": 10 << 10, "high": 20 << 10, "xhigh": 32 << 10, "max": 40 << 10}

// generation of a Claude model by its name, 0 for a name that says none:
// claude-opus-4-5-20251101 is 4 and 5, claude-3-7-sonnet 3 and 7.
func generation(name string) (major, minor int) {
	_, rest, ok := strings.Cut(name, "claude")
	if !ok {
		return 0, 0
	}
	var n []int
	for _, word := range strings.FieldsFunc(rest, func(r rune) bool { return r == '-' || r == '.' || r == '@' || r == ':' }) {
		v, err := strconv.Atoi(word)
		if err != nil || len(word) > 2 { // eight digits are a date
			if len(n) > 0 {
				break
			}
			continue
		}
		n = append(n, v)
	}
	switch len(n) {
	case 0:
		return 0, 0
	case 1:
		return n[0], 0
	}
	return n[0], n[1]
}

func atLeast(name string, major, minor int) bool {
	a, b := generation(name)
	return a > major || a == major && b >= minor
}

// think says how hard to think and how long the answer may be. Models since
// 4.6 decide by themselves and take the effort as a word; earlier ones and
// those of other services think on a budget. What model_params say themselves
// is theirs, and stays.
func (e *encoded) think(o Options, x *wire.Extras, req model.Request, list []message, own map[string]any) {
	room := answerTokens
	if atLeast(req.Model, 4, 0) {
		room = answerTokens4
	}
	if req.MaxTokens > 0 {
		room = req.MaxTokens
	}
	said, asked := paramInt(req.Params, "max_tokens"), x.Effort(o.Effort)
	switch budget := ownBudget(req.Params); {
	case budget > 0:
		room += budget
		e.interleaved = true
	case model.HasParam(req.Params, "thinking"):
	case atLeast(req.Model, 4, 6):
		if e.adaptive(x, req, asked, own) {
			room = max(room, thinkingTokens)
		}
	case asked != "" && x.Takes("thinking"):
		budget := budgets[asked]
		if !atLeast(req.Model, 4, 5) && strings.Contains(req.Model, "opus") {
			budget = min(budget, budgets["high"]) // they say no more than 32,000 at once
		}
		if said > 0 {
			budget = min(budget, said/2)
		}
		if e.clash = unthinking(req.Params); e.clash != "" || budget < minBudget || !begunThinking(list) {
			break
		}
		own["thinking"] = map[string]any{"type": "enabled", "budget_tokens": budget}
		e.extra = append(e.extra, wire.Extra{Field: "thinking", Signs: []string{"thinking"}, Effort: asked})
		e.interleaved = true
		room += budget
	}
	own["max_tokens"] = room
}

// adaptive asks for readable thoughts of a model that thinks by itself, and
// gives the effort. Models before 5 think only when they are asked to.
func (e *encoded) adaptive(x *wire.Extras, req model.Request, effort string, own map[string]any) bool {
	if effort != "" && !model.HasParam(req.Params, "output_config") && x.Takes("output_config") {
		word := effort
		if word == "minimal" {
			word = "low" // the scale begins there
		}
		own["output_config"] = map[string]string{"effort": word}
		e.extra = append(e.extra, wire.Extra{Field: "output_config", Signs: []string{"effort"}, Effort: effort})
	}
	if effort == "" && !atLeast(req.Model, 5, 0) || !x.Takes("thinking") {
		return false
	}
	how := map[string]string{"type": "adaptive"}
	if atLeast(req.Model, 4, 7) {
		how["display"] = "summarized" // else thoughts, and words between calls, come empty
	}
	own["thinking"] = how
	e.extra = append(e.extra, wire.Extra{Field: "thinking", Signs: []string{"thinking"}})
	return true
}

// begunThinking says whether thinking may be on: within a chain of calls only
// where the chain began with a thought, which an answer of another model did
// not, nor one before a change of the effort.
func begunThinking(list []message) bool {
	first := -1
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].Role == string(model.Assistant) {
			first = i
			continue
		}
		if b, ok := list[i].Content[0].(*block); !ok || b.Type != "tool_result" {
			break
		}
	}
	if first < 0 {
		return true
	}
	data, ok := list[first].Content[0].(json.RawMessage)
	if !ok {
		return false
	}
	var kind struct {
		Type string `json:"type"`
	}
	return json.Unmarshal(data, &kind) == nil && strings.HasSuffix(kind.Type, "thinking")
}

// ownBudget is a thinking budget that model_params name, 0 for none.
func ownBudget(params []model.Param) int {
	for _, p := range params {
		if p.Key != "thinking" {
			continue
		}
		var t struct {
			Budget int `json:"budget_tokens"`
		}
		if json.Unmarshal(p.Value, &t) == nil && t.Budget > 0 && t.Budget < 1<<30 {
			return t.Budget
		}
	}
	return 0
}

// unthinking is a param that the protocol refuses beside a thinking budget.
func unthinking(params []model.Param) string {
	for _, p := range params {
		if p.Key == "temperature" && strings.Trim(string(p.Value), "0.") != "1" || p.Key == "top_k" || p.Key == "top_p" {
			return p.Key
		}
	}
	return ""
}

func paramInt(params []model.Param, key string) int {
	for _, p := range params {
		if p.Key == key {
			n, _ := strconv.Atoi(string(p.Value))
			return n
		}
	}
	return 0
}
