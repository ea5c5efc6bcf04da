package mcpserve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Serve speaks the protocol with one client over in and out until in ends, the
// client stops reading, or ctx ends; calls that are under way are answered
// first. in is closed. The error is for output that cannot be written for
// another reason than that nobody reads it.
//
// A read that blocks in in cannot always be interrupted (a terminal, a pipe):
// its goroutine then lives until the process ends, and touches nothing.
func (s *Server) Serve(ctx context.Context, in io.ReadCloser, out io.Writer) error {
	c := newConn(in, out)
	watching, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		select {
		case <-c.begun: // the first answer comes before anything that nobody waits for
		case <-watching.Done():
			return
		}
		dropStart()
		s.follow(watching)
	})
	defer wg.Wait()
	defer stop()

	session, err := s.mcp.Connect(ctx, transport{c}, nil)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	ended := make(chan struct{})
	go func() { _ = session.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-c.broken:
	case <-ctx.Done():
		s.end()
		c.hangUp()
		late := time.NewTimer(grace)
		defer late.Stop()
		select {
		case <-c.idle:
		case <-late.C:
		}
	}
	return c.failed()
}

// grace is how long calls under way have to end once the server is told to
// stop. A change of the registry takes milliseconds; one that waits for
// another process's lock has done nothing yet.
const grace = 5 * time.Second

// transport hands the SDK a connection that is there already.
type transport struct{ c *conn }

func (t transport) Connect(context.Context) (mcp.Connection, error) { return t.c, nil }

// conn is one client on two streams. Broken frames are answered here and the
// SDK never hears of them. When the input ends, the SDK is told so only once
// every call has been answered, since it drops the answers of calls that are
// under way then.
//
// One goroutine of the SDK reads; any number write. mu guards the fields below
// it, and is never held over a read or a write.
type conn struct {
	in    *lines
	close func() error
	room  room // for answers in the making

	idle   chan struct{} // closed when ended and nothing is left to answer
	broken chan struct{} // closed when out is of no more use
	begun  chan struct{} // closed when the first call has been answered

	mu      sync.Mutex
	changed sync.Cond // something was answered, or the input has ended
	out     io.Writer
	outbox  []byte                  // lines to be written
	spare   []byte                  // the next outbox
	writing bool                    // somebody empties the outbox
	err     error                   // why out is of no more use
	ended   bool                    // no more input
	queue   []jsonrpc.Message       // to be read before the next line
	calls   map[jsonrpc.ID]*call    // read, not answered
	load    int                     // bytes of these calls
	changes int                     // how many of these calls change something
	asked   map[jsonrpc.ID]struct{} // ours, not answered
	greeted int                     // how often the client has said that it is ready
	agreed  bool                    // initialize was answered: the client speaks a protocol before 2026-07-28
	warm    bool                    // the first call was answered
	old     bool                    // that protocol has batches
}

// call is a request that waits for its answer.
type call struct {
	method  string
	size    int
	ended   bool          // the client has cancelled it
	batch   *batch        // nil: a message of its own
	tool    *toolCall     // nil: it goes the common way
	changes bool          // others wait for it
	done    chan struct{} // closed when they need not any more; nil: nobody waits
}

// Beyond these, the next message is read only after an answer: a client that
// sends faster than it is served waits, as in any pipe. Questions of ours that
// the client has not answered do not count, or its answers could not come in.
const (
	maxCalls = 128
	maxLoad  = 4 * maxFrame
	// maxOutbox is how much a client may leave unread before it is served less.
	maxOutbox = maxFrame
)

func newConn(in io.ReadCloser, out io.Writer) *conn {
	c := &conn{
		in: newLines(in, maxFrame), close: sync.OnceValue(in.Close), out: out,
		calls: map[jsonrpc.ID]*call{}, asked: map[jsonrpc.ID]struct{}{},
		idle: make(chan struct{}), broken: make(chan struct{}), begun: make(chan struct{}),
	}
	c.changed.L = &c.mu
	return c
}

// SessionID is none: there is one session.
func (c *conn) SessionID() string { return "" }

// Close ends the input; the SDK calls it once all is answered.
func (c *conn) Close() error {
	c.hangUp()
	return nil
}

// failed is what stopped the output, nil where the reader has gone.
func (c *conn) failed() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil || errors.Is(c.err, io.ErrClosedPipe) || brokenPipe(c.err) {
		return nil
	}
	return fmt.Errorf("write to the client: %w", c.err)
}

// Read gives the next sound message. The SDK calls it from one goroutine.
func (c *conn) Read(context.Context) (jsonrpc.Message, error) {
	for {
		if m, ok := c.dequeue(); ok {
			return m, nil
		}
		if c.atEnd() {
			select {
			case <-c.idle:
			case <-c.broken:
			}
			return nil, io.EOF
		}
		line, err := c.in.next()
		switch {
		case errors.Is(err, errTooLong):
			c.refuse(invalid(err.Error()))
		case err != nil:
			c.hangUp()
		default:
			c.accept(line)
		}
	}
}

func (c *conn) dequeue() (jsonrpc.Message, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.queue) == 0 {
		return nil, false
	}
	m := c.queue[0]
	c.queue = c.queue[1:]
	return m, true
}

// atEnd waits while too much is under way, and says whether the input has
// ended.
func (c *conn) atEnd() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for !c.ended && (len(c.calls)-len(c.asked) >= maxCalls || c.load > maxLoad || len(c.outbox) > maxOutbox) {
		c.changed.Wait()
	}
	return c.ended
}

// accept judges one line and queues what is sound in it.
func (c *conn) accept(line []byte) {
	if line[0] == '[' {
		c.acceptBatch(line)
		return
	}
	e := wellFormed(line)
	if e != nil {
		c.refuse(e)
		return
	}
	m, e := message(line)
	switch {
	case e != nil:
		c.refuse(e)
		return
	case m == nil:
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.enqueue(m, len(line), nil); e != nil {
		c.put(refusal(e))
	}
}

// enqueue takes a message in, or says why not. mu is held.
func (c *conn) enqueue(m jsonrpc.Message, size int, b *batch) *jsonrpc.Error {
	switch m := m.(type) {
	case *jsonrpc.Request:
		if m.IsCall() {
			if _, ok := c.calls[m.ID]; ok {
				return invalid(fmt.Sprintf("the id %v is in use by a call that is not answered yet", m.ID.Raw()))
			}
			this := &call{method: m.Method, size: size, batch: b}
			if c.agreed {
				this.tool = fastCall(m)
			}
			method, before := m.Method, c.lineUp(m, this)
			if this.tool != nil {
				m.Method, m.Params = fastMethod, nil
			}
			if beside := (&beside{before: before, tool: this.tool}); looks(method) {
				if !this.changes {
					beside.room = &c.room
				}
				m.Extra = beside.extra()
			}
			c.calls[m.ID] = this
			c.load += size
		} else if !c.hears(m) {
			return nil
		}
	case *jsonrpc.Response:
		if _, ok := c.asked[m.ID]; !ok {
			return nil
		}
		delete(c.asked, m.ID)
	}
	c.queue = append(c.queue, m)
	return nil
}

// refuse answers what is no request.
func (c *conn) refuse(e *jsonrpc.Error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(refusal(e))
}

// refusal is the answer to a message whose id is not known.
func refusal(e *jsonrpc.Error) []byte {
	text, err := json.Marshal(e)
	if err != nil { // a code and a text always have a JSON form
		text = []byte(`{"code":-32603,"message":"internal error"}`)
	}
	return append(append([]byte(`{"jsonrpc":"2.0","id":null,"error":`), text...), '}')
}

// Write sends a message of ours. After the end of the input there is nobody
// to answer a question, so it is refused; an answer still goes out.
func (c *conn) Write(_ context.Context, m jsonrpc.Message) error {
	if r, ok := m.(*jsonrpc.Response); ok {
		return c.answer(r)
	}
	text, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return fmt.Errorf("encode the message: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() {
		if c.ended {
			return &jsonrpc.Error{Code: rejected, Message: gone}
		}
		c.asked[r.ID] = struct{}{}
		c.letPass()
	}
	c.put(text)
	return c.err
}

// answer sends the answer of a call, alone or with its batch, and sees
// whether it was the last.
func (c *conn) answer(r *jsonrpc.Response) error {
	c.mu.Lock()
	call := c.calls[r.ID]
	c.mu.Unlock()
	text, err := encode(r, call)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if call == nil {
		c.put(text)
		return c.err
	}
	delete(c.calls, r.ID)
	c.load -= call.size
	if call.method == "initialize" && r.Error == nil {
		c.agreed, c.old = true, hasBatches(r.Result)
	}
	first := !c.warm
	c.warm = true
	c.leave(call)
	c.changed.Signal()
	if call.batch == nil {
		c.put(text)
	} else if together := call.batch.add(text); together != nil {
		c.put(together)
	}
	c.settle()
	if first {
		close(c.begun)
	}
	return c.err
}

// encode gives an answer's text: the one that came by the fast way, or the
// SDK's.
func encode(r *jsonrpc.Response, call *call) ([]byte, error) {
	if call != nil && call.tool != nil && r.Error == nil {
		return call.tool.answer, nil
	}
	repair(r)
	text, err := jsonrpc.EncodeMessage(r)
	if err != nil {
		return nil, fmt.Errorf("encode the answer: %w", err)
	}
	return text, nil
}

// letPass lets nobody wait for what is under way: a question of ours stands
// open now, and the client may want to look around before it answers. mu is held.
func (c *conn) letPass() {
	for _, call := range c.calls {
		c.leave(call)
	}
}

// listenMethod is a call that lasts as long as the client wants.
const listenMethod = "subscriptions/listen"

// rejected is the SDK's own code for a message that the transport does not
// take while the connection goes on.
const rejected = -32005

// gone is why a question of ours has no answer.
const gone = "the client has ended its input"

// put sends one line. mu is held, and let go while the line is written: it
// must be the last that its caller does. Who comes while another writes leaves
// the line to that one, so lines go out together when there are many, and a
// client that does not read holds up nobody but its writer.
func (c *conn) put(text []byte) {
	c.outbox = append(c.outbox, bytes.TrimSuffix(text, []byte{'\n'})...)
	c.outbox = append(c.outbox, '\n')
	if c.writing {
		c.room.full(len(c.outbox) > maxOutbox)
		return
	}
	c.writing = true
	for len(c.outbox) > 0 && c.err == nil {
		lines := c.outbox
		c.outbox, c.spare = c.spare[:0], nil
		c.room.full(false)
		c.mu.Unlock()
		_, err := c.out.Write(lines)
		c.mu.Lock()
		if cap(lines) < 1<<20 { // one large answer is no reason to hold its memory
			c.spare = lines
		}
		if err != nil {
			c.err = err
			close(c.broken)
		}
	}
	c.writing = false
	c.room.full(false)
	c.changed.Signal()
	c.settle()
}

// hangUp notes that no more input will come. What waits for the client can
// end no more: its questions are answered with an error, its endless calls
// are cancelled.
func (c *conn) hangUp() {
	c.mu.Lock()
	if c.ended {
		c.mu.Unlock()
		return
	}
	c.ended = true
	for id := range c.asked {
		c.queue = append(c.queue, &jsonrpc.Response{ID: id, Error: &jsonrpc.Error{Code: rejected, Message: gone}})
	}
	clear(c.asked)
	for id, call := range c.calls {
		if call.method == listenMethod {
			c.queue = append(c.queue, cancelled(id))
		}
	}
	c.changed.Broadcast()
	c.settle()
	c.mu.Unlock()
	_ = c.close() // unblocks a read where the stream can do that
}

func cancelled(id jsonrpc.ID) *jsonrpc.Request {
	params, err := json.Marshal(map[string]any{"requestId": id.Raw(), "reason": gone})
	if err != nil { // an id is a string or a number
		params = nil
	}
	return &jsonrpc.Request{Method: "notifications/cancelled", Params: params}
}

// settle closes idle once nothing is left to answer. mu is held.
func (c *conn) settle() {
	if !c.ended || len(c.calls) > 0 || c.writing {
		return
	}
	select {
	case <-c.idle:
	default:
		close(c.idle)
	}
}

// repair gives an error without a code one that says what it is: the SDK
// leaves 0 where a call comes before initialize or initialize comes twice,
// where its parameters are of the wrong types, and where a handler fails in
// words of its own. Long quotes of the message are cut.
func repair(r *jsonrpc.Response) {
	if r.Error == nil {
		return
	}
	text := r.Error.Error()
	e := &jsonrpc.Error{}
	if errors.As(r.Error, &e) && e.Code != 0 {
		if cut := short(text); cut != text {
			r.Error = &jsonrpc.Error{Code: e.Code, Message: cut, Data: e.Data}
		}
		return
	}
	code := int64(jsonrpc.CodeInternalError)
	switch {
	case outOfTurn(text):
		code = jsonrpc.CodeInvalidRequest
	case strings.Contains(text, "unmarshaling "):
		code = jsonrpc.CodeInvalidParams
	}
	r.Error = &jsonrpc.Error{Code: code, Message: short(text)}
}

func outOfTurn(text string) bool {
	return strings.Contains(text, "during session initialization") || strings.HasPrefix(text, "duplicate ")
}
