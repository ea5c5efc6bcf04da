package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"larva.dev/larva/internal/capability"
	"larva.dev/larva/internal/mcpclient"
	"larva.dev/larva/internal/tool"
)

type fakeClient struct {
	result mcpclient.Result
	err    error
	called []string
}

func (f *fakeClient) Call(_ context.Context, server, name string, args json.RawMessage, readOnly bool) (mcpclient.Result, error) {
	f.called = append(f.called, fmt.Sprintf("%s %s %s %t", server, name, args, readOnly))
	return f.result, f.err
}
func (f *fakeClient) Resources(context.Context, string) ([]mcpclient.Resource, error) {
	return []mcpclient.Resource{{URI: "x://1", Name: "one\nline"}}, f.err
}
func (f *fakeClient) Read(context.Context, string, string) ([]mcpclient.Content, error) {
	return f.result.Content, f.err
}

func connected(name string, tools ...mcpclient.Tool) mcpclient.Status {
	return mcpclient.Status{Name: name, State: mcpclient.Connected, Tools: tools}
}

func one(name string) mcpclient.Tool {
	return mcpclient.Tool{Name: name, Description: "does " + name, Schema: json.RawMessage(`{"type":"object","properties":{}}`)}
}

// Row 20: no name that a service would refuse, none twice, none lost.
func TestReport20(t *testing.T) {
	t.Parallel()
	ok := regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	var servers []mcpclient.Status
	all := 0
	for _, server := range []string{"s", "a b/c!", "a b_c!", strings.Repeat("server", 12), "ünïcode", "x__y", "x_y", ""} {
		var tools []mcpclient.Tool
		for _, name := range []string{"t", "a b/c!", "a b c ", "a_b_c_", strings.Repeat("tool", 30), strings.Repeat("tool", 30) + "2", "日本", "日木", ""} {
			tools = append(tools, one(name))
			all++
		}
		servers = append(servers, connected(server, tools...))
	}
	var reg tool.Registry
	client := &fakeClient{result: mcpclient.Result{Content: []mcpclient.Content{{Text: "x"}}}}
	list := Tools(client, servers)
	if err := reg.Add(list...); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, x := range list {
		name := x.Spec().Name
		if !ok.MatchString(name) {
			t.Errorf("%q is no name", name)
		}
		if s, is := x.(*serverTool); is {
			n++
			client.called = nil
			if _, err := x.Run(t.Context(), tool.Call{Input: json.RawMessage(`{}`)}); err != nil || client.called[0] != s.server+" "+s.tool.Name+" {} false" {
				t.Errorf("%s: reached %v, %v", name, client.called, err)
			}
		}
	}
	if n != all {
		t.Errorf("got %d tools, want all %d", n, all)
	}
}

// Row 21: a schema that cannot be compiled is not looked at, and the tool stays.
func TestReport21(t *testing.T) {
	t.Parallel()
	bad := one("bad")
	bad.Schema = json.RawMessage(`{"type":"object","properties":{"a":{"$ref":"#/nowhere"}}}`)
	if got := len(Tools(&fakeClient{}, []mcpclient.Status{connected("s", one("good"), bad)})); got != 2 {
		t.Errorf("got %d tools, want both", got)
	}
}

func TestEffects(t *testing.T) {
	t.Parallel()
	look, drop := one("look"), one("drop")
	look.ReadOnly, drop.Destructive = true, true
	want := map[string]capability.Posture{"mcp__s__look": capability.ReadOnly, "mcp__s__drop": capability.Destructive, "mcp__s__change": capability.ReadWrite}
	for _, x := range Tools(&fakeClient{}, []mcpclient.Status{connected("s", look, drop, one("change"))}) {
		e := x.Effects(tool.Call{})
		if len(e.Needs) != 1 || e.Needs[0].Family != "mcp" || e.Needs[0].Posture != want[x.Spec().Name] || e.ReadOnly != (x.Spec().Name == "mcp__s__look") || !e.Touches {
			t.Errorf("%s: got %+v", x.Spec().Name, e)
		}
	}
}

func TestResults(t *testing.T) {
	t.Parallel()
	png := mcpclient.Content{MediaType: "image/png", Data: []byte("p")}
	for name, c := range map[string]struct {
		result mcpclient.Result
		want   string
		images int
	}{
		"text":       {mcpclient.Result{Content: []mcpclient.Content{{Text: "a"}, {Text: "b"}}}, "a\nb", 0},
		"nothing":    {mcpclient.Result{}, "(no output)", 0},
		"structured": {mcpclient.Result{Content: []mcpclient.Content{{Text: "a"}}, Structured: json.RawMessage(`{"n":1}`)}, "a\n{\"n\":1}", 0},
		"said twice": {mcpclient.Result{Content: []mcpclient.Content{{Text: "{ \"n\": 1 }"}}, Structured: json.RawMessage(`{"n":1}`)}, "{ \"n\": 1 }", 0},
		"wrapped":    {mcpclient.Result{Content: []mcpclient.Content{{Text: "[1]"}}, Structured: json.RawMessage(`{"result":[1]}`)}, "[1]", 0},
		"pictures":   {mcpclient.Result{Content: []mcpclient.Content{png, png, png, png, png}}, "[image/png, 1 bytes: not shown]", 4},
		"large":      {mcpclient.Result{Content: []mcpclient.Content{{MediaType: "image/png", Data: make([]byte, maxImage+1)}}}, fmt.Sprintf("[image/png, %d bytes: not shown]", maxImage+1), 0},
		"audio":      {mcpclient.Result{Content: []mcpclient.Content{{MediaType: "audio/wav", Data: []byte("xx")}}}, "[audio/wav, 2 bytes: not shown]", 0},
		"svg":        {mcpclient.Result{Content: []mcpclient.Content{{MediaType: "image/svg+xml", Data: []byte("<svg/>")}}}, "[image/svg+xml, 6 bytes: not shown]", 0},
		"link":       {mcpclient.Result{Content: []mcpclient.Content{{Link: true, Text: "one", URI: "x://1"}}}, "[a resource: one, x://1; read_mcp_resource reads it]", 0},
	} {
		if got := shown(c.result); got.Output != c.want || len(got.Images) != c.images {
			t.Errorf("%s: got %q and %d images, want %q and %d", name, got.Output, len(got.Images), c.want, c.images)
		}
	}
}

// Many tools are searched in place of being listed, and called through a
// stand-in that is the real call.
func TestMany(t *testing.T) {
	t.Parallel()
	var tools []mcpclient.Tool
	for i := range 1000 {
		x := one(fmt.Sprintf("tool_%d", i))
		x.Description = fmt.Sprintf("Changes the weather of place %d", i)
		tools = append(tools, x)
	}
	tools[500].Name, tools[500].Description = "send_mail", "Writes a letter to somebody"
	began := time.Now()
	list := Tools(&fakeClient{}, []mcpclient.Status{connected("s", tools...)})
	took := time.Since(began)
	t.Logf("COUNT 1000 tools indexed in %s", took)
	if took > 50*time.Millisecond*raceFactor {
		t.Errorf("took %s, want 50 ms at most", took)
	}
	var reg tool.Registry
	if err := reg.Add(list...); err != nil {
		t.Fatal(err)
	}
	if got := len(reg.Specs()); got != 2 {
		t.Fatalf("got %d tools offered, want the search and the call", got)
	}
	search, _ := reg.Get("tool_search")
	r, err := search.Run(t.Context(), tool.Call{Input: json.RawMessage(`{"query":"mail letter","max_results":3}`)})
	if err != nil || !strings.HasPrefix(r.Output, `{"arguments":`) || !strings.Contains(strings.Split(r.Output, "\n")[0], "mcp__s__send_mail") {
		t.Errorf("got %q, %v", r.Output, err)
	}
	call, _ := reg.Get("call_tool")
	meant, fault := call.(tool.Standin).For(tool.Call{ID: "7", Tool: "call_tool", Input: json.RawMessage(`{"tool":"mcp__s__send_mail","arguments":{"a":1}}`)})
	if fault != nil || meant.ID != "7" || meant.Tool != "mcp__s__send_mail" || string(meant.Input) != `{"a":1}` {
		t.Errorf("got %+v, %+v", meant, fault)
	}
	if _, fault := call.(tool.Standin).For(tool.Call{Input: json.RawMessage(`{"tool":"mcp__s__send_mial"}`)}); fault == nil || !strings.Contains(fault.Output, "did you mean mcp__s__send_mail?") {
		t.Errorf("got %+v", fault)
	}
}

func TestResources(t *testing.T) {
	t.Parallel()
	s := connected("s")
	s.Resources = true
	list := Tools(&fakeClient{result: mcpclient.Result{Content: []mcpclient.Content{{Text: "the text"}}}}, []mcpclient.Status{s, connected("none")})
	if len(list) != 2 {
		t.Fatalf("got %d tools", len(list))
	}
	if r, _ := list[0].Run(t.Context(), tool.Call{Input: json.RawMessage(`{}`)}); r.Output != "s\tx://1\tone line\n" {
		t.Errorf("got %q", r.Output)
	}
	if r, _ := list[1].Run(t.Context(), tool.Call{Input: json.RawMessage(`{"server":"s","uri":"x://1"}`)}); r.Output != "the text" {
		t.Errorf("got %q", r.Output)
	}
	if r, _ := list[1].Run(t.Context(), tool.Call{Input: json.RawMessage(`{"server":"none","uri":"x"}`)}); !r.IsError || !strings.Contains(r.Output, "those that have: s") {
		t.Errorf("got %+v", r)
	}
}
