package wire

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Extras are the fields of a request that not every service of a protocol
// takes: what is sent for speed, cost or comfort and can be left out. A service
// that refuses one is asked once more without it, and never sent it again. The
// zero value leaves nothing out; several goroutines may use it.
type Extras struct {
	// Told says what is left out from now on; nil: nobody is told.
	Told func(text string)

	mu     sync.Mutex
	gone   map[string]bool
	effort map[string]string // an effort that was refused → the one sent for it
}

// Takes says whether field may be sent.
func (x *Extras) Takes(field string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return !x.gone[field]
}

// Effort is the word that stands for the asked one, "" for none.
func (x *Extras) Effort(asked string) string {
	x.mu.Lock()
	defer x.mu.Unlock()
	for {
		lower, refused := x.effort[asked]
		if !refused {
			return asked
		}
		asked = lower
	}
}

// below is the next effort to try where one is refused. Each generation of
// models has had its own ends of the scale; the middle is common to all.
var below = map[string]string{"max": "xhigh", "xhigh": "high", "minimal": "low"}

// Extra is an optional field of one request.
type Extra struct {
	Field  string
	Signs  []string // further words that mean the field in an error
	Effort string   // the word it holds, where it is the effort
}

// Learn reads the refusal of a request and gives true where it names one of
// the extras that were sent: then the request may be made again without it.
func (x *Extras) Learn(err error, sent []Extra) bool {
	var s *StatusError
	if !errors.As(err, &s) || s.Status != 400 && s.Status != 422 {
		return false
	}
	body := strings.ToLower(string(s.Body))
	for _, e := range sent {
		if !names(body, e.Field) && !slices.ContainsFunc(e.Signs, func(w string) bool { return strings.Contains(body, w) }) {
			continue
		}
		x.leave(e)
		return true
	}
	return false
}

// names says whether an error is about field. Where the field is an English
// word too ("include"), it has to stand in quotes or behind a colon.
func names(body, field string) bool {
	plain := !strings.ContainsAny(field, "_. ")
	for at := 0; ; {
		i := strings.Index(body[at:], field)
		if i < 0 {
			return false
		}
		before, after := body[:at+i], body[at+i+len(field):]
		at += i + len(field)
		if after != "" && (after[0] == '_' || after[0] >= 'a' && after[0] <= 'z') {
			continue // a longer name
		}
		if !plain || strings.HasSuffix(before, ": ") || before != "" && strings.ContainsRune("'\"`", rune(before[len(before)-1])) {
			return true
		}
	}
}

func (x *Extras) leave(e Extra) {
	x.mu.Lock()
	text := ""
	if lower := below[e.Effort]; lower != "" {
		if x.effort == nil {
			x.effort = map[string]string{}
		}
		x.effort[e.Effort] = lower
		text = fmt.Sprintf("does not take the effort %s: %s is sent", e.Effort, lower)
	} else {
		if x.gone == nil {
			x.gone = map[string]bool{}
		}
		x.gone[e.Field] = true
		if e.Effort != "" {
			text = fmt.Sprintf("does not take an effort (%s): none is sent", e.Effort)
		}
	}
	x.mu.Unlock()
	if text != "" && x.Told != nil {
		x.Told(text)
	}
}
