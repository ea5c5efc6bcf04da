// Package ops is the registry's operations as one table: each takes a JSON
// object of parameters and gives a JSON value or an error with a stable code
// (registry contract, sections 5 and 7). The faces that speak JSON, MCP and
// HTTP, serve the rows of this table and so cannot disagree.
package ops

import (
	"bytes"
	"context"
	"encoding/json"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/registry"
	"larva.dev/larva/internal/spec"
	"larva.dev/larva/schema"
)

// Operation is one row of the table. ReadOnly, Destructive and Idempotent are
// MCP's hints by MCP's definitions.
type Operation struct {
	Name        string // "variant_list"; MCP puts larva_ before it
	Title       string // for people
	Description string // for models: when to use it, what it gives, which errors it may meet
	ReadOnly    bool   // changes nothing
	Destructive bool   // removes or replaces something; false where it only adds
	Idempotent  bool   // the same call again changes nothing more, even if it fails then
	List        bool   // gives a list; where only objects may be given it is the member "result" of one
	Params      []Param
	run         func(ctx context.Context, s *Service, p params) (any, error)
}

// Input is the JSON Schema of the parameters, an object that stands alone. It
// is what callers are told; what is refused, and in which words, is decided by
// Do.
func (o Operation) Input() json.RawMessage { return side(o.Name, schema.Input) }

// Output is the JSON Schema of the result; of a list, in its object.
func (o Operation) Output() json.RawMessage { return side(o.Name, schema.Output) }

// side reads what scripts/gen has made of schema/operation.cue.
func side(name, side string) json.RawMessage {
	data, err := schema.JSON.ReadFile(schema.OperationFile(name, side))
	if err != nil {
		panic(err) // the table and the schema are of one build
	}
	var b bytes.Buffer
	if err := json.Compact(&b, data); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// Param is one parameter of an operation.
type Param struct {
	Name     string
	Type     Type
	Required bool
}

// Type is what a parameter may be.
type Type string

// The types, by the names that errors give them.
const (
	String  Type = "string"
	Boolean Type = "boolean"
	Object  Type = "object"
	Strings Type = "list" // of strings
	Any     Type = "any"  // null too
)

// Service carries operations out on one registry.
type Service struct {
	Registry *registry.Registry
	// Writable is asked with an operation's name before it changes anything;
	// its error stands for the operation's. A dry run changes nothing. nil
	// allows all.
	Writable func(operation string) error
}

// If gives a service whose writes happen only while the spec of that digest
// is the stored one, as registry.Expect has it; else STALE_WRITE. What writes
// no one spec refuses to be asked so.
func (s *Service) If(digest string) *Service {
	other := *s
	other.Registry = s.Registry.Expect(digest)
	return &other
}

// Operations gives the table in the contract's order. The rows are shared and
// read-only.
func Operations() []Operation { return table }

// Find gives an operation by name.
func Find(name string) (Operation, bool) {
	for _, o := range table {
		if o.Name == name {
			return o, true
		}
	}
	return Operation{}, false
}

// Do carries out one operation. p is the parameters as they were sent; nil is
// no parameters. The value is a tree or whatever spec.AppendCanonical takes;
// the error is always a *diag.Error. Where ctx ends before anything was
// written, or while it reads many personas, it is INTERRUPTED; a write that
// has begun is finished.
func (s *Service) Do(ctx context.Context, name string, p *spec.Object) (any, error) {
	o, ok := Find(name)
	if !ok {
		return nil, diag.New(diag.InvalidInput, "there is no operation %q", name).With("operation", name)
	}
	checked, err := check(o, p)
	if err != nil {
		return nil, err
	}
	if err := interrupted(ctx, name); err != nil {
		return nil, err
	}
	if s.Writable != nil && !o.ReadOnly && !checked.flag(dryRun) {
		if err := s.Writable(name); err != nil {
			return nil, diag.As(err)
		}
	}
	v, err := o.run(ctx, &Service{Registry: s.Registry.Until(ctx)}, checked)
	if err != nil {
		return nil, diag.As(err)
	}
	return v, nil
}

func interrupted(ctx context.Context, name string) error {
	if ctx.Err() == nil {
		return nil
	}
	return diag.New(diag.Interrupted, "%s was cancelled", name)
}
