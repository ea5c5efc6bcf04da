package modeltest

import (
	"net/http"
	"testing"
	"time"

	"larva.dev/larva/internal/model"
)

// Protocol is one adapter and the streams of its protocol. The functions give
// whole server-sent event streams.
type Protocol struct {
	New  func(o Options) model.Model
	Path string // that a request goes to, below the base URL's root
	Base string // behind the server's address, "/v1" or ""
	Auth func(h http.Header) []string

	Text func(stop string, pieces ...string) string // stop: end, length, refusal
	// Think is reasoning, then a text.
	Think func(thought, text string) string
	// Calls is a batch, its arguments in pieces of four bytes, interleaved
	// where the protocol can.
	Calls func(stop string, calls ...Call) string
	// Failure is an event that reports an overloaded service, after a text
	// where it is not "".
	Failure func(text string) string
	// Transcript is the body's field that holds the conversation; "": messages.
	Transcript string
	// Optional names fields that a service may refuse, "" stands for none; each
	// is in a request with an effort and a cache key.
	Optional []string
	// Ending is how many events make up the end without which an answer is cut.
	Ending int
	// Overflow is the body of a 400 for a prompt that is too long.
	Overflow string
	// Usage that Text reports.
	Input, Output, CacheRead int
}

// Call of a canned stream.
type Call struct{ ID, Tool, Args string }

// Options for an adapter under test. Provider and Model are filled in: "peer"
// and "m-1" where a test does not say.
type Options struct {
	BaseURL, Key    string
	Provider, Model string
	Effort          string
	Stall           time.Duration
}

func (p Protocol) open(o Options) model.Model {
	if o.Provider == "" {
		o.Provider = "peer"
	}
	if o.Model == "" {
		o.Model = "m-1"
	}
	return p.New(o)
}

// Key of the suite: it may never be in an error.
const Key = "sk-suite/+secret key"

// Run is the suite that every adapter passes.
func Run(t *testing.T, p Protocol) {
	t.Run("answers", func(t *testing.T) { t.Parallel(); answers(t, p) })
	t.Run("requests", func(t *testing.T) { t.Parallel(); requests(t, p) })
	t.Run("transcripts", func(t *testing.T) { t.Parallel(); transcripts(t, p) })
	t.Run("options", func(t *testing.T) { t.Parallel(); options(t, p) })
	t.Run("faults", func(t *testing.T) { t.Parallel(); faults(t, p) })
	t.Run("retries", func(t *testing.T) { t.Parallel(); retries(t, p) })
	t.Run("garbage", func(t *testing.T) { t.Parallel(); garbage(t, p) })
}
