package app

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"larva.dev/larva/internal/agent"
	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/load"
	"larva.dev/larva/internal/permission/foreign"
	"larva.dev/larva/internal/profile"
	"larva.dev/larva/internal/tool"
)

// PermissionTestInput is everything `permission test` was told.
type PermissionTestInput struct {
	Files   []string
	Stdin   io.Reader // what the file - means
	As      string    // claude, opencode, or "" for larva itself
	Profile string
	Mode    string // in place of the tables' own
	Allow   []string
	Ask     []string
	Deny    []string
	AddDirs []string
}

// PermissionTable is one table with its cases judged, or why it was not.
type PermissionTable struct {
	Where
	Cases  []PermissionCase
	Failed int
	Err    *diag.Error
}

// PermissionCase is one judged case. Where nobody could judge the call, Got is
// "invalid" and the decision holds the reason alone.
type PermissionCase struct {
	At       string          `json:"at"` // file:line
	Tool     string          `json:"tool"`
	Input    json.RawMessage `json:"input"`
	Want     string          `json:"want"`
	Got      string          `json:"got"`
	OK       bool            `json:"ok"`
	Why      string          `json:"why,omitempty"`
	Decision event.Decision  `json:"decision"`
}

// PermissionTest judges tables of calls. Nothing is run and nobody is asked.
func (a *App) PermissionTest(ctx context.Context, in PermissionTestInput) []PermissionTable {
	out := make([]PermissionTable, len(in.Files))
	for i, file := range in.Files {
		t := PermissionTable{Where: Where{File: file}}
		if err := a.testTable(ctx, in, file, &t); err != nil {
			t.Err = diag.As(err)
		}
		out[i] = t
	}
	return out
}

func (a *App) testTable(ctx context.Context, in PermissionTestInput, file string, out *PermissionTable) error {
	opts := a.loadOptions()
	opts.Stdin = in.Stdin
	table, origins, err := load.PermissionTest(ctx, file, opts)
	if err != nil {
		return err
	}
	if len(table.Cases) == 0 {
		return diag.New(diag.ProfileInvalid, "%s: cases is empty: a table that tests nothing passes for nothing", file).
			WithHint("write a case: {tool: \"bash\", input: \"git push\", want: \"deny\"}")
	}
	mode := in.Mode
	if mode == "" {
		mode = table.Mode
	}
	s, err := a.stand(ctx, about{unasked: true, portable: true, persona: table.Persona, addDirs: in.AddDirs,
		flags: flags{profile: in.Profile, mode: mode, allow: in.Allow, ask: in.Ask, deny: in.Deny},
		extra: []profile.Layer{{Name: "table", File: file, Profile: profile.Profile{Permissions: table.Permissions}, Origins: origins}}})
	if err != nil {
		return err
	}
	judge, err := s.judgeOf(ctx, in.As)
	if err != nil {
		return err
	}
	for i, c := range table.Cases {
		r := judgedCase(judge, c)
		r.At = origins[fmt.Sprintf("cases.%d.tool", i)]
		if !r.OK {
			out.Failed++
		}
		out.Cases = append(out.Cases, r)
	}
	return nil
}

// judgeOf gives what decides a call: larva's own steps, or another agent's.
func (s *stand) judgeOf(ctx context.Context, as string) (func(tool.Call) (event.Decision, string), error) {
	if as != "" {
		judge, err := foreign.New(as, foreign.Table{Allow: s.eff.Allow, Ask: s.eff.Ask, Deny: s.eff.Deny, Mode: s.mode(), Places: s.policy.Places})
		if err != nil {
			return nil, diag.Usage("%v", err)
		}
		return func(c tool.Call) (event.Decision, string) { return judge(c), "" }, nil
	}
	l := &agent.Loop{Tools: s.tools, Policy: s.policy, Known: s.known}
	return func(c tool.Call) (event.Decision, string) {
		j := l.Judge(ctx, c)
		if j.Fault != nil {
			return event.Decision{}, forPerson(j.Fault.Output)
		}
		return j.Decision, ""
	}, nil
}

func judgedCase(judge func(tool.Call) (event.Decision, string), c profile.PermissionCase) PermissionCase {
	input := c.Input
	var bare string
	if json.Unmarshal(input, &bare) == nil {
		input = inputOf(c.Tool, bare)
	}
	out := PermissionCase{Tool: c.Tool, Input: input, Want: c.Want, Why: strings.TrimSpace(c.Why)}
	d, fault := judge(tool.Call{ID: "test", Tool: c.Tool, Input: input})
	if fault != "" {
		out.Got = "invalid"
		out.Decision = event.Decision{Tool: c.Tool, Input: input, Reason: fault, Segments: []event.Segment{}}
		return out
	}
	out.Decision, out.Got = d, string(d.Verdict)
	out.OK = out.Got == c.Want
	return out
}
