// Package mcpclient keeps the connections to MCP servers of a run: programs on
// this machine and addresses. It knows nothing of the agent: who uses it turns
// what a server offers into tools, and asks before it calls one.
//
// Ownership: Start begins a goroutine a server, Close ends all of them and
// waits. A server's program ends with its group.
package mcpclient

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"

	"larva.dev/larva/internal/proc"
)

// The bounds where Options say nothing.
const (
	connectTime = 30 * time.Second
	callTime    = 10 * time.Minute
	closeTime   = 1500 * time.Millisecond // for a program, from the end of its input to a signal
	maxMessage  = 16 << 20                // bytes of one message
)

// Config is one server, its variables filled in.
type Config struct {
	Name string
	Type string // stdio, http, sse
	// Of stdio. Env is the whole environment; Log is the file that its stderr
	// goes to, "" for nowhere.
	Command string
	Args    []string
	Env     []string
	Dir     string
	Log     string
	// Of http and sse.
	URL     string
	Headers map[string]string
	OAuth   auth.OAuthHandler // of http; nil: none
	HTTP    http.RoundTripper // of sse what signs in; nil: the default
	// Enabled are the only tools to take, all if empty; Disabled are left out of
	// them.
	Enabled, Disabled []string
	// Roots are the directories, absolute, that the server is told of when it asks;
	// none: it is told that there is no such thing. Sampling lets it ask Options.Sample.
	Roots    []string
	Sampling bool
	// Fault is why it cannot be connected; then nothing is tried.
	Fault error
}

// Options are the same for all servers of a run.
type Options struct {
	Version string // of larva
	Connect time.Duration
	Call    time.Duration
	Keeper  *proc.Keeper // ends the programs where this process is killed
	// Elicit puts a server's question to the person; nil: it is declined.
	Elicit func(ctx context.Context, server, message string, fields json.RawMessage) (content map[string]any, accept bool)
	// Sample answers a question of a server's with Sampling; nil: none may ask.
	Sample func(ctx context.Context, server string, q Sample) (Sampled, error)
	// Tell takes what a person should know: progress of a call, a lost connection.
	Tell func(server, code, text string)
	// NeedsLogin says that an error means that the person has to sign in.
	NeedsLogin func(error) bool
}

// State of a server.
type State string

// The states.
const (
	Starting  State = "starting"
	Connected State = "connected"
	Failed    State = "failed"
	NeedsAuth State = "needs-auth"
	Closed    State = "closed"
)

// Tool is one of a server's, as it names it.
type Tool struct {
	Name        string
	Title       string
	Description string
	Schema      json.RawMessage // an object's, cleaned
	ReadOnly    bool            // readOnlyHint true and openWorldHint false
	Destructive bool            // destructiveHint true, said
}

// Argument of a prompt.
type Argument struct {
	Name     string
	Required bool
}

// Prompt is a server's.
type Prompt struct {
	Name, Description string
	Arguments         []Argument
}

// Resource is something to read.
type Resource struct{ URI, Name, Description, MediaType string }

// Status is what is known of a server.
type Status struct {
	Name  string
	State State
	Err   error // of failed and needs-auth
	Tools []Tool
	// Notices are tools that were left out and why, schemas that were mended.
	Notices      []string
	Prompts      []Prompt
	Resources    bool // it has resources
	Instructions string
	Took         time.Duration // until it was connected
}

// Manager is the connections of a run.
type Manager struct {
	o       Options
	servers []*server
	stop    context.CancelFunc
	running sync.WaitGroup
}

// New makes one for the servers, by name. Nothing is started.
func New(configs []Config, o Options) *Manager {
	if o.Connect <= 0 {
		o.Connect = connectTime
	}
	if o.Call <= 0 {
		o.Call = callTime
	}
	if o.Tell == nil {
		o.Tell = func(string, string, string) {}
	}
	m := &Manager{o: o}
	configs = slices.Clone(configs)
	slices.SortFunc(configs, func(a, b Config) int { return strings.Compare(a.Name, b.Name) })
	for _, c := range configs {
		m.servers = append(m.servers, &server{m: m, c: c, ready: make(chan struct{}), status: Status{Name: c.Name, State: Starting}})
	}
	return m
}

// Start connects to all servers at once, in the background, until Close.
func (m *Manager) Start(ctx context.Context) {
	ctx, m.stop = context.WithCancel(context.WithoutCancel(ctx))
	for _, s := range m.servers {
		m.running.Go(func() { s.first(ctx) })
	}
}

// Wait waits until each server is connected or has failed, at most so long.
func (m *Manager) Wait(ctx context.Context, bound time.Duration) []Status {
	t := time.NewTimer(bound)
	defer t.Stop()
	for _, s := range m.servers {
		select {
		case <-s.ready:
			continue
		case <-t.C:
		case <-ctx.Done():
		}
		break
	}
	return m.Status()
}

// Status is what is known of all servers now, by name.
func (m *Manager) Status() []Status {
	out := make([]Status, len(m.servers))
	for i, s := range m.servers {
		out[i] = s.now()
	}
	return out
}

// Names of all servers.
func (m *Manager) Names() []string {
	out := make([]string, len(m.servers))
	for i, s := range m.servers {
		out[i] = s.c.Name
	}
	return out
}

// find gives a server by its name, nil where there is none.
func (m *Manager) find(name string) *server {
	for _, s := range m.servers {
		if s.c.Name == name {
			return s
		}
	}
	return nil
}

// Refresh reads anew what servers have said to have changed since it was read:
// for a fresh context, since a model is not to see its tools change in the
// middle of its work. It says whether anything was read.
func (m *Manager) Refresh(ctx context.Context) bool {
	read := false
	for _, s := range m.servers {
		read = s.refresh(ctx) || read
	}
	return read
}

// Refuse lets go of a server for good: nothing of it is used.
func (m *Manager) Refuse(name string, why error) {
	s := m.find(name)
	if s == nil {
		return
	}
	s.close()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status = Status{Name: name, State: Failed, Err: why}
}

// Close ends all connections and programs, and waits.
func (m *Manager) Close() {
	if m == nil || m.stop == nil {
		return
	}
	m.stop()
	m.running.Wait()
	var all sync.WaitGroup
	for _, s := range m.servers {
		all.Go(s.close)
	}
	all.Wait()
}
