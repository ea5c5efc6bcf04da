package script

import (
	"fmt"
	"strings"

	"larva.dev/larva/internal/model"
)

const codeNoMatch = "SCRIPT_NO_MATCH"

// moment is what a turn's conditions and templates see of a request.
type moment struct {
	number int
	user   string         // the last user text
	batch  []model.Result // the results of the last batch
	// fresh says that the request answers that batch: conditions on a result
	// hold only then, so that a later prompt is not taken for one.
	fresh bool
}

func look(req model.Request) moment {
	at := moment{number: req.Number}
	messages := model.Repair(req.Messages)
	for i := len(messages) - 1; i >= 0; i-- {
		if messages[i].Role != model.User {
			continue
		}
		var said []string
		var batch []model.Result
		for _, b := range messages[i].Blocks {
			if b.Result != nil {
				batch = append(batch, *b.Result)
			} else if b.Text != "" {
				said = append(said, b.Text)
			}
		}
		if at.user == "" {
			at.user = strings.Join(said, "\n\n")
		}
		if at.batch == nil && batch != nil {
			at.batch, at.fresh = batch, i == len(messages)-1
		}
	}
	return at
}

// last is the result that conditions look at.
func (at moment) last() (r model.Result, ok bool) {
	if !at.fresh {
		return r, false
	}
	return at.batch[len(at.batch)-1], true
}

// fails says which conditions do not hold, "" for none.
func (t turn) fails(at moment) string {
	var why []string
	if t.number != 0 && t.number != at.number {
		why = append(why, fmt.Sprintf("turn is not %d", t.number))
	}
	if t.user != nil && !t.user.MatchString(at.user) {
		why = append(why, fmt.Sprintf("user does not match %q", t.user))
	}
	last, ok := at.last()
	if !ok && (t.tool != nil || t.result != nil) {
		why = append(why, "no tool result")
	}
	if ok && t.tool != nil && !t.tool.MatchString(last.Tool) {
		why = append(why, fmt.Sprintf("tool does not match %q", t.tool))
	}
	if ok && t.result != nil && !t.result.MatchString(last.Output) {
		why = append(why, fmt.Sprintf("result does not match %q", t.result))
	}
	return strings.Join(why, " and ")
}

const (
	headRunes  = 120 // of a text quoted in an error
	maxReasons = 20  // turns named in an error
)

// noMatch names the request and why each unused turn did not answer it. Texts
// are quoted: they come from outside.
func noMatch(name string, at moment, reasons []string) *model.Error {
	var b strings.Builder
	fmt.Fprintf(&b, "no turn of the script answers request %d: the last user text is %s", at.number, head(at.user))
	if last, ok := at.last(); ok {
		fmt.Fprintf(&b, ", the last result is of %s: %s", head(last.Tool), head(last.Output))
	} else {
		b.WriteString(", and it answers no tool result")
	}
	switch {
	case len(reasons) == 0:
		b.WriteString("; every turn is used up")
	case len(reasons) > maxReasons:
		more := len(reasons) - maxReasons
		fmt.Fprintf(&b, "; %s; and %d more unused turns", strings.Join(reasons[:maxReasons], "; "), more)
	default:
		b.WriteString("; " + strings.Join(reasons, "; "))
	}
	return &model.Error{Model: name, Code: codeNoMatch, Message: b.String()}
}

func head(s string) string {
	if r := []rune(s); len(r) > headRunes {
		return fmt.Sprintf("%q…", string(r[:headRunes]))
	}
	return fmt.Sprintf("%q", s)
}
