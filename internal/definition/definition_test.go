package definition

import (
	"strings"
	"testing"
)

func TestBuiltIns(t *testing.T) {
	t.Parallel()
	all, err := BuiltIns()
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, d := range all {
		tools := "all"
		if d.Tools != nil {
			tools = strings.Join(d.Tools.Names, " ")
		}
		got += d.ID + ": " + d.Model + ": " + tools + ": " + ceiling(&d) + "\n"
		for _, n := range d.Notices {
			t.Errorf("got the notice %s", n)
		}
	}
	want := "general-purpose: worker: all: \nexplore: explore: glob grep lsp read: shell=none filesystem=read_only git=none email=none http=none network=none database=none browser=none python=none mcp=none\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func ceiling(d *Definition) string {
	var out []string
	for _, n := range d.Ceiling() {
		out = append(out, n.Family+"="+n.Posture.String())
	}
	return strings.Join(out, " ")
}
