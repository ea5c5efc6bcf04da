package app

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/launch/opencode"
	"larva.dev/larva/internal/spec"
)

// BridgeVerb is the hidden first argument under which this binary answers a
// plugin inside another agent: JSON lines on stdin and stdout, reading only.
const BridgeVerb = "__bridge"

// maxBridgeLine bounds a question: a call with all that it would write.
const maxBridgeLine = 64 << 20

// bridgeWorkers is how many questions are answered at once.
const bridgeWorkers = 8

// bridgeAsks is one line; which fields it has depends on Op.
type bridgeAsks struct {
	ID int64  `json:"id"`
	Op string `json:"op"`

	// resolve
	Persona string `json:"persona"`
	Digest  string `json:"digest"`

	// judge
	Chain    []string        `json:"chain"`    // the agents at work, the caller first
	Personas []string        `json:"personas"` // those of the chain that are personas
	Host     string          `json:"host"`
	Tool     string          `json:"tool"`
	Args     json.RawMessage `json:"args"`
	Cwd      string          `json:"cwd"`

	// entries
	Permission json.RawMessage `json:"permission"`
	MCP        []string        `json:"mcp"`
	Auto       bool            `json:"auto"`
}

// bridge answers one plugin.
type bridge struct {
	app *App

	mu   sync.Mutex
	side *opencodeSide // nil until it is needed
	// context is the configuration that entries was asked about.
	context opencode.Context

	write sync.Mutex
	out   *bufio.Writer
}

// Bridge answers questions until in ends or ctx does.
func (a *App) Bridge(ctx context.Context, in io.Reader, out io.Writer) error {
	a.spendMemory()
	b := &bridge{app: a, out: bufio.NewWriterSize(out, 64<<10)}
	lines := make(chan []byte)
	var wg sync.WaitGroup
	for range bridgeWorkers {
		wg.Go(func() {
			for line := range lines {
				b.answer(ctx, line)
			}
		})
	}
	sc := bufio.NewScanner(in)
	sc.Buffer(nil, maxBridgeLine)
	for sc.Scan() && ctx.Err() == nil {
		lines <- append([]byte(nil), sc.Bytes()...)
	}
	close(lines)
	wg.Wait()
	return sc.Err()
}

// answer never leaves a question that has a number without one.
func (b *bridge) answer(ctx context.Context, line []byte) {
	var q bridgeAsks
	if err := json.Unmarshal(line, &q); err != nil {
		b.say(q.ID, nil, diag.Usage("a line is no question: %v", err))
		return
	}
	data, err := b.ask(ctx, q)
	b.say(q.ID, data, err)
}

func (b *bridge) ask(ctx context.Context, q bridgeAsks) (data any, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("a fault of larva itself: %v", p)
		}
	}()
	switch q.Op {
	case "list":
		return b.list()
	case "resolve":
		return b.resolve(q)
	case "entries":
		return b.entries(ctx, q)
	case "judge":
		return b.judge(ctx, q)
	}
	return nil, diag.Usage("there is no op %q", q.Op)
}

func (b *bridge) say(id int64, data any, err error) {
	reply := struct {
		ID    int64 `json:"id"`
		Data  any   `json:"data,omitempty"`
		Error any   `json:"error,omitempty"`
	}{ID: id, Data: data}
	if err != nil {
		e := diag.As(err)
		reply.Data, reply.Error = nil, map[string]string{"code": string(e.Code), "message": e.Message}
	}
	text, err := json.Marshal(reply)
	if err != nil {
		text = fmt.Appendf(nil, `{"id":%d,"error":{"code":"INTERNAL","message":"the answer cannot be written"}}`, id)
	}
	b.write.Lock()
	defer b.write.Unlock()
	_, _ = b.out.Write(append(text, '\n')) // whoever does not listen has ended
	_ = b.out.Flush()
}

func (b *bridge) list() (any, error) {
	r, err := b.app.registry()
	if err != nil {
		return nil, err
	}
	ids, err := r.IDs()
	if err != nil {
		return nil, err
	}
	out := make([]map[string]string, 0, len(ids))
	for _, id := range ids {
		out = append(out, map[string]string{"id": id})
	}
	return out, nil
}

// resolve is on the way of every request to a model: it reads three files.
func (b *bridge) resolve(q bridgeAsks) (any, error) {
	r, err := b.app.registry()
	if err != nil {
		return nil, err
	}
	o, err := r.Resolve(q.Persona, "", nil)
	if err != nil {
		return nil, err
	}
	p := spec.FromObject(o)
	if q.Digest != "" && q.Digest == p.Digest {
		return map[string]any{"id": p.ID, "digest": p.Digest, "unchanged": true}, nil
	}
	params := p.ModelParams
	if params == nil {
		params = &spec.Object{}
	}
	return map[string]any{"id": p.ID, "digest": p.Digest, "prompt": p.Prompt, "params": params}, nil
}

// sideOnce reads the profile once a helper: models are bound to a start.
func (b *bridge) sideOnce(ctx context.Context) (*opencodeSide, opencode.Context, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.side == nil {
		side, err := b.app.opencodeSide(ctx)
		if err != nil {
			return nil, opencode.Context{}, err
		}
		b.side, b.context = side, side.context
	}
	return b.side, b.context, nil
}

// entries makes the agents anew beside the configuration that OpenCode has
// merged, and keeps that for what is judged later.
func (b *bridge) entries(ctx context.Context, q bridgeAsks) (any, error) {
	side, x, err := b.sideOnce(ctx)
	if err != nil {
		return nil, err
	}
	if x.Permission, err = opencode.ReadPermission(q.Permission); err != nil {
		return nil, err
	}
	x.MCP, x.Auto = q.MCP, q.Auto
	b.mu.Lock()
	b.context = x
	b.mu.Unlock()
	all, _, err := side.personas()
	if err != nil {
		return nil, err
	}
	agents := make(map[string]*spec.Object, len(all))
	for _, p := range all {
		agents[p.Spec.ID] = p.Entry(opencode.Project(p.Spec, x).Table)
	}
	return map[string]any{"agents": agents}, nil
}

func (b *bridge) judge(ctx context.Context, q bridgeAsks) (any, error) {
	if q.Host != "opencode" {
		return nil, diag.Usage("there is no host %q", q.Host)
	}
	if len(q.Chain) == 0 {
		return nil, errors.New("the chain is empty")
	}
	side, x, err := b.sideOnce(ctx)
	if err != nil {
		return nil, err
	}
	v, meant := b.app.judgeInside(ctx, side, judgement{asked: opencode.Asked{Tool: q.Tool, Args: q.Args, Cwd: q.Cwd}, personas: q.Personas, servers: x.MCP})
	if v.Behavior == "ask" && len(q.Personas) > 0 && q.Personas[0] == q.Chain[0] {
		v.Dialog = side.dialog(q.Chain[0], meant, x)
	}
	return v, nil
}
