package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// oldest is what stdio servers are spoken to in: one that does not know a
	// newer greeting may not answer it at all.
	spoken = "2025-11-25"
	// settles is how long a server's lists have to stay the same after connecting:
	// some offer their tools a moment late.
	settles   = 120 * time.Millisecond
	settleMax = 1200 * time.Millisecond
	maxTools  = 2000 // of one server
	reopenMax = 3    // attempts to connect again
	reopen    = 500 * time.Millisecond
)

// server is one connection.
type server struct {
	m     *Manager
	c     Config
	ready chan struct{} // closed once it is connected or has failed

	mu      sync.Mutex // guards what follows
	status  Status
	session *mcp.ClientSession
	program *program
	lists   int // how often the server has said that a list changed
	known   int // lists when they were read last
	one     sync.Mutex
	shut    bool
}

func (s *server) now() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.status
}

// first is the connecting in the background.
func (s *server) first(ctx context.Context) {
	defer close(s.ready)
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, s.m.o.Connect)
	defer cancel()
	err := s.connect(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status.Took = time.Since(began)
	if err != nil {
		s.failLocked(err)
	}
}

func (s *server) failLocked(err error) {
	s.status.State, s.status.Err = Failed, err
	if s.m.o.NeedsLogin != nil && s.m.o.NeedsLogin(err) {
		s.status.State = NeedsAuth
	}
}

// connect opens a connection and reads what the server offers. One at a time.
func (s *server) connect(ctx context.Context) error {
	if s.c.Fault != nil {
		return s.c.Fault
	}
	o := &mcp.ClientOptions{
		Capabilities:                &mcp.ClientCapabilities{}, // no roots, no sampling: see lend
		ElicitationHandler:          s.elicit,
		ToolListChangedHandler:      func(context.Context, *mcp.ToolListChangedRequest) { s.changed() },
		PromptListChangedHandler:    func(context.Context, *mcp.PromptListChangedRequest) { s.changed() },
		ResourceListChangedHandler:  func(context.Context, *mcp.ResourceListChangedRequest) {},
		ProgressNotificationHandler: s.progress,
	}
	s.lend(o)
	client := mcp.NewClient(&mcp.Implementation{Name: "larva", Version: s.m.o.Version}, o)
	s.lendRoots(client)
	transport, options, p := s.transport()
	session, err := client.Connect(ctx, transport, options)
	if err != nil {
		if p != nil {
			if why := p.why(); why != nil {
				err = why
			}
			p.close()
		}
		return plain(err, s.c)
	}
	s.mu.Lock()
	if s.shut {
		s.mu.Unlock()
		closeSession(session, p)
		return errEnded
	}
	s.session, s.program = session, p
	s.mu.Unlock()
	if err := s.settle(ctx, session); err != nil {
		s.drop(session)
		return plain(err, s.c)
	}
	return nil
}

func (s *server) transport() (mcp.Transport, *mcp.ClientSessionOptions, *program) {
	switch s.c.Type {
	case "http":
		return &mcp.StreamableClientTransport{Endpoint: s.c.URL, HTTPClient: s.client(), OAuthHandler: s.c.OAuth, MaxEventSize: maxMessage}, nil, nil
	case "sse":
		return &stream{mcp.SSEClientTransport{Endpoint: s.c.URL, HTTPClient: s.client(), MaxEventSize: maxMessage}}, &mcp.ClientSessionOptions{ProtocolVersion: spoken}, nil
	}
	p := &program{c: s.c, keeper: s.m.o.Keeper}
	return p, &mcp.ClientSessionOptions{ProtocolVersion: spoken}, p
}

func (s *server) client() *http.Client {
	rt := s.c.HTTP
	if rt == nil {
		rt = http.DefaultTransport
	}
	if len(s.c.Headers) > 0 {
		rt = headers{rt, s.c.Headers}
	}
	return &http.Client{Transport: rt}
}

// headers puts the configured ones on each request to the server's own host.
type headers struct {
	next http.RoundTripper
	set  map[string]string
}

func (h headers) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for k, v := range h.set {
		r.Header.Set(k, v)
	}
	return h.next.RoundTrip(r)
}

// settle reads the lists until the server stops to change them.
func (s *server) settle(ctx context.Context, session *mcp.ClientSession) error {
	late := time.Now().Add(settleMax)
	for {
		seen := s.changes()
		if err := s.read(ctx, session); err != nil {
			return err
		}
		t := time.NewTimer(settles)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return context.Cause(ctx)
		}
		if s.changes() == seen || time.Now().After(late) {
			s.mu.Lock()
			s.known = seen
			s.mu.Unlock()
			return nil
		}
	}
}

// refresh reads the lists again where they have changed. One that cannot be
// read stays as it was known.
func (s *server) refresh(ctx context.Context) bool {
	s.one.Lock()
	defer s.one.Unlock()
	s.mu.Lock()
	session, due := s.session, s.lists != s.known && s.status.State == Connected
	s.mu.Unlock()
	if !due || session == nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, s.m.o.Connect)
	defer cancel()
	if err := s.settle(ctx, session); err != nil {
		s.m.o.Tell(s.c.Name, "lists", "what MCP server "+s.c.Name+" has could not be read anew: "+err.Error())
		return false
	}
	return true
}

func (s *server) changed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lists++
}

func (s *server) changes() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lists
}

// read asks for tools and prompts. What one list lacks never hurts the others.
func (s *server) read(ctx context.Context, session *mcp.ClientSession) error {
	st := Status{Name: s.c.Name, State: Connected}
	var caps mcp.ServerCapabilities
	if init := session.InitializeResult(); init != nil {
		st.Instructions = init.Instructions
		if init.Capabilities != nil {
			caps = *init.Capabilities
		}
	}
	st.Resources = caps.Resources != nil
	if caps.Tools != nil {
		for t, err := range session.Tools(ctx, nil) {
			if err != nil {
				return err
			}
			if len(st.Tools) >= maxTools {
				st.Notices = append(st.Notices, fmt.Sprintf("more than %d tools: the rest is left out", maxTools))
				break
			}
			if t == nil || !s.takes(t.Name) {
				continue
			}
			one, note := toolOf(t)
			if note != "" {
				st.Notices = append(st.Notices, note)
			}
			st.Tools = append(st.Tools, one)
		}
		for _, name := range s.c.Enabled {
			if !slices.ContainsFunc(st.Tools, func(t Tool) bool { return t.Name == name }) && !slices.Contains(s.c.Disabled, name) {
				st.Notices = append(st.Notices, fmt.Sprintf("enabled_tools names %q, which the server does not have", name))
			}
		}
	}
	if caps.Prompts != nil {
		for p, err := range session.Prompts(ctx, nil) {
			if err != nil {
				st.Notices = append(st.Notices, "its prompts cannot be listed: "+err.Error())
				break
			}
			one := Prompt{Name: p.Name, Description: p.Description}
			for _, a := range p.Arguments {
				one.Arguments = append(one.Arguments, Argument{a.Name, a.Required})
			}
			st.Prompts = append(st.Prompts, one)
		}
	}
	slices.SortStableFunc(st.Tools, func(a, b Tool) int { return strings.Compare(a.Name, b.Name) })
	s.mu.Lock()
	defer s.mu.Unlock()
	st.Took = s.status.Took
	s.status = st
	return nil
}

// takes says that a tool is among those that the profile wants: enabled first,
// then disabled takes away.
func (s *server) takes(name string) bool {
	return (len(s.c.Enabled) == 0 || slices.Contains(s.c.Enabled, name)) && !slices.Contains(s.c.Disabled, name)
}

// toolOf cleans a tool: what providers refuse goes out of its schema.
func toolOf(t *mcp.Tool) (out Tool, note string) {
	out = Tool{Name: t.Name, Title: t.Title, Description: t.Description}
	if a := t.Annotations; a != nil {
		if out.Title == "" {
			out.Title = a.Title
		}
		out.ReadOnly = a.ReadOnlyHint && a.OpenWorldHint != nil && !*a.OpenWorldHint
		out.Destructive = !a.ReadOnlyHint && a.DestructiveHint != nil && *a.DestructiveHint
	}
	schema, ok := t.InputSchema.(map[string]any)
	if !ok {
		if t.InputSchema != nil {
			note = fmt.Sprintf("%q has an input schema that is no object: it is taken to accept anything", t.Name)
		}
		schema = map[string]any{}
	}
	delete(schema, "$schema")
	delete(schema, "$id")
	if schema["type"] != "object" {
		if kind := schema["type"]; kind != nil {
			note = fmt.Sprintf("%q has an input schema of type %v: a call's input is an object", t.Name, kind)
		}
		schema["type"] = "object"
	}
	if _, ok := schema["properties"].(map[string]any); !ok {
		schema["properties"] = map[string]any{}
	}
	data, err := json.Marshal(schema)
	if err != nil {
		data = []byte(`{"type":"object","properties":{}}`)
	}
	out.Schema = data
	return out, note
}

// drop ends a session that is no use any more.
func (s *server) drop(session *mcp.ClientSession) {
	s.mu.Lock()
	p := s.program
	if s.session == session {
		s.session, s.program = nil, nil
	} else {
		p = nil
	}
	s.mu.Unlock()
	closeSession(session, p)
}

// closeSession ends both sides: a server that does not end by itself is ended
// with all that it has started.
func closeSession(session *mcp.ClientSession, p *program) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		if session != nil {
			_ = session.Close() // the transport's end is what counts
		}
	}()
	if p != nil {
		p.close()
	}
	t := time.NewTimer(2 * closeTime)
	defer t.Stop()
	select {
	case <-done:
	case <-t.C: // a request on its way out to a server that does not answer; its ctx has an end of its own
	}
}

func (s *server) close() {
	s.mu.Lock()
	session, p := s.session, s.program
	s.session, s.program, s.shut = nil, nil, true
	s.status.State = Closed
	s.mu.Unlock()
	if session != nil || p != nil {
		closeSession(session, p)
	}
}

// live gives the session, connecting again where it was lost.
func (s *server) live(ctx context.Context) (*mcp.ClientSession, error) {
	s.one.Lock()
	defer s.one.Unlock()
	s.mu.Lock()
	session, st, shut := s.session, s.status, s.shut
	s.mu.Unlock()
	switch {
	case shut:
		return nil, errEnded
	case session != nil:
		return session, nil
	case st.State == Starting:
		return nil, errors.New("it is still starting")
	case st.State == NeedsAuth:
		return nil, st.Err
	}
	wait := reopen
	var err error
	for i := range reopenMax {
		if i > 0 {
			t := time.NewTimer(wait)
			select {
			case <-t.C:
			case <-ctx.Done():
				t.Stop()
				return nil, context.Cause(ctx)
			}
			wait *= 2
		}
		opening, cancel := context.WithTimeout(ctx, s.m.o.Connect)
		err = s.connect(opening)
		cancel()
		if err == nil {
			s.m.o.Tell(s.c.Name, "reconnected", "MCP server "+s.c.Name+" is connected again")
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.session, nil
		}
		if s.m.o.NeedsLogin != nil && s.m.o.NeedsLogin(err) {
			break
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failLocked(err)
	return nil, err
}

// plain takes out of an error what a person has no use for, and secrets.
func plain(err error, c Config) error {
	text := err.Error()
	for _, v := range c.Headers {
		if len(v) > 3 {
			text = strings.ReplaceAll(text, v, "[hidden]")
		}
	}
	if text == err.Error() {
		return err
	}
	return errors.New(text)
}

func (s *server) elicit(ctx context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	if s.m.o.Elicit == nil || r.Params == nil || r.Params.Mode == "url" {
		return &mcp.ElicitResult{Action: "decline"}, nil
	}
	fields, err := json.Marshal(r.Params.RequestedSchema)
	if err != nil {
		return &mcp.ElicitResult{Action: "decline"}, nil
	}
	content, ok := s.m.o.Elicit(ctx, s.c.Name, r.Params.Message, fields)
	if !ok {
		return &mcp.ElicitResult{Action: "decline"}, nil
	}
	return &mcp.ElicitResult{Action: "accept", Content: content}, nil
}

func (s *server) progress(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
	if r.Params == nil {
		return
	}
	text := r.Params.Message
	if r.Params.Total > 0 {
		text = strings.TrimSpace(fmt.Sprintf("%.0f%% %s", 100*r.Params.Progress/r.Params.Total, text))
	}
	if text != "" {
		s.m.o.Tell(s.c.Name, "progress", text)
	}
}
