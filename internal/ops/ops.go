// Package ops is the registry's operations as one table: each takes a JSON
// object of parameters and gives a JSON value or an error with a stable code
// (registry contract, sections 5 and 7). The faces that speak JSON, MCP and
// HTTP, serve the rows of this table and so cannot disagree.
package ops

import (
	"context"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/registry"
	"larva.dev/larva/internal/spec"
)

// Operation is one row of the table.
type Operation struct {
	Name        string // "variant_list"; MCP puts larva_ before it
	Title       string // for people
	Description string // for models: what it does and when to use it
	ReadOnly    bool   // changes nothing
	Destructive bool   // removes or replaces what cannot be had back
	Idempotent  bool   // twice is as good as once
	Params      []Param
	run         func(ctx context.Context, s *Service, p params) (any, error)
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
)

// Service carries operations out on one registry.
type Service struct {
	Registry *registry.Registry
	// Writable is asked with an operation's name before it changes anything;
	// its error stands for the operation's. nil allows all.
	Writable func(operation string) error
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
// the error is always a *diag.Error.
func (s *Service) Do(ctx context.Context, name string, p *spec.Object) (any, error) {
	o, ok := Find(name)
	if !ok {
		return nil, diag.New(diag.InvalidInput, "there is no operation %q", name).With("operation", name)
	}
	checked, err := check(o, p)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, diag.New(diag.Interrupted, "%s was cancelled", name)
	}
	if !o.ReadOnly && s.Writable != nil {
		if err := s.Writable(name); err != nil {
			return nil, diag.As(err)
		}
	}
	v, err := o.run(ctx, s, checked)
	if err != nil {
		return nil, diag.As(err)
	}
	return v, nil
}
