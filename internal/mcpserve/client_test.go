package mcpserve

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/ops"
	"larva.dev/larva/internal/registry"
	"larva.dev/larva/internal/spec"
	"larva.dev/larva/internal/watch"
)

// connect joins the SDK's own client to a server. version "" is the newest.
func connect(t *testing.T, o Options, version string, co *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	theirIn, in := io.Pipe()
	out, theirOut := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- New(o).Serve(t.Context(), theirIn, theirOut) }()
	if co == nil {
		co = &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}}
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, co)
	session, err := client.Connect(t.Context(), &mcp.IOTransport{Reader: out, Writer: in}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = session.Close()
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("got %v, want a clean end", err)
			}
		case <-time.After(patience):
			t.Error("the server goes on, want its end")
		}
	})
	return session
}

// Both ways to speak: initialize, and the newest protocol without it.
var versions = []string{"2025-06-18", ""}

func TestTools(t *testing.T) {
	t.Parallel()
	for _, version := range versions {
		t.Run("version "+version, func(t *testing.T) {
			t.Parallel()
			s := connect(t, Options{Registry: store(t)}, version, nil)
			list, err := s.ListTools(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			want := strings.Fields("validate resolve register list variant_list variant_activate variant_delete delete clear clone export update update_batch")
			var got []string
			for i, tool := range list.Tools {
				got = append(got, strings.TrimPrefix(tool.Name, "larva_"))
				a := tool.Annotations
				switch {
				case tool.Title == "" || len(tool.Description) < 20 || tool.InputSchema == nil || tool.OutputSchema == nil:
					t.Errorf("%s: got %+v, want title, description and both schemas", tool.Name, tool)
				case a == nil || a.OpenWorldHint == nil || *a.OpenWorldHint || a.DestructiveHint == nil || a.ReadOnlyHint && *a.DestructiveHint:
					t.Errorf("%s: got %+v, want a closed world and a clear word on what it destroys", tool.Name, a)
				}
				if o := ops.Operations()[i]; a.ReadOnlyHint != o.ReadOnly || a.IdempotentHint != o.Idempotent {
					t.Errorf("%s: got %+v, want the operation's own hints", tool.Name, a)
				}
			}
			slices.Sort(want)
			sorted := slices.Sorted(slices.Values(got))
			if d := cmp.Diff(sorted, want); d != "" {
				t.Errorf("the thirteen tools (-got +want):\n%s", d)
			}
			var order []string
			for _, o := range ops.Operations() {
				order = append(order, o.Name)
			}
			if d := cmp.Diff(got, order); d != "" {
				t.Errorf("their order (-got +want):\n%s", d)
			}
		})
	}
}

// callTool gives a result's structured content, which must be the same as its
// text.
func callTool(t *testing.T, s *mcp.ClientSession, name string, arguments any) (structured map[string]any, isError bool) {
	t.Helper()
	r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: arguments})
	if err != nil {
		t.Fatal(err)
	}
	structured, ok := r.StructuredContent.(map[string]any)
	if !ok || len(r.Content) != 1 {
		t.Fatalf("%s: got %+v, want an object and one block", name, r)
	}
	var text any
	if err := json.Unmarshal([]byte(r.Content[0].(*mcp.TextContent).Text), &text); err != nil {
		t.Fatal(err)
	}
	want := any(structured)
	if _, isList := text.([]any); isList {
		want = structured["result"]
	}
	if d := cmp.Diff(text, want); d != "" {
		t.Errorf("%s: text and structured content differ (-text +structured):\n%s", name, d)
	}
	return structured, r.IsError
}

func TestCalls(t *testing.T) {
	t.Parallel()
	for _, version := range versions {
		t.Run("version "+version, func(t *testing.T) {
			t.Parallel()
			s := connect(t, Options{Registry: store(t)}, version, nil)
			spec := json.RawMessage(persona("a"))
			if got, bad := callTool(t, s, "larva_register", map[string]any{"spec": spec, "variant": nil}); bad || got["registered"] != true {
				t.Errorf("got %v, want it registered; null is a parameter left out", got)
			}
			if got, bad := callTool(t, s, "larva_list", nil); bad || len(got["result"].([]any)) != 1 {
				t.Errorf("got %v, want a list of one", got)
			}
			if got, bad := callTool(t, s, "larva_export", map[string]any{"all": true}); bad || len(got["result"].([]any)) != 1 {
				t.Errorf("got %v, want a list of one", got)
			}
			report, bad := callTool(t, s, "larva_validate", map[string]any{"spec": map[string]any{"id": 7, "tools": nil, "surprise": true}})
			if bad || report["valid"] != false || len(report["errors"].([]any)) < 4 {
				t.Errorf("got %v, want a report on unknown fields and wrong types", report)
			}
			for _, c := range []struct {
				name      string
				arguments any
				code      string
				number    float64
			}{
				{"larva_resolve", map[string]any{"id": "b"}, "PERSONA_NOT_FOUND", 100},
				{"larva_resolve", map[string]any{"id": "B"}, "INVALID_PERSONA_ID", 104},
				{"larva_resolve", map[string]any{"id": "a", "extra": 1}, "INVALID_INPUT", 1},
				{"larva_resolve", map[string]any{"id": 1}, "INVALID_INPUT", 1},
				{"larva_resolve", map[string]any{}, "INVALID_INPUT", 1},
				{"larva_resolve", []any{"a"}, "INVALID_INPUT", 1},
				{"larva_resolve", json.RawMessage(`{"id":"a","id":"b"}`), "INVALID_INPUT", 1},
				{"larva_resolve", json.RawMessage(`{"id":"\ud800"}`), "INVALID_INPUT", 1},
				{"larva_register", map[string]any{"spec": map[string]any{"id": "x"}}, "PERSONA_INVALID", 101},
				{"larva_clear", map[string]any{"confirm": "please"}, "INVALID_CONFIRMATION_TOKEN", 112},
				{"larva_variant_delete", map[string]any{"id": "a", "variant": "default"}, "LAST_VARIANT_DELETE_FORBIDDEN", 121},
				{"larva_export", map[string]any{"all": false}, "INVALID_INPUT", 1},
				{"larva_update", map[string]any{"id": "a", "patches": map[string]any{"model": "x", "description": "y"}}, "MIXED_SCOPE_PATCH", 124},
				{"larva_delete", map[string]any{"id": "b"}, "PERSONA_NOT_FOUND", 100},
			} {
				got, bad := callTool(t, s, c.name, c.arguments)
				message, _ := got["message"].(string)
				if _, ok := got["details"].(map[string]any); !bad || got["code"] != c.code || got["numeric_code"] != c.number || message == "" || !ok {
					t.Errorf("%s %v: got %v, want %s", c.name, c.arguments, got, c.code)
				}
			}
			_, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "larva_component_list"})
			if code := codeOf(err); code != jsonrpc.CodeInvalidParams {
				t.Errorf("got %v, want an error of the protocol for a tool that is none", err)
			}
		})
	}
}

func codeOf(err error) int64 {
	var e *jsonrpc.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return 0
}

// TestDeleteAsks lets the person decide where the client can ask.
func TestDeleteAsks(t *testing.T) {
	t.Parallel()
	for _, version := range versions {
		for _, c := range []struct {
			answer string
			gone   bool
		}{{"accept", true}, {"decline", false}, {"cancel", false}} {
			t.Run(c.answer+" "+version, func(t *testing.T) {
				t.Parallel()
				r := store(t, "a", "b")
				put(t, r, "a", "second")
				var asked []string
				s := connect(t, Options{Registry: r}, version, &mcp.ClientOptions{
					ElicitationHandler: func(_ context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
						asked = append(asked, req.Params.Message)
						return &mcp.ElicitResult{Action: c.answer, Content: map[string]any{}}, nil
					}})
				got, bad := callTool(t, s, "larva_delete", map[string]any{"id": "a"})
				if bad == c.gone || c.gone && got["deleted"] != true || !c.gone && got["code"] != "REGISTRY_DELETE_FAILED" {
					t.Errorf("got %v %v, want it deleted: %v", got, bad, c.gone)
				}
				if ids, err := r.IDs(); err != nil || slices.Contains(ids, "a") == c.gone {
					t.Errorf("got %v %v, want a gone: %v", ids, err, c.gone)
				}
				if got, bad := callTool(t, s, "larva_delete", map[string]any{"id": "nobody"}); !bad || got["code"] != "PERSONA_NOT_FOUND" {
					t.Errorf("got %v, want no question about nothing", got)
				}
				if len(asked) != 1 || !strings.Contains(asked[0], "a with all its variants") {
					t.Errorf("got %q, want one question that names the persona", asked)
				}
			})
		}
	}
}

// TestAskWhileAsked lets a client look around before it answers, and ends the
// question with its input.
func TestAskWhileAsked(t *testing.T) {
	t.Parallel()
	r := store(t, "a")
	c := serve(t, Options{Registry: r})
	c.send(strings.Replace(hello, `"capabilities":{}`, `"capabilities":{"elicitation":{}}`, 1))
	c.read()
	c.send(ask(1, "delete", `{"id":"a"}`))
	if q := c.read(); !strings.Contains(q, `"elicitation/create"`) {
		t.Fatalf("got %s, want a question", q)
	}
	c.send(ask(2, "resolve", `{"id":"a"}`))
	if r := c.answered("2"); r.Result.IsError {
		t.Errorf("got %+v, want the persona", r)
	}
	c.in.Close()
	lines, err := c.rest()
	if err != nil || len(lines) != 1 || parse(t, lines[0]).Error == nil {
		t.Errorf("got %q %v, want an error for the delete", lines, err)
	}
	if _, err := r.Resolve("a", "", nil); err != nil {
		t.Errorf("got %v, want the persona kept", err)
	}
}

func TestResourcesAndPrompts(t *testing.T) {
	t.Parallel()
	for _, version := range versions {
		t.Run("version "+version, func(t *testing.T) {
			t.Parallel()
			r := store(t, "a", "b", "broken")
			put(t, r, "a", "second")
			breakPersona(t, r, "broken")
			s := connect(t, Options{Registry: r}, version, nil)
			var uris, names, templates []string
			for res, err := range s.Resources(t.Context(), nil) {
				if err != nil {
					t.Fatal(err)
				}
				uris = append(uris, res.URI)
			}
			for p, err := range s.Prompts(t.Context(), nil) {
				if err != nil {
					t.Fatal(err)
				}
				names = append(names, p.Name)
			}
			for tmpl, err := range s.ResourceTemplates(t.Context(), nil) {
				if err != nil {
					t.Fatal(err)
				}
				templates = append(templates, tmpl.URITemplate)
			}
			if d := cmp.Diff([][]string{uris, names, templates}, [][]string{
				{"persona://a", "persona://b"}, {"a", "b"}, {"persona://{id}", "persona://{id}/{variant}"}}); d != "" {
				t.Errorf("(-got +want):\n%s", d)
			}
			want, err := r.Resolve("a", "second", nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, uri := range []string{"persona://a", "persona://a/default", "persona://a/second"} {
				got, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
				if err != nil || got.Contents[0].Text != string(spec.AppendCanonical(nil, want)) || got.Contents[0].MIMEType != "application/json" {
					t.Errorf("%s: got %+v %v, want its canonical JSON", uri, got, err)
				}
			}
			for _, uri := range []string{"persona://nobody", "persona://a/nothing", "persona://a/second/", "persona://", "persona://A"} {
				if got, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri}); codeOf(err) != jsonrpc.CodeInvalidParams {
					t.Errorf("%s: got %+v %v, want not found", uri, got, err)
				}
			}
			p, err := s.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "a", Arguments: map[string]string{"variant": "second"}})
			if err != nil || len(p.Messages) != 1 || p.Messages[0].Content.(*mcp.TextContent).Text != want.String("prompt") {
				t.Errorf("got %+v %v, want the prompt as one message", p, err)
			}
			for _, bad := range []*mcp.GetPromptParams{{Name: "nobody"}, {Name: "a", Arguments: map[string]string{"x": "y"}}, {Name: "a", Arguments: map[string]string{"variant": "nothing"}}} {
				if _, err := s.GetPrompt(t.Context(), bad); codeOf(err) != jsonrpc.CodeInvalidParams {
					t.Errorf("%+v: got %v, want invalid parameters", bad, err)
				}
			}
		})
	}
}

// TestPages reads lists longer than a page.
func TestPages(t *testing.T) {
	t.Parallel()
	r := store(t)
	var ids []string
	for i := range pageSize + 20 {
		id := "p-" + string(rune('a'+i/26/26)) + string(rune('a'+i/26%26)) + string(rune('a'+i%26))
		ids = append(ids, id)
	}
	for _, id := range ids {
		write(t, r, id)
	}
	s := connect(t, Options{Registry: r}, "", nil)
	var got []string
	for res, err := range s.Resources(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, res.Name)
	}
	if d := cmp.Diff(got, ids); d != "" {
		t.Errorf("(-got +want):\n%s", d)
	}
}

func TestCompletion(t *testing.T) {
	t.Parallel()
	r := store(t, "alpha", "alps", "beta")
	put(t, r, "alpha", "second")
	s := connect(t, Options{Registry: r}, "", nil)
	for _, c := range []struct {
		name string
		p    mcp.CompleteParams
		want []string
	}{
		{"ids", mcp.CompleteParams{Ref: &mcp.CompleteReference{Type: "ref/resource", URI: personaTemplate}, Argument: mcp.CompleteParamsArgument{Name: "id", Value: "al"}}, []string{"alpha", "alps"}},
		{"ids of variants", mcp.CompleteParams{Ref: &mcp.CompleteReference{Type: "ref/resource", URI: variantTemplate}, Argument: mcp.CompleteParamsArgument{Name: "id"}}, []string{"alpha", "alps", "beta"}},
		{"variants", mcp.CompleteParams{Ref: &mcp.CompleteReference{Type: "ref/resource", URI: variantTemplate}, Argument: mcp.CompleteParamsArgument{Name: "variant", Value: "s"}, Context: &mcp.CompleteContext{Arguments: map[string]string{"id": "alpha"}}}, []string{"second"}},
		{"variants of nobody", mcp.CompleteParams{Ref: &mcp.CompleteReference{Type: "ref/resource", URI: variantTemplate}, Argument: mcp.CompleteParamsArgument{Name: "variant"}}, []string{}},
		{"variants of a prompt", mcp.CompleteParams{Ref: &mcp.CompleteReference{Type: "ref/prompt", Name: "alpha"}, Argument: mcp.CompleteParamsArgument{Name: "variant"}}, []string{"default", "second"}},
		{"no such prompt", mcp.CompleteParams{Ref: &mcp.CompleteReference{Type: "ref/prompt", Name: "../x"}, Argument: mcp.CompleteParamsArgument{Name: "variant"}}, []string{}},
		{"no such argument", mcp.CompleteParams{Ref: &mcp.CompleteReference{Type: "ref/prompt", Name: "alpha"}, Argument: mcp.CompleteParamsArgument{Name: "colour"}}, []string{}},
	} {
		got, err := s.Complete(t.Context(), &c.p)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(got.Completion.Values, c.want); d != "" || got.Completion.Total != len(c.want) {
			t.Errorf("%s: total %d (-got +want):\n%s", c.name, got.Completion.Total, d)
		}
	}
}

// TestNotifications tells a client of what another process writes.
func TestNotifications(t *testing.T) {
	t.Parallel()
	for _, version := range versions {
		t.Run("version "+version, func(t *testing.T) {
			t.Parallel()
			r := store(t, "a", "b")
			put(t, r, "a", "second")
			ready := make(chan struct{})
			resources, prompts, updated := make(chan string, 99), make(chan string, 99), make(chan string, 99)
			s := connect(t, Options{Registry: r, Watch: func(ctx context.Context, changed func([]string)) {
				watch.Watch(ctx, r.Root(), watch.Options{Ready: func() { close(ready) }, Changed: func(c watch.Change) {
					changed(slices.Concat(c.Added, c.Removed, c.Changed))
				}})
			}}, version, &mcp.ClientOptions{
				Capabilities:               &mcp.ClientCapabilities{},
				ResourceListChangedHandler: func(context.Context, *mcp.ResourceListChangedRequest) { resources <- "resources" },
				PromptListChangedHandler:   func(context.Context, *mcp.PromptListChangedRequest) { prompts <- "prompts" },
				ResourceUpdatedHandler: func(_ context.Context, req *mcp.ResourceUpdatedNotificationRequest) {
					updated <- req.Params.URI
				},
			})
			for _, uri := range []string{"persona://a", "persona://a/default", "persona://b", "persona://c"} {
				if err := s.Subscribe(t.Context(), &mcp.SubscribeParams{URI: uri}); err != nil {
					t.Fatal(err)
				}
			}
			if version != "" { // the newest protocol has no answer to a subscription
				if err := s.Subscribe(t.Context(), &mcp.SubscribeParams{URI: "file:///etc/passwd"}); codeOf(err) != jsonrpc.CodeInvalidParams {
					t.Errorf("got %v, want no subscription to what is none of ours", err)
				}
			}
			await(t, ready)
			if err := registry.Open(r.Root()).VariantActivate("a", "second"); err != nil {
				t.Fatal(err)
			}
			patch, err := spec.ParseObject([]byte(`{"model":"other"}`))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := registry.Open(r.Root()).Update("a", patch, "second"); err != nil {
				t.Fatal(err)
			}
			if got := await(t, updated); got != "persona://a" {
				t.Errorf("got %s, want persona://a: neither the other variant nor b has changed", got)
			}
			await(t, resources)
			await(t, prompts)
			if err := registry.Open(r.Root()).Delete("b"); err != nil {
				t.Fatal(err)
			}
			put(t, registry.Open(r.Root()), "c", "")
			for want := []string{"persona://b", "persona://c"}; len(want) > 0; {
				got := await(t, updated)
				if i := slices.Index(want, got); i >= 0 {
					want = slices.Delete(want, i, i+1)
				} else if got != "persona://a" {
					t.Fatalf("got %s, want %s", got, want)
				}
			}
		})
	}
}

func await[T any](t *testing.T, ch <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-ch:
	case <-time.After(patience):
		t.Fatal("nothing came")
	}
	return v
}

// TestNested refuses what changes anything inside a run.
func TestNested(t *testing.T) {
	t.Parallel()
	r := store(t, "a")
	s := connect(t, Options{Registry: r, Writable: func(operation string) error {
		return diag.New(diag.Nested, "%s is refused", operation)
	}}, "", nil)
	if got, bad := callTool(t, s, "larva_delete", map[string]any{"id": "a"}); !bad || got["code"] != "NESTED" {
		t.Errorf("got %v, want NESTED", got)
	}
	if got, bad := callTool(t, s, "larva_list", nil); bad {
		t.Errorf("got %v, want the list", got)
	}
}
