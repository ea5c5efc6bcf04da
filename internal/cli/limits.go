package cli

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"larva.dev/larva/internal/app"
	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/profile"
)

// limitFlags are what ends a run and what its answer is held to.
type limitFlags struct {
	BudgetUSD    *float64 `name:"budget-usd" placeholder:"USD" help:"End once this much is spent, by the profile's prices (exit 4)."`
	BudgetTokens *int64   `placeholder:"N" help:"End once this many tokens went in and out (exit 4)."`
	TimeLimit    string   `placeholder:"TIME" help:"End after this time, as 90s, 30m or 1h30m (exit 9)."`
	JSONSchema   string   `name:"json-schema" placeholder:"FILE" help:"The final answer must satisfy this JSON Schema (exit 8)." complete:"file"`
	Effort       string   `placeholder:"WORD" help:"How hard the model thinks: minimal, low, medium, high, xhigh or max." words:"minimal low medium high xhigh max"`
}

// maxSchemaFile bounds a schema: the model reads all of it.
const maxSchemaFile = 1 << 20

// put checks the flags and puts them into the input; a file's name is meant from dir.
func (f limitFlags) put(in *app.RunInput, dir string) error {
	switch {
	case f.BudgetUSD != nil && !(*f.BudgetUSD >= 0 && *f.BudgetUSD <= 1e6):
		return diag.Usage("--budget-usd %v: expected a number from 0 to 1000000", *f.BudgetUSD)
	case f.BudgetTokens != nil && (*f.BudgetTokens < 1 || *f.BudgetTokens > 1e12):
		return diag.Usage("--budget-tokens %d: expected 1 to 1000000000000", *f.BudgetTokens)
	}
	switch f.Effort {
	case "", "minimal", "low", "medium", "high", "xhigh", "max":
	default:
		return diag.Usage("--effort %s: expected minimal, low, medium, high, xhigh or max", f.Effort).With("value", f.Effort)
	}
	if f.TimeLimit != "" {
		if d, err := time.ParseDuration(f.TimeLimit); err != nil || d <= 0 {
			return diag.Usage("--time-limit %s: expected a time like 90s, 30m or 1h30m", f.TimeLimit).With("value", f.TimeLimit)
		}
	}
	in.Limits = profile.Limits{USD: f.BudgetUSD, Tokens: f.BudgetTokens, Time: f.TimeLimit}
	in.Effort = f.Effort
	var err error
	in.JSONSchema, err = schemaFile(f.JSONSchema, dir)
	if len(in.JSONSchema) > 0 && !isObject(f.JSONSchema) {
		in.JSONSchemaFile = f.JSONSchema
	}
	return err
}

// schemaFile reads a schema; what begins with { is one itself.
func schemaFile(name, dir string) ([]byte, error) {
	if name == "" {
		return nil, nil
	}
	if isObject(name) {
		return bytes.TrimSpace([]byte(name)), nil
	}
	path := name
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, diag.Usage("--json-schema: %v", renamed(err, name))
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxSchemaFile+1))
	switch {
	case err != nil:
		return nil, diag.Usage("--json-schema: %v", err)
	case len(data) > maxSchemaFile:
		return nil, diag.Usage("--json-schema %s: more than %d KiB", name, maxSchemaFile>>10)
	case len(bytes.TrimSpace(data)) == 0:
		return nil, diag.Usage("--json-schema %s: the file is empty", name)
	}
	return data, nil
}

// renamed is an error about a file under the name that was typed.
func renamed(err error, name string) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return &fs.PathError{Op: p.Op, Path: name, Err: p.Err}
	}
	return err
}

// isObject says whether text begins as a JSON object does.
func isObject(text string) bool { return strings.HasPrefix(strings.TrimSpace(text), "{") }
