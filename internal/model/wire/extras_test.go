package wire

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestExtras(t *testing.T) {
	t.Parallel()
	refused := func(status int, body string) error {
		return fmt.Errorf("ask: %w", &StatusError{Status: status, Body: []byte(body)})
	}
	sent := []Extra{{Field: "stream_options"}, {Field: "include", Signs: []string{"encrypted content"}}}
	for _, c := range []struct {
		name string
		err  error
		gone string
	}{
		{"named in quotes", refused(400, `{"error":{"message":"Unrecognized request argument supplied: stream_options"}}`), "stream_options"},
		{"named by its parameter", refused(422, `{"detail":[{"loc":["body","stream_options"],"msg":"extra fields not permitted"}]}`), "stream_options"},
		{"named by a sign", refused(400, `{"error":{"message":"Encrypted content is not supported with this model."}}`), "include"},
		{"a word of the sentence", refused(400, `{"error":{"message":"Messages must include a user turn, and including more is fine."}}`), ""},
		{"a longer name", refused(400, `{"error":{"message":"Unknown parameter: 'include_all'"}}`), ""},
		{"in quotes", refused(400, `{"error":{"message":"Unknown parameter: 'include'."}}`), "include"},
		{"in escaped quotes", refused(400, `{"error":{"message":"\"include\" is not allowed"}}`), "include"},
		{"as the error's parameter", refused(400, `{"error":{"message":"no","param":"include"}}`), "include"},
		{"something else", refused(400, `{"error":{"message":"temperature"}}`), ""},
		{"another status", refused(500, `stream_options`), ""},
		{"no answer at all", fmt.Errorf("stream_options"), ""},
	} {
		x := &Extras{}
		if got := x.Learn(c.err, sent); got != (c.gone != "") {
			t.Errorf("%s: learned %v, want %v", c.name, got, c.gone != "")
		}
		for _, e := range sent {
			if got := x.Takes(e.Field); got != (e.Field != c.gone) {
				t.Errorf("%s: takes %s: %v", c.name, e.Field, got)
			}
		}
		if x.Learn(c.err, nil) {
			t.Errorf("%s: learned of what was not sent", c.name)
		}
	}
}

func TestEffortIsLowered(t *testing.T) {
	t.Parallel()
	var told []string
	x := &Extras{Told: func(s string) { told = append(told, s) }}
	err := &StatusError{Status: 400, Body: []byte(`Unsupported value: 'reasoning_effort'`)}
	var tried []string
	for x.Takes("reasoning_effort") {
		word := x.Effort("max")
		tried = append(tried, word)
		if !x.Learn(err, []Extra{{Field: "reasoning_effort", Effort: word}}) {
			t.Fatal("not learned")
		}
	}
	if d := cmp.Diff(tried, []string{"max", "xhigh", "high"}); d != "" {
		t.Errorf("tried (got -, want +):\n%s", d)
	}
	if d := cmp.Diff(told, []string{"does not take the effort max: xhigh is sent", "does not take the effort xhigh: high is sent",
		"does not take an effort (high): none is sent"}); d != "" {
		t.Errorf("told (got -, want +):\n%s", d)
	}
}
